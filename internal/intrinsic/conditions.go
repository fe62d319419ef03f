package intrinsic

// Conditions of a template, each decided once.

import "strconv"

// Holds decides a condition of the template, once.
func (e *Evaluator) Holds(name, path string) (bool, error) {
	declared, ok := e.Conditions[name]
	if !ok {
		return false, e.problem(path, "got %q: the template has no such condition", name)
	}
	verdict, begun := e.verdicts[name]
	switch {
	case begun && verdict == nil:
		return false, e.problem(path, "condition %q depends on itself", name)
	case begun:
		return *verdict, nil
	case e.verdicts == nil:
		e.verdicts = map[string]*bool{}
	}
	e.verdicts[name] = nil
	holds, err := e.test(declared, "Conditions."+name)
	if err != nil {
		delete(e.verdicts, name)
		return false, err
	}
	e.verdicts[name] = &holds
	return holds, nil
}

func (e *Evaluator) test(value any, path string) (bool, error) {
	function, ok := value.(map[string]any)
	if !ok || len(function) != 1 {
		return false, e.problem(path, "got %s: write Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition",
			Describe(value))
	}
	for name, argument := range function {
		at := path + "." + name
		switch name {
		case "Condition":
			other, ok := argument.(string)
			if !ok {
				return false, e.problem(at, "got %s: write a condition's name", Describe(argument))
			}
			return e.Holds(other, at)
		case "Fn::Equals":
			arguments, err := e.list(argument, at, 2)
			if err != nil {
				return false, err
			}
			left, err := e.Text(arguments[0], at+"[0]")
			if err != nil {
				return false, err
			}
			right, err := e.Text(arguments[1], at+"[1]")
			return left == right, err
		case "Fn::Not":
			arguments, err := e.list(argument, at, 1)
			if err != nil {
				return false, err
			}
			holds, err := e.test(arguments[0], at+"[0]")
			return !holds, err
		case "Fn::And", "Fn::Or":
			arguments, ok := argument.([]any)
			if !ok || len(arguments) < 2 || len(arguments) > 10 {
				return false, e.problem(at, "got %s: write a list of 2 to 10 conditions", Describe(argument))
			}
			result := name == "Fn::And"
			for i, part := range arguments {
				holds, err := e.test(part, at+"["+strconv.Itoa(i)+"]")
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
			return false, e.problem(at, "unknown condition function: write Fn::Equals, Fn::And, Fn::Or, Fn::Not or "+
				"Condition")
		}
	}
	return false, nil
}
