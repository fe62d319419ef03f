package httpapi

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/internal/standin"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Operation declares what one route does.
type Operation struct {
	// ID is the ID of a route of the platform. The route gives method, path, callers, rate limit and summary.
	ID string
	// Description says what it does, for people.
	Description string
	// Status is the status of success. Zero: 200.
	Status int
	// Form is a value of the form of success, or [OneOf]. Nil: the form of the work's result, unless [Mutate] has an
	// answer function.
	Form any
	// OtherAnswers are the bodies of further successful answers, by status.
	OtherAnswers map[int]any
	// Headers describe the headers of success, by name. If ETag is among them, the answer has the entity tag of its
	// field version.
	Headers map[string]string
	// Location is the path of what an operation creates, with fields of the answer, such as "/tasks/{task_id}". It
	// becomes the header Location of 201. Empty: no header.
	Location string
	// Parameters are the parameters that the type of the input lacks.
	Parameters []*huma.Param
	// Stricter corrects the document where the rules allow less than the input's type states, by place, such as
	// "path.task_id", "header.X-Timezone" and "body.due_date". It does not change what the server checks.
	Stricter Forms
	// Variants are the possible forms of the body. A body has exactly one of them. Empty: the form of the input's type.
	Variants []Variant
	// Errors are examples of errors that only this operation returns.
	Errors []error
	// IfMatch names what the header If-Match protects, such as "the task". The operation is one of [Mutate], and makes
	// its change by [IfMatch]. Empty: the operation has no such header.
	IfMatch string
	// KeyOptional lets a request of [Mutate] omit the idempotency key. The server then carries it out each time.
	KeyOptional bool
	// NeedsCaller refuses unidentified callers, even if the route's callers need not identify themselves.
	NeedsCaller bool
	// CountsAlong says that the operation may count its call towards the rate limit with one of its own writes
	// ([ratelimit.CallFrom]). The server counts a call that it has not counted before its next write, and before the
	// answer.
	CountsAlong bool
	// NoWorkTime gives the operation all the time of its invocation: [Config.WorkTime] does not bound it.
	NoWorkTime bool

	// read reads the headers of a request before its body, and describe completes the description:
	// [Mutate] sets both.
	read     func(*Context) error
	describe func(*huma.Operation)
	// described is the value of the contract that it was bound to.
	described schema.Description
}

// OneOf has a value of each form that an answer may have.
type OneOf []any

// describe adds an operation to the document, and returns the form of its input.
func (s *operations) describe(each registered) *inputForm {
	op, route := each.Operation, each.route
	op.Status = cmp.Or(op.Status, http.StatusOK)
	described := huma.Operation{
		OperationID: op.ID, Method: route.Method, Path: route.Path, Summary: route.Summary, Description: op.Description,
		Responses: map[string]*huma.Response{},
	}
	errs := append([]error{Unreadable("query", validate.Constraint{},
		`cannot be read: invalid URL escape "%zz"; percent-encode values`)}, s.config.Errors.Always...)
	errs = append(errs, errUnknown)
	errs = append(errs, op.Errors...)
	caller := s.config.Callers[route.Caller]
	if caller.Tag != "" {
		described.Tags = []string{caller.Tag}
	}
	if caller.Header != nil {
		header, form := *caller.Header, *caller.Header.Schema
		header.Required, header.Schema = header.Required || op.NeedsCaller, &form
		described.Parameters = append(described.Parameters, &header)
	}
	described.Parameters = append(described.Parameters, op.Parameters...)
	form := s.input(each.input, &described)
	for _, name := range slices.Sorted(maps.Keys(caller.Schemes)) {
		described.Security = append(described.Security, map[string][]string{name: {}})
	}
	if s.needsToken(route) {
		errs = append(errs, kit.ErrNoToken)
	}
	errs = append(errs, caller.Errors...)
	if route.Caller != schema.CallerAnyone {
		if errs = append(errs, s.config.Errors.OfCallers...); s.config.Errors.OfCallers == nil {
			errs = append(errs, retry.ErrBusy)
		}
	}
	if hasBody(&described) {
		errs = append(append(errs, s.config.Errors.OfBodies...), kit.TooLarge(s.config.MaxBodyBytes),
			&validate.Error{Status: http.StatusUnsupportedMediaType,
				Problems: []validate.Problem{{Field: "Content-Type", Message: "is not application/json"}}})
	}
	if route.Caller.Group != "" {
		errs = append(errs, ErrForbidden)
	}
	headers := map[string]*huma.Header{}
	s.describeLimit(&described, route, headers)
	s.describeErrors(&described, errs, headers)

	success := &huma.Response{Description: http.StatusText(op.Status), Headers: maps.Clone(headers)}
	for name, says := range op.Headers {
		success.Headers[name] = ResponseHeader(huma.TypeString, says)
	}
	if op.Form != nil {
		success.Content = JSON(s.form(op.Form), nil)
	}
	described.Responses[strconv.Itoa(op.Status)] = success
	for status, body := range op.OtherAnswers {
		described.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Headers: success.Headers, Content: JSON(s.form(body), body),
		}
	}
	if op.describe != nil {
		op.describe(&described)
	}
	s.document.AddOperation(&described)
	return form
}

func hasBody(operation *huma.Operation) bool {
	return operation.RequestBody != nil || operation.Method != http.MethodGet && operation.Method != http.MethodDelete
}

// form is the form of a value, which the document then has.
func (s *operations) form(value any) *huma.Schema {
	switch value := value.(type) {
	case *huma.Schema:
		return value
	case OneOf:
		var union huma.Schema
		for _, each := range value {
			union.OneOf = append(union.OneOf, s.form(each))
		}
		return &union
	default:
		return s.document.Components.Schemas.Schema(reflect.TypeOf(value), true, "")
	}
}

// Serve declares an operation. The result of work becomes the body of the answer, as JSON; nil gives no body.
//
// The input is a struct. Its field Body is the JSON body. A field with the tag path, query or header is a parameter: a
// text, a number, a bool, an [encoding.TextUnmarshaler], a pointer to one of these, which is nil without the parameter,
// or a list of these, separated by commas. Tags describe fields as in huma. The document has what they state, and the
// server checks it, as well as the rules of a [Validated] input. The tag default is the value of an omitted parameter;
// for a field of the body it only documents what the operation assumes.
//
// Serve panics if the platform has no route with the operation's ID: no request would come, and its caller would be
// undefined.
func Serve[I, R any](s *Server, op Operation, work func(context.Context, *I) (R, error)) {
	var form R
	if op.Form == nil {
		op.Form = form
	}
	do := instead(work)
	register(s, op, func(ctx context.Context, input *I) (idempotency.Response, error) {
		result, err := do(ctx, input)
		if err != nil {
			return idempotency.Response{}, err
		}
		return kept(cmp.Or(op.Status, http.StatusOK), result)
	})
}

// instead is the work, unless something stands in for it (package standin).
func instead[I, R any](work func(context.Context, I) (R, error)) func(context.Context, I) (R, error) {
	return func(ctx context.Context, input I) (result R, err error) {
		if done, err := standin.Work(ctx, &result); done {
			return result, err
		}
		return work(ctx, input)
	}
}

// SetHeader sets a header of the answer to the context's request. The answer to a repeated request of [Mutate] lacks
// it.
func SetHeader(ctx context.Context, name, value string) {
	if request := requestFrom(ctx); request != nil {
		request.SetHeader(name, value)
	}
}
