package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MaxLakeDefinitionBytes limits the JSON of a [LakeDefinition]. AWS Lambda limits a function's whole environment to 4
// KB ("Lambda quotas"), which has names and addresses, too.
const MaxLakeDefinitionBytes = 3 << 10

// LakeDefinition is the part of a [Lake] and its table that the lake's functions need: which items become rows, and
// which columns the rows have. It has no views and queries. Functions find it in their environment, as
// [LakeDefinition.Encode] writes it.
type LakeDefinition struct {
	// Key names the attributes of the table's primary key.
	Key Key
	// Entities are the lake's entities with all of their own columns, and From of each. [ChangeColumns] go before
	// these. Descriptions are left out.
	Entities []Entity
}

// Definition returns the part of the lake that its functions need. The error is a [finding.List]: the lake does not
// suit the database (see [Platform.Validate]), or the definition is longer than [MaxLakeDefinitionBytes].
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
			"it stands in a function's environment, which takes %d bytes: leave out columns, or shorten their names",
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

// ParseLakeDefinition parses the result of [LakeDefinition.Encode]. It fails if the definition has unknown fields, or
// lacks a partition key or entities; [Lake.Definition] has checked the rest.
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
	return d, nil
}
