package engine

// The requests to the engine that need no client.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Call makes one request on the database of the access key. JSON within input and output passes as it is.
func (e *Engine) Call(ctx context.Context, accessKey, target string, input, output any) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+"/", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", target)
	date, authorization := Headers(accessKey, Region, time.Now())
	request.Header.Set("X-Amz-Date", date)
	request.Header.Set("Authorization", authorization)
	response, err := e.transport.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %w", target, &Refusal{response.Status, string(answer)})
	}
	if err := json.Unmarshal(answer, output); err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	return nil
}

// Headers returns the values of X-Amz-Date and Authorization of a request at the time. The access key selects the
// engine's database. The two have the form of Signature Version 4 of AWS, which some engines check. The signature
// itself has only zeros, because an engine on one machine has no secret key to check it.
func Headers(accessKey, region string, at time.Time) (date, authorization string) {
	date = at.UTC().Format("20060102T150405Z")
	day, _, _ := strings.Cut(date, "T")
	return date, "AWS4-HMAC-SHA256 Credential=" + accessKey + "/" + day + "/" + region +
		"/dynamodb/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=" + noSignature
}

// noSignature is as long as an SHA-256 in hexadecimal.
const noSignature = "0000000000000000000000000000000000000000000000000000000000000000"

// Refusal is an answer of the engine other than success: its HTTP status and its body.
type Refusal struct{ Status, Answer string }

// Error is the status and the body.
func (r *Refusal) Error() string { return r.Status + ": " + r.Answer }

// Trimmed reports whether the engine says that a record is gone: records live for 24 hours.
func Trimmed(err error) bool {
	var refused *Refusal
	return errors.As(err, &refused) && strings.Contains(refused.Answer, "#TrimmedDataAccessException")
}
