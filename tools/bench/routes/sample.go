package routes

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Sample returns a body of an operation, with what is given. Of the rest it has what the operation requires: what is
// known by that name, and otherwise the example of the contract, or its first value. If the body is no struct, it is
// what is given.
func Sample(d schema.Description, given, known map[string]any) (map[string]any, error) {
	fields := fieldsOf(d.Body())
	if fields == nil {
		return given, nil
	}
	body := map[string]any{}
	for _, name := range required(d, given) {
		if body[name] = value(fields[name], known[name]); body[name] == nil && given[name] == nil {
			return nil, fmt.Errorf("%s: the contract has no example of %s: give it one, or give it in the bodies of "+
				"package routes", d.ID, name)
		}
	}
	maps.Copy(body, given)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	return body, nil
}

// Optional returns the fields of an operation's body that it does not require, as [Sample] fills fields.
func Optional(d schema.Description) map[string]any {
	all := map[string]any{}
	for name, field := range fieldsOf(d.Body()) {
		if v := value(field, nil); v != nil && optional(field) {
			all[name] = v
		}
	}
	return all
}

// required returns the names of the fields that the body of each request has. If given fills none of the operation's
// variants, the fields of the first variant follow.
func required(d schema.Description, given map[string]any) []string {
	fields := fieldsOf(d.Body())
	var names []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !optional(fields[name]) {
			names = append(names, name)
		}
	}
	isGiven := func(v schema.Variant) bool {
		return !slices.ContainsFunc(v.Required, func(name string) bool { return given[name] == nil })
	}
	if d.Variants == nil || slices.ContainsFunc(d.Variants, isGiven) {
		return names
	}
	return append(names, d.Variants[0].Required...)
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

func optional(field reflect.StructField) bool {
	return strings.Contains(field.Tag.Get("json"), ",omit")
}

// value is a value of a field. Nil: nothing says one.
func value(field reflect.StructField, known any) any {
	enum := strings.Split(strings.TrimPrefix(field.Tag.Get("enum"), ","), ",")
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

// letters are n random letters, each of the next of the alphabets.
func letters(n int, alphabets ...string) string {
	word := []byte(rand.Text()[:n])
	for i, c := range word {
		alphabet := alphabets[i%len(alphabets)]
		word[i] = alphabet[int(c)%len(alphabet)]
	}
	return string(word)
}
