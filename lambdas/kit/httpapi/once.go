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
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

const (
	// KeyHeader is the request header with the idempotency key.
	KeyHeader = "Idempotency-Key"
	// ReplayedHeader is "true" on a repeated answer.
	ReplayedHeader = "Idempotency-Replayed"

	maxKeyLength = 255
)

// Idempotency says how the server carries out operations with a key once.
type Idempotency struct {
	// Keys remember requests; each caller's keys are a scope of their own.
	Keys idempotency.Claims
	// Claim says when a request claims its key. One of an operation that reaches out does so before its work.
	Claim idempotency.Timing
	// Wait is how long a repeat waits while the first attempt is running. It needs [idempotency.BeforeWork]. Zero: a
	// repeat does not wait.
	Wait time.Duration
	// Description says in the OpenAPI document what the key does.
	Description string
	// Passing are known errors that a later attempt may not meet: the key does not keep their answers, nor those with
	// 500 and above.
	Passing []error
}

// mutate carries a request that has a key out, or returns the answer that it had before.
func (s *Server) mutate(ctx context.Context, keyOf func() (string, []byte, error),
	answer func(any) (idempotency.Response, error),
	work func(context.Context) (any, error)) (idempotency.Response, error) {
	request, config := requestFrom(ctx), s.config.Idempotency
	attempt := idempotency.Request{Keys: config.Keys, Scope: request.caller.ID, Key: request.key,
		Content: request.content, Wait: config.Wait, Clock: s.config.Clock, Claim: config.Claim, Log: s.config.Log,
		Answer: answer, Refusal: func(err error) (idempotency.Response, bool) {
			if !s.isFinal(err) {
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
		err = validate.Errorf(KeyHeader, validate.RuleConflict, "%s", idempotency.ErrOtherRequest)
	}
	if keyOf == nil && replayed {
		request.SetHeader(ReplayedHeader, "true")
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
	var fields map[string]any
	if op.Headers["ETag"]+op.Location == "" || response.Status >= http.StatusMultipleChoices ||
		json.Unmarshal(response.Body, &fields) != nil {
		return header
	}
	if version, ok := fields["version"].(float64); ok && op.Headers["ETag"] != "" {
		header.Set("ETag", ETag(int(version)))
	}
	if response.Status == http.StatusCreated && op.Location != "" {
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

// isFinal reports whether a request that failed with err would fail again, so that
// its answer is kept.
func (s *Server) isFinal(err error) bool {
	if _, limited := errors.AsType[*ratelimit.LimitedError](err); limited {
		return false
	}
	for _, passing := range append([]error{idempotency.ErrClaimLost}, s.config.Idempotency.Passing...) {
		if errors.Is(err, passing) {
			return false
		}
	}
	return s.known(err).Status < http.StatusInternalServerError
}

// readAttempt reads the headers that count before the body.
func (s *Server) readAttempt(ctx *Context) error {
	op := ctx.operation
	var err error
	if ctx.has(KeyHeader) || op.Key == schema.KeyRequired {
		if ctx.key, err = readKey(ctx.Header(KeyHeader)); err != nil {
			return err
		}
	}
	ifMatch := ctx.Header(ifMatchHeader)
	if op.IfMatch != "" && ctx.has(ifMatchHeader) {
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
			"characters, the same with each attempt at one request and a new one with the next request", maxKeyLength)
	case length > maxKeyLength:
		wrong = fmt.Sprintf("has %d characters; at most %d are allowed", length, maxKeyLength)
	case strings.ContainsFunc(header, func(r rune) bool { return r < ' ' || r > '~' }):
		wrong = "holds characters that are not printable ASCII: use letters, digits and punctuation, such as a UUID"
	default:
		return header, nil
	}
	return "", Unreadable(KeyHeader, validate.Constraint{}, wrong)
}

// once is an operation with the headers of its idempotency key, unless it finds the key itself.
func (s *Server) once(op operation) operation {
	final := slices.Clone(op.Errors)
	if op.IfMatch != "" {
		final = append(final, &problem.VersionError{What: op.IfMatch, Current: 4})
	}
	op.Errors = append(slices.Clone(final), &idempotency.RunningError{})
	if op.Key == schema.KeyOwn {
		return op
	}
	optional := op.Key == schema.KeyOptional
	key := HeaderParameter(KeyHeader, !optional, maxKeyLength, s.config.Idempotency.Description,
		"8e03978e-40d5-43dd-bc93-6894a57f9324")
	key.Schema.Pattern = `^[ -~]*$`
	if optional {
		key.Schema.Pattern = `^[ -~]+$`
	}
	op.parameters = append(slices.Clone(op.parameters), key)
	if op.IfMatch != "" {
		ifMatch := HeaderParameter(ifMatchHeader, false, 0,
			"Makes the change only if "+op.IfMatch+" has one of these ETags. A weak one (W/) matches none, and * any.",
			`"3"`)
		ifMatch.Schema.Pattern = entityTags
		op.parameters = append(op.parameters, ifMatch)
	}
	for _, name := range parameter.FindAllString(op.Location, -1) {
		if !hasField(op.Answer(), strings.Trim(name, "{}")) {
			panic(fmt.Sprintf("httpapi: the Location of %s has %s, which is no field of its answer", op.ID, name))
		}
	}
	op.read = s.readAttempt
	op.describe = func(described *huma.Operation) {
		statuses := []int{op.Status}
		for _, err := range final {
			if s.isFinal(err) {
				statuses = append(statuses, s.known(err).Status)
			}
		}
		for _, status := range statuses {
			described.Responses[strconv.Itoa(status)].Headers[ReplayedHeader] = ResponseHeader(huma.TypeString,
				"true: this is the answer to an earlier attempt.")
		}
	}
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
