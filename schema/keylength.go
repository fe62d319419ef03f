package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// A key has at most so many bytes: all attributes of a partition key together, and all of a sort key ("Quotas in Amazon
// DynamoDB", partition keys and sort keys). No attribute of a key may be empty.
const (
	MaxPartitionKeyBytes = 2048
	MaxSortKeyBytes      = 1024

	// maxCharacterBytes and maxNumberBytes are the most that a character in UTF-8 and a number take.
	maxCharacterBytes, maxNumberBytes = 4, 21
)

// Warnings returns what a deployment does not refuse, and requests may suffer from: keys that can be longer than
// DynamoDB takes, so that a write of a text in long characters is refused.
func (p Platform) Warnings() finding.List {
	f := &findings{}
	p.keyLengths(func(key keyLength) {
		if key.least <= key.limit && (key.most > key.limit || key.endless) {
			can := fmt.Sprintf("up to %d bytes, since a character has 1 to %d", key.most, maxCharacterBytes)
			if key.endless {
				can = "any length, since " + key.field.path + " has no maxLength"
			}
			f.add(key.path, can, "a key has at most %d bytes: lower the maxLength of %s, or accept that the API "+
				"refuses longer values", key.limit, key.field.path)
		}
	})
	return f.list
}

// validateKeyLengths refuses keys that no request can write.
func (p Platform) validateKeyLengths(f *findings) {
	p.keyLengths(func(key keyLength) {
		if key.least > key.limit {
			f.add(key.path, fmt.Sprintf("at least %d bytes", key.least),
				"a key has at most %d bytes: lower the minLength of %s", key.limit, key.field.path)
		}
	})
}

// keyLength is how long a key can be: a partition key or a sort key of a table or an index.
type keyLength struct {
	path               string
	limit, least, most int
	// endless says that field has no limit. field is the one of a request that can be the longest part.
	endless bool
	field   keyField
}

// keyField is a text of a request that becomes an attribute of a key. most is -1 if it has no limit.
type keyField struct {
	path        string
	least, most int
}

// keyLengths visits the keys to which requests contribute a text.
func (p Platform) keyLengths(visit func(keyLength)) {
	fields := p.keyFields()
	for _, t := range p.Database.Tables {
		check := func(path string, limit int, attributes []string) {
			key := keyLength{path: path, limit: limit}
			for _, name := range attributes {
				field, ok := fields[name]
				attribute, _ := t.Attribute(name)
				switch {
				case attribute.Type == Number:
					key.most += maxNumberBytes
				case !ok || attribute.Type != String:
				default:
					key.least += field.least
					key.most += max(field.most, 0) * maxCharacterBytes
					key.endless = key.endless || field.most < 0
					if key.field.path == "" || field.most < 0 || key.field.most >= 0 && field.most > key.field.most {
						key.field = field
					}
				}
			}
			if key.field.path != "" {
				visit(key)
			}
		}
		path := "Tables[" + t.Name + "]"
		check(path+".Key.Partition", MaxPartitionKeyBytes, []string{t.Key.Partition})
		check(path+".Key.Sort", MaxSortKeyBytes, []string{t.Key.Sort})
		for _, index := range t.Indexes {
			at := path + ".Indexes[" + index.Name + "]"
			check(at+".Key.Partition", MaxPartitionKeyBytes, index.PartitionAttributes())
			check(at+".Key.Sort", MaxSortKeyBytes, index.SortAttributes())
		}
	}
}

// keyFields are the texts of requests by the attribute that each becomes: that of its tag dynamodbav, or else that of
// its own name. Of several with one attribute it is the longest. Attributes that a team adds count as theirs.
func (p Platform) keyFields() map[string]keyField {
	all := map[string]keyField{}
	add := func(name string, field keyField) {
		if former, ok := all[name]; ok {
			field.least = min(field.least, former.least)
			if former.most < 0 || field.most >= 0 && former.most >= field.most {
				field.path, field.most = former.path, former.most
			}
		}
		all[name] = field
	}
	for _, t := range p.Database.Tables {
		for _, extra := range t.Extra {
			if extra.Type == String {
				add(extra.Name, keyField{path: "Extra." + extra.Name, most: extra.MaxLength})
			}
		}
	}
	for _, route := range p.Routes {
		op, ok := route.Operation()
		if !ok || route.Method == "GET" {
			continue
		}
		for _, parameter := range op.Parameters() {
			addKeyField(add, route, parameter.Field, parameter.Name)
		}
		for _, field := range structFields(op.Body()) {
			wire, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			addKeyField(add, route, field, wire)
		}
	}
	return all
}

// structFields are the fields of a struct, or of what a pointer to one points to.
func structFields(form reflect.Type) []reflect.StructField {
	for form != nil && form.Kind() == reflect.Pointer {
		form = form.Elem()
	}
	if form == nil || form.Kind() != reflect.Struct {
		return nil
	}
	return reflect.VisibleFields(form)
}

// addKeyField adds a field of a request, if it is a text, with the bounds that its tags state.
func addKeyField(add func(string, keyField), route Route, field reflect.StructField, wire string) {
	stored, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
	name, kind := cmp.Or(stored, wire), field.Type
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.String || name == "-" || wire == "-" {
		return
	}
	found := keyField{path: route.ID + "." + wire, most: -1}
	// A tag that is no number panics where the form is made.
	found.least, _ = strconv.Atoi(field.Tag.Get("minLength"))
	if most, err := strconv.Atoi(field.Tag.Get("maxLength")); err == nil {
		found.most = most
	} else if enum := field.Tag.Get("enum"); enum != "" {
		longest := slices.MaxFunc(strings.Split(enum, ","), func(a, b string) int { return len(a) - len(b) })
		found.most = len(longest)
	} else if field.Tag.Get("pattern") != "" || field.Tag.Get("format") != "" || field.Tag.Get("strict") != "" {
		return // they bound it in a way of their own
	}
	add(name, found)
}
