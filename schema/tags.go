package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// AttributesOf returns the attributes in which structs are stored, in the order of their fields. Pass a zero value of
// each struct:
//
//	type Task struct {
//		Title     string    `dynamodbav:"title" attribute:"Task title, 1 to 200 characters"`
//		CreatedAt time.Time `dynamodbav:"created_at,unixtime" attribute:"Creation, in Unix seconds"`
//	}
//
// The tag dynamodbav has the attribute's name, as in the AWS SDK, and the tag attribute its description. AttributesOf
// leaves out a name that an earlier field had, and a field with `attribute:"-"`, which the table describes. The fields
// of an embedded struct count as fields of the struct around it.
//
// The type follows from the field's: text is a String, numbers are Numbers, and so is a [time.Time] with the option
// unixtime. The options stringset and numberset give a StringSet and a NumberSet. The tag attributetype overrides it,
// as for a Go type that marshals itself. AttributesOf panics if neither gives a type, or if no struct describes a field
// that the AWS SDK stores: these are mistakes in the source, and DynamoDB would refuse no item for them.
func AttributesOf(items ...any) []Attribute {
	var all []Attribute
	var unnamed []string
	seen, stored := map[string]bool{}, map[string]string{}
	for _, item := range items {
		for _, field := range fieldsOf(item) {
			name, options := storedAs(field)
			description, described := field.Tag.Lookup("attribute")
			if !described && name != "-" && stored[name] == "" {
				stored[name] = fmt.Sprintf("%T.%s", item, field.Name)
				unnamed = append(unnamed, name)
			}
			if !described || seen[name] {
				continue
			}
			seen[name] = true
			if description == "-" {
				continue
			}
			kind := cmp.Or(Type(field.Tag.Get("attributetype")), typeOf(field.Type, options))
			if kind == "" {
				panic(fmt.Sprintf("schema: field %s of %T: %s has no data type: say it with the tag attributetype",
					field.Name, item, field.Type))
			}
			all = append(all, Attribute{Name: name, Type: kind, Description: description})
		}
	}
	var missing []string
	for _, name := range unnamed {
		if !seen[name] {
			missing = append(missing, stored[name])
		}
	}
	if len(missing) > 0 {
		panic(fmt.Sprintf("schema: no tag attribute describes what is stored in %s: add the tag, with what the "+
			"attribute means, or attribute:\"-\" if the table describes it, or dynamodbav:\"-\" to store nothing",
			strings.Join(missing, ", ")))
	}
	return all
}

// After returns attributes with further ones inserted after the one of that name, such as a table's attributes that are
// not fields of an item. If none has the name, they come first.
func After(attributes []Attribute, name string, further ...Attribute) []Attribute {
	at := slices.IndexFunc(attributes, func(a Attribute) bool { return a.Name == name })
	return slices.Insert(attributes, at+1, further...)
}

// ColumnsOf returns the lake's columns for the fields of an item with the tag column, in their order. The tag is the
// column's description; if it is empty, the attribute's description is. The tag columntype has a [ColumnType] that does
// not follow from the attribute's type, such as timestamp.
func ColumnsOf(item any) []Column {
	var all []Column
	for _, field := range fieldsOf(item) {
		if description, ok := field.Tag.Lookup("column"); ok {
			name, _ := storedAs(field)
			all = append(all, Column{Name: name, Type: ColumnType(field.Tag.Get("columntype")),
				Description: description})
		}
	}
	return all
}

// fieldsOf returns the fields that the AWS SDK stores.
func fieldsOf(item any) []reflect.StructField {
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(reflect.TypeOf(item)) {
		_, named := field.Tag.Lookup("dynamodbav")
		if field.IsExported() && (named || !field.Anonymous) {
			fields = append(fields, field)
		}
	}
	return fields
}

// storedAs is the name of the field's attribute, and the options of its tag.
func storedAs(field reflect.StructField) (name, options string) {
	name, options, _ = strings.Cut(field.Tag.Get("dynamodbav"), ",")
	name = cmp.Or(name, field.Name)
	return name, options
}

func typeOf(t reflect.Type, options string) Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, option := range strings.Split(options, ",") {
		switch option {
		case "unixtime":
			return Number
		case "stringset":
			return StringSet
		case "numberset":
			return NumberSet
		}
	}
	if t == reflect.TypeFor[time.Time]() {
		return String
	}
	switch t.Kind() {
	case reflect.String:
		return String
	case reflect.Bool:
		return Boolean
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Binary
		}
		return List
	case reflect.Map, reflect.Struct:
		return Map
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return Number
	}
	return ""
}
