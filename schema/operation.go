package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// Operation is one HTTP operation of a platform, as one value: its route, what it is for, and the forms of what it is
// sent and what it answers. P has its parameters: a struct of fields with the tags path, query or header. B is its JSON
// body, and A its answer. [None] stands for each that it does not have.
//
// The value is all that is said of the operation. The constructs make its route, the server (lambdas/kit/httpapi) reads
// and checks its requests and writes the OpenAPI document, and the client (schema/client) sends them.
//
// A field of a parameter or body may have the tag strict, a list of rules with commas between them: see [Strict].
type Operation[P, B, A any] Description

// None is the form of parameters, a body or an answer that an operation does not have.
type None = struct{}

// Described is an [Operation] of any form.
type Described interface {
	// Describe returns the operation's description.
	Describe() Description
}

// Description is what an [Operation] says of itself.
type Description struct {
	// ID is its ID in the OpenAPI document, such as "askQuestion", unique in the platform.
	ID string
	// Route is the method in capitals, a space, and the path with parameters in braces, such as
	// "GET /agent/questions/{question_id}".
	Route string
	// Function is the name of the function that serves it.
	Function string
	// Caller says who may call it.
	Caller Caller
	// RateLimit names the limit that a call counts towards. Empty: none but the API's own throttling.
	RateLimit string
	// Summary is one line for people, without a full stop.
	Summary string
	// Detail says what it does, in sentences. Empty: the summary says it all.
	Detail string

	// Status is the status of success. Zero: 204 if the answer is [None], and otherwise 200.
	Status int
	// OneOf has a value of each form that an answer may have. Default: the answer has the form A.
	OneOf []any
	// Further are the bodies of further successful answers, by status.
	Further map[int]any
	// Headers describe the headers of success, by name. If ETag is among them, the answer has the entity tag of its
	// field version.
	Headers map[string]string
	// Location is the path of what it creates, with fields of the answer, such as "/tasks/{task_id}". It becomes the
	// header Location of 201. Empty: no header.
	Location string
	// Strict has rules as in the tag strict, by place, such as "body.callback_url": those that no tag can have.
	Strict map[string]string
	// Variants are the possible forms of the body. A body has exactly one of them. Default: that of B.
	Variants []Variant
	// IfMatch names what the header If-Match protects, such as "the task". Empty: it has no such header.
	IfMatch string
	// Key says whether requests have an idempotency key.
	Key KeyUse
	// Errors are examples of errors that only this operation returns.
	Errors []error
	// NeedsCaller refuses unidentified callers, even if Caller need not identify itself.
	NeedsCaller bool
	// CountsAlong says that it may count its call towards the rate limit with one of its own writes. The server counts
	// a call that it has not counted before its next write, and before the answer.
	CountsAlong bool
	// NoWorkTime gives it all the time of its invocation: the server's bound of work does not hold for it.
	NoWorkTime bool
	// ReachesOut says that it asks something beside the tables before its first write, such as a language model. Then
	// its idempotency key is claimed before it begins.
	ReachesOut bool

	params, body, answer reflect.Type
}

// KeyUse says whether the requests of an operation have an idempotency key. The server carries out a request with a key
// once.
type KeyUse string

// The uses of keys.
const (
	// KeyNone: the header has no meaning.
	KeyNone KeyUse = ""
	// KeyRequired: each request needs the header.
	KeyRequired KeyUse = "required"
	// KeyOptional: a request without the header is carried out each time.
	KeyOptional KeyUse = "optional"
	// KeyOwn: the operation finds the key in its parameters and its body.
	KeyOwn KeyUse = "own"
)

// Variant is one form that the body of an operation may have.
type Variant struct {
	// Required are fields that this form must have, and that are not null.
	Required []string
	// Strict has rules for fields, by name, as in the tag strict.
	Strict map[string]string
}

// Describe implements [Described].
func (o Operation[P, B, A]) Describe() Description {
	d := Description(o)
	d.params, d.body, d.answer = reflect.TypeFor[P](), reflect.TypeFor[B](), reflect.TypeFor[A]()
	if d.Answer() == nil && d.OneOf == nil {
		d.Status = cmp.Or(d.Status, 204)
	}
	d.Status = cmp.Or(d.Status, 200)
	return d
}

// Params is the type of its parameters, and [None] without any.
func (d Description) Params() reflect.Type { return d.params }

// Parameter is a parameter of an operation.
type Parameter struct {
	// Place is "path", "query" or "header", and Name the name there.
	Place, Name string
	// Required says that each request has it.
	Required bool
	// Explode says that each entry of a list is a parameter of its own. Otherwise commas separate them.
	Explode bool
	// Field is the field of the type that [Description.Params] returns.
	Field reflect.StructField
}

// Parameters are its parameters, in the order of their fields.
func (d Description) Parameters() (all []Parameter) {
	for _, field := range reflect.VisibleFields(d.params) {
		for _, place := range []string{"path", "query", "header"} {
			if name, option, _ := strings.Cut(field.Tag.Get(place), ","); name != "" {
				required := place == "path" || field.Tag.Get("required") == "true"
				all = append(all, Parameter{place, name, required, option == "explode", field})
			}
		}
	}
	return all
}

// Body is the type of its body; nil: it has none.
func (d Description) Body() reflect.Type { return unlessNone(d.body) }

// Answer is the type of its answer; nil: it has none.
func (d Description) Answer() reflect.Type { return unlessNone(d.answer) }

// Succeeds reports whether a status is one of success: Status, or one of Further.
func (d Description) Succeeds(status int) bool {
	_, further := d.Further[status]
	return further || status == cmp.Or(d.Status, 200)
}

func unlessNone(form reflect.Type) reflect.Type {
	if form == reflect.TypeFor[None]() {
		return nil
	}
	return form
}

// Routes are the routes of operations, for [Platform.Routes] and [Own].
func Routes(operations ...Described) []Route {
	routes := make([]Route, len(operations))
	for i, each := range operations {
		d := each.Describe()
		method, path, _ := strings.Cut(d.Route, " ")
		routes[i] = Route{ID: d.ID, Method: method, Path: path, Function: d.Function, Caller: d.Caller,
			RateLimit: d.RateLimit, Summary: d.Summary, operation: &d}
	}
	return routes
}

// Operation is what the route does. False: the route is no [Operation].
func (r Route) Operation() (Description, bool) {
	if r.operation == nil {
		return Description{}, false
	}
	return *r.operation, true
}

// DocumentOperation returns the operation that answers with the OpenAPI document, to anyone. detail is its Detail.
func DocumentOperation(route, function, detail string) Operation[None, None, Document] {
	return Operation[None, None, Document]{ID: "readDocument", Route: route, Function: function, Caller: CallerAnyone,
		Summary: "Read this API's OpenAPI document", Detail: detail}
}

// HealthOperation returns the operation by which monitors see that the API answers, for anyone. detail is its Detail.
func HealthOperation(route, function, detail string) Operation[None, None, Health] {
	return Operation[None, None, Health]{ID: "readHealth", Route: route, Function: function, Caller: CallerAnyone,
		Summary: "See that the API answers", Detail: detail}
}

// Health says that an API answers.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// Document is an OpenAPI document, as JSON.
type Document []byte

// Strict reads one rule of a tag strict. The rules say in the OpenAPI document what values the operation refuses beside
// those that its form does not allow. They check nothing: validate.Checker or the operation does.
//
//	uuid          a UUID
//	timezone      the IANA name of a time zone
//	notblank      a text with a visible character
//	day           a day as YYYY-MM-DD, or an empty text
//	distinct      a list that has each entry once
//	empty         a list that is left out, null or empty
//	atleast=2     a list of at least that many entries, each once
//	one=a|b       one of these texts
//	each=RULE     a list whose entries keep the rule
//	null          a field that is left out or null; null=TEXT describes it by the text, to the end of the tag
//	pattern=REGEX a text that matches; the expression goes to the end of the tag
type Strict struct {
	// Name is the word before the equals sign, and Value what follows it.
	Name, Value string
}

// strictNames are the names of rules, and whether a rule has a value.
var strictNames = map[string]bool{"uuid": false, "timezone": false, "notblank": false, "day": false, "distinct": false,
	"empty": false, "atleast": true, "one": true, "each": true, "null": false}

// StrictRules reads a tag strict. An error names a rule that there is not.
func StrictRules(tag string) (rules []Strict, err error) {
	for tag != "" {
		if expression, ok := strings.CutPrefix(tag, "pattern="); ok {
			return append(rules, Strict{"pattern", expression}), nil
		}
		if text, ok := strings.CutPrefix(tag, "null="); ok {
			return append(rules, Strict{"null", text}), nil
		}
		var rule string
		rule, tag, _ = strings.Cut(tag, ",")
		name, value, _ := strings.Cut(rule, "=")
		valued, known := strictNames[name]
		if !known || valued && value == "" {
			return nil, fmt.Errorf("the tag strict: got %q, allowed are the rules of schema.Strict: correct it", rule)
		}
		rules = append(rules, Strict{name, value})
	}
	return rules, nil
}
