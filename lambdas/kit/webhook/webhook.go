// Package webhook signs webhooks as Standard Webhooks 1.0.0 says (https://www.standardwebhooks.com), and
// sends them with a client that reaches public addresses alone, over TLS, and follows no redirect.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a webhook.
const (
	// IDHeader has the id of the message: each attempt and each duplicate has the same.
	IDHeader = "Webhook-Id"
	// TimestampHeader has the time of the attempt, in Unix seconds.
	TimestampHeader = "Webhook-Timestamp"
	// SignatureHeader has one signature for each secret, separated by spaces.
	SignatureHeader = "Webhook-Signature"
)

// Tolerance is how far the timestamp of a webhook may be from the receiver's clock.
const Tolerance = 5 * time.Minute

const (
	prefix  = "whsec_"
	version = "v1,"
	// A secret has 24 to 64 bytes ("Signature scheme", Standard Webhooks).
	leastSecret, maxSecret = 24, 64
)

// Errors of [Verify]. Match them with errors.Is.
var (
	// ErrHeaders says that a header is missing or malformed.
	ErrHeaders = errors.New("a header of the webhook is missing or malformed")
	// ErrTimestamp says that the timestamp is more than [Tolerance] from now.
	ErrTimestamp = errors.New("the timestamp of the webhook is too old or too new")
	// ErrSignature says that none of the secrets made a signature.
	ErrSignature = errors.New("the webhook has no signature by these secrets")
)

// Secret is a key that signs webhooks. Printing hides its value; only [Secret.Reveal] shows it.
type Secret struct{ key []byte }

// NewSecret returns the secret of a key of 24 to 64 bytes.
func NewSecret(key []byte) (Secret, error) {
	if len(key) < leastSecret || len(key) > maxSecret {
		return Secret{}, fmt.Errorf("a secret of webhooks: got %d bytes, allowed are %d to %d", len(key), leastSecret,
			maxSecret)
	}
	return Secret{key: key}, nil
}

// ParseSecret reads a secret as [Secret.Reveal] writes it.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, prefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		// The error of the decoder could quote the secret.
		return Secret{}, fmt.Errorf("a secret of webhooks: got another form, allowed is %q and base64", prefix)
	}
	return NewSecret(key)
}

// Reveal returns the secret as receivers need it: whsec_ and the key in base64.
func (s Secret) Reveal() string { return prefix + base64.StdEncoding.EncodeToString(s.key) }

// String hides the secret.
func (Secret) String() string { return prefix + "hidden" }

// GoString hides the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Secret) sign(id string, seconds int64, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s.%d.", id, seconds)
	mac.Write(body)
	return version + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Sign sets the headers of a webhook with that id and body, sent at that time. Each of the secrets signs, so that a
// receiver may know any of them during a rotation.
func Sign(header http.Header, id string, at time.Time, body []byte, secrets ...Secret) {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		signatures[i] = s.sign(id, at.Unix(), body)
	}
	header.Set(IDHeader, id)
	header.Set(TimestampHeader, strconv.FormatInt(at.Unix(), 10))
	header.Set(SignatureHeader, strings.Join(signatures, " "))
}

// Verify checks that one of the secrets signed a webhook, and that it was sent within [Tolerance] of now. It returns
// ErrHeaders, ErrTimestamp or ErrSignature.
func Verify(header http.Header, body []byte, now time.Time, secrets ...Secret) error {
	id, signatures := header.Get(IDHeader), header.Get(SignatureHeader)
	seconds, err := strconv.ParseInt(header.Get(TimestampHeader), 10, 64)
	if id == "" || signatures == "" || err != nil {
		return ErrHeaders
	}
	if now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return fmt.Errorf("%w: got %s, and now is %s", ErrTimestamp, time.Unix(seconds, 0).UTC().Format(time.RFC3339),
			now.UTC().Format(time.RFC3339))
	}
	for _, s := range secrets {
		want := []byte(s.sign(id, seconds, body))
		for _, got := range strings.Fields(signatures) {
			if hmac.Equal([]byte(got), want) {
				return nil
			}
		}
	}
	return ErrSignature
}
