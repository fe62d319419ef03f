package assembly

// Conditions of a template, each decided once.

import (
	"strconv"
)

type verdict struct {
	state state
	holds bool
}

func (s *Stack) condition(name, path string) (bool, error) {
	declared, ok := s.template.Conditions[name]
	if !ok {
		return false, s.problem(path, "got %q: the template has no such condition", name)
	}
	known := s.verdicts[name]
	switch known.state {
	case working:
		return false, s.problem(path, "condition %q depends on itself", name)
	case done:
		return known.holds, nil
	}
	s.verdicts[name] = verdict{state: working}
	holds, err := s.test(declared, "Conditions."+name)
	if err != nil {
		s.verdicts[name] = verdict{}
		return false, err
	}
	s.verdicts[name] = verdict{state: done, holds: holds}
	return holds, nil
}

func (s *Stack) test(value any, path string) (bool, error) {
	function, ok := value.(map[string]any)
	if !ok || len(function) != 1 {
		return false, s.problem(path, "got %s: write Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition", describe(value))
	}
	for name, argument := range function {
		at := path + "." + name
		switch name {
		case "Condition":
			other, ok := argument.(string)
			if !ok {
				return false, s.problem(at, "got %s: write a condition's name", describe(argument))
			}
			return s.condition(other, at)
		case "Fn::Equals":
			arguments, err := s.list(argument, at, 2)
			if err != nil {
				return false, err
			}
			left, err := s.text(arguments[0], at+"[0]")
			if err != nil {
				return false, err
			}
			right, err := s.text(arguments[1], at+"[1]")
			return left == right, err
		case "Fn::Not":
			arguments, err := s.list(argument, at, 1)
			if err != nil {
				return false, err
			}
			holds, err := s.test(arguments[0], at+"[0]")
			return !holds, err
		case "Fn::And", "Fn::Or":
			arguments, ok := argument.([]any)
			if !ok || len(arguments) < 2 || len(arguments) > 10 {
				return false, s.problem(at, "got %s: write a list of 2 to 10 conditions", describe(argument))
			}
			result := name == "Fn::And"
			for i, part := range arguments {
				holds, err := s.test(part, at+"["+strconv.Itoa(i)+"]")
				if err != nil {
					return false, err
				}
				if name == "Fn::And" {
					result = result && holds
				} else {
					result = result || holds
				}
			}
			return result, nil
		default:
			return false, s.problem(at, "unknown condition function: write Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition")
		}
	}
	return false, nil
}
