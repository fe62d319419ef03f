package assembly

// The values of a template: intrinsic functions, and what their arguments may be.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// absent is what Ref AWS::NoValue gives: the property or element that has it is left out.
type absent struct{}

// evaluate resolves a value: all problems of its parts are reported together.
func (s *Stack) evaluate(value any, path string) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			if key == "Ref" && len(value) == 1 || strings.HasPrefix(key, "Fn::") {
				if len(value) > 1 {
					return nil, s.problem(path, "got %s beside other keys: an intrinsic function stands alone", key)
				}
				return s.intrinsic(key, value[key], path)
			}
		}
		resolved := make(map[string]any, len(value))
		var problems []error
		for _, key := range slices.Sorted(maps.Keys(value)) {
			part, err := s.evaluate(value[key], path+"."+key)
			if err != nil {
				problems = append(problems, err)
			} else if _, none := part.(absent); !none {
				resolved[key] = part
			}
		}
		return resolved, errors.Join(problems...)
	case []any:
		resolved := make([]any, 0, len(value))
		var problems []error
		for i, element := range value {
			part, err := s.evaluate(element, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				problems = append(problems, err)
			} else if _, none := part.(absent); !none {
				resolved = append(resolved, part)
			}
		}
		return resolved, errors.Join(problems...)
	default:
		return value, nil
	}
}

const knownFunctions = "Ref, Fn::GetAtt, Fn::Join, Fn::Sub, Fn::Select, Fn::Split, Fn::If, Fn::FindInMap, Fn::GetAZs, Fn::Cidr, Fn::ImportValue, Fn::GetStackOutput"

func (s *Stack) intrinsic(name string, argument any, path string) (any, error) {
	at := path + "." + name
	switch name {
	case "Ref":
		target, ok := argument.(string)
		if !ok {
			return nil, s.problem(at, "got %T: write a logical id", argument)
		}
		return s.reference(target, at)
	case "Fn::GetAtt":
		return s.getAtt(argument, at)
	case "Fn::Join":
		arguments, err := s.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		separator, ok := arguments[0].(string)
		if !ok {
			return nil, s.problem(at+"[0]", "got %T: the separator is a string", arguments[0])
		}
		elements, err := s.texts(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		return strings.Join(elements, separator), nil
	case "Fn::Sub":
		return s.substitute(argument, at)
	case "Fn::Select":
		arguments, err := s.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		text, err := s.text(arguments[0], at+"[0]")
		if err != nil {
			return nil, err
		}
		elements, err := s.texts(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(text)
		if err != nil || index < 0 || index >= len(elements) {
			return nil, s.problem(at+"[0]", "got index %q of %d elements", text, len(elements))
		}
		return elements[index], nil
	case "Fn::Split":
		arguments, err := s.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		separator, ok := arguments[0].(string)
		if !ok || separator == "" {
			return nil, s.problem(at+"[0]", "got %v: the separator is a string of at least one character", arguments[0])
		}
		text, err := s.text(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		var parts []any
		for part := range strings.SplitSeq(text, separator) {
			parts = append(parts, part)
		}
		return parts, nil
	case "Fn::If":
		arguments, err := s.list(argument, at, 3)
		if err != nil {
			return nil, err
		}
		condition, ok := arguments[0].(string)
		if !ok {
			return nil, s.problem(at+"[0]", "got %T: write a condition's name", arguments[0])
		}
		holds, err := s.condition(condition, at+"[0]")
		if err != nil {
			return nil, err
		}
		if holds {
			return s.evaluate(arguments[1], at+"[1]")
		}
		return s.evaluate(arguments[2], at+"[2]")
	case "Fn::FindInMap":
		keys, err := s.texts(argument, at)
		if err != nil {
			return nil, err
		}
		if len(keys) != 3 {
			return nil, s.problem(at, "got %d arguments: write [map, first key, second key]", len(keys))
		}
		value, ok := s.template.Mappings[keys[0]][keys[1]][keys[2]]
		if !ok {
			return nil, s.problem(at, "got %s: the template's Mappings have no such entry", strings.Join(keys, "."))
		}
		return value, nil
	case "Fn::GetAZs":
		region, err := s.text(argument, at)
		if err != nil {
			return nil, err
		}
		region = cmp.Or(region, s.Region)
		return []any{region + "a", region + "b", region + "c"}, nil
	case "Fn::Cidr":
		arguments, err := s.texts(argument, at)
		if err != nil {
			return nil, err
		}
		blocks, err := subnets(arguments)
		if err != nil {
			return nil, s.problem(at, "got %s: %v", strings.Join(arguments, ", "), err)
		}
		return blocks, nil
	case "Fn::ImportValue":
		export, err := s.text(argument, at)
		if err != nil {
			return nil, err
		}
		return s.importValue(export, at)
	case "Fn::GetStackOutput":
		return s.stackOutput(argument, at)
	}
	return nil, s.problem(at, "unknown intrinsic function %s: a local run knows %s", name, knownFunctions)
}

// subnets cuts the first blocks off a range of addresses. The arguments are the range, how many blocks there are to be, and
// how many bits tell the addresses of one block apart ("Fn::Cidr", AWS CloudFormation template reference).
func subnets(arguments []string) ([]any, error) {
	const usage = "write [range, 1 to 256 blocks, bits of a block]"
	if len(arguments) != 3 {
		return nil, errors.New(usage)
	}
	whole, err := netip.ParsePrefix(arguments[0])
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, usage)
	}
	count, countErr := strconv.Atoi(arguments[1])
	bits, bitsErr := strconv.Atoi(arguments[2])
	length := whole.Addr().BitLen() - bits
	if errors.Join(countErr, bitsErr) != nil || count < 1 || count > 256 || bits < 1 || length < whole.Bits() {
		return nil, errors.New(usage)
	}
	if room := length - whole.Bits(); room < 8 && count > 1<<room {
		return nil, fmt.Errorf("the range has room for %d such blocks", 1<<room)
	}
	first := new(big.Int).SetBytes(whole.Masked().Addr().AsSlice())
	var blocks []any
	for i := range count {
		start := new(big.Int).Lsh(big.NewInt(int64(i)), uint(bits))
		address, _ := netip.AddrFromSlice(start.Add(start, first).FillBytes(make([]byte, whole.Addr().BitLen()/8)))
		blocks = append(blocks, netip.PrefixFrom(address, length).String())
	}
	return blocks, nil
}

func (s *Stack) list(argument any, path string, size int) ([]any, error) {
	arguments, ok := argument.([]any)
	if !ok || len(arguments) != size {
		return nil, s.problem(path, "got %s: write a list of %d", describe(argument), size)
	}
	return arguments, nil
}

// text evaluates to a string. Numbers and booleans become text, as in CloudFormation.
func (s *Stack) text(value any, path string) (string, error) {
	evaluated, err := s.evaluate(value, path)
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
	return "", s.problem(path, "got %s: a text is needed here", describe(evaluated))
}

// texts evaluates to a list of strings. A comma-delimited parameter is a list already.
func (s *Stack) texts(value any, path string) ([]string, error) {
	evaluated, err := s.evaluate(value, path)
	if err != nil {
		return nil, err
	}
	list, ok := evaluated.([]any)
	if !ok {
		return nil, s.problem(path, "got %s: a list of texts is needed here", describe(evaluated))
	}
	texts := make([]string, len(list))
	for i, element := range list {
		if texts[i], err = s.text(element, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func describe(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case absent:
		return "AWS::NoValue"
	case map[string]any:
		return "an object"
	case []any:
		return fmt.Sprintf("a list of %d", len(value))
	case string:
		return strconv.Quote(value)
	}
	return fmt.Sprint(value)
}

func (s *Stack) substitute(argument any, path string) (any, error) {
	text, ok := argument.(string)
	variables := map[string]any{}
	if list, isList := argument.([]any); isList && len(list) == 2 {
		var named bool
		text, ok = list[0].(string)
		if variables, named = list[1].(map[string]any); !named {
			return nil, s.problem(path+"[1]", "got %s: write an object of variables", describe(list[1]))
		}
	}
	if !ok {
		return nil, s.problem(path, "got %s: write a text, or a list of a text and its variables", describe(argument))
	}
	var result strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		result.WriteString(before)
		if !found {
			return result.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, s.problem(path, "got ${%s without a closing brace", rest)
		}
		text = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			result.WriteString("${" + literal + "}")
			continue
		}
		value, err := s.variable(name, variables, path)
		if err != nil {
			return nil, err
		}
		result.WriteString(value)
	}
}

func (s *Stack) variable(name string, variables map[string]any, path string) (string, error) {
	if given, ok := variables[name]; ok {
		return s.text(given, path+"[1]."+name)
	}
	var value any
	var err error
	if id, attribute, ok := strings.Cut(name, "."); ok {
		value, err = s.attribute(id, attribute, path)
	} else {
		value, err = s.reference(name, path)
	}
	if err != nil {
		return "", err
	}
	return s.text(value, path)
}
