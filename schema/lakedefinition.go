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
	// Entities are the lake's entities with all of their own columns, and From of each. [ChangeColumns] go before
	// these. Descriptions are left out.
	Entities []Entity
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
		e.Columns, e.Description, e.Omit = e.ColumnsOf(table), "", nil
		for i := range e.Columns {
			c := &e.Columns[i]
			attribute, _ := table.Attribute(c.Source())
			c.From, c.Description = attribute.Type, ""
			if c.Attribute == c.Name {
				c.Attribute = ""
			}
		}
		definition.Entities = append(definition.Entities, e)
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
		for _, c := range e.Columns {
			c.validateSource(f, "Columns["+c.Name+"]", Table{Attributes: []Attribute{{Name: c.Source(), Type: c.From}}})
		}
		validateColumns(f, "", append(ChangeColumns(), e.Columns...))
		if err := f.err(); err != nil {
			return LakeDefinition{}, fmt.Errorf("entity %q of a lake's definition: %w", e.Name, err)
		}
	}
	return d, nil
}
