package httpapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// rules maps the beginnings of huma's messages to rules, longer beginnings before their own
// prefixes.
var rules = []struct {
	message string
	rule    validate.Rule
}{
	{validation.MsgExpectedMinLength, validate.RuleLength},
	{validation.MsgExpectedMaxLength, validate.RuleLength},
	{validation.MsgExpectedMinItems, validate.RuleLength},
	{validation.MsgExpectedMaxItems, validate.RuleLength},
	{validation.MsgExpectedMinimumNumber, validate.RuleRange},
	{validation.MsgExpectedMaximumNumber, validate.RuleRange},
	{validation.MsgExpectedOneOf, validate.RuleEnum},
	{validation.MsgExpectedArrayItemsUnique, validate.RuleUnique},
	{validation.MsgExpectedMatchPattern, validate.RulePattern},
	{"expected string to be", validate.RuleFormat},
	{validation.MsgExpectedString, validate.RuleType},
	{validation.MsgExpectedInteger, validate.RuleType},
	{validation.MsgExpectedNumber, validate.RuleType},
	{validation.MsgExpectedBoolean, validate.RuleType},
	{validation.MsgExpectedArray, validate.RuleType},
	{validation.MsgExpectedObject, validate.RuleType},
	// The types that a parameter's text cannot be read as.
	{"invalid integer", validate.RuleType},
	{"invalid float", validate.RuleType},
	{"invalid boolean", validate.RuleType},
}

// ruleOf is the rule that a message of huma's names.
func ruleOf(message string) validate.Rule {
	for _, known := range rules {
		beginning, _, _ := strings.Cut(known.message, "%")
		if strings.HasPrefix(message, beginning) {
			return known.rule
		}
	}
	return ""
}

// constraint returns the broken rule that huma found. The zero value: no rule that a form states.
func (s *operations) constraint(operation *huma.Operation, detail *huma.ErrorDetail) validate.Constraint {
	var missing string
	if _, err := fmt.Sscanf(detail.Message, validation.MsgExpectedRequiredProperty, &missing); err == nil {
		return validate.Constraint{Rule: validate.RuleRequired}
	}
	if strings.HasPrefix(detail.Message, "required ") && strings.HasSuffix(detail.Message, " parameter is missing") {
		return validate.Constraint{Rule: validate.RuleRequired}
	}
	form := s.formAt(operation, detail.Location)
	rule := ruleOf(detail.Message)
	if rule == "" || form == nil {
		return validate.Constraint{}
	}
	found := validate.Constraint{Rule: rule, Type: form.Type, Got: detail.Value}
	switch rule {
	case validate.RuleLength:
		found.Min, found.Max = form.MinLength, form.MaxLength
		if form.Type == huma.TypeArray {
			found.Min, found.Max = form.MinItems, form.MaxItems
		}
	case validate.RuleRange:
		found.Min, found.Max = whole(form.Minimum), whole(form.Maximum)
	case validate.RuleEnum:
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
func (s *operations) formAt(operation *huma.Operation, location string) *huma.Schema {
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
