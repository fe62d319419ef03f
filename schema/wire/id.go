package wire

import (
	"time"

	"github.com/google/uuid"
)

// NewID returns a new UUID of a moment (version 7): ids sort by their moments, in milliseconds.
func NewID(moment time.Time) string {
	id := uuid.Must(uuid.NewV7())
	milliseconds := moment.UnixMilli()
	for i := range 6 {
		id[i] = byte(milliseconds >> (40 - 8*i))
	}
	return id.String()
}

// IsID reports whether a text is a UUID as [NewID] writes it. Another spelling of the same UUID is another key of a
// table, so it is no id.
func IsID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}
