package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// noBody is huma's message for a missing body.
const noBody = "request body is required"

// ruleLocation begins the location of a [validate.Problem] on its way through huma.
const ruleLocation = "rule"

// Input is the input of an operation whose body is checked by its rules ([validate.Form]).
type Input[B any] struct{ Body B }

// Resolve checks the rules, for huma.
func (i *Input[B]) Resolve(huma.Context) []error { return Check(i.Body) }

// Check checks a form by its rules ([validate.Form]), once for each request and before its key is
// claimed. Return its result from the method Resolve of an input type ([huma.Resolver]). Its
// problems are added to huma's, except for fields in which huma found one.
func Check(form any) (broken []error) {
	wrong, ok := errors.AsType[*validate.Error](validate.Form(form))
	if !ok {
		return nil
	}
	for _, p := range wrong.Problems {
		broken = append(broken, &huma.ErrorDetail{Location: ruleLocation + "." + p.Field, Message: p.Message})
	}
	return broken
}

// undeclared are the parameters of a query that its operation does not declare.
func undeclared(query url.Values, operation *huma.Operation) []validate.Problem {
	var known []string
	for _, parameter := range operation.Parameters {
		if parameter.In == "query" {
			known = append(known, parameter.Name)
		}
	}
	var problems []validate.Problem
	for _, name := range slices.Sorted(maps.Keys(query)) {
		add := func(message string) {
			problems = append(problems, validate.Problem{Field: clipped(name), Message: message})
		}
		values := query[name]
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			add("is no query parameter of this route, which has none")
		case !slices.Contains(known, name):
			add("is no query parameter of this route: use " + strings.Join(known, ", "))
		case len(values) > 1:
			add(fmt.Sprintf("stands %d times: give it once", len(values)))
		case values[0] == "":
			add("is empty: give it a value, or leave it out")
		case !utf8.ValidString(values[0]):
			add("is not valid UTF-8")
		}
	}
	return problems
}

func unknownField(name string) validate.Problem {
	return validate.Problem{Field: clipped(name), Message: "is not known here: leave it out, or check its spelling"}
}

// miscased returns the fields of a body whose names differ from the form's only in case. huma, like
// encoding/json, accepts them.
func miscased(body []byte, form *huma.Schema) []validate.Problem {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return nil
	}
	var problems []validate.Problem
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if form.Properties[name] != nil {
			continue
		}
		for known := range form.Properties {
			if strings.EqualFold(known, name) {
				problems = append(problems, unknownField(name))
			}
		}
	}
	return problems
}

// mostProblems is how many problems an answer has at most, and one that says how many more there are.
// AWS Lambda takes no answer of more than 6 MB ("Lambda quotas"), and a body can have more problems.
const mostProblems = 100

// invalid is the error with the problems of huma, of the resolvers, and the others.
func (s *operations) invalid(operation *huma.Operation, model *huma.ErrorModel,
	others []validate.Problem) *validate.Error {
	if model.Status != http.StatusUnprocessableEntity {
		// The body could not be read, so the problems that resolvers found mean nothing.
		unreadable := validate.Problem{Field: "body", Message: model.Detail}
		for _, detail := range model.Errors {
			if detail.Location == "body" {
				unreadable = s.problem(operation, detail)
				break
			}
		}
		if unreadable.Message == noBody {
			unreadable.Constraint.Rule = validate.RuleRequired
		}
		return &validate.Error{Status: model.Status, Problems: []validate.Problem{unreadable}}
	}
	found, wrong := slices.Clone(others), map[string]bool{}
	for _, p := range others {
		wrong[p.Field] = true
	}
	for _, detail := range model.Errors {
		p := s.problem(operation, detail)
		isRule := strings.HasPrefix(detail.Location, ruleLocation+".")
		// The rules have not checked a body that is no object.
		if isRule && (wrong[p.Field] || wrong["body"]) {
			continue
		}
		found, wrong[p.Field] = append(found, p), true
	}
	if len(found) == 0 {
		found = []validate.Problem{{Field: "body", Message: model.Detail}}
	}
	if len(found) > mostProblems {
		more := validate.Problem{Field: "body",
			Message: fmt.Sprintf("has %d more problems: correct these first", len(found)-mostProblems)}
		found = append(found[:mostProblems:mostProblems], more)
	}
	return &validate.Error{Problems: found}
}

// problem is a problem that huma found, with the wire names of fields.
func (s *operations) problem(operation *huma.Operation, detail *huma.ErrorDetail) validate.Problem {
	p := described(detail)
	if p.Constraint.Rule == "" && !strings.HasPrefix(detail.Location, ruleLocation+".") {
		p.Constraint = s.constraint(operation, detail)
	}
	return p
}

// described is a problem that huma found, in words.
func described(detail *huma.ErrorDetail) validate.Problem {
	where, field, inside := strings.Cut(detail.Location, ".")
	if where == ruleLocation {
		return validate.Problem{Field: field, Message: detail.Message}
	}
	var missing string
	if _, err := fmt.Sscanf(detail.Message, validation.MsgExpectedRequiredProperty, &missing); err == nil {
		return validate.Problem{Field: strings.TrimPrefix(field+"."+missing, "."), Message: "is missing, but required"}
	}
	switch {
	case detail.Message == validation.MsgUnexpectedProperty:
		return unknownField(field)
	case !inside && strings.HasPrefix(detail.Message, huma.ErrUnknownContentType.Error()):
		return validate.Problem{Field: "Content-Type",
			Message:    "is not application/json: send JSON with the header Content-Type: application/json",
			Constraint: validate.Constraint{Rule: validate.RuleEnum, Allowed: []string{"application/json"}}}
	case !inside:
		field = where
	}
	message := detail.Message
	if got := quote(detail.Value); got != "" && inside {
		message += "; got " + got
	}
	return validate.Problem{Field: field, Message: message}
}

// longestName is how many characters of a name a message has.
const longestName = 40

// quote is a value as a message quotes it: cut, so that the message stays
// readable. Empty: there is nothing to quote.
func quote(value any) string {
	switch v := value.(type) {
	case string:
		return validate.Excerpt(v)
	case float64, int64, int, bool:
		return fmt.Sprint(v)
	case []any:
		return fmt.Sprintf("%d of them", len(v))
	case map[string]any:
		return "an object"
	default:
		return ""
	}
}

// clipped returns a name that the caller chose, cut to a length that fits into a message.
func clipped(name string) string {
	if name == "" {
		return `""`
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if runes := []rune(name); len(runes) > longestName {
		return string(runes[:longestName]) + "…"
	}
	return name
}

// Unreadable returns a [*validate.Error] with status 400, for a header or a query that cannot be
// read.
func Unreadable(field string, constraint validate.Constraint, message string) error {
	return &validate.Error{Status: http.StatusBadRequest,
		Problems: []validate.Problem{{Field: field, Message: message, Constraint: constraint}}}
}

// RetryAfter returns the header Retry-After for a time: whole seconds, rounded up, and at least
// one.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
