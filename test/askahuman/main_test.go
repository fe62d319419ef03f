// Package askahuman checks Ask-a-Human from outside: over HTTP, through the assembly
// that would be deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern. On AWS a second
// run within the hour meets the hourly limits of this machine's address.
package askahuman

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: askahuman.Platform(), Construct: "AskAHuman",
	Errors: []any{askahuman.ErrorResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }

// runNotifier runs the notifier by its schedule and waits for its end. On AWS it
// runs every minute by itself.
func runNotifier(t testing.TB, p *platform.Target) {
	t.Helper()
	if p.Run != nil {
		p.RunSchedule(t, "")
	}
}
