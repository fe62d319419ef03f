package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// judge finds what is wrong with one request, by the forms of its operation's input.
type judge struct {
	*inputForm
	found []validate.Problem
	// wrong are the fields in which something is.
	wrong map[string]bool
}

// add adds a problem of a field; the whole body has no name.
func (j *judge) add(field string, broken validate.Constraint, message string) {
	field = cmp.Or(field, "body")
	j.found = append(j.found, validate.Problem{Field: field, Message: message, Constraint: broken})
	j.wrong[field] = true
}

// unknown adds a field that the form does not have.
func (j *judge) unknown(name string) {
	j.add(clipped(name), validate.Constraint{}, "is not known here: leave it out, or check its spelling")
}

// rules adds the problems that the rules of an input find, but those of fields in which the forms have found one. The
// rules have not checked a body that is no object.
func (j *judge) rules(err error) error {
	broken, ok := errors.AsType[*validate.Error](err)
	if !ok {
		return err
	}
	for _, p := range broken.Problems {
		if !j.wrong[p.Field] && !j.wrong["body"] {
			j.add(p.Field, p.Constraint, p.Message)
		}
	}
	return nil
}

// maxProblems is how many problems an answer has at most, and one that says how many more there are.
// AWS Lambda takes no answer of more than 6 MB ("Lambda quotas"), and a body can have more problems.
const maxProblems = 100

// err is all that is wrong.
func (j *judge) err() error {
	if len(j.found) == 0 {
		return nil
	}
	if more := len(j.found) - maxProblems; more > 0 {
		j.found = j.found[:maxProblems]
		j.add("", validate.Constraint{}, fmt.Sprintf("has %d more problems: correct these first", more))
	}
	return &validate.Error{Problems: j.found}
}

// value judges what JSON decodes into any, or an int64 of a parameter.
func (j *judge) value(field string, form *huma.Schema, got any) {
	form = j.resolved(form)
	if got == nil && form.Nullable {
		return
	}
	wrong := func(broken validate.Constraint, messages ...string) {
		broken.Type, broken.Got = form.Type, got
		for _, message := range messages {
			if quoted := quote(got); quoted != "" && field != "" {
				message += "; got " + quoted
			}
			j.add(field, broken, message)
		}
	}
	isNumber := form.Type == huma.TypeInteger || form.Type == huma.TypeNumber
	if kind := types[reflect.ValueOf(got).Kind()]; form.Type != "" && kind != form.Type &&
		(kind != huma.TypeNumber || !isNumber) {
		wrong(validate.Constraint{Rule: validate.RuleType}, "expected "+form.Type)
		return
	}
	switch value := got.(type) {
	case int64, float64:
		n := reflect.ValueOf(value).Convert(reflect.TypeFor[float64]()).Float()
		if form.Type == huma.TypeInteger && n != math.Trunc(n) {
			wrong(validate.Constraint{Rule: validate.RuleType}, "expected integer")
		}
		allowed := validate.Constraint{Rule: validate.RuleRange, Min: whole(form.Minimum), Max: whole(form.Maximum)}
		wrong(allowed, beyond("number", n, form.Minimum, form.Maximum)...)
	case string:
		allowed := validate.Constraint{Rule: validate.RuleLength, Min: form.MinLength, Max: form.MaxLength}
		wrong(allowed, beyond("length", utf8.RuneCountInString(value), form.MinLength, form.MaxLength)...)
	case []any:
		allowed := validate.Constraint{Rule: validate.RuleLength, Min: form.MinItems, Max: form.MaxItems}
		wrong(allowed, beyond("array length", len(value), form.MinItems, form.MaxItems)...)
		if form.UniqueItems && hasTwins(value) {
			wrong(validate.Constraint{Rule: validate.RuleUnique}, "expected array items to be unique")
		}
		for i, entry := range value {
			if form.Items != nil {
				j.value(fmt.Sprintf("%s[%d]", field, i), form.Items, entry)
			}
		}
	case map[string]any:
		j.object(field, form, value)
	}
	for _, err := range j.beside(form, got) {
		rule := validate.RuleFormat
		if form.Pattern != "" {
			rule = validate.RulePattern
		}
		wrong(validate.Constraint{Rule: rule}, err.(*huma.ErrorDetail).Message)
	}
	var names []string
	for _, each := range form.Enum {
		names = append(names, fmt.Sprint(each))
	}
	if names != nil && !slices.Contains(names, fmt.Sprint(got)) {
		wrong(validate.Constraint{Rule: validate.RuleEnum, Allowed: names}, `expected value to be one of "`+
			strings.Join(names, ", ")+`"`)
	}
}

// object judges the fields of an object. A name may be in another case, as for encoding/json.
func (j *judge) object(field string, form *huma.Schema, fields map[string]any) {
	within := func(name string) string { return strings.TrimPrefix(field+"."+name, ".") }
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		property := form.Properties[name]
		value, ok := fields[name]
		if !ok {
			value, ok = inOtherCase(name, fields)
		}
		switch required := slices.Contains(form.Required, name); {
		case !ok && required && !property.ReadOnly:
			j.add(within(name), validate.Constraint{Rule: validate.RuleRequired}, "is missing, but required")
		case ok && (value != nil || required && !form.Nullable):
			j.value(within(name), property, value)
		}
		for _, other := range form.DependentRequired[name] {
			if value != nil && fields[other] == nil {
				j.add(within(other), validate.Constraint{Rule: validate.RuleRequired},
					"is missing, but required with "+name)
			}
		}
	}
	others, _ := form.AdditionalProperties.(*huma.Schema)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		_, known := inOtherCase(name, form.Properties)
		switch {
		case known || form.Properties[name] != nil:
		case form.AdditionalProperties == false:
			j.unknown(within(name))
		case others != nil:
			j.value(within(name), others, fields[name])
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

// inOtherCase is the value of a map whose name differs only in case.
func inOtherCase[V any](name string, among map[string]V) (value V, ok bool) {
	for other, value := range among {
		if other != name && strings.EqualFold(other, name) {
			return value, true
		}
	}
	return value, false
}

// beyond says which bounds n exceeds.
func beyond[N int | float64](what string, n N, least, most *N) (messages []string) {
	if least != nil && n < *least {
		messages = append(messages, fmt.Sprintf("expected %s >= %v", what, *least))
	}
	if most != nil && n > *most {
		messages = append(messages, fmt.Sprintf("expected %s <= %v", what, *most))
	}
	return messages
}

func whole(bound *float64) *int {
	if bound == nil {
		return nil
	}
	n := int(*bound)
	return &n
}

// types are the types of JSON Schema.
var types = map[reflect.Kind]string{reflect.Bool: huma.TypeBoolean, reflect.Int64: huma.TypeNumber,
	reflect.Float64: huma.TypeNumber, reflect.String: huma.TypeString, reflect.Slice: huma.TypeArray,
	reflect.Map: huma.TypeObject}

// beside returns what huma finds wrong with a value by what a form states beside the rules that the judge judges, such
// as a format.
func (in *inputForm) beside(form *huma.Schema, got any) []error {
	rest, ok := in.rest.Load(form)
	if !ok {
		less := *form
		less.MinLength, less.MaxLength, less.Minimum, less.Maximum, less.Enum = nil, nil, nil, nil, nil
		less.MinItems, less.MaxItems, less.UniqueItems, less.Items = nil, nil, false, &huma.Schema{}
		less.Properties, less.Required, less.DependentRequired, less.AdditionalProperties = nil, nil, nil, nil
		if less.Type == huma.TypeInteger {
			less.Type = huma.TypeNumber
		}
		less.PrecomputeMessages()
		rest, _ = in.rest.LoadOrStore(form, &less)
	}
	var result huma.ValidateResult
	huma.Validate(in, rest.(*huma.Schema), huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, got, &result)
	return result.Errors
}
