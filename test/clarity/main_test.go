// Package clarity checks Clarity from outside: over HTTP, through the assembly that would be
// deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern.
package clarity

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: clarity.With(clarity.Parts{Page: true}), Construct: "Clarity",
	Errors: []any{clarity.ErrorResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }

// target is Clarity, running somewhere.
type target struct{ *platform.Target }

func shared(t testing.TB) *target { return &target{suite.Shared(t)} }

func ownRun(t testing.TB, options run.Options) *target { return &target{suite.OwnRun(t, options)} }

// load loads the scenarios.
func (p *target) load(t testing.TB) {
	t.Helper()
	suite.Load(t, p.Target)
}
