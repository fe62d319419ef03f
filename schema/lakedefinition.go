package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MaxLakeDefinitionBytes is how long the JSON of a [LakeDefinition] may be: it
// stands in a function's environment with names and addresses, and AWS Lambda
// limits the whole environment to 4 KB ("Lambda quotas").
const MaxLakeDefinitionBytes = 3 << 10

// LakeDefinition is what the lake's functions must know of a [Lake] and of its
// table: which items become rows, and which columns the rows have. It has no views
// and queries. The functions find its [LakeDefinition.Encode] in their
// environment.
type LakeDefinition struct {
	// Key names the attributes of the table's primary key.
	Key Key
	// Entities are the lake's entities with their own columns; [ChangeColumns] go before these.
	Entities []LakeEntity
}

// LakeEntity is an [Entity] as the functions need it.
type LakeEntity struct {
	// Name is the entity's name.
	Name string
	// PartitionPrefix and SortPrefix are what the keys of its items begin with.
	// Empty: anything.
	PartitionPrefix string `json:",omitempty"`
	SortPrefix      string `json:",omitempty"`
	// Columns are the entity's own columns.
	Columns []LakeColumn
}

// Matches reports whether an item with these keys, as text, is one of the entity. Give a key that is no String as empty
// text: only an empty prefix matches it.
func (e LakeEntity) Matches(partition, sort string) bool {
	return strings.HasPrefix(partition, e.PartitionPrefix) && strings.HasPrefix(sort, e.SortPrefix)
}

// LakeColumn is a [Column] as the functions need it.
type LakeColumn struct {
	// Name is the column's name.
	Name string
	// Attribute is the attribute that it shows. Empty: the one of its name.
	Attribute string `json:",omitempty"`
	// TrimPrefix is cut off where the attribute's text begins with it.
	TrimPrefix string `json:",omitempty"`
	// Before shows the attribute as it was before the change.
	Before bool `json:",omitempty"`
	// Type is the column's type.
	Type ColumnType
	// From is the attribute's type.
	From Type
}

// Source returns the name of the attribute that the column shows.
func (c LakeColumn) Source() string {
	if c.Attribute == "" {
		return c.Name
	}
	return c.Attribute
}

// Definition returns what the lake's functions must know of it. The error is a [finding.List] if the lake does not suit
// the database, as [Platform.Validate] would say, or if the definition is longer than [MaxLakeDefinitionBytes].
func (l Lake) Definition(d Database) (LakeDefinition, error) {
	f := &findings{}
	l.validate(f, "Lake", d)
	if err := f.err(); err != nil {
		return LakeDefinition{}, err
	}
	return l.definition(d), nil
}

// definition is the definition of a valid lake, and what can be said of any other.
func (l Lake) definition(d Database) LakeDefinition {
	table, _ := d.Table(l.Table)
	definition := LakeDefinition{Key: table.Key}
	for _, e := range l.Entities {
		entity := LakeEntity{Name: e.Name, PartitionPrefix: e.PartitionPrefix, SortPrefix: e.SortPrefix}
		for _, c := range e.ColumnsOf(table) {
			attribute, _ := table.Attribute(c.Source())
			column := LakeColumn{Name: c.Name, Attribute: c.Attribute, TrimPrefix: c.TrimPrefix, Before: c.Before,
				Type: c.Type, From: attribute.Type}
			if column.Attribute == column.Name {
				column.Attribute = ""
			}
			entity.Columns = append(entity.Columns, column)
		}
		definition.Entities = append(definition.Entities, entity)
	}
	return definition
}

// validateLength adds what the functions' environment would refuse.
func (l Lake) validateLength(f *findings, at string, d Database) {
	if length := len(l.definition(d).Encode()); length > MaxLakeDefinitionBytes {
		f.add(at+".Entities", fmt.Sprintf("a definition of %d bytes", length),
			"it stands in a function's environment, which has room for %d: leave out columns, or shorten their names",
			MaxLakeDefinitionBytes)
	}
}

// Encode returns the definition as compact JSON.
func (d LakeDefinition) Encode() string {
	text, err := json.Marshal(d)
	if err != nil {
		// There is nothing in a definition but text.
		panic(fmt.Sprintf("schema: encoding a lake's definition: %v", err))
	}
	return string(text)
}

// ParseLakeDefinition reads what [LakeDefinition.Encode] wrote. It refuses what Encode never writes: unknown fields, no
// entities, unknown types.
func ParseLakeDefinition(text string) (LakeDefinition, error) {
	var d LakeDefinition
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return LakeDefinition{}, fmt.Errorf("reading a lake's definition: %w", err)
	}
	if d.Key.Partition == "" || len(d.Entities) == 0 {
		return LakeDefinition{}, fmt.Errorf("a lake's definition without a partition key or without entities: write " +
			"what LakeDefinition.Encode gives")
	}
	for _, e := range d.Entities {
		f := &findings{}
		if !matches(lakeName, e.Name) {
			f.add("Name", quoted(e.Name), "write lower-case letters, digits and underscores, beginning with a letter")
		}
		columns := ChangeColumns()
		for _, c := range e.Columns {
			columns = append(columns, Column{Name: c.Name, Type: c.Type})
			c.validateTypes(f, "Columns["+c.Name+"]")
		}
		validateColumns(f, "", columns)
		if err := f.err(); err != nil {
			return LakeDefinition{}, fmt.Errorf("entity %q of a lake's definition: %w", e.Name, err)
		}
	}
	return d, nil
}

// validateTypes checks that the attribute's type can become the column's.
func (c LakeColumn) validateTypes(f *findings, path string) {
	column := Column{Name: c.Name, Attribute: c.Attribute, Type: c.Type}
	column.validateSource(f, path, Table{Attributes: []Attribute{{Name: c.Source(), Type: c.From}}})
}
