package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Checker is a value with rules that no tag states.
type Checker interface {
	// Check adds a problem for each rule that the value breaks. field is its name, or "" for a whole form.
	Check(p *Problems, field string)
}

// Form returns an [*Error] with all problems of a form, in the order of its fields, or nil. They are those of
// [Problems.Form] and, if the form is a [Checker], those of its Check.
func Form(form any) error {
	var p Problems
	p.Form(form)
	if checker, ok := form.(Checker); ok {
		checker.Check(&p, "")
	}
	p.InOrder(form)
	return p.Err()
}

// Form checks a struct against its tags: minLength and maxLength of a text, minimum and maximum of a whole number, enum
// of a text, the formats email and date. Its description in an OpenAPI document comes from the same tags, so each limit
// is stated once. A list's tags apply to each of its texts. A field that is a [Checker] has its own rules instead.
//
// A field has the name in its tag json, query or header. Form skips a field that was left out: one that is nil, or zero
// if it has the option omitempty or no tag json. It skips fields of other types, too.
func (p *Problems) Form(form any) {
	value := reflect.ValueOf(form)
	for _, field := range fieldsOf(value.Type()) {
		part := value.FieldByIndex(field.Index)
		if field.isOptional && part.IsZero() {
			continue
		}
		part = reflect.Indirect(part)
		if part.IsValid() && part.Type().Implements(reflect.TypeFor[Checker]()) {
			part.Interface().(Checker).Check(p, field.name)
			continue
		}
		p.field(field.name, field.Tag, part)
	}
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

// InOrder sorts the problems in the order of the form's fields and, within a list, of its entries. Problems of other
// parts, such as a header, come first.
func (p *Problems) InOrder(form any) {
	if len(p.found) < 2 {
		return
	}
	fields := fieldsOf(reflect.TypeOf(form))
	place := func(problem Problem) (field, entry int) {
		name, index, _ := strings.Cut(problem.Field, "[")
		entry, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil {
			entry = -1
		}
		return slices.IndexFunc(fields, func(f formField) bool { return f.name == name }), entry
	}
	slices.SortStableFunc(p.found, func(a, b Problem) int {
		fieldA, entryA := place(a)
		fieldB, entryB := place(b)
		return cmp.Or(cmp.Compare(fieldA, fieldB), cmp.Compare(entryA, entryB))
	})
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
		if name == "" {
			name = each.Tag.Get("query") + each.Tag.Get("header")
		}
		if name != "" && name != "-" {
			fields = append(fields, formField{each, name, isOptional})
		}
	}
	known.Store(form, fields)
	return fields
}

func (p *Problems) field(name string, tag reflect.StructTag, value reflect.Value) {
	bound := func(key string) *int {
		n, err := strconv.Atoi(tag.Get(key))
		if err != nil {
			return nil
		}
		return &n
	}
	switch {
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			p.field(fmt.Sprintf("%s[%d]", name, i), tag, value.Index(i))
		}
	case value.Kind() == reflect.String && tag.Get("format") == "email":
		p.Email(name, value.String())
	case value.Kind() == reflect.String && tag.Get("format") == "date":
		p.Date(name, value.String())
	case value.Kind() == reflect.String && tag.Get("enum") != "":
		OneOf(p, name, value.String(), strings.Split(tag.Get("enum"), ","))
	case value.Kind() == reflect.String:
		if most := bound("maxLength"); most != nil {
			least := 0
			if at := bound("minLength"); at != nil {
				least = *at
			}
			p.Text(name, value.String(), least, *most)
		}
	case value.CanInt():
		least, most := bound("minimum"), bound("maximum")
		if n := value.Int(); least != nil && n < int64(*least) || most != nil && n > int64(*most) {
			p.Range(name, n, least, most)
		}
	}
}
