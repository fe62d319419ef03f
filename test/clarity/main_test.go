// Package clarity checks Clarity from outside: over HTTP, through the assembly that would be
// deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern.
package clarity

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: clarity.With(clarity.Parts{Page: true}), Construct: "Clarity",
	Errors: []any{clarity.ErrorResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }
