package askahuman

import (
	"crypto/sha256"
	"encoding/binary"
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

// AskedAt returns when a question was asked, in whole milliseconds, from its id. It is zero for ids of earlier
// releases, which do not say.
func AskedAt(questionID string) time.Time {
	id, err := uuid.Parse(questionID)
	if err != nil || id.Version() != 7 {
		return time.Time{}
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16)).UTC()
}

// NameReportID returns the id of the report of a person's name: one person has one.
func NameReportID(personHash string) string { return ResponseID("name", personHash) }
