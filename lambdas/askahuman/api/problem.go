package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Violations say what is wrong with a request: the first problem, as published
// clients read it, and all of them.
type Violations struct {
	Violation
	Problems []Problem `json:"problems" nullable:"false" minItems:"1" doc:"Everything that is wrong; the first is the one above."`
}

// Violation is the rule that a field breaks.
type Violation struct {
	Field      string        `json:"field" doc:"The field, parameter or header; body or query for the whole of these." example:"prompt"`
	Constraint validate.Rule `json:"constraint" enum:"required,type,length,range,enum,format,unique,conflict" doc:"The kind of rule that it breaks: length counts the characters of a text or the entries of a list, unique says that a value stands twice, conflict that it does not go with another one." example:"length"`
	Min        *int          `json:"min,omitempty" doc:"Of a length or range: the least that is allowed." example:"10"`
	Max        *int          `json:"max,omitempty" doc:"Of a length or range: the most that is allowed." example:"2000"`
	Allowed    []string      `json:"allowed,omitempty" nullable:"false" doc:"Of an enum: what is allowed." example:"[\"text\",\"multiple_choice\"]"`
}

// Problem is one thing wrong with a request.
type Problem struct {
	Violation
	Message string `json:"message" doc:"What was got and what is allowed, in a sentence." example:"prompt has 4 characters; it needs 10 to 2000"`
}

// details are the problems on the wire.
func details(problems []validate.Problem) *Violations {
	wire := make([]Problem, len(problems))
	for i, p := range problems {
		wire[i] = worded(p)
	}
	return &Violations{Violation: wire[0].Violation, Problems: wire}
}

// sentences are what is wrong for people.
func (v *Violations) sentences() string {
	sentences := make([]string, len(v.Problems))
	for i, p := range v.Problems {
		sentences[i] = p.Message
	}
	return strings.Join(sentences, ". ")
}

// problems are those of a request that is refused for its content; nil: err is another error.
func problems(err error) []validate.Problem {
	if err == idempotency.ErrOtherRequest {
		err = validate.Errorf("idempotency_key", validate.RuleConflict, "was used for another question in the last 24 hours; repeat that request unchanged, or send a new key")
	}
	wrong, ok := err.(*validate.Error)
	if !ok || wrong.Status == http.StatusUnauthorized || wrong.Status == http.StatusNotFound || wrong.Status == http.StatusMethodNotAllowed {
		return nil
	}
	return wrong.Problems
}

// punctuation is that of the wire format.
var punctuation = strings.NewReplacer("which is not text: leave", "which is not text; leave", "is not valid UTF-8: send", "is not valid UTF-8; send")

// worded is a problem in the words of the wire format: a sentence that names the field,
// without a full stop.
func worded(p validate.Problem) Problem {
	c := p.Constraint
	wire := Problem{Violation: Violation{Field: p.Field, Constraint: c.Rule}, Message: punctuation.Replace(p.Message)}
	text, isText := c.Got.(string)
	switch c.Rule {
	case validate.RuleRequired:
		if p.Field == "body" && strings.HasPrefix(p.Message, "request") {
			wire.Message = "is missing, but required"
		}
	case validate.RuleType:
		wire.Message = "is " + shown(c.Got) + "; it must be " + typeName(c.Type)
	case validate.RuleLength:
		wire.Min, wire.Max = c.Min, c.Max
		if c.Got != nil {
			wire.Message = length(c)
		}
	case validate.RuleRange:
		wire.Min, wire.Max = c.Min, c.Max
		wire.Message = "is " + shown(c.Got) + "; allowed is " + bounds(c.Min, "%d or more", c.Max, "at most %d", "%d to %d")
	case validate.RuleEnum:
		wire.Allowed = c.Allowed
		if isText {
			wire.Message = "is " + validate.Quoted(text) + "; allowed is " + strings.Join(c.Allowed[:len(c.Allowed)-1], ", ") + " or " + c.Allowed[len(c.Allowed)-1]
		}
	case validate.RuleUnique, validate.RuleConflict:
	default:
		wire.Constraint = validate.RuleFormat
	}
	switch {
	case p.Field == "request", p.Field == "body" && (wire.Constraint == validate.RuleFormat || strings.HasPrefix(p.Message, "the ")):
		// It is a sentence already.
	case p.Field == "body" || p.Field == "query":
		wire.Message = "the " + p.Field + " " + wire.Message
	default:
		wire.Message = p.Field + " " + wire.Message
	}
	return wire
}

// length says how long a text or a list is, and how long it may be.
func length(c validate.Constraint) string {
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
	case validate.IsBlank(text):
		return "holds only white space; " + needs
	default:
		return counted(visible, "character", "characters") + " without the white space around it; " + needs
	}
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

// shown is a value as a message shows it.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return validate.Excerpt(v)
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
		huma.TypeString: "a text", huma.TypeInteger: "a whole number of at most 18 digits", huma.TypeNumber: "a number",
		huma.TypeBoolean: "true or false", huma.TypeArray: "a list", huma.TypeObject: "an object",
	}[name]
}
