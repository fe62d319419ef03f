// Package intrinsic evaluates the values of CloudFormation templates: intrinsic functions and
// conditions. It knows no resource and no stack: its user resolves references. In a local run
// everything must be known; in the comparison of two templates most is not.
package intrinsic

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Names resolves what the values of a template refer to. Results have the form of
// [Evaluator.Value]'s; its caller gets errors unchanged. Path leads to the reference, for errors.
type Names interface {
	// Ref returns what Ref gives for a parameter, a resource or a pseudo parameter other than AWS::NoValue.
	Ref(name, path string) (any, error)
	// Attribute returns what Fn::GetAtt gives.
	Attribute(id, attribute, path string) (any, error)
	// Call returns what a function gives that needs more than the template: Fn::GetAZs, Fn::ImportValue,
	// Fn::GetStackOutput, and those that do not exist. The argument is not evaluated.
	Call(function string, argument any, path string) (any, error)
}

// Evaluator evaluates the values of one template. It is not safe for concurrent use.
//
// Values are JSON's, with numbers as [json.Number].
type Evaluator struct {
	// Names are what values refer to.
	Names Names
	// Conditions and Mappings are the template's sections.
	Conditions map[string]any
	Mappings   map[string]map[string]map[string]any
	// Problem makes the error for a value that is wrong.
	Problem func(path, problem string) error
	// Partial keeps an expression if it is wrong, or refers to something that Names does not know.
	// Its arguments are evaluated as far as they go.
	Partial bool

	// verdicts are the conditions that were decided, and nil for one that is being decided.
	verdicts map[string]*bool
}

// Absent is the result of Ref AWS::NoValue: the property or element with it is left out.
type Absent struct{}

// unknown is an expression that stays, with its arguments evaluated.
type unknown map[string]any

func (e *Evaluator) problem(path, format string, arguments ...any) error {
	return e.Problem(path, fmt.Sprintf(format, arguments...))
}

// Value evaluates a value; a left-out value is Absent. It returns all problems of its parts
// together.
func (e *Evaluator) Value(value any, path string) (any, error) {
	evaluated, err := e.value(value, path)
	if e.Partial {
		evaluated = plain(evaluated)
	}
	return evaluated, err
}

// plain replaces each kept expression by its form in a template.
func plain(value any) any {
	switch value := value.(type) {
	case unknown:
		return plain(map[string]any(value))
	case map[string]any:
		for key := range value {
			value[key] = plain(value[key])
		}
		return value
	case []any:
		kept := make([]any, 0, len(value))
		for _, element := range value {
			if _, none := element.(Absent); !none {
				kept = append(kept, plain(element))
			}
		}
		return kept
	}
	return value
}

func (e *Evaluator) value(value any, path string) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			if key == "Ref" && len(value) == 1 || strings.HasPrefix(key, "Fn::") {
				switch {
				case len(value) == 1:
					return e.function(key, value[key], path)
				case !e.Partial:
					return nil, e.problem(path, "got %s beside other keys: an intrinsic function stands alone", key)
				}
			}
		}
		resolved := make(map[string]any, len(value))
		var problems []error
		for _, key := range slices.Sorted(maps.Keys(value)) {
			part, err := e.value(value[key], path+"."+key)
			if err != nil {
				problems = append(problems, err)
			} else if _, none := part.(Absent); !none {
				resolved[key] = part
			}
		}
		return resolved, errors.Join(problems...)
	case []any:
		resolved := make([]any, 0, len(value))
		var problems []error
		for i, element := range value {
			part, err := e.value(element, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				problems = append(problems, err)
			} else if _, none := part.(Absent); !none {
				resolved = append(resolved, part)
			}
		}
		return resolved, errors.Join(problems...)
	default:
		return value, nil
	}
}

// function evaluates an intrinsic function.
func (e *Evaluator) function(name string, argument any, path string) (any, error) {
	if !e.Partial {
		return e.call(name, argument, path+"."+name)
	}
	// The arguments come first, so that each is evaluated once, however deep it is.
	argument, err := e.arguments(argument, path+"."+name)
	if err != nil {
		return nil, err
	}
	if _, none := argument.(Absent); none {
		return unknown{}, nil
	}
	value, err := e.call(name, argument, path+"."+name)
	if err != nil {
		return unknown{name: argument}, nil
	}
	return value, nil
}

// arguments evaluates the arguments of a function. An absent argument keeps its place, because a
// branch of Fn::If may be absent.
func (e *Evaluator) arguments(argument any, path string) (any, error) {
	list, ok := argument.([]any)
	if !ok {
		return e.value(argument, path)
	}
	evaluated := make([]any, len(list))
	var problems []error
	for i, element := range list {
		part, err := e.value(element, path+"["+strconv.Itoa(i)+"]")
		evaluated[i] = part
		problems = append(problems, err)
	}
	return evaluated, errors.Join(problems...)
}

// Text evaluates to a string. Numbers and booleans become text, as in CloudFormation.
func (e *Evaluator) Text(value any, path string) (string, error) {
	evaluated, err := e.value(value, path)
	if err != nil {
		return "", err
	}
	switch evaluated := evaluated.(type) {
	case string:
		return evaluated, nil
	case json.Number:
		return evaluated.String(), nil
	case bool:
		return strconv.FormatBool(evaluated), nil
	}
	return "", e.problem(path, "got %s: a text is needed here", Describe(evaluated))
}

// texts evaluates to a list of strings. A comma-delimited parameter is a list already.
func (e *Evaluator) texts(value any, path string) ([]string, error) {
	evaluated, err := e.value(value, path)
	if err != nil {
		return nil, err
	}
	list, ok := evaluated.([]any)
	if !ok {
		return nil, e.problem(path, "got %s: a list of texts is needed here", Describe(evaluated))
	}
	texts := make([]string, len(list))
	for i, element := range list {
		if texts[i], err = e.Text(element, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func (e *Evaluator) list(argument any, path string, size int) ([]any, error) {
	arguments, ok := argument.([]any)
	if !ok || len(arguments) != size {
		return nil, e.problem(path, "got %s: write a list of %d", Describe(argument), size)
	}
	return arguments, nil
}

// Describe writes a value for an error, long ones by their kind.
func Describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case Absent:
		return "AWS::NoValue"
	case map[string]any, unknown:
		return "an object"
	case []any:
		return fmt.Sprintf("a list of %d", len(value))
	case string:
		return strconv.Quote(value)
	}
	return fmt.Sprint(value)
}
