package model_test

import (
	"errors"
	"fmt"

	"github.com/onesynth-cdk/onesynth/schema/model"
)

// Rules tell why a model came to no result, without a client of one.
func ExampleErrorf() {
	err := fmt.Errorf("judge a text: %w", model.Errorf(model.Throttled, "%d calls", 9))
	var failed *model.Error
	fmt.Println(errors.As(err, &failed) && failed.Failure == model.Throttled, err)
	// Output: true judge a text: language model throttled: 9 calls
}
