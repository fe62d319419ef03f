package api

import (
	"net/http"
	"strings"

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

// sentences returns what is wrong, in words for people.
func (v *Violations) sentences() string {
	sentences := make([]string, len(v.Problems))
	for i, p := range v.Problems {
		sentences[i] = p.Message
	}
	return strings.Join(sentences, ". ")
}

// problems returns the problems of a request with invalid content; nil: err is another error.
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

// worded returns a problem in its wire form.
func worded(p validate.Problem) Problem {
	c := p.Constraint
	wire := Problem{Violation: Violation{Field: p.Field, Constraint: c.Rule}, Message: p.Sentence()}
	switch c.Rule {
	case validate.RuleLength, validate.RuleRange:
		wire.Min, wire.Max = c.Min, c.Max
	case validate.RuleEnum:
		wire.Allowed = c.Allowed
	case validate.RuleRequired, validate.RuleType, validate.RuleUnique, validate.RuleConflict:
	default:
		wire.Constraint = validate.RuleFormat
	}
	return wire
}
