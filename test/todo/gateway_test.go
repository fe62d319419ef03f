package todo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
)

// noted has the errors of a check.
type noted struct {
	testing.TB
	errors []string
}

// Errorf implements testing.TB.
func (n *noted) Errorf(format string, arguments ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, arguments...))
}

// A stack whose API has another route than the platform and its handler does not pass the check of routes: the
// function does not start.
func TestRoutesThatDiffer(t *testing.T) {
	t.Parallel()
	own := suite.Local(t, "dev")
	on := own.EditedRun(t, run.Options{}, func(template []byte) []byte {
		return bytes.ReplaceAll(template, []byte(`"GET /api/v1/tasks"`), []byte(`"GET /api/v1/chores"`))
	})
	found := &noted{TB: t}
	own.CheckRoutes(found, on)
	if all := strings.Join(found.errors, "\n"); len(found.errors) != 2 ||
		!strings.Contains(all, "got GET /api/v1/tasks, which no API of the run has") ||
		!strings.Contains(all, "todoapi does not start") ||
		!strings.Contains(all, "got GET /api/v1/chores, which this function does not serve") {
		t.Errorf("got %s", all)
	}
}
