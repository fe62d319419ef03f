package askahuman

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// cursorVersion begins every cursor: a later layout takes the next number.
const cursorVersion = 1

// cursorSize is the version, the moment in Unix milliseconds and the id.
const cursorSize = 1 + 8 + 16

var errCursor = validate.Errorf("cursor", validate.RuleFormat, "is not a cursor of this list; send the next_cursor of "+
	"the page before unchanged, or none for the first page")

// latestCursorTime is the last moment that still sorts as text: five-digit years do not.
var latestCursorTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// position is the item after which the next page begins, in a list by creation, newest first. The zero value is the
// beginning.
type position struct {
	CreatedAt time.Time
	ID        string
}

// start is where a query of a partition goes on, by the attributes of its key. It is nil for the beginning.
func (p position) start(partition, value, moment, id string) dynamo.Item {
	if p == (position{}) {
		return nil
	}
	return dynamo.Texts(map[string]string{partition: value, moment: dynamo.FormatTime(p.CreatedAt), id: p.ID})
}

// formatCursor writes a position for a caller to hand back. It contains the place in a list, never
// the list's owner: the caller's identity always selects the list.
func formatCursor(p position) string {
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
func parseCursor(cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != cursorSize || b[0] != cursorVersion {
		return position{}, errCursor
	}
	milliseconds := binary.BigEndian.Uint64(b[1:])
	if milliseconds > uint64(latestCursorTime.UnixMilli()) {
		return position{}, errCursor
	}
	p := position{time.UnixMilli(int64(milliseconds)).UTC(), uuid.UUID(b[9:]).String()}
	// Decoders ignore line breaks and spare bits.
	if formatCursor(p) != cursor {
		return position{}, errCursor
	}
	return p, nil
}
