package api

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema"
)

// tokenScheme is the name of the security scheme of users' tokens.
const tokenScheme = "userToken"

// Document is the OpenAPI 3.1 document of all routes, as JSON.
func Document() ([]byte, error) {
	s := newServer(&API{})
	s.OpenAPI().Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		tokenScheme: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: "A token of this platform's issuer. The user is its subject."},
	}
	return s.Document()
}

// operation declares one route.
type operation struct {
	// method and path are those of a route of the schema.
	method, path string
	id           string
	description  string
	// status is that of success, and also has other answers that are no failure.
	status int
	also   map[int]string
	// form is the form of success, if the output's type does not say it: a struct, or one
	// of several.
	form any
	// content is the same as OpenAPI has it.
	content map[string]*huma.MediaType
	// etag says that the answer has the task's ETag.
	etag bool
	// errors are those that only some operations have.
	errors []error
}

// oneOf are the forms that an answer may have.
type oneOf []any

// describe is an operation as huma has it.
func (s *server) describe(op operation) huma.Operation {
	route, _ := s.Route(op.method, op.path)
	described := huma.Operation{
		OperationID:   op.id,
		Method:        op.method,
		Path:          op.path,
		Description:   op.description,
		DefaultStatus: op.status,
		Responses:     map[string]*huma.Response{},
	}
	success := &huma.Response{Description: http.StatusText(op.status), Content: op.content, Headers: map[string]*huma.Header{}}
	if op.form != nil {
		success.Content = httpapi.JSON(s.form(op.form), nil)
	}
	if _, isTask := op.form.(Task); isTask || op.etag {
		success.Headers["ETag"] = httpapi.ResponseHeader(huma.TypeString, "The task's version, for If-Match.")
	}
	if op.status == http.StatusCreated {
		success.Headers["Location"] = httpapi.ResponseHeader(huma.TypeString, "The path of what was created.")
	}
	failures := append([]error{
		unreadable("query", `cannot be read: invalid URL escape "%zz"; percent-encode values`),
		httpapi.Invalid("title", "is missing, but required"),
		errUnknown,
	}, op.errors...)
	if route.Caller == schema.CallerUser {
		described.Security = []map[string][]string{{tokenScheme: {}}}
		failures = append(failures, kit.ErrNoToken, retry.ErrBusy)
	}
	if isMutation(route) {
		described.Parameters = append(described.Parameters, httpapi.HeaderParameter(keyHeader, true, maxKeyLength,
			"A key of the caller's choice, in printable ASCII. The same request with the same key is carried out once and answered alike for 24 hours; with another request the key is refused. "+
				"Two requests are the same if method, path, If-Match and body are, byte for byte. "+
				"The answer may be a refusal: of a task that is missing, completed or has another version, of a user who exists, or of an address that is taken. "+
				"A request that fails validation does not use its key up, nor does one that fails for want of a user, or for a reason that passes (409 with Retry-After, 429, 5xx).",
			"8e03978e-40d5-43dd-bc93-6894a57f9324"))
		success.Headers[replayedHeader] = replayed()
		failures = append(failures, &idempotency.RunningError{})
	}
	if takesPrecondition(route) {
		described.Parameters = append(described.Parameters, httpapi.HeaderParameter(ifMatchHeader, false, 0,
			"Makes the change only if the task has one of these ETags. A weak one (W/) matches none, and * any.", `"3"`))
	}
	if op.method != http.MethodGet && op.method != http.MethodDelete {
		failures = append(failures,
			&kit.RequestError{Status: http.StatusRequestEntityTooLarge, Message: "the body has more than 262144 bytes, which is the most allowed"},
			&httpapi.InvalidError{Status: http.StatusUnsupportedMediaType, Problems: []httpapi.Problem{{Field: "Content-Type", Message: "is not application/json"}}})
	}
	described.Responses[strconv.Itoa(op.status)] = success
	for status, detail := range op.also {
		described.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Headers: success.Headers,
			Content: httpapi.JSON(s.form(ErrorResponse{}), ErrorResponse{detail}),
		}
	}
	s.describeFailures(&described, failures)
	if isMutation(route) {
		for _, err := range op.errors {
			if isFinal(err) {
				described.Responses[strconv.Itoa(failure(err, time.Time{}).Status)].Headers[replayedHeader] = replayed()
			}
		}
	}
	return described
}

func replayed() *huma.Header {
	return httpapi.ResponseHeader(huma.TypeString, "true: this is the answer to an earlier attempt.")
}

func (s *server) form(value any) *huma.Schema {
	registry := s.OpenAPI().Components.Schemas
	forms, ok := value.(oneOf)
	if !ok {
		return registry.Schema(reflect.TypeOf(value), true, "")
	}
	var union huma.Schema
	for _, each := range forms {
		union.OneOf = append(union.OneOf, s.form(each))
	}
	return &union
}

// describeFailures adds a response for each status of the errors, with an example
// of each.
func (s *server) describeFailures(described *huma.Operation, errs []error) {
	for _, err := range errs {
		failed := failure(err, time.Time{})
		status := strconv.Itoa(failed.Status)
		response := described.Responses[status]
		if response == nil {
			response = &huma.Response{
				Description: http.StatusText(failed.Status),
				Headers:     map[string]*huma.Header{},
				Content:     httpapi.JSON(s.form(failed.Body), nil),
			}
			response.Content["application/json"].Examples = map[string]*huma.Example{}
			described.Responses[status] = response
		}
		if failed.Header.Get("Retry-After") != "" {
			response.Headers["Retry-After"] = httpapi.ResponseHeader(huma.TypeInteger, "When to try again, in seconds.")
		}
		examples := response.Content["application/json"].Examples
		examples[strconv.Itoa(len(examples)+1)] = &huma.Example{Value: failed.Body}
	}
}
