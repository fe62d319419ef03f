package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
)

// The answers of every route, in the very bytes of the wire. The commands of the script: "stored"
// starts a platform with its tables, "failing" one whose evaluator fails and which allows one
// evaluation a day, and "advance 1s" moves the clock.
func TestWire(t *testing.T) {
	t.Parallel()
	var w *claritytest.World
	httpapitest.Script(t, "testdata/wire.txt", func(t *testing.T, command string) http.Handler {
		what, argument, _ := strings.Cut(command, " ")
		switch what {
		case "stored":
			w = claritytest.New(t)
			return w.API()
		case "failing":
			w = claritytest.New(t)
			w.EvaluationsPerDay = 1
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
				return clarity.Judgement{}, &clarity.EvaluationError{Failure: clarity.Throttled, Err: errors.New("a secret")}
			})
			return w.API()
		case "advance":
			by, err := time.ParseDuration(argument)
			if err != nil {
				t.Fatal(err)
			}
			w.Advance(by)
			return nil
		}
		t.Fatalf("there is no command %s", command)
		return nil
	})
}
