package ratelimit_test

import (
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
)

// A caller who has reached a limit learns when to come again.
func ExampleLimitedError() {
	err := &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: time.Unix(1_800_000_000, 0).UTC()}}
	fmt.Println(err)
	// Output: more than 60 calls in this window: try again after 2027-01-15T08:00:00Z
}
