package validate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Form checks a struct against the tags from which its description in an OpenAPI document
// comes, too, so that a limit is stated once: minLength and maxLength of a text, minimum and
// maximum of a whole number, enum of a text. Those of a list hold for each of its texts. A
// field has the name of its tag json. Form passes over nil, which is a field that was left
// out, and over fields of other types.
func (p *Problems) Form(form any) {
	value := reflect.ValueOf(form)
	for i := range value.NumField() {
		field := value.Type().Field(i)
		p.field(nameOf(field), field.Tag, reflect.Indirect(value.Field(i)))
	}
}

// InOrder sorts the problems as the form has their fields and, of a list, its entries. What
// is no field of the form, such as a header, goes first.
func (p *Problems) InOrder(form any) {
	fields := reflect.VisibleFields(reflect.TypeOf(form))
	place := func(problem Problem) (field, entry int) {
		name, index, _ := strings.Cut(problem.Field, "[")
		entry, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		if err != nil {
			entry = -1
		}
		return slices.IndexFunc(fields, func(f reflect.StructField) bool { return nameOf(f) == name }), entry
	}
	slices.SortStableFunc(p.found, func(a, b Problem) int {
		fieldA, entryA := place(a)
		fieldB, entryB := place(b)
		return cmp.Or(cmp.Compare(fieldA, fieldB), cmp.Compare(entryA, entryB))
	})
}

func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
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
