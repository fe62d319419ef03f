package local

import (
	"context"
	"errors"
)

// checkLakes starts a check of the run's lakes, and returns a function that waits for the outcome.
func (r *Runner) checkLakes(ctx context.Context) (wait func() error) {
	if r.options.CheckLake == nil || len(r.lakes) == 0 {
		return func() error { return nil }
	}
	found := make(chan error, 1)
	r.working.Go(func() {
		var problems []error
		for _, lake := range r.lakes {
			warnings, err := r.options.CheckLake(ctx, lake)
			for _, warning := range warnings {
				r.log.printf("warning: %s", warning)
			}
			problems = append(problems, err)
		}
		found <- errors.Join(problems...)
	})
	return func() error { return <-found }
}
