package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Broken returns the problem of a value that breaks a rule, in the words that all platforms have for it. The rule has
// its bounds, and what was got.
func Broken(field string, c Constraint) Problem {
	return Problem{Field: field, Message: c.words(), Constraint: c}
}

// words say what was got and what is allowed.
func (c Constraint) words() string {
	switch c.Rule {
	case RuleRequired:
		return "is missing, but required"
	case RuleType:
		return "is " + render(c.Got) + "; it must be " + typeName(c.Type)
	case RuleLength:
		return length(c)
	case RuleRange:
		return "is " + render(c.Got) + "; allowed is " + numbers(c.Min, c.Max)
	case RuleEnum:
		return "is " + render(c.Got) + "; allowed is " + oneOf(c.Allowed)
	case RuleUnique:
		return "has an entry twice; give each once"
	}
	return "is " + render(c.Got) + "; it must be " + c.Wanted
}

// oneOf lists what is allowed. An empty text is none of it: it stands for a field that is left out.
func oneOf(allowed []string) string {
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == "" })
	last := len(allowed) - 1
	if last < 1 {
		return strings.Join(allowed, "")
	}
	return strings.Join(allowed[:last], ", ") + " or " + allowed[last]
}

// Sentence returns the problem as one sentence, without a full stop, that names the field.
func (p Problem) Sentence() string {
	c := p.Constraint
	isSentence := c.Rule == "" || c.Rule == RuleFormat || c.Rule == RulePattern || strings.HasPrefix(p.Message, "the ")
	switch {
	case p.Field == "request", p.Field == "body" && isSentence:
		return p.Message
	case p.Field == "body" || p.Field == "query":
		return "the " + p.Field + " " + p.Message
	default:
		return p.Field + " " + p.Message
	}
}

// length says how long a text or a list is, and how long it may be.
func length(c Constraint) string {
	if c.Min != nil && *c.Min == 0 && c.Max != nil {
		c.Min = nil
	}
	needs := bounds(c.Min, "it needs at least %d", c.Max, "at most %d are allowed", "it needs %d to %d")
	counted := func(n int, one, many string) string {
		switch n {
		case 0:
			return "is empty"
		case 1:
			return "has 1 " + one
		}
		return fmt.Sprintf("has %d %s", n, many)
	}
	switch got := c.Got.(type) {
	case []any:
		return counted(len(got), "entry", "entries") + "; " + needs
	case int:
		return counted(got, "entry", "entries") + "; " + needs
	}
	text, _ := c.Got.(string)
	n, visible := utf8.RuneCountInString(text), utf8.RuneCountInString(strings.TrimSpace(text))
	switch {
	case n == 0 || c.Max != nil && n > *c.Max || c.Min == nil || n < *c.Min:
		return counted(n, "character", "characters") + "; " + needs
	case IsBlank(text):
		return "holds only white space; " + needs
	default:
		return counted(visible, "character", "characters") + " without the white space around it; " + needs
	}
}

// numbers says which numbers a range has.
func numbers(least, most *int) string {
	return bounds(least, "%d or more", most, "at most %d", "%d to %d")
}

// bounds says what is allowed.
func bounds(least *int, atLeast string, most *int, atMost, both string) string {
	switch {
	case least == nil:
		return fmt.Sprintf(atMost, *most)
	case most == nil:
		return fmt.Sprintf(atLeast, *least)
	default:
		return fmt.Sprintf(both, *least, *most)
	}
}

// render returns a value in the form of a message.
func render(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return Excerpt(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprint(v)
	}
}

// typeName is a type of JSON Schema in words.
func typeName(name string) string {
	return map[string]string{
		"string": "a text", "integer": "a whole number of at most 18 digits", "number": "a number",
		"boolean": "true or false", "array": "a list", "object": "an object",
	}[name]
}
