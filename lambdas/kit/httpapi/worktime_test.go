package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// An operation has the time of its server, unless it is unhurried, and never more than its invocation.
func TestWorkTime(t *testing.T) {
	t.Parallel()
	const invocation = time.Hour
	for name, test := range map[string]struct {
		workTime    time.Duration
		unhurried   bool
		least, most time.Duration
	}{
		"Zero":      {least: 30 * time.Minute, most: invocation},
		"Hurried":   {workTime: 10 * time.Minute, least: time.Minute, most: 10 * time.Minute},
		"Unhurried": {workTime: 10 * time.Minute, unhurried: true, least: 30 * time.Minute, most: invocation},
		"Longer":    {workTime: 3 * time.Hour, least: 30 * time.Minute, most: invocation},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httpapi.New(httpapi.Config{Platform: shop(), WorkTime: test.workTime})
			var left time.Duration
			httpapi.Bind(s, schema.Operation[none, none, none]{ID: "prices", NoWorkTime: test.unhurried},
				func(ctx context.Context, _ request) (none, error) {
					deadline, _ := ctx.Deadline()
					left = time.Until(deadline)
					return none{}, nil
				})
			ctx, cancel := context.WithTimeout(t.Context(), invocation)
			defer cancel()
			s.Handler().ServeHTTP(httptest.NewRecorder(),
				httptest.NewRequestWithContext(ctx, http.MethodGet, "/prices", nil))
			if left < test.least || left > test.most {
				t.Errorf("got %v for the work; want %v to %v", left, test.least, test.most)
			}
		})
	}
}
