package problem_test

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

var errNoSeat = problem.New(http.StatusConflict, "NO_SEAT", "there is no seat that night: choose another")

// An error says how callers are told of it. Rules return it wrapped, and callers of the rules match it.
func ExampleNew() {
	err := fmt.Errorf("book seat 7: %w", errNoSeat)
	var told *problem.Error
	fmt.Println(errors.Is(err, errNoSeat), errors.As(err, &told))
	fmt.Println(told.Status, told.Code, told.Message)
	// Output:
	// true true
	// 409 NO_SEAT there is no seat that night: choose another
}
