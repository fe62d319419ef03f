package httpapi

import (
	"bytes"
	"cmp"
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

// Idempotency says how the server carries out operations of [Mutate] once.
type Idempotency struct {
	// Keys remember requests; each caller's keys are a scope of their own.
	Keys idempotency.Claims
	// Claim says when a request claims its key.
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

// IdempotencyKeyer is an input that has the idempotency key of its request, if the request has one.
type IdempotencyKeyer interface {
	// Key returns the key and the content that identifies the request. The key is "" for a request that the server
	// carries out each time. An error refuses the request, which uses up no key.
	Key() (key string, content []byte, err error)
}

// Mutate declares an operation that the server carries out once for each idempotency key. Its requests must have one,
// unless the key is optional ([Operation.KeyOptional]). work does it, and answer makes the status and the body, nil for
// none, from the result of work; a store passes the same result to [idempotency.Transact]. If answer is nil, the result
// is the body.
//
// Two requests with a key are the same if method, path, If-Match and body are. A repeat gets the first answer. While
// the first attempt is running, a repeat waits for up to [Idempotency.Wait], and then gets a
// [*idempotency.RunningError].
//
// An input that is an [IdempotencyKeyer] has the key instead of the header, and says itself what makes requests the
// same. The key then keeps no answer to an error, and a repeated answer does not say that it is one.
func Mutate[I, R any](s *Server, op Operation, work func(context.Context, *I) (R, error),
	answer func(context.Context, *I, R) (status int, body any)) {
	if answer == nil {
		answer = func(_ context.Context, _ *I, result R) (int, any) { return cmp.Or(op.Status, http.StatusOK), result }
		if op.Form == nil {
			var form R
			op.Form = form
		}
	}
	do := instead(work)
	_, isKeyed := any(new(I)).(IdempotencyKeyer)
	register(s, s.once(op, isKeyed), func(ctx context.Context, input *I) (idempotency.Response, error) {
		var keyOf func() (string, []byte, error)
		if keyed, ok := any(input).(IdempotencyKeyer); ok {
			keyOf = keyed.Key
		}
		return s.mutate(ctx, keyOf, answered(func(result R) (int, any) { return answer(ctx, input, result) }),
			func(ctx context.Context) (any, error) { return do(ctx, input) })
	})
}

// mutate carries a request of [Mutate] out, or returns the answer that it had before.
func (s *Server) mutate(ctx context.Context, keyOf func() (string, []byte, error), answer func(any) (idempotency.Response, error),
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
func (op Operation) headersOf(response idempotency.Response) http.Header {
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
	if ctx.has(KeyHeader) || !op.KeyOptional {
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

// once is an operation with the headers of its idempotency key, unless its input is [IdempotencyKeyer].
func (s *Server) once(op Operation, isKeyed bool) Operation {
	final := slices.Clone(op.Errors)
	if op.IfMatch != "" {
		final = append(final, &problem.VersionError{What: op.IfMatch, Current: 4})
	}
	op.Errors = append(slices.Clone(final), &idempotency.RunningError{})
	if isKeyed {
		return op
	}
	key := HeaderParameter(KeyHeader, !op.KeyOptional, maxKeyLength, s.config.Idempotency.Description,
		"8e03978e-40d5-43dd-bc93-6894a57f9324")
	key.Schema.Pattern = `^[ -~]*$`
	if op.KeyOptional {
		key.Schema.Pattern = `^[ -~]+$`
	}
	op.Parameters = append(slices.Clone(op.Parameters), key)
	if op.IfMatch != "" {
		ifMatch := HeaderParameter(ifMatchHeader, false, 0,
			"Makes the change only if "+op.IfMatch+" has one of these ETags. A weak one (W/) matches none, and * any.",
			`"3"`)
		ifMatch.Schema.Pattern = entityTags
		op.Parameters = append(op.Parameters, ifMatch)
	}
	for _, name := range parameter.FindAllString(op.Location, -1) {
		if !hasField(op.Form, strings.Trim(name, "{}")) {
			panic(fmt.Sprintf("httpapi: the Location of %s has %s, which is no field of its answer", op.ID, name))
		}
	}
	op.read = s.readAttempt
	op.describe = func(described *huma.Operation) {
		statuses := []int{cmp.Or(op.Status, http.StatusOK)}
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
func hasField(value any, name string) bool {
	form := reflect.TypeOf(value)
	if form == nil || form.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(form), func(field reflect.StructField) bool {
		named, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		return named == name
	})
}
