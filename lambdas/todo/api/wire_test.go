package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// The answers of every route, in the very bytes of the wire. The commands of the script:
// "stored" starts a platform with its table, "fails NAME" one whose service fails with that error,
// and "keys NAME" one whose keys do.
func TestWire(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"none": nil, "unknown": errors.New("table todo-app-data has a secret"),
		"no user": todo.ErrUserNotFound, "no task": todo.ErrTaskNotFound, "user exists": todo.ErrUserExists, "email taken": todo.ErrEmailTaken,
		"user being deleted": todo.ErrUserBeingDeleted, "task completed": todo.ErrTaskCompleted, "version": &todo.VersionError{Current: 7},
		"claim lost": idempotency.ErrClaimLost, "busy": retry.ErrBusy, "unanswered": retry.ErrUnanswered, "stale": retry.ErrStale,
		"running": &idempotency.RunningError{Until: began().Add(1500 * time.Millisecond)}, "other request": idempotency.ErrOtherRequest,
	}
	var stored *platform
	advance := func(by time.Duration) { stored.advance(by) }
	httpapitest.Script(t, "testdata/wire.txt", advance, func(t *testing.T, command string) http.Handler {
		what, argument, _ := strings.Cut(command, " ")
		err, known := failures[argument]
		switch {
		case what == "stored":
			stored = newPlatform(t)
			return stored
		case what == "fails" && known:
			return newWire(&stub{work: func() error { return err }}, &httpapitest.Ledger{}, discard())
		case what == "keys" && known:
			return newWire(&stub{}, &httpapitest.Ledger{Refusal: err}, discard())
		}
		t.Fatalf("there is no command %s", command)
		return nil
	})
}

func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	httpapitest.SameAsFile(t, "testdata/openapi.json", described(t).JSON)
}
