package clarity

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Functions that are killed in the middle of requests lose no attempt, and none is evaluated twice:
// a repeat of the request, or the evaluator, finishes what they left.
func TestKilledFunctionsLoseNothing(t *testing.T) {
	t.Parallel()
	on := ownRun(t, run.Options{})
	one := newUser(t, on)
	some := one.scenarios(t, on)[0]
	api := on.Function(t, "ClarityAPI")
	const attempts = 15
	var kills, sent atomic.Int32
	ids := make([]string, attempts)
	if err := onesynthtest.Together(attempts, func(i int) error {
		key := onesynthtest.Key(onesynthtest.Unique("key"))
		for begun := time.Now(); time.Since(begun) < 3*time.Minute; {
			if sent.Add(1)%4 == 0 {
				if _, err := on.Run.Kill(api); err == nil {
					kills.Add(1)
				} else if !errors.Is(err, run.ErrNotRunning) {
					return err
				}
			}
			r, err := one.Send(t.Context(), http.MethodPost, "/attempts", key,
				completed(some, fmt.Sprint("attempt number ", i)))
			if err != nil {
				return err
			}
			if r.Status == http.StatusCreated {
				var made clarity.Attempt
				err := json.Unmarshal(r.Body, &made)
				ids[i] = made.ID
				return err
			}
			if after, told := r.RetryAfter(); told {
				time.Sleep(after)
			} else if r.Status < 500 {
				return fmt.Errorf("got %v", r)
			}
		}
		return errors.New("got no answer in 3 minutes")
	}); err != nil {
		t.Fatal(err)
	}
	if kills.Load() == 0 {
		t.Error("no function was killed")
	}
	for _, item := range on.Items(t, "Attempts") {
		if item["evaluationStatus"] != "done" {
			on.unevaluate(t, item["attemptId"].(string))
		}
	}
	if err := on.Run.RunSchedule(t.Context(), on.Schedule(t, "")); err != nil {
		t.Fatal(err)
	}
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	all := one.all(t, 100)
	if len(all) != attempts {
		t.Errorf("got %d attempts; want %d", len(all), attempts)
	}
	for _, id := range ids {
		if err := one.read(t, id).CheckEvaluated(); err != nil {
			t.Error(err)
		}
	}
	// An attempt that was evaluated twice would have two profiles.
	if got := one.profiles(t); len(got) != attempts {
		t.Errorf("got %d profiles; want %d", len(got), attempts)
	}
	t.Logf("%d kills, %d requests", kills.Load(), sent.Load())
}
