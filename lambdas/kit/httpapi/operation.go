package httpapi

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/internal/standin"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// operation is what the server does with the requests of a route.
type operation struct {
	schema.Description
	// parameters are those that the type of the input lacks.
	parameters []*huma.Param
	// read reads the headers of a request before its body, and describe completes the description.
	read     func(*Context) error
	describe func(*huma.Operation)
}

// form is the form of success; nil: there is no body.
func (op operation) form() any {
	switch {
	case op.OneOf != nil:
		return oneOf(op.OneOf)
	case op.Answer() == reflect.TypeFor[schema.Document]():
		return &huma.Schema{Type: huma.TypeObject}
	case op.Answer() != nil:
		return reflect.Zero(op.Answer()).Interface()
	}
	return nil
}

// oneOf has a value of each form that an answer may have.
type oneOf []any

// describe adds an operation to the document, and returns the form of its input.
func (s *operations) describe(each registered) *inputForm {
	op, route := each.operation, each.route
	described := huma.Operation{
		OperationID: op.ID, Method: route.Method, Path: route.Path, Summary: route.Summary, Description: op.Detail,
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
	described.Parameters = append(described.Parameters, op.parameters...)
	form := s.input(op.Description, each.input, &described)
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
	if form := op.form(); form != nil {
		success.Content = JSON(s.form(form), nil)
	}
	described.Responses[strconv.Itoa(op.Status)] = success
	for status, body := range op.Further {
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
	case oneOf:
		var union huma.Schema
		for _, each := range value {
			union.OneOf = append(union.OneOf, s.form(each))
		}
		return &union
	default:
		return s.document.Components.Schemas.Schema(reflect.TypeOf(value), true, "")
	}
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

// SetHeader sets a header of the answer to the context's request. The answer to a request that is repeated with
// its idempotency key lacks it.
func SetHeader(ctx context.Context, name, value string) {
	if request := requestFrom(ctx); request != nil {
		request.SetHeader(name, value)
	}
}
