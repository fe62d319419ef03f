package platform

import (
	"errors"
	"testing"
	"time"

	"github.com/gruntwork-io/terratest/modules/retry"
)

// patience is how long tests wait for what comes by itself: so long that, however slow
// the machine is, only what never comes takes it.
const patience = 150 * time.Second

// Settled waits until something holds that becomes true by itself: an index that
// catches up, a schedule that comes round.
func Settled(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, 250*time.Millisecond, what, holds)
}

// SettledSoon is Settled for what passes by quickly.
func SettledSoon(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, time.Millisecond, what, holds)
}

func settledEvery(t testing.TB, pause time.Duration, what string, holds func() bool) {
	t.Helper()
	if _, err := retry.DoWithRetryContextE(t, t.Context(), what, int(patience/pause), pause, func() (string, error) {
		if !holds() {
			return "", errors.New("not yet")
		}
		return "", nil
	}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
