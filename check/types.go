package check

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the table of types
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// typeTable has a line for each resource type of CloudFormation: whether it holds content, what identifies it, and the
// properties whose change replaces a resource or is not supported. `make reference` writes it from the resource
// database of the CDK command in package.json (Copyright Amazon.com, Inc. or its affiliates, Apache License 2.0).
//
//go:embed types.txt.gz
var typeTable []byte

// typeLines returns the fields of the table's lines by resource type.
var typeLines = sync.OnceValue(readTypes)

func readTypes() map[string][]string {
	all := map[string][]string{}
	reader, err := gzip.NewReader(bytes.NewReader(typeTable))
	if err != nil {
		panic(err) // The table is a part of the program.
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		all[fields[0]] = fields[1:]
	}
	return all
}

// The fields of a line after the type.
const (
	typeFlags    = iota // s: a store. n: the first part of the key is a physical name.
	typeKey             // The parts of the key, as [parts] takes them, with commas.
	typeRef             // The property that Ref gives, or nothing.
	typeReplaces        // Paths of properties with one of the marks below, and = with AWS's value where unset.
	typeFieldCount
)

// The marks of properties in the table.
const (
	replaces   = "*" // A change replaces the resource.
	mayReplace = "?" // Some changes replace it.
	fixed      = "!" // A change is not supported.
)

// typeField returns a field of a type's line; "" for an unknown type.
func typeField(kind string, field int) string {
	if fields := typeLines()[kind]; len(fields) == typeFieldCount {
		return fields[field]
	}
	return ""
}

// nameOf returns the path of the property with the physical name, or nil.
func nameOf(kind string) []string {
	if key, _, _ := strings.Cut(typeField(kind, typeKey), ","); strings.Contains(typeField(kind, typeFlags), "n") {
		return strings.Split(key, ".")
	}
	return nil
}

// marked returns the properties of a resource that the table gives the mark, and that change or refer to a resource
// which the function accepts.
func (c *comparison) marked(mark string, old, changed *resource, also func(id string) bool) []pair {
	var all []pair
	for property := range strings.FieldsSeq(typeField(changed.kind, typeReplaces)) {
		property, is := strings.CutPrefix(property, mark)
		path, unset, _ := strings.Cut(property, "=")
		if !is {
			continue
		}
		for _, p := range pairs(old.properties, changed.properties, strings.Split(path, "."), "") {
			if strings.Contains(path, "*") && (p.before == nil || p.after == nil) {
				// An element of a list is new, or goes.
				continue
			}
			if p.before == nil && unset != "" {
				p.before = unset
			}
			if p.after == nil && unset != "" {
				p.after = unset
			}
			differ := text(p.before) != text(p.after) && identity(c.deployed, p.before) != identity(c.proposed, p.after)
			if differ ||
				also != nil && slices.ContainsFunc(intrinsic.References(p.after), also) {
				all = append(all, p)
			}
		}
	}
	return all
}
