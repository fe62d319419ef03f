package api_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// The answers of every route, in the very bytes of the wire. The commands of the script: "stored" starts a platform
// with its tables, "none active" one without an active scenario, and "failing" one whose evaluator fails and which
// allows one evaluation a day.
func TestWire(t *testing.T) {
	t.Parallel()
	httpapitest.Script{Start: func(t *testing.T, command string) (http.Handler, *worldtest.World) {
		w := claritytest.New(t)
		switch command {
		case "stored":
		case "none active":
			w.Tables.Remove(t, "Scenarios", "bridge")
		case "failing":
			w.EvaluationsPerDay = 1
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
				return clarity.Judgement{}, &model.Error{Failure: model.Throttled, Err: errors.New("a secret")}
			})
		default:
			t.Fatalf("there is no command %s", command)
		}
		return w.API(), w.World
	}}.Run(t, "testdata/wire.txt")
}
