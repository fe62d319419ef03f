package routes

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Sample returns a body of an operation, with what is given. Of the rest it has what the operation requires: what is
// known by that name, and otherwise the example of the contract, or its first value. It is nil if requests have no
// body, and what is given if the body is no struct.
func Sample(d schema.Description, given, known map[string]any) (map[string]any, error) {
	fields := fieldsOf(d.Body())
	switch {
	case d.Body() == nil:
		return nil, nil
	case fields == nil:
		return given, nil
	}
	variants := d.Variants
	if variants == nil {
		variants = []schema.Variant{{}}
	}
	// Of the variants that take all that is given, the one that requires the least besides.
	var body map[string]any
	for _, variant := range variants {
		further, err := furtherOf(fields, variant, given, known)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.ID, err)
		}
		if further != nil && (body == nil || len(further) < len(body)) {
			body = further
		}
	}
	if body == nil {
		return nil, fmt.Errorf("%s: no variant of the body has %v", d.ID, slices.Sorted(maps.Keys(given)))
	}
	for name, value := range body {
		if value == nil {
			return nil, fmt.Errorf("%s: the contract has no example of %s: give it one, or give it in the bodies of "+
				"package routes", d.ID, name)
		}
	}
	maps.Copy(body, given)
	return body, nil
}

// Optional returns the fields of an operation's body that it does not require, as [Sample] fills fields.
func Optional(d schema.Description) map[string]any {
	all := map[string]any{}
	for name, field := range fieldsOf(d.Body()) {
		if v := value(field, nil, nil); v != nil && !required(field) {
			all[name] = v
		}
	}
	return all
}

// furtherOf are the values that a variant requires beside what is given. Nil: it does not take that.
func furtherOf(fields map[string]reflect.StructField, variant schema.Variant, given,
	known map[string]any) (map[string]any, error) {
	further := map[string]any{}
	for name, field := range fields {
		rules, err := schema.StrictRules(variant.Strict[name])
		if err != nil {
			return nil, err
		}
		_, isGiven := given[name]
		leavesOut := func(r schema.Strict) bool { return r.Name == "null" || r.Name == "empty" }
		switch {
		case isGiven && slices.ContainsFunc(rules, leavesOut):
			return nil, nil
		case !isGiven && (required(field) || slices.Contains(variant.Required, name)):
			further[name] = value(field, rules, known[name])
		}
	}
	return further, nil
}

// fieldsOf are the fields of a form, by name. Nil: it is no struct.
func fieldsOf(form reflect.Type) map[string]reflect.StructField {
	if form != nil && form.Kind() == reflect.Pointer {
		form = form.Elem()
	}
	if form == nil || form.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.StructField{}
	for _, field := range reflect.VisibleFields(form) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field
		}
	}
	return fields
}

func required(field reflect.StructField) bool {
	return !strings.Contains(field.Tag.Get("json"), ",omit")
}

// value is a value of a field. Nil: nothing says one.
func value(field reflect.StructField, rules []schema.Strict, known any) any {
	enum := strings.Split(strings.TrimPrefix(field.Tag.Get("enum"), ","), ",")
	for _, rule := range rules {
		if rule.Name == "one" {
			enum = strings.Split(rule.Value, "|")
		}
	}
	text := enum[0]
	if example := field.Tag.Get("example"); len(enum) > 1 || text == "" {
		if known != nil {
			return known
		}
		if example != "" {
			text = example
		}
	}
	kind := field.Type.Kind()
	if kind == reflect.Pointer {
		kind = field.Type.Elem().Kind()
	}
	switch {
	case kind == reflect.String && text != "":
		return text
	case kind == reflect.Bool && text == "":
		return true
	}
	var read any
	_ = json.Unmarshal([]byte(text), &read) // nil: the text is none
	return read
}
