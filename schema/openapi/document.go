package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// componentPrefix begins the references to the forms of a document.
const componentPrefix = "#/components/schemas/"

// Document returns the OpenAPI 3.1 document of a platform's operations, as JSON. Routes that are no operations are not
// in it. The forms have what [schema.Platform.Extra] shows.
func Document(p schema.Platform) ([]byte, error) {
	d := &document{platform: p, forms: NewForms(componentPrefix, p.API.Forms, p.API.Strict)}
	d.OpenAPI = &huma.OpenAPI{OpenAPI: "3.1.0", Components: &huma.Components{Schemas: d.forms.Registry},
		Info: &huma.Info{Title: p.Title, Version: "1.0.0", Description: p.API.Description + ofGateway}}
	for _, group := range p.API.Groups {
		d.Tags = append(d.Tags, &huma.Tag{Name: group.Name, Description: group.Description})
	}
	d.Components.SecuritySchemes = map[string]*huma.SecurityScheme{}
	for _, credential := range p.API.Credentials {
		maps.Copy(d.Components.SecuritySchemes, schemes(credential))
	}
	var described []*operation
	for _, route := range p.Operations() {
		if op, ok := route.Operation(); ok {
			described = append(described, d.describe(op, route))
		}
	}
	d.forms.Complete()
	for _, each := range described {
		if form := each.input.Body; form != nil && len(form.Properties) > 0 {
			each.RequestBody.Description = "Fields that this form does not name are " +
				map[bool]string{true: "refused.", false: "ignored."}[p.API.Strict]
		}
		d.describeGateway(each.Operation, each.route)
		d.precise(each)
	}
	body, err := json.Marshal(d.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	return withExtra(body, p)
}

// document is one in the making.
type document struct {
	*huma.OpenAPI
	platform schema.Platform
	forms    Forms
}

// operation is one of a document.
type operation struct {
	*huma.Operation
	declared schema.Description
	route    schema.Route
	input    *Input
}

// moment is when the errors of examples happen.
func moment() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// failure is the answer to an error.
func (d *document) failure(err error) problem.Failure {
	return d.platform.API.Errors.Find(err, moment())
}

// describe adds an operation to the document.
func (d *document) describe(op schema.Description, route schema.Route) *operation {
	status, errors := op.Status, d.platform.API.Errors
	credential := d.platform.API.Credentials[route.Caller]
	described := &huma.Operation{
		OperationID: op.ID, Method: route.Method, Path: route.Path, Summary: route.Summary, Description: op.Detail,
		Responses: map[string]*huma.Response{},
	}
	if credential.Group != "" {
		described.Tags = []string{credential.Group}
	}
	for _, name := range slices.Sorted(maps.Keys(schemes(credential))) {
		described.Security = append(described.Security, map[string][]string{name: {}})
	}
	if header := credential.Header; header != nil {
		named := *header
		named.Required = named.Required || op.NeedsCaller
		described.Parameters = append(described.Parameters, headerParameter(named))
	}
	final := slices.Clone(op.Errors)
	if op.Key != schema.KeyNone && op.IfMatch != "" {
		final = append(final, &problem.VersionError{What: op.IfMatch, Current: 4})
	}
	described.Parameters = append(described.Parameters, d.headersOf(op)...)
	input := inputOf(op, d.forms)
	for _, p := range input.Parameters {
		described.Parameters = append(described.Parameters, p.Param)
	}
	if input.Body != nil {
		described.RequestBody = &huma.RequestBody{Required: input.BodyRequired, Content: content(input.content, nil)}
	}

	examples := append([]error{validate.Unreadable("query", validate.Constraint{},
		`cannot be read: invalid URL escape "%zz"; percent-encode values`)}, errors.Always...)
	examples = append(append(examples, errUnknown), final...)
	if op.Key != schema.KeyNone {
		examples = append(examples, &problem.RunningError{})
	}
	if d.platform.API.NeedsToken(route.Caller) {
		examples = append(examples, problem.ErrNoToken)
	}
	examples = append(examples, credential.Errors...)
	if route.Caller != schema.CallerAnyone {
		if examples = append(examples, errors.OfCallers...); errors.OfCallers == nil {
			examples = append(examples, problem.ErrBusy)
		}
	}
	if hasBody(described) {
		examples = append(append(examples, errors.OfBodies...),
			problem.TooLarge(cmp.Or(d.platform.API.MaxBodyBytes, problem.DefaultMaxBodyBytes)),
			&validate.Error{Status: http.StatusUnsupportedMediaType,
				Problems: []validate.Problem{{Field: "Content-Type", Message: "is not application/json"}}})
	}
	if route.Caller.Group != "" {
		examples = append(examples, problem.ErrForbidden)
	}
	headers := map[string]*huma.Header{}
	d.describeLimit(described, route, headers)
	d.describeErrors(described, examples, headers)
	d.describeSuccess(described, op, status, headers)
	if op.Key != schema.KeyNone && op.Key != schema.KeyOwn {
		statuses := []int{status}
		for _, err := range final {
			if errors.IsFinal(err, d.platform.API.Passing) {
				statuses = append(statuses, d.failure(err).Status)
			}
		}
		for _, status := range statuses {
			described.Responses[strconv.Itoa(status)].Headers[schema.ReplayedHeader] = responseHeader(Text,
				"true: this is the answer to an earlier attempt.")
		}
	}
	d.AddOperation(described)
	return &operation{described, op, route, input}
}

// describeSuccess adds the answers of success to an operation.
func (d *document) describeSuccess(described *huma.Operation, op schema.Description, status int,
	headers map[string]*huma.Header) {
	success := &huma.Response{Description: http.StatusText(status), Headers: maps.Clone(headers)}
	for name, says := range op.Headers {
		success.Headers[name] = responseHeader(Text, says)
	}
	var form *Form
	switch {
	case op.OneOf != nil:
		form = &Form{}
		for _, each := range op.OneOf {
			form.OneOf = append(form.OneOf, d.form(each))
		}
	case op.Answer() == reflect.TypeFor[schema.Document]():
		form = &Form{Type: huma.TypeObject}
	case op.Answer() != nil:
		form = d.form(reflect.Zero(op.Answer()).Interface())
	}
	if form != nil {
		success.Content = content(form, nil)
	}
	described.Responses[strconv.Itoa(status)] = success
	for status, body := range op.Further {
		described.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Headers: success.Headers, Content: content(d.form(body), body),
		}
	}
}

// headersOf are the headers of an operation's idempotency key, unless the operation finds the key itself.
func (d *document) headersOf(op schema.Description) (all []*huma.Param) {
	if op.Key == schema.KeyNone || op.Key == schema.KeyOwn {
		return nil
	}
	key := headerParameter(schema.HeaderParameter{Name: schema.KeyHeader, Required: op.Key != schema.KeyOptional,
		MaxLength: schema.MaxKeyLength, Description: d.platform.API.Key,
		Example: "8e03978e-40d5-43dd-bc93-6894a57f9324"})
	key.Schema.Pattern = `^[ -~]*$`
	if !key.Required {
		key.Schema.Pattern = `^[ -~]+$`
	}
	if all = append(all, key); op.IfMatch == "" {
		return all
	}
	ifMatch := headerParameter(schema.HeaderParameter{Name: schema.IfMatchHeader, Example: `"3"`, Description: "Makes " +
		"the change only if " + op.IfMatch + " has one of these ETags. A weak one (W/) matches none, and * any."})
	ifMatch.Schema.Pattern = entityTags
	return append(all, ifMatch)
}

// errUnknown stands for an error that must not be revealed.
var errUnknown = fmt.Errorf("an unknown error")

// describeErrors adds to an operation a response for each status of the errors, with an example of
// each. headers are the headers of every answer. A response of one error has that error's code or
// description; several errors are numbered.
func (d *document) describeErrors(described *huma.Operation, errs []error, headers map[string]*huma.Header) {
	failures := map[int][]problem.Failure{}
	for _, err := range errs {
		failure := d.failure(err)
		failures[failure.Status] = append(failures[failure.Status], failure)
	}
	for status, failures := range failures {
		answers := d.platform.API.Errors
		response := &huma.Response{Headers: maps.Clone(headers),
			Content: content(d.form(answers.Form(failures[0])), nil)}
		body := response.Content["application/json"]
		var names []string
		for i, failure := range failures {
			name := cmp.Or(failure.Description, failure.Code, http.StatusText(status))
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			if failure.RetryAfter > 0 {
				if response.Headers == nil {
					response.Headers = map[string]*huma.Header{}
				}
				response.Headers["Retry-After"] = responseHeader(huma.TypeInteger, "When to try again, in seconds.")
			}
			if len(failures) == 1 && cmp.Or(failure.Description, failure.Code) != "" {
				body.Example = answers.Form(failure)
				break
			}
			if body.Examples == nil {
				body.Examples = map[string]*huma.Example{}
			}
			body.Examples[strconv.Itoa(i+1)] = &huma.Example{Value: answers.Form(failure)}
		}
		response.Description = strings.Join(names, ", ")
		described.Responses[strconv.Itoa(status)] = response
	}
}

// describeLimit adds the limit of its route to an operation, and the headers that report it to
// headers.
func (d *document) describeLimit(described *huma.Operation, route schema.Route, headers map[string]*huma.Header) {
	limit, ok := d.platform.RateLimit(route.RateLimit)
	if !ok {
		return
	}
	described.Description += fmt.Sprintf(" At most %d calls in %s for each %s", limit.Requests, limit.Window, limit.Per)
	if header := d.platform.API.Credentials[route.Caller].Header; limit.AddressRequests > 0 && header != nil {
		described.Description += fmt.Sprintf(", or for each address without %s; and %d for all of an address together",
			header.Name, limit.AddressRequests)
	}
	described.Description += ". A call that is refused for its content counts, too."
	for name, says := range map[string]string{
		"RateLimit-Limit": "How many calls a window allows; with several limits, that of which the least is " +
			"left.",
		"RateLimit-Remaining":   "How many of them are left.",
		"RateLimit-Reset":       "When the next window begins: in so many seconds.",
		"X-RateLimit-Limit":     "How many calls a window allows.",
		"X-RateLimit-Remaining": "How many of them are left.",
		"X-RateLimit-Reset":     "When the next window begins, in Unix seconds.",
	} {
		headers[name] = responseHeader(huma.TypeInteger, says)
	}
}

func hasBody(operation *huma.Operation) bool {
	return operation.RequestBody != nil || operation.Method != http.MethodGet && operation.Method != http.MethodDelete
}

// form is the form of a value, which the document then has.
func (d *document) form(value any) *Form { return d.forms.Schema(reflect.TypeOf(value), true, "") }

// content is JSON of that form.
func content(form *Form, example any) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: form, Example: example}}
}

// schemes are the security schemes of a credential, by name. Each alone is enough.
func schemes(c schema.Credential) map[string]*huma.SecurityScheme {
	switch {
	case c.Token != "":
		return map[string]*huma.SecurityScheme{
			c.Token: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: c.Description}}
	case c.Key != "":
		return map[string]*huma.SecurityScheme{
			c.Key: {Type: "apiKey", In: "header", Name: c.KeyHeader, Description: c.Description},
			c.Key + "Bearer": {Type: "http", Scheme: "bearer",
				Description: "The same key. It counts before that of " + c.KeyHeader + "."},
		}
	}
	return nil
}

// headerParameter describes a request header.
func headerParameter(h schema.HeaderParameter) *huma.Param {
	least := 1
	form := &Form{Type: Text, MinLength: &least, Pattern: noControl}
	if h.MaxLength > 0 {
		form.MaxLength = &h.MaxLength
	}
	return &huma.Param{Name: h.Name, In: "header", Required: h.Required, Description: h.Description, Example: h.Example,
		Schema: form}
}

// responseHeader describes a response header.
func responseHeader(kind, description string) *huma.Header {
	return &huma.Header{Description: description, Schema: &Form{Type: kind}}
}
