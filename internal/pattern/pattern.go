// Package pattern decides which events a pattern lets through: those of rules of Amazon EventBridge ("Creating Amazon
// EventBridge event patterns", EventBridge user guide), and those of event source mappings, whose syntax is the same
// ("Control which events Lambda sends to your function", Lambda developer guide).
//
// Where the guides leave a question open, it does as Event Ruler does, the library that AWS has published of its
// matcher.
package pattern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Filter is a list of patterns: an event passes when one of them matches, or when there is none.
type Filter []way

// way is one of the ways in which a pattern matches: a pattern without $or has one. All conditions must hold. They are
// in the order of their paths.
type way []condition

// condition is on the values at a path: the names of members, joined with dots. One of the alternatives must hold.
type condition struct {
	path         string
	alternatives []alternative
}

// alternative decides on a value. absent is one that holds where there is no value.
type alternative struct {
	absent bool
	passes func(value any) bool
}

const (
	or = "$or"
	// maxWays is how many combinations EventBridge takes ("Creating Amazon EventBridge event patterns", $or).
	maxWays = 1000
)

// New reads patterns in JSON. Its error names the part that AWS does not take.
func New(texts ...string) (Filter, error) {
	var filter Filter
	for _, text := range texts {
		ways, err := read(text)
		if err != nil {
			return nil, fmt.Errorf("filter pattern %q: %w", text, err)
		}
		for _, conditions := range ways {
			var one way
			for _, path := range slices.Sorted(maps.Keys(conditions)) {
				one = append(one, condition{path, conditions[path]})
			}
			filter = append(filter, one)
		}
	}
	return filter, nil
}

// conditions are those of a way that is being read, by their paths.
type conditions map[string][]alternative

func read(text string) ([]conditions, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("got more than one JSON value: write one object")
	}
	return extend([]conditions{{}}, members, "")
}

// extend adds the conditions of the members below a path to each of the ways.
func extend(ways []conditions, members map[string]any, path string) ([]conditions, error) {
	if len(members) == 0 {
		return nil, fmt.Errorf("%s: got an empty object: write members", at(path))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		below := strings.TrimPrefix(path+"."+name, ".")
		var err error
		switch value := members[name].(type) {
		case map[string]any:
			ways, err = extend(ways, value, below)
		case []any:
			if name == or {
				ways, err = branch(ways, value, path)
				break
			}
			var alternatives []alternative
			if alternatives, err = readAlternatives(value, below); err == nil {
				for _, one := range ways {
					one[below] = alternatives
				}
			}
		default:
			err = fmt.Errorf("%s: got %v: write a list of values, or an object", below, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return ways, nil
}

// branch combines each of the ways with each of the objects of an $or.
func branch(ways []conditions, objects []any, path string) ([]conditions, error) {
	if len(objects) < 2 {
		return nil, fmt.Errorf("%s: got %d objects in %s: write two or more", at(path), len(objects), or)
	}
	var branches []conditions
	for _, object := range objects {
		members, ok := object.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: got %v in %s: write an object", at(path), object, or)
		}
		for name := range members {
			if isOperator(name) {
				return nil, fmt.Errorf("%s: got the operator %q in %s: write a member with a list of operators",
					at(path), name, or)
			}
		}
		copies := make([]conditions, len(ways))
		for i, one := range ways {
			copies[i] = maps.Clone(one)
		}
		extended, err := extend(copies, members, path)
		if err != nil {
			return nil, err
		}
		if branches = append(branches, extended...); len(branches) > maxWays {
			return nil, fmt.Errorf("%s: got more than %d combinations of %s: write fewer", at(path), maxWays, or)
		}
	}
	return branches, nil
}

// at is a path for people.
func at(path string) string {
	if path == "" {
		return "the pattern"
	}
	return path
}

// Passes tells whether the event, in JSON, goes to the function.
func (f Filter) Passes(event []byte) (bool, error) {
	if len(f) == 0 {
		return true, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	all := fields{values: map[string][]field{}}
	all.add("", members, nil)
	return slices.ContainsFunc(f, func(w way) bool { return w.matches(all.values, nil) }), nil
}

// fields are the values of an event that are no objects and no arrays, by their paths. An array is not part of a path.
type fields struct {
	values map[string][]field
	arrays int
}

// field is a value, with its places in the arrays that it is within.
type field struct {
	value  any
	places []place
}

// place is an element of an array. Arrays of an event are numbered, the outer ones first.
type place struct{ array, element int }

func (f *fields) add(path string, value any, places []place) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			f.add(strings.TrimPrefix(path+"."+name, "."), member, places)
		}
	case []any:
		f.arrays++
		array := f.arrays
		for i, element := range value {
			f.add(path, element, append(slices.Clone(places), place{array, i}))
		}
	default:
		f.values[path] = append(f.values[path], field{value, places})
	}
}

// matches reports whether the conditions hold for values that are within the places, and in no two elements of one
// array.
func (w way) matches(values map[string][]field, within []place) bool {
	if len(w) == 0 {
		return true
	}
	there := false
	for _, one := range values[w[0].path] {
		both, consistent := join(within, one.places)
		there = there || consistent
		if consistent && slices.ContainsFunc(w[0].alternatives, func(a alternative) bool {
			return !a.absent && a.passes(one.value)
		}) && w[1:].matches(values, both) {
			return true
		}
	}
	absent := func(a alternative) bool { return a.absent }
	return !there && slices.ContainsFunc(w[0].alternatives, absent) && w[1:].matches(values, within)
}

// join returns the places of both, unless they are in two elements of one array.
func join(a, b []place) (both []place, consistent bool) {
	if len(b) == 0 {
		return a, true
	}
	both = slices.Clone(a)
	for _, one := range b {
		known := slices.IndexFunc(a, func(p place) bool { return p.array == one.array })
		switch {
		case known < 0:
			both = append(both, one)
		case a[known].element != one.element:
			return nil, false
		}
	}
	return both, true
}
