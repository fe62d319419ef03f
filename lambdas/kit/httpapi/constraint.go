package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// Rule is a kind of rule that a form states for a value.
type Rule string

// The rules. The zero value is a rule that no form states.
const (
	// RuleRequired: the value has to be there.
	RuleRequired Rule = "required"
	// RuleType: the value has to be of [Constraint.Type].
	RuleType Rule = "type"
	// RuleLength: a text has Min to Max characters, a list Min to Max entries.
	RuleLength Rule = "length"
	// RuleRange: a number is Min to Max.
	RuleRange Rule = "range"
	// RuleEnum: the value is one of Allowed.
	RuleEnum Rule = "enum"
	// RuleFormat: a text is written in a certain way, such as that of a date.
	RuleFormat Rule = "format"
	// RulePattern: a text matches a regular expression.
	RulePattern Rule = "pattern"
	// RuleUnique: the entries of a list differ.
	RuleUnique Rule = "unique"
)

// Constraint is the rule that a value breaks, with what the rule allows.
type Constraint struct {
	// Rule is the kind of rule.
	Rule Rule
	// Type is the type that the form states, by its name in JSON Schema: "string",
	// "integer", "array", …
	Type string
	// Min and Max are the bounds of a RuleLength or RuleRange; nil: there is none.
	Min, Max *int
	// Allowed are the values of a RuleEnum.
	Allowed []string
	// Got is the value as it was read: nil, string, float64, bool, []any or
	// map[string]any of a body, also int64 of a parameter.
	Got any
}

// rules are the rules by the beginnings of huma's messages, the longer before what
// they begin with.
var rules = []struct {
	message string
	rule    Rule
}{
	{validation.MsgExpectedMinLength, RuleLength},
	{validation.MsgExpectedMaxLength, RuleLength},
	{validation.MsgExpectedMinItems, RuleLength},
	{validation.MsgExpectedMaxItems, RuleLength},
	{validation.MsgExpectedMinimumNumber, RuleRange},
	{validation.MsgExpectedMaximumNumber, RuleRange},
	{validation.MsgExpectedOneOf, RuleEnum},
	{validation.MsgExpectedArrayItemsUnique, RuleUnique},
	{validation.MsgExpectedMatchPattern, RulePattern},
	{"expected string to be", RuleFormat},
	{validation.MsgExpectedString, RuleType},
	{validation.MsgExpectedInteger, RuleType},
	{validation.MsgExpectedNumber, RuleType},
	{validation.MsgExpectedBoolean, RuleType},
	{validation.MsgExpectedArray, RuleType},
	{validation.MsgExpectedObject, RuleType},
	// The types that a parameter's text cannot be read as.
	{"invalid integer", RuleType},
	{"invalid float", RuleType},
	{"invalid boolean", RuleType},
}

// ruleOf is the rule that a message of huma's names.
func ruleOf(message string) Rule {
	for _, known := range rules {
		beginning, _, _ := strings.Cut(known.message, "%")
		if strings.HasPrefix(message, beginning) {
			return known.rule
		}
	}
	return ""
}

// constraint is the rule that huma found broken. The zero value: none that a form
// states.
func (s *Server) constraint(operation *huma.Operation, detail *huma.ErrorDetail) Constraint {
	var missing string
	if _, err := fmt.Sscanf(detail.Message, validation.MsgExpectedRequiredProperty, &missing); err == nil {
		return Constraint{Rule: RuleRequired}
	}
	if strings.HasPrefix(detail.Message, "required ") && strings.HasSuffix(detail.Message, " parameter is missing") {
		return Constraint{Rule: RuleRequired}
	}
	form := s.formAt(operation, detail.Location)
	rule := ruleOf(detail.Message)
	if rule == "" || form == nil {
		return Constraint{}
	}
	found := Constraint{Rule: rule, Type: form.Type, Got: detail.Value}
	switch rule {
	case RuleLength:
		found.Min, found.Max = form.MinLength, form.MaxLength
		if form.Type == huma.TypeArray {
			found.Min, found.Max = form.MinItems, form.MaxItems
		}
	case RuleRange:
		found.Min, found.Max = whole(form.Minimum), whole(form.Maximum)
	case RuleEnum:
		for _, value := range form.Enum {
			if value != nil {
				found.Allowed = append(found.Allowed, fmt.Sprint(value))
			}
		}
	}
	return found
}

func whole(bound *float64) *int {
	if bound == nil {
		return nil
	}
	n := int(*bound)
	return &n
}

// formAt is the form of the value at a location such as "body.options[1]" or
// "query.limit"; nil: none is declared.
func (s *Server) formAt(operation *huma.Operation, location string) *huma.Schema {
	where, rest, _ := strings.Cut(location, ".")
	name, inside, _ := strings.Cut(rest, "[")
	if where != "body" {
		for _, parameter := range operation.Parameters {
			if parameter.In == where && parameter.Name == name {
				if inside != "" {
					return parameter.Schema.Items
				}
				return parameter.Schema
			}
		}
		return nil
	}
	form := s.bodyForm(operation)
	if rest == "" {
		return form
	}
	for step := range strings.SplitSeq(strings.ReplaceAll(rest, "[", ".["), ".") {
		switch {
		case form == nil:
			return nil
		case isIndex(step):
			form = form.Items
		default:
			form = form.Properties[step]
		}
		if form != nil && form.Ref != "" {
			form = s.api.OpenAPI().Components.Schemas.SchemaFromRef(form.Ref)
		}
	}
	return form
}

func isIndex(step string) bool {
	inner, isOpen := strings.CutPrefix(step, "[")
	inner, isClosed := strings.CutSuffix(inner, "]")
	_, err := strconv.Atoi(inner)
	return isOpen && isClosed && err == nil
}
