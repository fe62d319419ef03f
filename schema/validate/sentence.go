package validate

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// punctuation removes the colon from a sentence, so that one message may have several sentences.
var punctuation = strings.NewReplacer("which is not text: leave", "which is not text; leave",
	"is not valid UTF-8: send", "is not valid UTF-8; send")

// Sentence returns the problem as one sentence, without a full stop, that names the field, what came and what is
// allowed. It makes the sentence from the constraint, or else from the message.
func (p Problem) Sentence() string {
	c, message := p.Constraint, punctuation.Replace(p.Message)
	text, isText := c.Got.(string)
	switch {
	case c.Rule == RuleRequired && p.Field == "body" && strings.HasPrefix(p.Message, "request"):
		message = "is missing, but required"
	case c.Rule == RuleType:
		message = "is " + render(c.Got) + "; it must be " + typeName(c.Type)
	case c.Rule == RuleLength && c.Got != nil:
		message = length(c)
	case c.Rule == RuleRange:
		message = "is " + render(c.Got) + "; allowed is " + numbers(c.Min, c.Max)
	case c.Rule == RuleEnum && isText:
		last := len(c.Allowed) - 1
		message = "is " + Quoted(text) + "; allowed is " + strings.Join(c.Allowed[:last], ", ") + " or " +
			c.Allowed[last]
	}
	isSentence := c.Rule == "" || c.Rule == RuleFormat || c.Rule == RulePattern || strings.HasPrefix(p.Message, "the ")
	switch {
	case p.Field == "request", p.Field == "body" && isSentence:
		return message
	case p.Field == "body" || p.Field == "query":
		return "the " + p.Field + " " + message
	default:
		return p.Field + " " + message
	}
}

// length says how long a text or a list is, and how long it may be.
func length(c Constraint) string {
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
