// Package finding describes what is wrong with a configuration: with a schema or the props of a construct. Checks find
// all mistakes at once, before a construct declares anything.
package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Finding is one mistake in a configuration: in a schema, in the props of a construct, or in the
// construct's scope or id.
type Finding struct {
	// Path leads to it, such as "Tables[Questions].Indexes[ByStatus].Key.Partition" or
	// "Props.Agents[1]".
	Path string
	// Got is the value there, in Go's syntax or in words.
	Got string
	// Allowed says which values are allowed there.
	Allowed string
	// Remedy says what to do.
	Remedy string
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: got %s, allowed is %s: %s", f.Path, f.Got, f.Allowed, f.Remedy)
}

// List has everything that is wrong, in the order of the configuration. It is the error of every Validate: match it
// with [errors.As]. The zero value is empty and ready to use.
type List []Finding

// Add notes a finding. It prints got in Go's syntax, and a duration as text, such as "1m30s".
func (f *List) Add(path string, got any, allowed, remedy string) {
	if d, ok := got.(time.Duration); ok {
		got = d.String()
	}
	*f = append(*f, Finding{Path: path, Got: fmt.Sprintf("%#v", got), Allowed: allowed, Remedy: remedy})
}

// Once notes the value at an index of a list if the value occurs earlier in the list, too. It accepts an empty value.
// path leads to the list, and noun names a value.
func (f *List) Once(path string, values []string, index int, noun string) {
	if value := values[index]; value != "" && slices.Index(values, value) < index {
		f.Add(fmt.Sprintf("%s[%d]", path, index), value, "each "+noun+" once", "leave one of them out")
	}
}

// Append notes a finding as it is.
func (f *List) Append(finding Finding) { *f = append(*f, finding) }

// AddAll notes the findings of err, if it has any. In their paths, path replaces beginning.
func (f *List) AddAll(err error, beginning, path string) {
	found, _ := errors.AsType[List](err)
	for _, each := range found {
		each.Path = path + strings.TrimPrefix(each.Path, beginning)
		*f = append(*f, each)
	}
}

// Err returns the findings as an error, or nil if there are none.
func (f List) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Error returns one line for each finding.
func (f List) Error() string {
	lines := []string{fmt.Sprintf("%d findings:", len(f))}
	if len(f) == 1 {
		lines[0] = "1 finding:"
	}
	for _, finding := range f {
		lines = append(lines, "  "+finding.String())
	}
	return strings.Join(lines, "\n")
}
