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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Operation declares what one route does.
type Operation struct {
	// ID is that of a route of the platform, which gives method, path, callers, rate limit and summary.
	ID string
	// Description says what it does, for people.
	Description string
	// Status is the status of success. Zero: 200.
	Status int
	// Form is a value of the form of success, or [OneOf], unless the type of the output is that
	// form.
	Form any
	// OtherAnswers are the bodies of further successful answers, by status.
	OtherAnswers map[int]any
	// Headers describe the headers of success, by name. With ETag, [Serve] and [Mutate] send the entity tag of
	// the answer's field version.
	Headers map[string]string
	// Location is the path of what an operation of [Mutate] creates, such as "/tasks/{task_id}",
	// with fields of the answer. It is the header Location of 201. Empty: none.
	Location string
	// Parameters are the parameters that the type of the input lacks.
	Parameters []*huma.Param
	// Stricter is what the document says where the rules allow less than the form that the type of
	// the input states: by place, such as "path.task_id", "header.X-Timezone" and "body.due_date".
	// It does not change what is checked.
	Stricter Forms
	// Variants are the forms of the body, which has exactly one of them. Empty: the form of the
	// input's type.
	Variants []Variant
	// Errors are examples of the errors that only this operation has.
	Errors []error
	// IfMatch names what the header If-Match protects, such as "the task", for an operation of
	// [Mutate]. [IfMatch] then returns the precondition. Empty: the operation has none.
	IfMatch string
	// KeyOptional lets a request of [Mutate] leave the idempotency key out. It is then carried out
	// each time.
	KeyOptional bool
	// HasBody says that an operation of DELETE has a body. Those of POST, PUT and PATCH have one
	// without it.
	HasBody bool
	// NeedsCaller refuses unidentified callers on a route whose callers need not identify
	// themselves.
	NeedsCaller bool
	// CountsAlong says that the operation may count its call towards the rate limit with a write of its own
	// ([ratelimit.CallFrom]). A call that it has not counted is counted before its next write, and before the answer.
	CountsAlong bool
	// NoWorkTime gives the operation all the time of its invocation: [Config.WorkTime] does not bound it.
	NoWorkTime bool

	// read reads the headers of a request before its body, and describe completes the description:
	// [Mutate] sets both.
	read     func(*Context) error
	describe func(*huma.Operation)
	// ownWork says that what is registered is no work of a service, but has it or needs none.
	ownWork bool
}

// standIn does the work of the operation in its place, where a test asks for that (package standin).
func (op Operation) standIn(ctx context.Context, result any) (done bool, err error) {
	if op.ownWork {
		return false, nil
	}
	return standin.Work(ctx, result)
}

// OneOf has a value of each form that an answer may have.
type OneOf []any

// operationKey is the key of our operation in the metadata of huma's.
const operationKey = "operation"

// huma returns huma's form of the operation, with that route.
func (s *operations) huma(op Operation, route schema.Route) huma.Operation {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	described := huma.Operation{
		OperationID: op.ID, Method: route.Method, Path: route.Path, Summary: route.Summary, Description: op.Description,
		DefaultStatus: op.Status,
		Metadata:      map[string]any{operationKey: op}, Responses: map[string]*huma.Response{},
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
	if op.HasBody || hasBody(route.Method) {
		errs = append(append(errs, s.config.Errors.OfBodies...), kit.TooLarge(s.config.MaxBodyBytes),
			&validate.Error{Status: http.StatusUnsupportedMediaType,
				Problems: []validate.Problem{{Field: "Content-Type", Message: "is not application/json"}}})
	}
	if route.Caller.Group != "" {
		errs = append(errs, ErrForbidden)
	}
	described.Parameters = append(described.Parameters, op.Parameters...)
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
	return described
}

func hasBody(method string) bool { return method != http.MethodGet && method != http.MethodDelete }

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
		return s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(value), true, "")
	}
}

// Register declares an operation and the function that serves it. It panics if the platform has no route with its ID,
// because the API would pass no request on and the caller would be undefined.
func Register[I, O any](s *Server, op Operation, serve func(context.Context, *I) (*O, error)) {
	s.operation(op, func(all *operations) {
		huma.Register(all.api, all.declare(op), func(ctx context.Context, input *I) (*O, error) {
			if err := s.refused(ctx); err != nil {
				return nil, err
			}
			var output *O
			done, err := op.standIn(ctx, &output)
			if !done {
				output, err = serve(ctx, input)
			}
			if err != nil {
				return nil, s.failure(ctx, err)
			}
			return output, nil
		})
	})
}

type bodyOutput[B any] struct{ Body B }

// Serve is [Register] for an operation whose answer is a body alone. It does not call
// Register: each generic layer has the whole form of the input in the names of the binary.
func Serve[I, B any](s *Server, op Operation, serve func(context.Context, *I) (B, error)) {
	s.operation(op, func(all *operations) {
		huma.Register(all.api, all.declare(op), func(ctx context.Context, input *I) (*bodyOutput[B], error) {
			if err := s.refused(ctx); err != nil {
				return nil, err
			}
			var body B
			done, err := op.standIn(ctx, &body)
			if !done {
				body, err = serve(ctx, input)
			}
			if err == nil && op.Headers["ETag"] != "" {
				err = setHeadersOf(ctx, op, body)
			}
			if err != nil {
				return nil, s.failure(ctx, err)
			}
			return &bodyOutput[B]{body}, nil
		})
	})
}

// setHeadersOf sets the headers that follow from a body.
func setHeadersOf(ctx context.Context, op Operation, body any) error {
	response, err := kept(http.StatusOK, body)
	if err == nil {
		requestFrom(ctx).setHeaders(op.headersOf(response))
	}
	return err
}

// declare is the operation as huma has it.
func (s *operations) declare(op Operation) huma.Operation {
	route, _ := s.route(op.ID)
	return s.huma(op, route)
}

// refused is the answer to a request in which a strict server found undeclared or repeated
// input.
func (s *Server) refused(ctx context.Context) error {
	if problems := problemsFrom(ctx); len(problems) > 0 {
		return s.failure(ctx, &validate.Error{Problems: problems})
	}
	return nil
}
