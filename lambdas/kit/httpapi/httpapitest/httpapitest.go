// Package httpapitest checks an API against its own OpenAPI document.
package httpapitest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

// Document is the part of an OpenAPI document that tests read.
type Document struct {
	Info  struct{ Description string }
	Paths map[string]map[string]Operation
	// Components has the forms.
	Components struct{ Schemas map[string]any }
	// JSON is the document as read.
	JSON []byte `json:"-"`

	forms *sync.Map // compiled ones, by their JSON
}

// Once returns a function that makes and parses the document of a platform when it is first called.
func Once(platform schema.Platform) func(testing.TB) Document {
	var once sync.Once
	var parsed Document
	return func(t testing.TB) Document {
		t.Helper()
		once.Do(func() { parsed = Parse(t, must.Get(openapi.Document(platform))(t)) })
		return parsed
	}
}

// Operation is an operation of the document: one method of one path.
type Operation struct {
	OperationID string
	Parameters  []Parameter
	RequestBody struct{ Content map[string]Content }
	Responses   map[string]Response
}

// Parameter is one of a request's parameters or headers.
type Parameter struct {
	Name, In string
	Required bool
	Example  any
	Schema   map[string]any
}

// Response is one answer that a request may get.
type Response struct {
	Description string
	Headers     map[string]any
	Content     map[string]Content
}

// Content is a response's body.
type Content struct {
	Schema   map[string]any
	Example  any
	Examples map[string]struct{ Value any }
}

// Parse reads a document, and checks that it is whole: references lead somewhere, and
// examples match their forms.
func Parse(t testing.TB, body []byte) Document {
	t.Helper()
	d := Document{JSON: body, forms: &sync.Map{}}
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatalf("the document is not JSON: %v", err)
	}
	for _, reference := range references.FindAllStringSubmatch(string(body), -1) {
		if d.Components.Schemas[reference[1]] == nil {
			t.Errorf("the document refers to the form %s, which it does not have", reference[1])
		}
	}
	for path, operations := range d.Paths {
		for method, operation := range operations {
			for status, response := range operation.Responses {
				where := method + " " + path + " " + status
				for _, content := range response.Content {
					if content.Example != nil {
						d.conforms(t, where+": example", content.Schema, content.Example)
					}
					for _, example := range content.Examples {
						d.conforms(t, where+": example", content.Schema, example.Value)
					}
				}
			}
		}
	}
	return d
}

var references = regexp.MustCompile(`"#/components/schemas/([^"]+)"`)

// ofEveryAnswer are the headers that say how to treat an answer, of any status.
var ofEveryAnswer = map[string]bool{"Cache-Control": true, "Content-Type": true, "Www-Authenticate": true,
	"X-Content-Type-Options": true}

// IsKept checks that an answer has the status, the headers and the body that the document describes. It ignores
// requests that match no route, and 405.
func (d Document) IsKept(t testing.TB, request *http.Request, answer *httptest.ResponseRecorder) {
	t.Helper()
	operation, ok := d.Operation(request)
	// No one gets the answer to a request that its caller has given up (package httpapi).
	if !ok || request.Context().Err() == context.Canceled {
		return
	}
	where := fmt.Sprintf("%s %s: %d", request.Method, request.URL.Path, answer.Code)
	response, ok := operation.Responses[fmt.Sprint(answer.Code)]
	if !ok {
		t.Errorf("%s is not described", where)
		return
	}
	for name := range answer.Header() {
		if !ofEveryAnswer[name] && !slices.ContainsFunc(slices.Collect(maps.Keys(response.Headers)),
			func(described string) bool { return strings.EqualFold(described, name) }) {
			t.Errorf("%s: the header %s is not described", where, name)
		}
	}
	content, ok := response.Content["application/json"]
	if !ok {
		if answer.Body.Len() > 0 {
			t.Errorf("%s: no body is described", where)
		}
		return
	}
	var body any
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Errorf("%s: the body is not JSON: %v", where, err)
		return
	}
	d.conforms(t, where, content.Schema, body)
}

// Operation returns the operation whose route a request matches. A path without variables takes
// precedence over one with variables.
func (d Document) Operation(request *http.Request) (found Operation, ok bool) {
	parts := strings.Split(request.URL.EscapedPath(), "/")
	best := len(parts)
	for path, operations := range d.Paths {
		pattern := strings.Split(path, "/")
		if len(pattern) != len(parts) {
			continue
		}
		wild := 0
		for i, p := range pattern {
			if strings.HasPrefix(p, "{") && parts[i] != "" {
				wild++
			} else if p != parts[i] {
				wild = len(parts)
				break
			}
		}
		if operation, has := operations[strings.ToLower(request.Method)]; has && wild < best {
			found, ok, best = operation, true, wild
		}
	}
	return found, ok
}

// conforms checks a value against a form.
func (d Document) conforms(t testing.TB, where string, form map[string]any, value any) {
	t.Helper()
	if err := d.compiled(t, form).Validate(value); err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

// compiled returns a form as a validator of JSON Schema reads it.
func (d Document) compiled(t testing.TB, form map[string]any) *jsonschema.Schema {
	t.Helper()
	key := asJSON(form)
	if found, ok := d.forms.Load(key); ok {
		return found.(*jsonschema.Schema)
	}
	whole := map[string]any{"components": map[string]any{"schemas": d.Components.Schemas}}
	maps.Copy(whole, form)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		return regexp.Compile(codePoint.ReplaceAllString(pattern, `\x{$1}`))
	})
	must.OK(t, c.AddResource("answer.json", whole))
	made := must.Get(c.Compile("answer.json"))(t)
	d.forms.Store(key, made)
	return made
}

// codePoint is a code point in a pattern of the document, which ECMAScript spells otherwise than package regexp.
var codePoint = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}
