package dynamo

// Cursors: signed positions in lists. Callers hand them back to go on from there, and no caller can make one up.

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// minCursorKey is the shortest key, in bytes.
const minCursorKey = 16

// cursorVersion begins every cursor: a later layout takes the next number.
const cursorVersion = 1

// ErrCursorKey says that a key is missing, or has fewer than 16 bytes.
var ErrCursorKey = errors.New("the secret that signs cursors is missing or too short")

// CursorKey is the secret that signs cursors, the same in every process: at least 16 bytes.
type CursorKey []byte

// ReadCursorKey reads the key of a function whose schema has schema.CursorSecret.
func ReadCursorKey(ctx context.Context, environment kit.Environment) (CursorKey, error) {
	key, err := kit.ReadSecret(ctx, environment, schema.CursorSecretVariable)
	return CursorKey(key), err
}

// Check returns nil or [ErrCursorKey].
func (k CursorKey) Check() error {
	if len(k) < minCursorKey {
		return ErrCursorKey
	}
	return nil
}

// Sign makes a cursor for a position in a list. The owner and every filter identify the list. Callers can read the
// position.
func (k CursorKey) Sign(position, owner string, filters ...string) string {
	signed := append([]byte{cursorVersion}, k.signature(position, owner, filters)...)
	return base64.RawURLEncoding.EncodeToString(append(signed, position...))
}

// Position reads a cursor that Sign made for the same list. An empty cursor gives the empty position, the beginning. ok
// is false for anything else.
func (k CursorKey) Position(cursor, owner string, filters ...string) (position string, ok bool) {
	if cursor == "" {
		return "", true
	}
	read, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// The decoder ignores line breaks.
	if err != nil || strings.ContainsAny(cursor, "\r\n") || len(read) <= 1+sha256.Size || read[0] != cursorVersion {
		return "", false
	}
	position = string(read[1+sha256.Size:])
	return position, hmac.Equal(read[1:1+sha256.Size], k.signature(position, owner, filters))
}

func (k CursorKey) signature(position, owner string, filters []string) []byte {
	mac := hmac.New(sha256.New, k)
	for _, part := range append([]string{position, owner}, filters...) {
		// The length before each part separates parts of any content.
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part)))
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}
