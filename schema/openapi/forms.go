package openapi

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Form is the JSON Schema of a type.
type Form = huma.Schema

// The types of JSON that a parameter may have, among others.
const (
	Text = huma.TypeString
	List = huma.TypeArray
)

// Forms has the forms of Go types. A form refers to those of other structs.
type Forms struct {
	huma.Registry
	prefix string
}

// NewForms returns no forms yet. References begin with prefix. A type has the name in names, or else its own. The forms
// of strict servers have no fields but their own.
func NewForms(prefix string, names map[string]string, strict bool) Forms {
	settings := huma.Config{OpenAPI: &huma.OpenAPI{Components: &huma.Components{
		Schemas: huma.NewMapRegistry(prefix, func(form reflect.Type, hint string) string {
			name := huma.DefaultSchemaNamer(form, hint)
			return cmp.Or(names[name], name)
		})}}}
	settings.AllowAdditionalPropertiesByDefault = !strict
	return Forms{huma.NewAPI(settings, nil).OpenAPI().Components.Schemas, prefix}
}

// Exemplar is a type whose JSON is another than its fields say.
type Exemplar interface {
	// Example returns what its JSON is, such as a map[string]int: the form follows from the kinds of that.
	Example() any
}

// Complete says what huma cannot say of fields: those of an [Exemplar], references that may be null, since their
// pointer is always written, and enums that may be null. By JSON Schema ("Validation", 6.1.2), an enum without null
// does not allow it, for any type.
func (f Forms) Complete() {
	forms := f.Map()
	replaced := map[string]bool{}
	for name, form := range forms {
		for _, field := range reflect.VisibleFields(f.TypeFromRef(f.prefix + name)) {
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property := form.Properties[key]
			if property == nil {
				continue
			}
			example, ok := reflect.Zero(field.Type).Interface().(Exemplar)
			switch {
			case ok:
				if property.Items != nil {
					replaced[strings.TrimPrefix(property.Items.Ref, f.prefix)] = true
				}
				form.Properties[key] = formOf(example.Example(), property.Description)
			case property.Ref != "" && field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit"):
				description := property.Description
				property.Description = ""
				form.Properties[key] = &Form{OneOf: []*Form{property, {Type: "null"}}, Description: description}
			case property.Nullable && len(property.Enum) > 0 && !slices.Contains(property.Enum, nil):
				property.Enum = append(property.Enum, nil)
			}
		}
	}
	for name := range replaced {
		delete(forms, name)
	}
}

// formOf is the form of an example: an object of values of one kind.
func formOf(example any, description string) *Form {
	kinds := map[reflect.Kind]string{reflect.Int: huma.TypeInteger, reflect.String: huma.TypeString}
	return &Form{Type: huma.TypeObject, Description: description, Examples: []any{example},
		AdditionalProperties: &Form{Type: kinds[reflect.TypeOf(example).Elem().Kind()]}}
}
