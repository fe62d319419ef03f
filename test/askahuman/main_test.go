// Package askahuman checks Ask-a-Human from outside: over HTTP, through the assembly
// that would be deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern. On AWS a second
// run within the hour meets the hourly limits of this machine's address.
package askahuman

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: schema.AskAHuman(), Construct: "AskAHuman"}

func TestMain(m *testing.M) { suite.Main(m) }

// target is Ask-a-Human, running somewhere.
type target struct{ *platform.Target }

func shared(t testing.TB) *target { return &target{suite.Shared(t)} }

func ownRun(t testing.TB, options local.Options) *target { return &target{suite.OwnRun(t, options)} }

// forgetRateLimit lets an agent's count of this hour begin at zero, as the next hour
// would.
func (p *target) forgetRateLimit(t testing.TB, limit, agentID string) {
	t.Helper()
	digest := sha256.Sum256([]byte(agentID))
	hour := time.Now().Truncate(time.Hour)
	for _, window := range []time.Time{hour.Add(-time.Hour), hour, hour.Add(time.Hour)} {
		p.Delete(t, "Guards", "guard_key", fmt.Sprintf("RATE#%s#%s#%d", limit, hex.EncodeToString(digest[:]), window.Unix()))
	}
}

// runNotifier runs the notifier by its schedule and waits for its end. On AWS it
// runs every minute by itself.
func (p *target) runNotifier(t testing.TB) {
	t.Helper()
	if p.Run == nil {
		return
	}
	if err := p.Run.RunSchedule(t.Context(), p.Schedule(t, "")); err != nil {
		t.Fatal(err)
	}
}
