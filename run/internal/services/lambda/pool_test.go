package lambda

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// What a call waits for an instance is no time of the function. From then on it has its limit.
func TestInvokeWithin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit, wait, work time.Duration
		err               error
	}{
		"LongWait":  {time.Second, time.Hour, time.Second / 2, nil},
		"LongWork":  {time.Second, 0, 2 * time.Second, context.DeadlineExceeded},
		"BothLong":  {time.Second, time.Hour, 2 * time.Second, context.DeadlineExceeded},
		"Unlimited": {0, time.Hour, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &function{Name: "fn", service: &Service{}, current: &Function{},
					instances: map[*instance]struct{}{}}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					time.Sleep(test.wait + time.Millisecond)
					f.mu.Lock()
					queue := f.queue
					f.queue = nil
					f.mu.Unlock()
					if len(queue) == 0 {
						return // the call did not wait
					}
					inv := queue[0]
					inv.begin(time.Hour)
					time.Sleep(test.work)
					inv.done <- Result{RequestID: inv.id}
				}()
				if _, err := f.invoke(t.Context(), test.limit, nil); !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
				<-ended
			})
		})
	}
}
