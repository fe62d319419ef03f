package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Idempotency says how the server carries out operations with a key once. [schema.API.Passing] names the errors whose
// answers no key keeps.
type Idempotency struct {
	// Keys remember requests; each caller's keys are a scope of their own.
	Keys idempotency.Claims
	// Claim says when a request claims its key. One of an operation that reaches out does so before its work.
	Claim idempotency.Timing
	// Wait is how long a repeat waits while the first attempt is running. It needs [idempotency.BeforeWork]. Zero: a
	// repeat does not wait.
	Wait time.Duration
}

// mutate carries a request that has a key out, or returns the answer that it had before.
func (s *Server) mutate(ctx context.Context, keyOf func() (string, []byte, error),
	answer func(any) (idempotency.Response, error),
	work func(context.Context) (any, error)) (idempotency.Response, error) {
	request, config := requestFrom(ctx), s.config.Idempotency
	attempt := idempotency.Request{Keys: config.Keys, Scope: request.caller.ID, Key: request.key,
		Content: request.content, Wait: config.Wait, Clock: s.config.Clock, Claim: config.Claim, Log: s.config.Log,
		Answer: answer, Refusal: func(err error) (idempotency.Response, bool) {
			if !s.api.Errors.IsFinal(err, s.api.Passing) {
				return idempotency.Response{}, false
			}
			failure := s.Failure(ctx, err)
			response, err := kept(failure.Status, failure.Body)
			return response, err == nil
		}}
	if request.operation.ReachesOut {
		attempt.Claim = idempotency.BeforeWork
	}
	if keyOf != nil {
		var err error
		if attempt.Key, attempt.Content, err = keyOf(); err != nil {
			return idempotency.Response{}, err
		}
		attempt.Refusal = nil
	}
	if attempt.Key != "" {
		// The call is counted while the key is claimed.
		request.startChecks()
	}
	response, replayed, err := attempt.Do(ctx, work)
	if keyOf == nil && errors.Is(err, idempotency.ErrOtherRequest) {
		err = validate.Errorf(schema.KeyHeader, validate.RuleConflict, "%s", idempotency.ErrOtherRequest)
	}
	if keyOf == nil && replayed {
		request.SetHeader(schema.ReplayedHeader, "true")
	}
	return response, err
}

// answered returns the function that makes the answer from the result of the work.
func answered[R any](answer func(R) (status int, body any)) func(result any) (idempotency.Response, error) {
	return func(result any) (idempotency.Response, error) {
		typed, ok := result.(R)
		if !ok && result != nil {
			return idempotency.Response{}, fmt.Errorf("the store keeps the answer to a %T; the operation gives a %T",
				result, typed)
		}
		return kept(answer(typed))
	}
}

// parameter is one in a path.
var parameter = regexp.MustCompile(`{\w+}`)

// headersOf returns the headers that follow from an answer, so that a replay has them, too.
func (op operation) headersOf(response idempotency.Response) http.Header {
	header := http.Header{}
	// A struct is read in a third of the time of a map.
	var versioned struct {
		Version *int `json:"version"`
	}
	if op.Headers["ETag"] != "" && response.Status < http.StatusMultipleChoices &&
		json.Unmarshal(response.Body, &versioned) == nil && versioned.Version != nil {
		header.Set("ETag", ETag(*versioned.Version))
	}
	var fields map[string]any
	if op.Location != "" && response.Status == http.StatusCreated && json.Unmarshal(response.Body, &fields) == nil {
		header.Set("Location", parameter.ReplaceAllStringFunc(op.Location, func(name string) string {
			return fmt.Sprint(fields[strings.Trim(name, "{}")])
		}))
	}
	return header
}

// kept is an answer in the bytes in which it is sent, and kept.
func kept(status int, body any) (idempotency.Response, error) {
	if body == nil {
		return idempotency.Response{Status: status}, nil
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, body); err != nil {
		return idempotency.Response{}, fmt.Errorf("writing the answer: %w", err)
	}
	return idempotency.Response{Status: status, Body: b.Bytes()}, nil
}

// readAttempt reads the headers that count before the body.
func (s *Server) readAttempt(ctx *Context) error {
	op := ctx.operation
	var err error
	if ctx.has(schema.KeyHeader) || op.Key == schema.KeyRequired {
		if ctx.key, err = readKey(ctx.Header(schema.KeyHeader)); err != nil {
			return err
		}
	}
	ifMatch := ctx.Header(schema.IfMatchHeader)
	if op.IfMatch != "" && ctx.has(schema.IfMatchHeader) {
		if ctx.ifMatch, err = parseIfMatch(op.IfMatch, ifMatch); err != nil {
			return err
		}
	}
	// Different requests have different contents: only the body, which is last, can contain a line
	// feed.
	ctx.content = fmt.Appendf(nil, "%s\n%s\n%s\n%s", ctx.Route.Method, ctx.Request.URL.EscapedPath(), ifMatch, ctx.body)
	return nil
}

// readKey reads the idempotency key of a header.
func readKey(header string) (string, error) {
	wrong := ""
	switch length := len([]rune(header)); {
	case header == "":
		wrong = fmt.Sprintf("is missing or empty: send the header with a key of your choice, 1 to %d printable ASCII "+
			"characters, the same with each attempt at one request and a new one with the next request",
			schema.MaxKeyLength)
	case length > schema.MaxKeyLength:
		wrong = fmt.Sprintf("has %d characters; at most %d are allowed", length, schema.MaxKeyLength)
	case strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }):
		wrong = "holds characters that are not printable ASCII: use letters, digits and punctuation, such as a UUID"
	default:
		return header, nil
	}
	return "", validate.Unreadable(schema.KeyHeader, validate.Constraint{}, wrong)
}

// once is an operation that reads the headers of its idempotency key, unless it finds the key itself.
func (s *Server) once(op operation) operation {
	if op.Key == schema.KeyOwn {
		return op
	}
	for _, name := range parameter.FindAllString(op.Location, -1) {
		if !hasField(op.Answer(), strings.Trim(name, "{}")) {
			panic(fmt.Sprintf("httpapi: the Location of %s has %s, which is no field of its answer", op.ID, name))
		}
	}
	op.read = s.readAttempt
	return op
}

// hasField reports whether the JSON of a struct has the field.
func hasField(form reflect.Type, name string) bool {
	if form == nil || form.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(form), func(field reflect.StructField) bool {
		named, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		return named == name
	})
}
