package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// The answers of every route, in the very bytes of the wire, and as the document says. The commands of the script:
// "stored" starts a platform with its tables, and "limit N" one that allows a user N evaluations a day.
//
// "judge" sets what the evaluator says from now on: "good", scores, or how it fails. "asked" is how often it was asked.
// "schedule" is a run of the evaluator's schedule, and "due N" are N runs, each when the next attempt is due. A run
// finds nothing a millisecond earlier. "scenario gone" removes the scenario of the bridge, and "scenario changed"
// replaces it. "profiles" adds the profiles of all attempts, and lists the attempts whose profiles are new. "events"
// are what all changes publish, and "metrics" what is counted.
func TestWire(t *testing.T) {
	t.Parallel()
	httpapitest.Run(t, "testdata/wire.txt", script, nil)
}

// script is a platform as [TestWire] describes it.
func script(t *testing.T) httpapitest.Script {
	var w *claritytest.World
	var attempts, profiles func() []json.RawMessage
	start := func(command string) (http.Handler, *worldtest.World) {
		w = claritytest.New(t)
		if _, err := fmt.Sscanf(command, "limit %d", &w.EvaluationsPerDay); err != nil && command != "stored" {
			t.Fatalf("there is no command %s", command)
		}
		attempts = triggertest.Stream(t, clarity.Platform(), w.Tables, "Attempts")
		profiles = triggertest.Stream(t, clarity.Platform(), w.Tables, "Profiles")
		api := w.API()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, r)
			described(t).IsKept(t, r, w.(*httptest.ResponseRecorder))
		}), w.World
	}
	schedule := func(string) string { return fmt.Sprintf("%+v\n", must.Get(w.EvaluatePending(t.Context()))(t)) }
	failures := map[string]error{
		"nothing":   nil,
		"throttled": &model.Error{Failure: model.Throttled, Err: errors.New("a secret")},
		"declined":  fmt.Errorf("asking: %w", &model.Error{Failure: model.Declined, Err: errors.New("a secret")}),
		"slow":      fmt.Errorf("asking: %w", context.DeadlineExceeded),
		"down":      errors.New("no such host"),
	}
	return httpapitest.Script{Start: start, Verbs: map[string]func(string) string{
		"judge": func(says string) string {
			judgement := claritytest.Good()
			for i, score := range strings.Fields(says) {
				_, _ = fmt.Sscan(score, &judgement.Dimensions[i].Score)
			}
			err, fails := failures[says]
			if fails {
				judgement = clarity.Judgement{}
			}
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) { return judgement, err })
			return ""
		},
		"asked":    func(string) string { return fmt.Sprint(w.Judge.Calls(), " times") },
		"schedule": schedule,
		"due": func(times string) (lines string) {
			for range must.Get(strconv.Atoi(times))(t) {
				next := "none"
				for _, item := range w.Items(t, "Attempts") {
					if at, waits := item["evaluateAfter"].(string); waits {
						next = min(next, at)
					}
				}
				if at, err := time.Parse(time.RFC3339Nano, next); err == nil {
					w.MoveTo(at.Add(-time.Millisecond))
					if early := schedule(""); early != fmt.Sprintf("%+v\n", service.Run{}) {
						t.Errorf("before %s: got %s", next, early)
					}
					w.MoveTo(at)
					next += " " + schedule("")
				}
				lines += next
			}
			return lines
		},
		"scenario": func(how string) string {
			w.Tables.Remove(t, "Scenarios", "bridge")
			if how == "changed" {
				other := claritytest.Scenario("bridge")
				slices.Reverse(other.Questions)
				other.Questions[0].Text, other.Questions = "Why is it red, and not green?", other.Questions[:1]
				must.Get(w.Scenarios.Add(t.Context(), other))(t)
			}
			return ""
		},
		"profiles": func(string) (lines string) {
			for _, record := range attempts() {
				var change events.DynamoDBEventRecord
				must.OK(t, json.Unmarshal(record, &change))
				attempt, evaluated, err := service.EvaluatedIn(change.Change.NewImage)
				must.OK(t, err)
				if evaluated && must.Get(w.AddProfile(t.Context(), attempt, 0))(t) {
					lines += attempt.ID + "\n"
				}
			}
			return lines
		},
		"events": func(string) string {
			return strings.Join(triggertest.Lines(t, clarity.Platform(), service.EventsOf,
				slices.Concat(attempts(), profiles()), "user_id", "attempt_id", "scenario_id", "submitted_at",
				"evaluated_at", "overall_score", "scores", "attempt_count", "overall_average", "averages"), "")
		},
		"metrics": func(string) (lines string) {
			metricstest.Complete(t, w.Metrics(), schema.MetricsOf("clarityapi", clarity.Platform().Metrics))
			for name, sum := range metricstest.Sums(t, w.Metrics()) {
				lines += fmt.Sprintln(name, sum)
			}
			return lines
		},
	}}
}
