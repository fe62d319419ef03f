package pattern

// What a pattern compares values with ("Comparison operators for use in event patterns in Amazon EventBridge").

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// operators are those of an object in a list of values.
var operators = []string{"anything-but", "cidr", "equals-ignore-case", "exists", "numeric", "prefix", "suffix",
	"wildcard"}

func isOperator(name string) bool { return slices.Contains(operators, name) }

// largest is the largest number that operators compare; the smallest is -largest.
const largest = 5e9

func readAlternatives(values []any, path string) ([]alternative, error) {
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: got an empty list: write values", path)
	}
	var alternatives []alternative
	for _, value := range values {
		one, err := readAlternative(value, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		alternatives = append(alternatives, one)
	}
	return alternatives, nil
}

func readAlternative(value any, path string) (alternative, error) {
	switch value := value.(type) {
	case map[string]any:
		name, argument, err := single(value)
		if err != nil {
			return alternative{}, err
		}
		if name == "exists" {
			there, ok := argument.(bool)
			if !ok {
				return alternative{}, fmt.Errorf("exists: got %v: write true or false", argument)
			}
			return alternative{absent: !there, passes: func(any) bool { return true }}, nil
		}
		passes, err := readOperator(name, argument, path)
		return alternative{passes: passes}, err
	case []any:
		return alternative{}, fmt.Errorf("got a list within a list: write values")
	}
	return alternative{passes: equalTo(value)}, nil
}

// single returns the only member of an operator's object.
func single(object map[string]any) (name string, argument any, err error) {
	if len(object) != 1 {
		return "", nil, fmt.Errorf("got %d operators in one object: write one", len(object))
	}
	for name, argument = range object {
	}
	return name, argument, nil
}

func readOperator(name string, argument any, path string) (func(any) bool, error) {
	switch name {
	case "anything-but":
		return anythingBut(argument)
	case "numeric":
		if strings.HasPrefix(path, "dynamodb.") && strings.HasSuffix(path, ".N") {
			return nil, fmt.Errorf("numeric: it compares JSON numbers, but stream records carry DynamoDB's Numbers " +
				"as text: filter in the function")
		}
		return numeric(argument)
	case "prefix", "suffix":
		if object, ok := argument.(map[string]any); ok {
			nested, want, err := single(object)
			if err != nil || nested != "equals-ignore-case" {
				return nil, fmt.Errorf("%s: got %v: write a text, or equals-ignore-case with one", name, argument)
			}
			return ofTexts(name, want, strings.ToLower)
		}
	}
	return ofTexts(name, argument, strings.Clone)
}

// ofTexts reads an operator that compares texts. Both texts are folded before.
func ofTexts(name string, argument any, fold func(string) string) (func(any) bool, error) {
	want, ok := argument.(string)
	if !ok && isOperator(name) {
		return nil, fmt.Errorf("%s: got %v: write a text", name, argument)
	}
	want = fold(want)
	compare := strings.EqualFold
	switch name {
	case "equals-ignore-case":
	case "prefix":
		compare = strings.HasPrefix
	case "suffix":
		compare = strings.HasSuffix
	case "wildcard":
		parts, err := splitWildcard(want)
		if err != nil {
			return nil, err
		}
		compare = func(text, _ string) bool { return matchesParts(text, parts) }
	case "cidr":
		network, err := netip.ParsePrefix(want)
		if err != nil {
			return nil, fmt.Errorf("cidr: got %q: write a range of addresses, such as 10.0.0.0/24", want)
		}
		compare = func(text, _ string) bool {
			address, err := netip.ParseAddr(text)
			return err == nil && network.Contains(address)
		}
	default:
		return nil, fmt.Errorf("got operator %q: EventBridge has %s", name, strings.Join(operators, ", "))
	}
	return func(value any) bool {
		text, ok := value.(string)
		return ok && compare(fold(text), want)
	}, nil
}

// equalTo compares a text, a number, a truth value or null.
func equalTo(want any) func(any) bool {
	number, ok := want.(json.Number)
	if !ok {
		return func(value any) bool { return value == want }
	}
	limit, comparable := comparableNumber(number)
	return func(value any) bool {
		other, ok := value.(json.Number)
		if !ok {
			return false
		}
		n, alsoComparable := comparableNumber(other)
		return other == number || comparable && alsoComparable && n == limit
	}
}

// comparableNumber is a number that operators compare. Others, such as the numbers of accounts, are compared as they
// are written.
func comparableNumber(number json.Number) (value float64, ok bool) {
	value, err := number.Float64()
	return value, err == nil && value >= -largest && value <= largest
}

// anythingBut lets a value through that is none of the texts or numbers, or for which the operator on texts holds with
// none of them.
func anythingBut(argument any) (func(any) bool, error) {
	compare := func(want any) (func(any) bool, error) {
		switch want := want.(type) {
		case string:
			return equalTo(want), nil
		case json.Number:
			if _, ok := comparableNumber(want); ok {
				return equalTo(want), nil
			}
			return nil, fmt.Errorf("anything-but: got %v: write a number from %.0f to %.0f", want, -largest, largest)
		}
		return nil, fmt.Errorf("anything-but: got %v: write texts or numbers", want)
	}
	if object, ok := argument.(map[string]any); ok {
		name, texts, err := single(object)
		if err != nil || !slices.Contains([]string{"equals-ignore-case", "prefix", "suffix", "wildcard"}, name) {
			return nil, fmt.Errorf("anything-but: got %v: write texts, numbers, or one of equals-ignore-case, prefix, "+
				"suffix and wildcard", argument)
		}
		argument = texts
		compare = func(want any) (func(any) bool, error) {
			if want == "" && name != "equals-ignore-case" {
				return nil, fmt.Errorf("anything-but: %s: got an empty text: write one", name)
			}
			return ofTexts(name, want, strings.Clone)
		}
	}
	list, ok := argument.([]any)
	if !ok {
		list = []any{argument}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("anything-but: got an empty list: write values")
	}
	var refused []func(any) bool
	_, texts := list[0].(string)
	for _, element := range list {
		if _, text := element.(string); text != texts {
			return nil, fmt.Errorf("anything-but: got %v: write either texts or numbers", list)
		}
		one, err := compare(element)
		if err != nil {
			return nil, err
		}
		refused = append(refused, one)
	}
	return func(value any) bool {
		return !slices.ContainsFunc(refused, func(refuse func(any) bool) bool { return refuse(value) })
	}, nil
}

// numeric reads a number to be equal to, a bound, or a lower and an upper bound.
func numeric(argument any) (func(any) bool, error) {
	parts, _ := argument.([]any)
	refuse := fmt.Errorf(`numeric: got %v: write ["=", n], one bound such as [">", n], or a lower and an upper one `+
		`such as [">", 0, "<=", 5], of numbers from %.0f to %.0f`, argument, -largest, largest)
	if len(parts) != 2 && len(parts) != 4 {
		return nil, refuse
	}
	var comparisons []string
	var limits []float64
	for i := 0; i < len(parts); i += 2 {
		comparison, _ := parts[i].(string)
		number, _ := parts[i+1].(json.Number)
		limit, ok := comparableNumber(number)
		if !ok {
			return nil, refuse
		}
		comparisons, limits = append(comparisons, comparison), append(limits, limit)
	}
	lower, upper := []string{">", ">="}, []string{"<", "<="}
	switch {
	case len(comparisons) == 1 && !slices.Contains(append(append(lower, upper...), "="), comparisons[0]):
		return nil, refuse
	case len(comparisons) == 2 && (!slices.Contains(lower, comparisons[0]) ||
		!slices.Contains(upper, comparisons[1]) || limits[0] >= limits[1]):
		return nil, refuse
	}
	return func(value any) bool {
		number, _ := value.(json.Number)
		n, ok := comparableNumber(number)
		for i, limit := range limits {
			ok = ok && compareNumbers(comparisons[i], n, limit)
		}
		return ok
	}, nil
}

func compareNumbers(comparison string, n, limit float64) bool {
	switch comparison {
	case "<":
		return n < limit
	case "<=":
		return n <= limit
	case ">":
		return n > limit
	case ">=":
		return n >= limit
	}
	return n == limit
}

// splitWildcard returns what is before, between and after the asterisks of a wildcard.
func splitWildcard(text string) (parts []string, err error) {
	var part []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '*' && len(part) == 0 && len(parts) > 0:
			return nil, fmt.Errorf("wildcard: got %q: write one asterisk, and not two in a row", text)
		case text[i] == '*':
			parts, part = append(parts, string(part)), nil
			continue
		case text[i] == '\\':
			if i++; i == len(text) || text[i] != '*' && text[i] != '\\' {
				return nil, fmt.Errorf(`wildcard: got %q: write \* for an asterisk and \\ for a backslash`, text)
			}
		}
		part = append(part, text[i])
	}
	return append(parts, string(part)), nil
}

// matchesParts reports whether the text consists of the parts, with any text between them.
func matchesParts(text string, parts []string) bool {
	last := len(parts) - 1
	if last == 0 {
		return text == parts[0]
	}
	rest, begins := strings.CutPrefix(text, parts[0])
	if !begins {
		return false
	}
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
