// Package lingible checks Lingible from outside: over HTTP, through the assembly that would be
// deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern.
package lingible

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: lingible.With(lingible.Parts{Page: true}), Construct: "Lingible",
	Errors: []any{lingible.ErrorResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }

// shared returns the target of all tests that need none of their own. It has the lexicon: the first term that one of
// them approves exports what is there, and the language is what the export has.
func shared(t testing.TB) *platform.Target {
	t.Helper()
	on := suite.Shared(t)
	suite.Load(t, on)
	return on
}
