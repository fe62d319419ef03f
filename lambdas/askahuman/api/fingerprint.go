package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// byFingerprint distinguishes anonymous people by a browser fingerprint. The caller's ID is the fingerprint's keyed
// hash, and its Address the IP address's. A missing fingerprint is refused where an operation needs the caller.
func byFingerprint(hasher Hasher) map[schema.Caller]httpapi.Identify {
	const name, longest = askahuman.FingerprintHeader, askahuman.MaxFingerprintLength
	refuse := func(constraint validate.Constraint, reason string) (httpapi.Caller, error) {
		return httpapi.Caller{}, validate.Unreadable(name, constraint, reason)
	}
	return map[schema.Caller]httpapi.Identify{askahuman.CallerPerson: func(ctx *httpapi.Context) (httpapi.Caller,
		error) {
		fingerprint := ctx.Header(name)
		switch length := utf8.RuneCountInString(fingerprint); {
		case fingerprint == "" && ctx.Declared().NeedsCaller:
			return refuse(validate.Constraint{Rule: validate.RuleRequired},
				fmt.Sprintf("is missing; send the header with a fingerprint of the browser, 1 to %d characters; "+
					"only a keyed hash of it is stored", longest))
		case length > longest:
			least, most := 1, longest
			return refuse(validate.Constraint{Rule: validate.RuleLength, Min: &least, Max: &most, Got: fingerprint},
				fmt.Sprintf("has %d characters; it needs 1 to %d", length, longest))
		case strings.ContainsFunc(fingerprint, unicode.IsControl):
			return refuse(validate.Constraint{}, "holds control characters; send printable ones")
		}
		return hasher.caller(ctx.Context(), fingerprint)
	}}
}

// Hasher makes people and addresses anonymous: only an HMAC of either is ever
// stored. It also signs what was handed to whom.
type Hasher struct {
	// Secret returns the key of the HMAC.
	Secret func(context.Context) (string, error)
}

// Person is the HMAC-SHA-256 of a fingerprint, in hexadecimal.
func (h Hasher) Person(ctx context.Context, fingerprint string) (string, error) {
	return h.sum(ctx, fingerprint)
}

// Address is the HMAC-SHA-256 of an IP address, in hexadecimal. No fingerprint has the same hash:
// none begins with the character NUL.
func (h Hasher) Address(ctx context.Context, address string) (string, error) {
	return h.sum(ctx, "\x00address\x00"+address)
}

// handed tells what is signed of questions from cursors.
const handed = "handed"

// Handed signs that a question is handed to a person at a moment. The person, a hash, is not in the text.
func (h Hasher) Handed(ctx context.Context, person, questionID string, at time.Time) (string, error) {
	key, err := h.Secret(ctx)
	if err != nil {
		return "", fmt.Errorf("sign that a question is handed to a person: %w", err)
	}
	return dynamo.CursorKey(key).Sign(strconv.FormatInt(at.UnixMilli(), 10), person, handed, questionID), nil
}

// HandedAt reads what Handed signed of this person and question. It returns the zero time for anything else.
func (h Hasher) HandedAt(ctx context.Context, person, questionID, signed string) (time.Time, error) {
	key, err := h.Secret(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("check that a question was handed to a person: %w", err)
	}
	at, ok := dynamo.CursorKey(key).Position(signed, person, handed, questionID)
	milliseconds, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return time.Time{}, nil
	}
	return time.UnixMilli(milliseconds).UTC(), nil
}

func (h Hasher) caller(ctx context.Context, fingerprint string) (caller httpapi.Caller, err error) {
	if fingerprint != "" {
		if caller.ID, err = h.Person(ctx, fingerprint); err != nil {
			return httpapi.Caller{}, err
		}
	}
	caller.Address, err = h.Address(ctx, kit.InvocationFrom(ctx).SourceAddress)
	return caller, err
}

func (h Hasher) sum(ctx context.Context, text string) (string, error) {
	key, err := h.Secret(ctx)
	if err != nil {
		return "", fmt.Errorf("hashing who calls: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)), nil
}
