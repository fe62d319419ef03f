package askahuman

import (
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
)

// ResponseID returns the one id that a person's answer to a question can have: a UUID (version 8)
// derived from both, so that a second answer has the same key as the first.
func ResponseID(questionID, personHash string) string {
	digest := sha256.Sum256([]byte("response\x00" + questionID + "\x00" + personHash))
	id := uuid.UUID(digest[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// newID is a random UUID (version 4).
func newID() string { return uuid.NewString() }

// isID reports whether s is a UUID as [newID] writes it. Another spelling of the same UUID is
// another key to a store, so it is no id.
func isID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}

// clock reads a service's clock. It returns whole milliseconds, as stores keep them, so that values
// before a write and after a read agree.
func clock(now func() time.Time) time.Time {
	if now == nil {
		now = time.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}
