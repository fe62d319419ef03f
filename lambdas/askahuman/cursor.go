package askahuman

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// cursorVersion begins every cursor: a later layout takes the next number.
const cursorVersion = 1

// cursorSize is the version, the moment in Unix milliseconds and the id.
const cursorSize = 1 + 8 + 16

var errCursor = validate.Errorf("cursor", validate.RuleFormat, "is not a cursor of this list; send the next_cursor of "+
	"the page before unchanged, or none for the first page")

// latestCursorTime is the last moment that still sorts as text: five-digit years do not.
var latestCursorTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// formatCursor writes a position for a caller to hand back. It contains the place in a list, never
// the list's owner: the caller's identity always selects the list.
func formatCursor(p askahuman.Position) string {
	id, err := uuid.Parse(p.ID)
	if err != nil {
		return ""
	}
	var b [cursorSize]byte
	b[0] = cursorVersion
	binary.BigEndian.PutUint64(b[1:], uint64(p.CreatedAt.UnixMilli()))
	copy(b[9:], id[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// parseCursor reads what [formatCursor] wrote; an empty cursor is the beginning. It returns an [*validate.Error].
func parseCursor(cursor string) (askahuman.Position, error) {
	if cursor == "" {
		return askahuman.Position{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != cursorSize || b[0] != cursorVersion {
		return askahuman.Position{}, errCursor
	}
	milliseconds := binary.BigEndian.Uint64(b[1:])
	if milliseconds > uint64(latestCursorTime.UnixMilli()) {
		return askahuman.Position{}, errCursor
	}
	position := askahuman.Position{
		CreatedAt: time.UnixMilli(int64(milliseconds)).UTC(),
		ID:        uuid.UUID(b[9:]).String(),
	}
	// Decoders ignore line breaks and spare bits.
	if formatCursor(position) != cursor {
		return askahuman.Position{}, errCursor
	}
	return position, nil
}
