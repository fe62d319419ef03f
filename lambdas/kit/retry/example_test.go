package retry_test

import (
	"context"
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// Work whose condition another writer made stale is done again.
func ExampleDo() {
	attempts := 0
	err := retry.Do(context.Background(), func() error {
		if attempts++; attempts < 3 {
			return fmt.Errorf("book seat 7: %w", retry.ErrStale)
		}
		return nil
	})
	fmt.Println(attempts, err)
	// Output: 3 <nil>
}
