// Package openapi derives JSON Schema from the types of a contract, by huma, and of these the OpenAPI document of its
// operations and the judge of what callers send.
package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Judge finds all that is wrong with one value, by forms of a registry. A name of a field may be in another case, as
// for encoding/json.
type Judge struct {
	// Forms are the forms that references lead to.
	Forms huma.Registry
	found []validate.Problem
	// wrong are the fields in which something is.
	wrong map[string]bool
}

// Check judges a Go value, as the JSON that it is written as, by the form of its type, and then by [validate.Check]. It
// returns a [*validate.Error], or nil.
func Check(value any) error {
	written, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("judging a %T: %w", value, err)
	}
	var got any
	if err := json.Unmarshal(written, &got); err != nil {
		return fmt.Errorf("judging a %T: %w", value, err)
	}
	j := Judge{Forms: NewForms("#/", nil, true)}
	j.Value("", j.Forms.Schema(reflect.TypeOf(value), true, ""), got)
	if err := j.Rules(validate.Check(value)); err != nil {
		return err
	}
	return j.Err()
}

// Add adds a problem of a field, with words of its own; the whole body has no name.
func (j *Judge) Add(field string, broken validate.Constraint, message string) {
	j.add(validate.Problem{Field: field, Message: message, Constraint: broken})
}

// Broken adds a problem of a field that breaks a rule.
func (j *Judge) Broken(field string, broken validate.Constraint) {
	j.add(validate.Broken(field, broken))
}

func (j *Judge) add(p validate.Problem) {
	p.Field = cmp.Or(p.Field, "body")
	if j.wrong == nil {
		j.wrong = map[string]bool{}
	}
	j.found, j.wrong[p.Field] = append(j.found, p), true
}

// Found is how many problems it has found.
func (j *Judge) Found() int { return len(j.found) }

// Wrong reports whether it has found a problem of a field.
func (j *Judge) Wrong(field string) bool { return j.wrong[field] }

// Unknown adds a field that the form does not have.
func (j *Judge) Unknown(name string) {
	j.Add(validate.Clipped(name), validate.Constraint{}, "is not known here; leave it out, or check its spelling")
}

// Rules adds the problems of a [*validate.Error], but those of fields in which the judge has found one. It returns any
// other error. The rules have not checked a body that is no object.
func (j *Judge) Rules(err error) error {
	broken, ok := errors.AsType[*validate.Error](err)
	if !ok {
		return err
	}
	for _, p := range broken.Problems {
		if !j.wrong[p.Field] && !j.wrong["body"] {
			j.add(p)
		}
	}
	return nil
}

// maxProblems is how many problems an answer has at most, and one that says how many more there are.
// AWS Lambda takes no answer of more than 6 MB ("Lambda quotas"), and a body can have more problems.
const maxProblems = 100

// Err is all that is wrong, as a [*validate.Error], or nil.
func (j *Judge) Err() error {
	if len(j.found) == 0 {
		return nil
	}
	if more := len(j.found) - maxProblems; more > 0 {
		j.found = j.found[:maxProblems]
		j.Add("", validate.Constraint{}, fmt.Sprintf("has %d more problems; correct these first", more))
	}
	return &validate.Error{Problems: j.found}
}

// Resolved is the form that a reference leads to.
func Resolved(forms huma.Registry, form *huma.Schema) *huma.Schema {
	for form != nil && form.Ref != "" {
		form = forms.SchemaFromRef(form.Ref)
	}
	return form
}

// Value judges what JSON decodes into any, or an int64 of a parameter.
func (j *Judge) Value(field string, form *huma.Schema, got any) {
	form = Resolved(j.Forms, form)
	if got == nil && form.Nullable {
		return
	}
	broken := func(c validate.Constraint) {
		c.Type, c.Got = form.Type, got
		j.Broken(field, c)
	}
	if !fits(form.Type, got) {
		broken(validate.Constraint{Rule: validate.RuleType})
		return
	}
	least, most := form.MinItems, form.MaxItems
	switch value := got.(type) {
	case int64, float64:
		n := reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
		if form.Minimum != nil && n < *form.Minimum || form.Maximum != nil && n > *form.Maximum {
			broken(validate.Constraint{Rule: validate.RuleRange, Min: whole(form.Minimum), Max: whole(form.Maximum)})
		}
	case string:
		j.text(field, form, value)
	case []any:
		if least != nil && len(value) < *least || most != nil && len(value) > *most {
			broken(validate.Constraint{Rule: validate.RuleLength, Min: least, Max: most})
		}
		if form.UniqueItems && hasTwins(value) {
			broken(validate.Constraint{Rule: validate.RuleUnique})
		}
		for i, entry := range value {
			if form.Items != nil {
				j.Value(fmt.Sprintf("%s[%d]", field, i), form.Items, entry)
			}
		}
	case map[string]any:
		j.object(field, form, value)
	}
	if len(form.Enum) > 0 && !j.wrong[field] {
		names := make([]string, len(form.Enum))
		for i, each := range form.Enum {
			names[i] = fmt.Sprint(each)
		}
		if !slices.Contains(names, fmt.Sprint(got)) {
			broken(validate.Constraint{Rule: validate.RuleEnum, Allowed: names})
		}
	}
	if !j.wrong[field] && !j.hasRest(form, got) {
		broken(validate.Constraint{Rule: validate.RuleFormat,
			Wanted: cmp.Or(formats[form.Format], form.Format, "as the OpenAPI document says")})
	}
}

// formats are those of texts whose name does not say what to write.
var formats = map[string]string{
	"date-time": "a moment as in RFC 3339, such as 2026-02-28T09:30:00Z",
	"uuid":      "a UUID, such as 6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a",
	"uri":       "an address, such as https://example.com/",
	"date":      "a day as YYYY-MM-DD, such as 2026-02-28",
}

// text judges a text. A form without an enum, a format and a pattern, but with a longest length, is one that a person
// writes ([validate.Problems.Text]).
func (j *Judge) text(field string, form *huma.Schema, value string) {
	var p validate.Problems
	least, most := 0, math.MaxInt32
	if form.MinLength != nil {
		least = *form.MinLength
	}
	if form.MaxLength != nil {
		most = *form.MaxLength
	}
	switch {
	case form.Format == "email":
		p.Email(field, value)
	case form.Format == "date" && value == "":
		j.Broken(field, validate.Constraint{Rule: validate.RuleFormat, Type: form.Type, Got: value,
			Wanted: formats["date"]})
	case form.Format == "date":
		p.Date(field, value)
	case form.MaxLength != nil && len(form.Enum) == 0 && form.Pattern == "":
		p.Text(field, value, least, most)
	default:
		p.Length(field, value, least, most)
	}
	if broken, ok := errors.AsType[*validate.Error](p.Err()); ok {
		for _, p := range broken.Problems {
			if p.Constraint.Rule == validate.RuleLength {
				p = validate.Broken(field, validate.Constraint{Rule: validate.RuleLength, Type: form.Type,
					Min: form.MinLength, Max: form.MaxLength, Got: value})
			}
			j.add(p)
		}
		return
	}
	if form.Pattern != "" && !matches(form.Pattern, value) {
		j.Broken(field, validate.Constraint{Rule: validate.RulePattern, Type: form.Type, Got: value,
			Wanted: cmp.Or(form.PatternDescription, "a text that matches "+form.Pattern)})
	}
}

// patterns are those of forms, compiled.
var patterns sync.Map

// matches reports whether a text matches a pattern of a form.
func matches(pattern, text string) bool {
	compiled, ok := patterns.Load(pattern)
	if !ok {
		compiled, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return compiled.(*regexp.Regexp).MatchString(text)
}

// object judges the fields of an object.
func (j *Judge) object(field string, form *huma.Schema, fields map[string]any) {
	within := func(name string) string { return strings.TrimPrefix(field+"."+name, ".") }
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		property, given := form.Properties[name], InAnyCase(name, fields)
		if len(given) == 0 && slices.Contains(form.Required, name) && !property.ReadOnly {
			j.Broken(within(name), validate.Constraint{Rule: validate.RuleRequired})
		}
		for _, value := range given {
			// What huma says of a field that is a form of its own cannot say that it may be null.
			if value != nil || property.Ref == "" || slices.Contains(form.Required, name) {
				j.Value(within(name), property, value)
			}
		}
		for _, other := range form.DependentRequired[name] {
			if len(given) > 0 && len(InAnyCase(other, fields)) == 0 {
				j.Add(within(other), validate.Constraint{Rule: validate.RuleRequired},
					"is missing, but required with "+name)
			}
		}
	}
	others, _ := form.AdditionalProperties.(*huma.Schema)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case len(InAnyCase(name, form.Properties)) > 0:
		case form.AdditionalProperties == false:
			j.Unknown(within(name))
		case others != nil:
			j.Value(within(name), others, fields[name])
		}
	}
}

// hasTwins reports whether two entries of a list are equal.
func hasTwins(list []any) bool {
	seen := map[string]bool{}
	for _, entry := range list {
		seen[fmt.Sprintf("%#v", entry)] = true
	}
	return len(seen) < len(list)
}

// InAnyCase are the values of a map whose names are a name, or differ from it only in case: encoding/json takes the
// last of these.
func InAnyCase[V any](name string, among map[string]V) (values []V) {
	var names []string
	for other := range among {
		if strings.EqualFold(other, name) {
			names = append(names, other)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		values = append(values, among[name])
	}
	return values
}

func whole(bound *float64) *int {
	if bound == nil {
		return nil
	}
	n := int(*bound)
	return &n
}

// types are the types of JSON Schema.
var types = map[reflect.Kind]string{reflect.Bool: huma.TypeBoolean, reflect.Int64: huma.TypeInteger,
	reflect.Float64: huma.TypeNumber, reflect.String: huma.TypeString, reflect.Slice: huma.TypeArray,
	reflect.Map: huma.TypeObject}

// fits reports whether a value is of a type. A whole number may be written with a fraction of zeros (JSON Schema,
// "Validation", 6.1.1).
func fits(form string, got any) bool {
	kind := types[reflect.ValueOf(got).Kind()]
	n, isFloat := got.(float64)
	return form == "" || kind == form || form == huma.TypeNumber && kind == huma.TypeInteger ||
		form == huma.TypeInteger && isFloat && n == math.Trunc(n)
}

// hasRest reports whether huma finds nothing wrong with a value by what a form states beside the rules that the judge
// judges itself.
func (j *Judge) hasRest(form *huma.Schema, got any) bool {
	if form.Format == "" && form.ExclusiveMinimum == nil && form.ExclusiveMaximum == nil && form.MultipleOf == nil &&
		form.MinProperties == nil && form.MaxProperties == nil && form.OneOf == nil && form.AnyOf == nil &&
		form.AllOf == nil && form.Not == nil || form.Format == "email" || form.Format == "date" {
		return true
	}
	rest := *form
	rest.MinLength, rest.MaxLength, rest.Minimum, rest.Maximum, rest.Enum, rest.Pattern = nil, nil, nil, nil, nil, ""
	rest.MinItems, rest.MaxItems, rest.UniqueItems, rest.Items = nil, nil, false, &huma.Schema{}
	rest.Properties, rest.Required, rest.DependentRequired, rest.AdditionalProperties = nil, nil, nil, nil
	if rest.Type == huma.TypeInteger {
		rest.Type = huma.TypeNumber
	}
	rest.PrecomputeMessages()
	var result huma.ValidateResult
	huma.Validate(j.Forms, &rest, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, got, &result)
	return len(result.Errors) == 0
}
