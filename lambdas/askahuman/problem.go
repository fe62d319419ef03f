package askahuman

import (
	"fmt"
	"strconv"
	"strings"
)

// Constraint is the kind of rule that a value breaks.
type Constraint string

// The constraints, in the words of the wire format.
const (
	// ConstraintRequired: the value has to be there.
	ConstraintRequired Constraint = "required"
	// ConstraintType: the value is of another type than it has to be.
	ConstraintType Constraint = "type"
	// ConstraintLength: a text has too few or too many characters, or a list too few
	// or too many entries.
	ConstraintLength Constraint = "length"
	// ConstraintRange: a number is too low or too high.
	ConstraintRange Constraint = "range"
	// ConstraintEnum: the value is none of those that are allowed.
	ConstraintEnum Constraint = "enum"
	// ConstraintFormat: the value is not written as it has to be.
	ConstraintFormat Constraint = "format"
	// ConstraintUnique: the value is there twice.
	ConstraintUnique Constraint = "unique"
	// ConstraintConflict: the value does not go with another one of the request.
	ConstraintConflict Constraint = "conflict"
)

// Constraints are all constraints.
func Constraints() []Constraint {
	return []Constraint{
		ConstraintRequired, ConstraintType, ConstraintLength, ConstraintRange, ConstraintEnum, ConstraintFormat, ConstraintUnique, ConstraintConflict,
	}
}

// Problem is one thing wrong with a request.
type Problem struct {
	// Field is the wire name of the field or header, such as "min_responses"; "body"
	// is the whole body.
	Field string
	// Constraint is the rule that it breaks.
	Constraint Constraint
	// Min and Max are the bounds of a length (in characters or entries) or range; nil:
	// there is none, or it is of another constraint.
	Min, Max *int
	// Allowed are the values of an enum.
	Allowed []string
	// Message is a sentence that names the field, what it is and what is allowed,
	// without a full stop.
	Message string
}

// InvalidError is a request that breaks a rule: every problem at once.
type InvalidError struct {
	// Problems are all that were found, one at least.
	Problems []Problem
}

// Error lists the problems, a sentence each.
func (e *InvalidError) Error() string {
	sentences := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		sentences[i] = p.Message
	}
	return strings.Join(sentences, ". ")
}

// NewProblem is a problem whose message begins with the field: "is missing" of
// "prompt" becomes "prompt is missing".
func NewProblem(field string, constraint Constraint, message string) Problem {
	subject := field
	if field == "body" || field == "query" {
		subject = "the " + field
	}
	return Problem{Field: field, Constraint: constraint, Message: subject + " " + message}
}

// Missing is a value that is not there.
func Missing(field string) Problem {
	return NewProblem(field, ConstraintRequired, "is missing, but required")
}

// LengthProblem is a text of so many characters, or a list of so many entries (unit
// says which, in the singular), where least to most are allowed; nil: no bound.
func LengthProblem(field string, length int, unit string, least, most *int) Problem {
	got := "is empty"
	if length > 0 {
		got = "has " + counted(length, unit)
	}
	return bounded(NewProblem(field, ConstraintLength, got+"; "+needed(least, most)), least, most)
}

// RangeProblem is a number where least to most are allowed; nil: no bound. got is
// the number as a message shows it.
func RangeProblem(field, got string, least, most *int) Problem {
	allowed := ""
	switch {
	case least == nil:
		allowed = fmt.Sprintf("at most %d", *most)
	case most == nil:
		allowed = fmt.Sprintf("%d or more", *least)
	default:
		allowed = fmt.Sprintf("%d to %d", *least, *most)
	}
	return bounded(NewProblem(field, ConstraintRange, "is "+got+"; allowed is "+allowed), least, most)
}

// EnumProblem is a value that is none of those allowed.
func EnumProblem(field, got string, allowed []string) Problem {
	p := NewProblem(field, ConstraintEnum, "is "+shown(got)+"; allowed is "+listed(allowed))
	p.Allowed = allowed
	return p
}

func bounded(p Problem, least, most *int) Problem {
	p.Min, p.Max = least, most
	return p
}

func needed(least, most *int) string {
	switch {
	case least == nil:
		return fmt.Sprintf("at most %d are allowed", *most)
	case most == nil:
		return fmt.Sprintf("it needs at least %d", *least)
	default:
		return fmt.Sprintf("it needs %d to %d", *least, *most)
	}
}

// counted is a number of things: "1 entry", "2 entries".
func counted(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	if stem, ok := strings.CutSuffix(unit, "y"); ok {
		return strconv.Itoa(n) + " " + stem + "ies"
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// listed is a choice: "a, b or c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
