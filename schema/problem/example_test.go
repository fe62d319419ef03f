package problem_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

var errNoRoom = problem.New(http.StatusConflict, "NO_ROOM", "there is no room that night: choose another")

// An error says how callers are told of it. Rules return it wrapped, and callers of the rules match it.
func ExampleNew() {
	err := fmt.Errorf("book room 7: %w", errNoRoom)
	var told *problem.Error
	fmt.Println(errors.Is(err, errNoRoom), errors.As(err, &told))
	fmt.Println(told.Status, told.Code, told.Message)
	// Output:
	// true true
	// 409 NO_ROOM there is no room that night: choose another
}
