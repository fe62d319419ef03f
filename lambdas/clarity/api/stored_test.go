package api_test

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// answer is what a request got.
type answer struct {
	*httptest.ResponseRecorder
	clarity.Attempt
	Attempts  []clarity.Attempt
	Profiles  []clarity.Profile
	NextToken string
	Error     string
	Details   []struct {
		Field   string
		Index   *int
		Message string
	}
}

// send makes a request of a user, "METHOD path", with headers as "Name: value", and checks the
// answer against the document.
func send(t *testing.T, handler http.Handler, user, line string, body any, headers ...string) answer {
	return sendIn(t, t.Context(), handler, user, line, body, headers...)
}

func sendIn(t *testing.T, ctx context.Context, handler http.Handler, user, line string, body any,
	headers ...string) answer {
	t.Helper()
	content := ""
	if body != nil {
		written := must.Get(json.Marshal(body))(t)
		content = string(written)
	}
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(content))
	r = r.WithContext(kit.WithInvocation(ctx, kit.Invocation{Claims: map[string]string{"sub": user}}))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	got := answer{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(got, r)
	described(t).IsKept(t, r, got.ResponseRecorder)
	if err := json.Unmarshal(got.Body.Bytes(), &got); err != nil {
		t.Errorf("%s: got %s: %v", line, got.Body, err)
	}
	return got
}

// attempts are all attempts of a user.
func attempts(t *testing.T, handler http.Handler, user string) []clarity.Attempt {
	t.Helper()
	return send(t, handler, user, "GET /attempts?limit=100", nil).Attempts
}

// A function that is killed between any two of its steps, or whose context ends there, loses no
// attempt, and no attempt is evaluated again after its evaluation is stored. The next attempt at the
// request, or the schedule, goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	errDead := errors.New("the process is dead")
	for name, begin := range map[string]func(*testing.T, http.Handler) (line string, body any){
		"POST": func(*testing.T, http.Handler) (string, any) {
			return "POST /attempts", claritytest.Submission("This bridge")
		},
		"PUT": func(t *testing.T, api http.Handler) (string, any) {
			in := claritytest.Submission("This bridge")
			in.Status = clarity.InProgress
			begun := send(t, api, "ann", "POST /attempts", in)
			return "PUT /attempts/" + begun.ID, clarity.Save{Answers: in.Answers,
				Change: clarity.Change{Status: clarity.Completed}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := claritytest.New(t)
			w.EvaluationsPerDay = 1000
			api := w.API()
			var survived bool
			for step := 1; !survived; step++ {
				for _, kill := range []string{"dead, then a repeat", "dead, then the schedule", "context"} {
					line, body := begin(t, api)
					key := fmt.Sprintf("Idempotency-Key: %s-%d", kill, step)
					ctx, cancel := context.WithCancel(t.Context())
					had, called := len(attempts(t, api, "ann")), w.Judge.Calls()
					var made atomic.Int64 // scenario and attempt are read at the same time
					var dead atomic.Bool
					count := func(schema.Action) error {
						if made.Add(1) == int64(step) {
							dead.Store(true)
							cancel()
						}
						if dead.Load() && kill != "context" {
							return errDead
						}
						return nil
					}
					w.Tables.Recorder.Faults(count, nil)
					first := sendIn(t, ctx, api, "ann", line, body, key)
					w.Tables.Recorder.Faults(nil, nil)
					cancel()
					if survived = !dead.Load(); survived {
						break
					}
					where := fmt.Sprintf("%s from request %d on (%d %s)", kill, step, first.Code, first.Error)
					want := had + 1
					if name == "PUT" {
						want = had
					}
					left := attempts(t, api, "ann")
					settled := len(left) == want && left[0].Evaluation != nil
					judged := w.Judge.Calls()
					w.Advance(6 * time.Minute)
					if kill != "dead, then a repeat" {
						if _, err := w.EvaluatePending(t.Context()); err != nil {
							t.Errorf("%s: the schedule: %v", where, err)
						}
						for _, a := range attempts(t, api, "ann") {
							if a.Status == clarity.Completed && a.Evaluation == nil {
								t.Errorf("%s: the schedule left %+v", where, a)
							}
						}
					}
					again := send(t, api, "ann", line, body, key)
					if again.Code >= 300 {
						t.Fatalf("%s: the next attempt got %d %s", where, again.Code, again.Body)
					}
					found := attempts(t, api, "ann")
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
	handler := w.API()
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		w.Kill(0, false)
		return claritytest.Good(), nil
	})
	body := claritytest.Submission("This bridge")
	send(t, handler, "ann", "POST /attempts", body, "Idempotency-Key: k")
	w.Heal()
	w.Judge.Says(nil)
	again := send(t, handler, "ann", "POST /attempts", body, "Idempotency-Key: k")
	after, err := strconv.Atoi(again.Header().Get("Retry-After"))
	if again.Code != http.StatusConflict || err != nil || after > 11 {
		t.Errorf("got %d %s, Retry-After %s; want 409, and 11 seconds at most", again.Code, again.Body,
			again.Header().Get("Retry-After"))
	}
	w.Advance(time.Duration(after) * time.Second)
	if last := send(t, handler, "ann", "POST /attempts", body,
		"Idempotency-Key: k"); last.Code != http.StatusCreated || last.Evaluation == nil {
		t.Errorf("then: got %d %s", last.Code, last.Body)
	}
}

// What earlier releases have stored is evaluated, in each way: they claimed the key of a request alone,
// stored the attempt without a claim, and claimed the evaluation after that.
func TestEarlierReleases(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	for name, evaluate := range map[string]func(id string) answer{
		"repeat": func(string) answer {
			return send(t, api, "ann", "POST /attempts", claritytest.Submission("repeat"), "Idempotency-Key: repeat")
		},
		"request": func(id string) answer { return send(t, api, "ann", "POST /attempts/"+id+"/evaluate", nil) },
		"schedule": func(id string) answer {
			w.Advance(time.Minute)
			if run, err := w.EvaluatePending(t.Context()); err != nil || run != (service.Run{Evaluated: 1}) {
				t.Errorf("the schedule: got %+v, %v", run, err)
			}
			return send(t, api, "ann", "GET /attempts/"+id, nil)
		},
	} {
		// The attempt's id follows from the request, so the request is sent, and then taken back.
		w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
			return clarity.Judgement{}, errors.New("down")
		})
		made := send(t, api, "ann", "POST /attempts", claritytest.Submission(name), "Idempotency-Key: "+name)
		w.Judge.Says(nil)
		w.Tables.Set(t, "Attempts", []any{made.ID}, map[string]any{"evaluationTries": nil, "evaluationFailure": nil})
		claim, _, err := service.Keys(w.DB).Begin(t.Context(), "ann", name, nil, idempotency.Deferred)
		must.OK(t, err)
		w.Tables.Set(t, "Guards", claim.Key(), map[string]any{"claim": "DEAD", "claimed_until": 0,
			"http_status_code": nil, "response_data": nil})
		if got := evaluate(made.ID); got.Code >= 300 || got.ID != made.ID || got.Evaluation == nil {
			t.Errorf("%s: got %d %s; want %s evaluated", name, got.Code, got.Body, made.ID)
		}
	}
}
