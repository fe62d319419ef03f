// Package lingible checks Lingible from outside: over HTTP, through the assembly that would be
// deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern.
package lingible

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: lingible.With(lingible.Parts{Page: true}), Construct: "Lingible",
	Errors: []any{lingible.ErrorResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }

// target is Lingible, running somewhere.
type target struct{ *platform.Target }

// shared returns the target of all tests that need none of their own. It has the lexicon: the first term that one of
// them approves exports what is there, and the language is what the export has.
func shared(t testing.TB) *target {
	t.Helper()
	on := &target{suite.Shared(t)}
	on.load(t)
	return on
}

func ownRun(t testing.TB, options run.Options) *target {
	t.Helper()
	return &target{suite.OwnRun(t, options)}
}

// load loads the lexicon.
func (p *target) load(t testing.TB) {
	t.Helper()
	suite.Load(t, p.Target)
}
