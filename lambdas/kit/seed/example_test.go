package seed_test

import (
	"context"
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
)

// Initial data is loaded by invocations of so many items, each of which is added once.
func ExampleLoad() {
	seats := map[string]bool{"7": true}
	load := seed.Load([]string{"7", "8"}, func(_ context.Context, seat string) (added bool, err error) {
		added, seats[seat] = !seats[seat], true
		return added, nil
	})
	progress, err := load(context.Background(), seed.Request{})
	fmt.Printf("%+v %v\n", progress, err)
	// Output: {Next:2 Total:2 Added:1} <nil>
}
