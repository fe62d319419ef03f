package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// Violations say what is wrong with a request: the first problem, as published
// clients read it, and all of them.
type Violations struct {
	Violation
	Problems []Problem `json:"problems" nullable:"false" minItems:"1" doc:"Everything that is wrong; the first is the one above."`
}

// Violation is the rule that a field breaks.
type Violation struct {
	Field      string               `json:"field" doc:"The field, parameter or header; body or query for the whole of these." example:"prompt"`
	Constraint askahuman.Constraint `json:"constraint" enum:"required,type,length,range,enum,format,unique,conflict" doc:"The kind of rule that it breaks: length counts the characters of a text or the entries of a list, unique says that a value stands twice, conflict that it does not go with another one." example:"length"`
	Min        *int                 `json:"min,omitempty" doc:"Of a length or range: the least that is allowed." example:"10"`
	Max        *int                 `json:"max,omitempty" doc:"Of a length or range: the most that is allowed." example:"2000"`
	Allowed    []string             `json:"allowed,omitempty" nullable:"false" doc:"Of an enum: what is allowed." example:"[\"text\",\"multiple_choice\"]"`
}

// Problem is one thing wrong with a request.
type Problem struct {
	Violation
	Message string `json:"message" doc:"What was got and what is allowed, in a sentence." example:"prompt has 4 characters; it needs 10 to 2000"`
}

// details are the problems on the wire.
func details(problems []askahuman.Problem) *Violations {
	wire := make([]Problem, len(problems))
	for i, p := range problems {
		wire[i] = Problem{Violation{p.Field, p.Constraint, p.Min, p.Max, p.Allowed}, p.Message}
	}
	return &Violations{Violation: wire[0].Violation, Problems: wire}
}

// problems are those of a request that is refused for its content, in the words of the
// rules; nil: err is another error.
func problems(err error) *askahuman.InvalidError {
	var found []httpapi.Problem
	switch err := err.(type) {
	case *askahuman.InvalidError:
		return err
	case *httpapi.InvalidError:
		found = err.Problems
	case httpapi.Problem:
		found = []httpapi.Problem{err}
	case *kit.RequestError:
		if err.Status != http.StatusBadRequest && err.Status != http.StatusRequestEntityTooLarge {
			return nil
		}
		problem := askahuman.Problem{Field: err.Field, Constraint: askahuman.ConstraintFormat, Message: err.Message}
		if err.Status == http.StatusRequestEntityTooLarge {
			most := kit.DefaultMaxBodyBytes
			problem.Constraint, problem.Max = askahuman.ConstraintLength, &most
		}
		return &askahuman.InvalidError{Problems: []askahuman.Problem{problem}}
	default:
		if err != idempotency.ErrOtherRequest {
			return nil
		}
		const message = "was used for another question in the last 24 hours; repeat that request unchanged, or send a new key"
		return &askahuman.InvalidError{Problems: []askahuman.Problem{askahuman.NewProblem("idempotency_key", askahuman.ConstraintConflict, message)}}
	}
	problems := make([]askahuman.Problem, len(found))
	for i, p := range found {
		problems[i] = malformation(p)
	}
	return &askahuman.InvalidError{Problems: problems}
}

func malformation(p httpapi.Problem) askahuman.Problem {
	c := p.Constraint
	switch text, isText := c.Got.(string); {
	case c.Rule == httpapi.RuleRequired && p.Field == "body":
		return askahuman.Missing(p.Field)
	case c.Rule == httpapi.RuleRequired:
		return askahuman.NewProblem(p.Field, askahuman.ConstraintRequired, p.Message)
	case c.Rule == httpapi.RuleType:
		return askahuman.NewProblem(p.Field, askahuman.ConstraintType, "is "+shown(c.Got)+"; it must be "+typeName(c.Type))
	case c.Rule == httpapi.RuleLength && isText:
		return askahuman.LengthProblem(p.Field, utf8.RuneCountInString(text), "character", c.Min, c.Max)
	case c.Rule == httpapi.RuleLength:
		entries, _ := c.Got.([]any)
		return askahuman.LengthProblem(p.Field, len(entries), "entry", c.Min, c.Max)
	case c.Rule == httpapi.RuleRange:
		return askahuman.RangeProblem(p.Field, shown(c.Got), c.Min, c.Max)
	case c.Rule == httpapi.RuleEnum && isText:
		return askahuman.EnumProblem(p.Field, text, c.Allowed)
	case c.Rule == httpapi.RuleEnum:
		problem := askahuman.NewProblem(p.Field, askahuman.ConstraintEnum, p.Message)
		problem.Allowed = c.Allowed
		return problem
	case p.Field == "body":
		// Of the body as a whole the message is a sentence already.
		return askahuman.Problem{Field: p.Field, Constraint: askahuman.ConstraintFormat, Message: p.Message}
	default:
		return askahuman.NewProblem(p.Field, askahuman.ConstraintFormat, p.Message)
	}
}

// shown is a value as a message shows it.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return httpapi.Quoted(v)
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
	switch name {
	case huma.TypeString:
		return "a text"
	case huma.TypeInteger:
		return "a whole number of at most 18 digits"
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeArray:
		return "a list"
	case huma.TypeObject:
		return "an object"
	default:
		return "a " + strings.ToLower(name)
	}
}
