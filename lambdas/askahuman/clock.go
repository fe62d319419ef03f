package askahuman

import (
	"time"

	"github.com/google/uuid"
)

// newID is a random UUID (version 4).
func newID() string { return uuid.NewString() }

// clock reads a service's clock. It returns whole milliseconds, as stores keep them, so that values
// before a write and after a read agree.
func clock(now func() time.Time) time.Time {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}
