package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// made is a submitted attempt, as the body of a request.
const made = `> {"scenarioId":"bridge","answers":[{"questionId":"q1","answer":"This bridge carries ten tons."},` +
	`{"questionId":"q2","answer":"This bridge was built in 1911."}]}`

// do makes a request of ann, by its lines in a script, in a context, and checks the answer against the document.
func do(t *testing.T, ctx context.Context, api http.Handler, lines ...string) (*httptest.ResponseRecorder,
	clarity.Attempt) {
	t.Helper()
	lines[0] += " as ann"
	r, w := httpapitest.Script{}.Request(lines, ""), httptest.NewRecorder()
	r = r.WithContext(kit.WithInvocation(ctx, kit.InvocationFrom(r.Context())))
	api.ServeHTTP(w, r)
	described(t).IsKept(t, r, w)
	var attempt clarity.Attempt
	must.OK(t, json.Unmarshal(w.Body.Bytes(), &attempt))
	return w, attempt
}

// attempts are all attempts of ann.
func attempts(t *testing.T, w *claritytest.World) []clarity.Attempt {
	t.Helper()
	return must.Get(w.Attempts(t.Context(), "ann", 100, ""))(t).Attempts
}

// A function that is killed between any two of its steps, or whose context ends there, loses no
// attempt, and no attempt is evaluated again after its evaluation is stored. The next attempt at the
// request, or the schedule, goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	as := func(status string) string { return strings.Replace(made, "}]", `}],"status":"`+status+`"`, 1) }
	for name, begin := range map[string]func(*testing.T, http.Handler) (line string){
		"POST": func(*testing.T, http.Handler) string { return "POST /attempts" },
		"PUT": func(t *testing.T, api http.Handler) string {
			_, begun := do(t, t.Context(), api, "POST /attempts", as("in-progress"))
			return "PUT /attempts/" + begun.ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := claritytest.New(t)
			w.EvaluationsPerDay = 1000
			api := w.API()
			var survived bool
			for step := int64(1); !survived; step++ {
				for _, kill := range []string{"dead, then a repeat", "dead, then the schedule", "context"} {
					line, key := begin(t, api), fmt.Sprintf("Idempotency-Key: %s-%d", kill, step)
					ctx, cancel := context.WithCancel(t.Context())
					want, called := len(attempts(t, w)), w.Judge.Calls()
					if name == "POST" {
						want++
					}
					var made atomic.Int64 // scenario and attempt are read at the same time
					w.Tables.Recorder.Faults(func(schema.Action) error {
						if made.Add(1) < step {
							return nil
						}
						if cancel(); kill == "context" {
							return nil
						}
						return worldtest.ErrKilled
					}, nil)
					first, _ := do(t, ctx, api, line, key, as("completed"))
					w.Heal()
					cancel()
					if survived = made.Load() < step; survived {
						break
					}
					where := fmt.Sprintf("%s from request %d on (%d %s)", kill, step, first.Code, first.Body)
					left := attempts(t, w)
					settled := len(left) == want && left[0].Evaluation != nil
					judged := w.Judge.Calls()
					w.Advance(6 * time.Minute)
					if kill != "dead, then a repeat" {
						if _, err := w.EvaluatePending(t.Context()); err != nil {
							t.Errorf("%s: the schedule: %v", where, err)
						}
						for _, a := range attempts(t, w) {
							if a.Status == clarity.Completed && a.Evaluation == nil {
								t.Errorf("%s: the schedule left %+v", where, a)
							}
						}
					}
					answer, again := do(t, t.Context(), api, line, key, as("completed"))
					if answer.Code >= 300 {
						t.Fatalf("%s: the next attempt got %d %s", where, answer.Code, answer.Body)
					}
					found := attempts(t, w)
					if len(found) != want || found[0].ID != again.ID || found[0].Evaluation == nil ||
						found[0].Status != clarity.Completed {
						t.Errorf("%s: got %d attempts, want %d; the last is %+v", where, len(found), want, found[0])
					}
					if settled && w.Judge.Calls() != judged || w.Judge.Calls() > called+2 {
						t.Errorf("%s: evaluated %d times before and %d times after, settled: %t", where, judged-called,
							w.Judge.Calls()-judged, settled)
					}
					w.Advance(25 * time.Hour)
					judged = w.Judge.Calls()
					if run, err := w.EvaluatePending(t.Context()); err != nil || run != (service.Run{}) ||
						w.Judge.Calls() != judged {
						t.Errorf("%s: later the schedule found %+v, %v", where, run, err)
					}
				}
				if step > 12 {
					t.Fatal("the request makes ever more requests")
				}
			}
		})
	}
}

// After a function was killed, the next attempt at the request need wait no longer than an operation may take with the
// rubric, and is told how long.
func TestLease(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationTime = 2 * time.Second
	api := w.API()
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		w.Kill(0, false)
		return claritytest.Good(), nil
	})
	ask := func() (*httptest.ResponseRecorder, clarity.Attempt) {
		return do(t, t.Context(), api, "POST /attempts", "Idempotency-Key: k", made)
	}
	ask()
	w.Heal()
	w.Judge.Says(nil)
	again, _ := ask()
	after, err := strconv.Atoi(again.Header().Get("Retry-After"))
	if again.Code != http.StatusConflict || err != nil || after > 11 {
		t.Errorf("got %d %s, Retry-After %s; want 409, and 11 seconds at most", again.Code, again.Body,
			again.Header().Get("Retry-After"))
	}
	w.Advance(time.Duration(after) * time.Second)
	if last, attempt := ask(); last.Code != http.StatusCreated || attempt.Evaluation == nil {
		t.Errorf("then: got %d %s", last.Code, last.Body)
	}
}
