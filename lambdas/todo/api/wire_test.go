package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/problem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// The answers of every route, in the very bytes of the wire. The commands of the script:
// "stored" starts a platform with its table, whose items have to agree after each request, "hurried" leaves it so
// little time that long work stops, "fails NAME" starts one whose operations fail with that error, and "keys NAME" one
// whose keys do. "more" ends each operation as a deletion of some tasks does.
func TestWire(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"unknown": errors.New("table todo-app-data has a secret"),
		"no user": todo.ErrUserNotFound, "no task": todo.ErrTaskNotFound, "user exists": todo.ErrUserExists,
		"email taken":        todo.ErrEmailTaken,
		"user being deleted": todo.ErrUserBeingDeleted, "task completed": todo.ErrTaskCompleted,
		"version":    &problem.VersionError{What: "the task", Current: 7},
		"claim lost": idempotency.ErrClaimLost, "busy": retry.ErrBusy, "unanswered": retry.ErrUnanswered,
		"stale":         retry.ErrStale,
		"running":       &idempotency.RunningError{Until: began().Add(1500 * time.Millisecond)},
		"other request": idempotency.ErrOtherRequest,
	}
	var stored *platform
	advance := func(by time.Duration) { stored.advance(by) }
	httpapitest.Script(t, "testdata/wire.txt", advance, func(t *testing.T, command string) http.Handler {
		what, argument, _ := strings.Cut(command, " ")
		err, known := failures[argument]
		switch {
		case what == "stored":
			stored = newPlatform(t)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				stored.ServeHTTP(w, r)
				for _, finding := range todotest.Disagreements(todotest.Items(t, stored.tables.Client)) {
					t.Errorf("after %s %s: %s", r.Method, r.URL, finding)
				}
			})
		case what == "hurried":
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				stored.ServeHTTP(w, r.WithContext(hurried{r.Context()}))
			})
		case what == "fails" && known:
			return httpapitest.Instead(newWire(&httpapitest.Ledger{}, discard()), func(any) error { return err })
		case what == "more":
			return httpapitest.Instead(stored, func(result any) error {
				*result.(*any) = todo.CompletedDeleted{Action: todo.DeleteCompleted, More: true}
				return nil
			})
		case what == "keys" && known:
			return newWire(&httpapitest.Ledger{Refusal: err}, discard())
		}
		t.Fatalf("there is no command %s", command)
		return nil
	})
}

// hurried is a context whose deadline is near, and never there.
type hurried struct{ context.Context }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(2 * time.Second), true }

func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	httpapitest.SameAsFile(t, "testdata/openapi.json", described(t).JSON)
}
