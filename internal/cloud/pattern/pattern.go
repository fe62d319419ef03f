// Package pattern decides which events a pattern lets through: those of stream mappings ("Control which events Lambda
// sends to your function", AWS), and of rules of Amazon EventBridge, whose syntax is the same.
package pattern

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Filter is a list of patterns: an event passes when one of them matches, or when there is none.
type Filter []pattern

// pattern has the shape of the record it matches.
type pattern map[string]rule

// rule is either a pattern of the members below, or a list of alternatives for one value.
type rule struct {
	members      pattern
	alternatives []alternative
}

// alternative decides on a value. present is false when the record has no such member.
type alternative func(value any, present bool) bool

// New reads patterns in JSON. Its error names the part that a local run does not know.
func New(texts ...string) (Filter, error) {
	var patterns Filter
	for _, text := range texts {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var raw map[string]any
		if err := decoder.Decode(&raw); err != nil {
			return nil, fmt.Errorf("filter pattern %q: %w", text, err)
		}
		read, err := newPattern(raw, "")
		if err != nil {
			return nil, fmt.Errorf("filter pattern %q: %w", text, err)
		}
		patterns = append(patterns, read)
	}
	return patterns, nil
}

func newPattern(raw map[string]any, path string) (pattern, error) {
	read := pattern{}
	for name, value := range raw {
		at := strings.TrimPrefix(path+"."+name, ".")
		if strings.HasPrefix(name, "$") {
			return nil, fmt.Errorf("%s: got an operator that a local run does not know: write a list of patterns "+
				"instead", at)
		}
		switch value := value.(type) {
		case map[string]any:
			members, err := newPattern(value, at)
			if err != nil {
				return nil, err
			}
			read[name] = rule{members: members}
		case []any:
			var alternatives []alternative
			for _, element := range value {
				entry, err := newAlternative(element, name)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", at, err)
				}
				alternatives = append(alternatives, entry)
			}
			read[name] = rule{alternatives: alternatives}
		default:
			return nil, fmt.Errorf("%s: got %v: write a list of values, or an object", at, value)
		}
	}
	return read, nil
}

func newAlternative(element any, member string) (alternative, error) {
	operator, ok := element.(map[string]any)
	if !ok {
		return equalTo(element), nil
	}
	if len(operator) != 1 {
		return nil, fmt.Errorf("got %d operators in one object: write one", len(operator))
	}
	for name, argument := range operator {
		switch name {
		case "exists":
			want, ok := argument.(bool)
			if !ok {
				return nil, fmt.Errorf("exists: got %v: write true or false", argument)
			}
			return func(_ any, present bool) bool { return present == want }, nil
		case "prefix", "suffix", "equals-ignore-case":
			want, ok := argument.(string)
			if !ok {
				return nil, fmt.Errorf("%s: got %v: write a text", name, argument)
			}
			compare := map[string]func(string, string) bool{"prefix": strings.HasPrefix, "suffix": strings.HasSuffix,
				"equals-ignore-case": strings.EqualFold}[name]
			return func(value any, _ bool) bool {
				text, ok := value.(string)
				return ok && compare(text, want)
			}, nil
		case "anything-but":
			return anythingBut(argument, member)
		case "numeric":
			if member == "N" {
				return nil, errors.New("numeric: it compares JSON numbers, but stream records carry DynamoDB's " +
					"Numbers as text: filter in the function")
			}
			return numeric(argument)
		}
		return nil, fmt.Errorf("got operator %q: a local run knows exists, prefix, suffix, equals-ignore-case, "+
			"anything-but and numeric", name)
	}
	return nil, errors.New("got an empty object: write an operator")
}

func equalTo(want any) alternative {
	return func(value any, present bool) bool { return present && same(value, want) }
}

func same(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, bothNumbers := b.(json.Number)
	if isNumber && bothNumbers {
		left, errLeft := x.Float64()
		right, errRight := y.Float64()
		return errLeft == nil && errRight == nil && left == right
	}
	return a == b
}

func anythingBut(argument any, member string) (alternative, error) {
	var refused []alternative
	elements, ok := argument.([]any)
	if !ok {
		elements = []any{argument}
	}
	for _, element := range elements {
		entry, err := newAlternative(element, member)
		if err != nil {
			return nil, fmt.Errorf("anything-but: %w", err)
		}
		refused = append(refused, entry)
	}
	return func(value any, present bool) bool {
		return present && !slices.ContainsFunc(refused, func(refuse alternative) bool { return refuse(value, present) })
	}, nil
}

func numeric(argument any) (alternative, error) {
	parts, ok := argument.([]any)
	if !ok || len(parts) == 0 || len(parts)%2 != 0 {
		return nil, fmt.Errorf("numeric: got %v: write pairs of a comparison and a number", argument)
	}
	var tests []func(float64) bool
	for i := 0; i < len(parts); i += 2 {
		number, ok := parts[i+1].(json.Number)
		if !ok {
			return nil, fmt.Errorf("numeric: got %v: write a number", parts[i+1])
		}
		limit, err := number.Float64()
		if err != nil {
			return nil, fmt.Errorf("numeric: %w", err)
		}
		switch parts[i] {
		case "=":
			tests = append(tests, func(n float64) bool { return n == limit })
		case "<":
			tests = append(tests, func(n float64) bool { return n < limit })
		case "<=":
			tests = append(tests, func(n float64) bool { return n <= limit })
		case ">":
			tests = append(tests, func(n float64) bool { return n > limit })
		case ">=":
			tests = append(tests, func(n float64) bool { return n >= limit })
		default:
			return nil, fmt.Errorf("numeric: got comparison %v: write =, <, <=, > or >=", parts[i])
		}
	}
	return func(value any, _ bool) bool {
		number, ok := value.(json.Number)
		if !ok {
			return false
		}
		n, err := number.Float64()
		if err != nil {
			return false
		}
		for _, test := range tests {
			if !test(n) {
				return false
			}
		}
		return true
	}, nil
}

// Passes tells whether the event, in JSON, goes to the function.
func (f Filter) Passes(event []byte) (bool, error) {
	if len(f) == 0 {
		return true, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	return slices.ContainsFunc(f, func(p pattern) bool { return p.matches(value) }), nil
}

func (p pattern) matches(value map[string]any) bool {
	for name, rule := range p {
		member, present := value[name]
		if rule.members != nil {
			// A missing member has no members: exists false below it still matches.
			below, ok := member.(map[string]any)
			if present && !ok || !rule.members.matches(below) {
				return false
			}
			continue
		}
		candidates := []any{member}
		if list, ok := member.([]any); ok {
			candidates = list
		}
		if !slices.ContainsFunc(rule.alternatives, func(matches alternative) bool {
			return slices.ContainsFunc(candidates, func(candidate any) bool { return matches(candidate, present) })
		}) {
			return false
		}
	}
	return true
}
