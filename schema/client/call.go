package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Answer is the successful answer to a request of an operation.
type Answer[A any] struct {
	Reply
	// Value is the body in the operation's form. Of an operation with OneOf it is the first of these forms that has all
	// fields of the body. Of one that answers with []byte it is the body as it came. It is the zero value if the answer
	// has a status of Further.
	Value A
	// Further is the body of an answer with a status of Further, in the form of that status. Nil: it is another answer.
	Further any
}

// Option changes a request.
type Option func(http.Header)

// Header sets a header of the request.
func Header(name, value string) Option { return func(h http.Header) { h.Set(name, value) } }

// IfMatch makes the change only if what it is about has this ETag, as an answer has it in its header ETag.
func IfMatch(tag string) Option { return Header("If-Match", tag) }

// Key is the idempotency key. Requests with one key are carried out once. Default: a key of its own for each call of an
// operation that requires one.
func Key(key string) Option { return Header("Idempotency-Key", key) }

// Call sends a request of an operation, and returns its answer. The error is a [*Refusal] if the API answers with a
// status that is none of the operation's successes. Other errors say that parameters make no path, that the connection
// failed, or that the answer has another form.
//
// A parameter with its zero value is left out, so the API assumes its default; a pointer is left out if it is nil. Call
// checks no rules: the API does. To send what the forms of an operation cannot say, convert it to one of other forms,
// such as schema.Operation[P, json.RawMessage, A](op).
func Call[P, B, A any](ctx context.Context, by Sender, op schema.Operation[P, B, A], params P, body B,
	options ...Option) (answer Answer[A], err error) {
	d := op.Describe()
	request, err := NewRequest(d, params, body, options...)
	if err != nil {
		return answer, err
	}
	if answer.Reply, err = request.Send(ctx, by); err != nil {
		return answer, err
	}
	further := d.Further[answer.Status]
	switch {
	case !d.Succeeds(answer.Status):
		return answer, RefusalOf(answer.Reply)
	case further != nil:
		answer.Further, err = read(answer.Body, []any{further})
	case d.OneOf != nil:
		var value any
		value, err = read(answer.Body, d.OneOf)
		answer.Value, _ = value.(A)
	case d.Answer() == nil || answer.Status >= http.StatusMultipleChoices:
	case isBytes(reflect.TypeFor[A]()):
		reflect.ValueOf(&answer.Value).Elem().SetBytes(answer.Body)
	default:
		err = json.Unmarshal(answer.Body, &answer.Value)
	}
	if err != nil {
		return answer, fmt.Errorf("%s: read the answer %.600s: %w", answer.Request, answer.Body, err)
	}
	return answer, nil
}

// read reads a body in the first of the forms that has all of its fields, or else in the first one.
func read(body []byte, forms []any) (any, error) {
	into := make([]reflect.Value, len(forms))
	for i, form := range forms {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields()
		if into[i] = reflect.New(reflect.TypeOf(form)); decoder.Decode(into[i].Interface()) == nil {
			return into[i].Elem().Interface(), nil
		}
	}
	err := json.Unmarshal(body, into[0].Interface())
	return into[0].Elem().Interface(), err
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// Request is a request of an operation, which is not sent yet.
type Request struct {
	// Path has the query, too.
	Method, Path string
	Header       http.Header
	// Body is a []byte, or nil without one.
	Body any
}

// Send sends the request. It may be called again, and by any goroutine.
func (r Request) Send(ctx context.Context, by Sender) (Reply, error) {
	return by.Send(ctx, r.Method, r.Path, r.Header, r.Body)
}

// NewRequest returns a request of an operation, for callers that do not know its forms when they are compiled. params
// has the type of the operation's parameters. body is ignored if the operation has none, and left out if it is a nil
// pointer. A slice of bytes is sent as it is, and all else as JSON.
func NewRequest(d schema.Description, params, body any, options ...Option) (r Request, err error) {
	r.Header = http.Header{}
	r.Method, r.Path, _ = strings.Cut(d.Route, " ")
	value, query := reflect.ValueOf(params), url.Values{}
	for _, p := range d.Parameters() {
		texts, err := texts(value.FieldByIndex(p.Field.Index), false)
		text := strings.Join(texts, ",")
		switch {
		case err != nil:
			return r, fmt.Errorf("%s: the parameter %s: %w", d.ID, p.Name, err)
		case p.Place == "path" && strings.Trim(text, ".") == "":
			return r, fmt.Errorf("%s: the parameter %s is %q, which leads to another path: set it", d.ID, p.Name, text)
		case p.Place == "path":
			r.Path = strings.ReplaceAll(r.Path, "{"+p.Name+"}", url.PathEscape(text))
		case texts == nil:
		case p.Place == "header":
			r.Header.Set(p.Name, text)
		case p.Explode:
			query[p.Name] = texts
		default:
			query.Set(p.Name, text)
		}
	}
	if len(query) > 0 {
		r.Path += "?" + query.Encode()
	}
	if d.Key == schema.KeyRequired {
		r.Header.Set("Idempotency-Key", rand.Text())
	}
	content := reflect.ValueOf(body)
	switch {
	case d.Body() == nil || !content.IsValid() || content.Kind() == reflect.Pointer && content.IsNil():
	case isBytes(content.Type()):
		r.Body = content.Bytes()
	default:
		r.Body, err = json.Marshal(body)
	}
	if r.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(r.Header)
	}
	return r, err
}

// texts are those of a parameter. Nil: it is left out, as a zero value is unless it is kept.
func texts(v reflect.Value, keep bool) (all []string, err error) {
	if v.IsZero() && !keep {
		return nil, nil
	}
	if own, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := own.MarshalText()
		return []string{string(text)}, err
	}
	switch v.Kind() {
	case reflect.Pointer:
		return texts(v.Elem(), true)
	case reflect.Slice:
		for i := range v.Len() {
			each, err := texts(v.Index(i), true)
			if err != nil {
				return nil, err
			}
			all = append(all, each...)
		}
		return all, nil
	case reflect.String:
		return []string{v.String()}, nil
	}
	text, err := json.Marshal(v.Interface())
	return []string{string(text)}, err
}
