package validate

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Checker is a value with rules that no tag states.
type Checker interface {
	// Check adds a problem for each rule that the value breaks. field is its name, or "" for a whole form.
	Check(p *Problems, field string)
}

// Check returns an [*Error] with all problems that the Check of a form, and of its fields that are a [Checker], find;
// or nil. What tags state is judged by package openapi.
func Check(form any) error {
	var p Problems
	value := reflect.ValueOf(form)
	for _, field := range fieldsOf(value.Type()) {
		part := value.FieldByIndex(field.Index)
		if field.isOptional && part.IsZero() {
			continue
		}
		if part = reflect.Indirect(part); part.IsValid() {
			if checker, ok := part.Interface().(Checker); ok {
				checker.Check(&p, field.name)
			}
		}
	}
	if checker, ok := form.(Checker); ok {
		checker.Check(&p, "")
	}
	return p.Err()
}

// MergePatch reads a JSON merge patch (RFC 7396) into a form of pointers: an absent field is nil, and a null one points
// to the zero value.
func MergePatch(data []byte, form any) error {
	err := json.Unmarshal(data, form)
	var given map[string]json.RawMessage
	if json.Unmarshal(data, &given) != nil {
		return err
	}
	value := reflect.ValueOf(form).Elem()
	for _, field := range fieldsOf(value.Type()) {
		if string(given[field.name]) == "null" {
			value.FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		}
	}
	return err
}

// Apply sets the fields of the struct that target points to from a form's fields of the same names. The struct must
// have all of them. It takes what a pointer in the form points to, and any other field as it is. A nil pointer leaves
// the struct's field as it is.
func Apply(target, form any) {
	into, given := reflect.ValueOf(target).Elem(), reflect.ValueOf(form)
	names := map[string]reflect.Value{}
	for _, field := range fieldsOf(into.Type()) {
		names[field.name] = into.FieldByIndex(field.Index)
	}
	for _, field := range fieldsOf(given.Type()) {
		if value := reflect.Indirect(given.FieldByIndex(field.Index)); value.IsValid() {
			names[field.name].Set(value)
		}
	}
}

// formField is one of a form that is on the wire.
type formField struct {
	reflect.StructField
	name string
	// isOptional says that it may be left out.
	isOptional bool
}

// known are the fields of forms, by their types.
var known sync.Map

// fieldsOf are the fields of a form.
func fieldsOf(form reflect.Type) []formField {
	if fields, ok := known.Load(form); ok {
		return fields.([]formField)
	}
	var fields []formField
	for _, each := range reflect.VisibleFields(form) {
		name, options, _ := strings.Cut(each.Tag.Get("json"), ",")
		isOptional := name == "" || options != ""
		name = cmp.Or(name, each.Tag.Get("query")+each.Tag.Get("header"))
		if name != "" && name != "-" {
			fields = append(fields, formField{each, name, isOptional})
		}
	}
	known.Store(form, fields)
	return fields
}
