package httpapi

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// inputForm is the form of an operation's input, which has the type of a [bound].
type inputForm struct {
	*openapi.Input
	// params and body are the places of these fields.
	params, body []int
	// defaults are the values of the parameters that are left out, and queries the names of those of the query.
	defaults, queries []string
}

func newInputForm(form *openapi.Input, of reflect.Type) *inputForm {
	params, _ := of.FieldByName("Params")
	body, _ := of.FieldByName("Body")
	in := &inputForm{Input: form, params: params.Index, body: body.Index}
	for _, p := range form.Parameters {
		in.defaults = append(in.defaults, p.Field.Tag.Get("default"))
		if p.In == "query" {
			in.queries = append(in.queries, p.Name)
		}
	}
	return in
}

// read reads a request into an input, and returns all that is wrong with it, also by the rules that check checks.
func (s *Server) read(ctx *Context, in *inputForm, input any, check func() error) error {
	value, j := reflect.ValueOf(input).Elem(), &openapi.Judge{Forms: in}
	body, parsed, err := s.readBody(ctx, in)
	if err != nil {
		return err
	}
	if s.api.Strict {
		in.undeclared(j, ctx.query, parsed)
	}
	params := value.FieldByIndex(in.params)
	for i, p := range in.Parameters {
		readParameter(j, ctx, p, in.defaults[i], params.FieldByIndex(p.Field.Index))
	}
	if len(body) > 0 {
		before := j.Found()
		j.Value("", in.Body, parsed)
		if err := unmarshal(body, value.FieldByIndex(in.body).Addr().Interface()); err != nil && j.Found() == before {
			j.Add("", validate.Constraint{}, err.Error())
		}
	}
	if err := j.Rules(check()); err != nil {
		return err
	}
	return j.Err()
}

// readBody returns the body of a request, and what JSON decodes it into.
func (s *Server) readBody(ctx *Context, in *inputForm) (body []byte, parsed any, err error) {
	if in.Body == nil {
		return nil, nil, nil
	}
	if body = ctx.body; len(body) == 0 {
		if in.BodyRequired {
			err = validate.Unreadable("body", validate.Constraint{Rule: validate.RuleRequired},
				"is missing, but required")
		}
		return nil, nil, err
	}
	if format := ctx.Header("Content-Type"); format != "" && format != "application/json" &&
		!strings.HasSuffix(format, "+json") {
		return nil, nil, &validate.Error{Status: http.StatusUnsupportedMediaType, Problems: []validate.Problem{{
			Field:      "Content-Type",
			Message:    "is not application/json: send JSON with the header Content-Type: application/json",
			Constraint: validate.Constraint{Rule: validate.RuleEnum, Allowed: []string{"application/json"}}}}}
	}
	if parsed, err = s.decode(body); err != nil {
		return nil, nil, validate.Unreadable("body", validate.Constraint{}, err.Error())
	}
	return body, parsed, nil
}

// readParameter reads a parameter, or what stands for one that is left out, into its field, and judges it.
func readParameter(j *openapi.Judge, ctx *Context, p openapi.Parameter, otherwise string, field reflect.Value) {
	text := ""
	switch p.In {
	case "path":
		text = ctx.Request.PathValue(p.Name)
	case "query":
		text = ctx.query.Get(p.Name)
	case "header":
		text = ctx.Header(p.Name)
	}
	texts := []string{cmp.Or(text, otherwise)}
	switch {
	case j.Wrong(p.Name):
		return
	case text == "" && !p.Required && p.In == "header" && p.Schema.MinLength != nil && ctx.has(p.Name):
		j.Value(p.Name, p.Schema, "")
		return
	case texts[0] == "" && p.Required:
		j.Broken(p.Name, validate.Constraint{Rule: validate.RuleRequired})
		return
	case texts[0] == "":
		return
	case p.Explode != nil && *p.Explode && text != "":
		texts = ctx.query[p.Name]
	case p.Schema.Type == openapi.List:
		texts = strings.Split(texts[0], ",")
	}
	got, err := parse(field, texts...)
	if err != nil {
		before := j.Found()
		if p.Schema.Type == openapi.Text {
			j.Value(p.Name, p.Schema, text) // a format says more than a type
		}
		for i, text := range texts {
			if p.Schema.Type != openapi.List {
				break
			}
			if _, err := parse(reflect.New(field.Type().Elem()).Elem(), text); err != nil {
				j.Broken(fmt.Sprintf("%s[%d]", p.Name, i), validate.Constraint{Rule: validate.RuleType,
					Type: p.Schema.Items.Type, Got: text})
			}
		}
		if j.Found() == before {
			j.Broken(p.Name, validate.Constraint{Rule: validate.RuleType, Type: p.Schema.Type, Got: text})
		}
		return
	}
	j.Value(p.Name, p.Schema, got)
}

// parse reads the text of a parameter, or the texts of a list, into its field, and returns what is judged.
func parse(field reflect.Value, texts ...string) (got any, err error) {
	if own, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return texts[0], own.UnmarshalText([]byte(texts[0]))
	}
	switch kind := field.Kind(); {
	case kind == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return parse(field.Elem(), texts...)
	case kind == reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), len(texts), len(texts)))
		list := make([]any, len(texts))
		for i, text := range texts {
			if list[i], err = parse(field.Index(i), text); err != nil {
				return nil, err
			}
		}
		return list, nil
	case kind == reflect.String:
		field.SetString(texts[0])
		return texts[0], nil
	case kind == reflect.Bool:
		is, err := strconv.ParseBool(texts[0])
		field.SetBool(is)
		return is, err
	case field.CanInt():
		n, err := strconv.ParseInt(texts[0], 10, field.Type().Bits())
		field.SetInt(n)
		return n, err
	case field.CanUint():
		n, err := strconv.ParseUint(texts[0], 10, field.Type().Bits())
		field.SetUint(n)
		return float64(n), err
	case field.CanFloat():
		n, err := strconv.ParseFloat(texts[0], field.Type().Bits())
		field.SetFloat(n)
		return n, err
	}
	panic(fmt.Sprintf("httpapi: a parameter cannot be a %s: see BindWork", field.Type()))
}

// undeclared finds the parameters of a query that the operation does not declare or that stand twice, and the fields of
// a body whose names differ from the form's only in case.
func (in *inputForm) undeclared(j *openapi.Judge, query url.Values, body any) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		add := func(message string) { j.Add(validate.Clipped(name), validate.Constraint{}, message) }
		values := query[name]
		switch {
		case !slices.Contains(in.queries, name) && len(in.queries) == 0:
			add("is no query parameter of this route, which has none")
		case !slices.Contains(in.queries, name):
			add("is no query parameter of this route; use " + strings.Join(in.queries, ", "))
		case len(values) > 1:
			add(fmt.Sprintf("stands %d times; give it once", len(values)))
		case values[0] == "":
			add("is empty; give it a value, or leave it out")
		case !utf8.ValidString(values[0]):
			add("is not valid UTF-8")
		}
	}
	fields, _ := body.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if in.Body.Properties[name] == nil && len(openapi.InAnyCase(name, in.Body.Properties)) > 0 {
			j.Unknown(name)
		}
	}
}
