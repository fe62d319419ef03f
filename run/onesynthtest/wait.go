package onesynthtest

import (
	"testing"
	"time"
)

// settleTimeout is how long tests wait for a condition to become true by itself: long enough for
// the slowest machine, so that only a condition that never becomes true reaches it.
const settleTimeout = 150 * time.Second

// Settled waits for a condition that becomes true by itself, such as an index that catches up or a
// schedule that runs. The test fails if it does not become true within minutes.
func Settled(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, 250*time.Millisecond, what, holds)
}

// SettledSoon is Settled for a state that does not last.
func SettledSoon(t testing.TB, what string, holds func() bool) {
	t.Helper()
	settledEvery(t, time.Millisecond, what, holds)
}

func settledEvery(t testing.TB, pause time.Duration, what string, holds func() bool) {
	t.Helper()
	for range int(settleTimeout / pause) {
		if holds() {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-time.After(pause):
		}
	}
	t.Fatalf("%s: not within %v", what, settleTimeout)
}
