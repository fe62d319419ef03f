package openapi

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema"
)

// precise makes the document of an operation as strict as its rules, where the form that huma
// checks allows more.
func (d *document) precise(o *operation) {
	in, op, strict := o.input, o.declared, d.platform.API.Strict
	declared := map[*huma.Param]bool{}
	for _, p := range in.Parameters {
		declared[p.Param] = true
		in.keep(p.Schema, p.Field.Tag.Get("strict"))
	}
	places := map[string]string{}
	addStrictFields(places, "body", op.Body())
	maps.Copy(places, op.Strict)
	for place, tag := range places {
		if form := o.at(place); form != nil {
			in.keep(form, tag)
		}
	}
	for _, parameter := range o.Parameters {
		// An empty query parameter counts as left out, unless it is a list.
		parameter.AllowEmptyValue = parameter.In == "query" && !parameter.Required && !strict &&
			parameter.Schema.Type != List
		// A header that is empty counts as left out, unless its field has a minLength, and strict servers refuse a
		// query parameter that is empty.
		if form := parameter.Schema; form.Type == Text && form.Format == "" && len(form.Enum) == 0 {
			least := 1
			switch {
			case parameter.In == "header" && !parameter.Required && !declared[parameter]:
				form.MinLength = nil
			case parameter.In == "query" && strict:
				form.MinLength = &least
			}
		}
	}
	if len(op.Variants) == 0 {
		return
	}
	base := in.Body
	var union Form
	for _, variant := range op.Variants {
		form := *base
		form.Properties = maps.Clone(base.Properties)
		form.Required = slices.Concat(base.Required, variant.Required)
		for _, name := range variant.Required {
			form.Properties[name] = changedForm(form.Properties[name], func(field *Form) {
				field.Nullable = false
			})
		}
		for name, tag := range variant.Strict {
			form.Properties[name] = changedForm(form.Properties[name], func(field *Form) {
				in.keep(field, tag)
			})
		}
		union.OneOf = append(union.OneOf, &form)
	}
	o.RequestBody.Content["application/json"].Schema = &union
}

// at is the form of the value at a place such as "body.options[1]" or "query.limit"; nil: there is none.
func (o *operation) at(place string) *Form {
	form, steps := o.input.Body, strings.FieldsFunc(place, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	if steps[0] != "body" {
		form = nil
		for _, p := range o.Parameters {
			if p.In == steps[0] && p.Name == steps[1] {
				form, steps = p.Schema, steps[1:]
			}
		}
	}
	for _, step := range steps[1:] {
		switch _, err := strconv.Atoi(step); {
		case form == nil:
			return nil
		case err == nil:
			form = Resolved(o.input, form.Items)
		default:
			form = Resolved(o.input, form.Properties[step])
		}
	}
	return form
}

func changedForm(form *Form, change func(*Form)) *Form {
	changed := *form
	change(&changed)
	return &changed
}

// dayOrEmpty says that a text is a day as YYYY-MM-DD, or empty. Whether null is allowed stays as it was.
func dayOrEmpty(form *Form) {
	if len(form.AnyOf) > 0 {
		return // another operation with the same body has said it
	}
	none := 0
	form.AnyOf = []*Form{{Type: Text, Format: "date"}, {Type: Text, MaxLength: &none}}
	if form.Nullable {
		form.AnyOf = append(form.AnyOf, &Form{Type: "null"})
	}
	form.Type, form.Nullable, form.Pattern, form.PatternDescription = "", false, "", ""
}

// notBlank is the pattern of a text with a visible character among Unicode's first 256.
const notBlank = `[^\u0000-\u0020\u007f-\u00a0\u00ad]`

// noControl is the pattern of a header without control characters. Characters above U+007F reach a
// function as invalid bytes.
const noControl = `^[^\u0000-\u001f\u007f]*$`

// entityTags is the pattern of If-Match (RFC 9110, section 13.1.1): *, or a list of entity tags with at least one comma
// between two of them.
const entityTags = `^[ \t]*(\*|[ \t,]*(W/)?"[!#-~\u0080-\uffff]*"([ \t]*,[ \t,]*(W/)?"[!#-~\u0080-\uffff]*")*[ \t,]*)[ \t]*$`

// addStrictFields adds the tags strict of a form and of the forms in it.
func addStrictFields(places map[string]string, place string, form reflect.Type) {
	for form != nil && (form.Kind() == reflect.Pointer || form.Kind() == reflect.Slice) {
		if form.Kind() == reflect.Slice {
			place += "[0]"
		}
		form = form.Elem()
	}
	if form == nil || form.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(form) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		if tag := field.Tag.Get("strict"); tag != "" {
			places[place+"."+name] = tag
		}
		addStrictFields(places, place+"."+name, field.Type)
	}
}

// keep makes a form as strict as a tag strict says. It panics for a tag that has no meaning.
func (in *Input) keep(form *Form, tag string) {
	rules, err := schema.StrictRules(tag)
	if err != nil {
		panic("openapi: " + err.Error())
	}
	for _, rule := range rules {
		switch rule.Name {
		case "uuid", "timezone":
			form.Format = map[string]string{"uuid": "uuid", "timezone": "iana-time-zone"}[rule.Name]
			// A format replaces the bounds and the pattern.
			form.Pattern, form.PatternDescription, form.MinLength, form.MaxLength = "", "", nil, nil
		case "notblank":
			form.Pattern = notBlank
		case "pattern":
			form.Pattern = rule.Value
		case "day":
			dayOrEmpty(form)
		case "distinct":
			form.UniqueItems = true
		case "empty":
			none := 0
			form.MinItems, form.MaxItems = nil, &none
		case "atleast":
			if entries, err := strconv.Atoi(rule.Value); err == nil {
				form.MinItems, form.UniqueItems = &entries, true
			}
		case "each":
			in.keep(Resolved(in, form.Items), rule.Value)
		case "null":
			*form = Form{Type: "null", Description: cmp.Or(rule.Value, form.Description)}
		case "one":
			form.Enum = nil
			for text := range strings.SplitSeq(rule.Value, "|") {
				form.Enum = append(form.Enum, text)
			}
		}
	}
}
