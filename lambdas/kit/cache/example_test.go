package cache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
)

// A value is read once in a minute, however many requests ask for it.
func ExampleCache_Get() {
	now := time.Unix(0, 0)
	prices := cache.Cache[int]{Age: time.Minute, Max: 10, Clock: func() time.Time { return now }}
	reads := 0
	read := func(context.Context) (int, error) { reads++; return 90 + reads, nil }
	for _, passed := range []time.Duration{0, 59 * time.Second, time.Second} {
		now = now.Add(passed)
		price, err := prices.Get(context.Background(), "seat 7", read)
		fmt.Println(price, err)
	}
	// Output:
	// 91 <nil>
	// 91 <nil>
	// 92 <nil>
}
