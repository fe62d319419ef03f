package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// began is the moment at which these tests begin.
func began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// newWire is the API without a service.
func newWire(keys idempotency.Claims, log *slog.Logger) *kit.API {
	return api.Handler(&service.Service{}, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys}, Clock: began,
		Log: log})
}

// The answers of every route, in the very bytes of the wire. The commands of the script: "stored" starts a platform
// with its table, whose items have to agree after each request, "hurried" leaves it so little time that long work
// stops, until "unhurried"; "fails NAME" starts one whose operations fail with that error, and "keys NAME" one whose
// keys do. "more" ends each operation as a deletion of some tasks does. Of a platform with its table, "events" are what
// its changes have published, "metrics" what it has counted, and "erase" hands all changes to the eraser, with little
// time if "hurried" follows.
func TestWire(t *testing.T) {
	t.Parallel()
	httpapitest.Run(t, "testdata/wire.txt", script, nil)
}

// script is a platform as [TestWire] describes it.
func script(t *testing.T) httpapitest.Script {
	failures := map[string]error{
		"claim lost": idempotency.ErrClaimLost, "busy": retry.ErrBusy,
		"running": &idempotency.RunningError{Until: began().Add(1500 * time.Millisecond)},
	}
	var stored http.Handler
	var records func() []json.RawMessage
	var metrics bytes.Buffer
	var eraser *service.Service
	start := func(command string) (http.Handler, *worldtest.World) {
		what, argument, _ := strings.Cut(command, " ")
		err, known := failures[argument]
		switch {
		case what == "stored":
			w := worldtest.New(t, todo.Platform(), began())
			records = triggertest.Stream(t, todo.Platform(), w.Tables, "AppData")
			eraser = &service.Service{DB: w.As(t, "eraser"), Clock: w.Now}
			metrics.Reset()
			keys := service.Keys(w.DB)
			keys.Clock = w.Now
			served := api.Handler(&service.Service{DB: w.DB, CursorKey: []byte("the key of these tests"), Clock: w.Now,
				Metrics: &kit.Metrics{Namespace: "test", Writer: &metrics}},
				httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys}, Log: discard(), Clock: w.Now})
			var busy sync.RWMutex
			stored = http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
				busy.RLock()
				served.ServeHTTP(a, r)
				busy.RUnlock()
				described(t).IsKept(t, r, a.(*httptest.ResponseRecorder))
				busy.Lock()
				defer busy.Unlock()
				for _, finding := range todotest.Disagreements(w.Items(t, "AppData")) {
					t.Errorf("after %s %s: %s", r.Method, r.URL, finding)
				}
			})
			return stored, w
		case what == "hurried":
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				stored.ServeHTTP(w, r.WithContext(worldtest.Leaving(r.Context(), 2*time.Second)))
			}), nil
		case what == "unhurried":
			return stored, nil
		case what == "fails" && known:
			return httpapitest.Instead(newWire(&httpapitest.Ledger{}, discard()), func(any) error { return err }), nil
		case what == "more":
			return httpapitest.Instead(stored, func(result any) error {
				*result.(*any) = todo.CompletedDeleted{Action: todo.DeleteCompleted, More: true}
				return nil
			}), nil
		case what == "keys" && known:
			return newWire(&httpapitest.Ledger{Refusal: err}, discard()), nil
		}
		t.Fatalf("there is no command %s", command)
		return nil, nil
	}
	return httpapitest.Script{Key: schema.KeyHeader, Start: start, Verbs: map[string]func(string) string{
		"erase": func(hurried string) (lines string) {
			ctx := t.Context()
			if hurried != "" {
				ctx = worldtest.Leaving(ctx, 2*time.Second)
			}
			for _, record := range records() {
				var change events.DynamoDBEventRecord
				must.OK(t, json.Unmarshal(record, &change))
				if deletion, _ := service.DeletionOf(change.Change); deletion != (service.Deletion{}) {
					complete, err := eraser.Erase(ctx, deletion)
					lines += fmt.Sprintln(deletion.User, "complete:", complete, err)
				}
			}
			return lines
		},
		"events": func(string) string {
			return strings.Join(triggertest.Lines(t, todo.Platform(), service.EventsOf, records(), "user_id", "task_id",
				"version", "status", "title"), "")
		},
		"metrics": func(string) (lines string) {
			metricstest.Complete(t, metrics.String(), schema.MetricsOf("todoapi", todo.Platform().Metrics))
			for name, sum := range metricstest.Sums(t, metrics.String()) {
				lines += fmt.Sprintln(name, sum)
			}
			return lines
		},
	}}
}

func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	httpapitest.SameAsFile(t, "testdata/openapi.json", described(t).JSON)
}
