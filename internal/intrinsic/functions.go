package intrinsic

// Intrinsic functions, and what their arguments may be ("Intrinsic function reference", AWS CloudFormation).

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
)

// call evaluates the function at the path.
func (e *Evaluator) call(name string, argument any, at string) (any, error) {
	switch name {
	case "Ref":
		target, ok := argument.(string)
		if !ok {
			return nil, e.problem(at, "got %T: write a logical id", argument)
		}
		return e.ref(target, at)
	case "Fn::GetAtt":
		return e.getAtt(argument, at)
	case "Fn::Join":
		arguments, err := e.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		separator, ok := arguments[0].(string)
		if !ok {
			return nil, e.problem(at+"[0]", "got %T: the separator is a string", arguments[0])
		}
		elements, err := e.texts(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		return strings.Join(elements, separator), nil
	case "Fn::Sub":
		return e.substitute(argument, at)
	case "Fn::Select":
		arguments, err := e.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		text, err := e.Text(arguments[0], at+"[0]")
		if err != nil {
			return nil, err
		}
		elements, err := e.texts(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(text)
		if err != nil || index < 0 || index >= len(elements) {
			return nil, e.problem(at+"[0]", "got index %q of %d elements", text, len(elements))
		}
		return elements[index], nil
	case "Fn::Split":
		arguments, err := e.list(argument, at, 2)
		if err != nil {
			return nil, err
		}
		separator, ok := arguments[0].(string)
		if !ok || separator == "" {
			return nil, e.problem(at+"[0]", "got %v: the separator is a string of at least one character", arguments[0])
		}
		text, err := e.Text(arguments[1], at+"[1]")
		if err != nil {
			return nil, err
		}
		var parts []any
		for part := range strings.SplitSeq(text, separator) {
			parts = append(parts, part)
		}
		return parts, nil
	case "Fn::If":
		arguments, err := e.list(argument, at, 3)
		if err != nil {
			return nil, err
		}
		condition, ok := arguments[0].(string)
		if !ok {
			return nil, e.problem(at+"[0]", "got %T: write a condition's name", arguments[0])
		}
		holds, err := e.Holds(condition, at+"[0]")
		if err != nil {
			return nil, err
		}
		if holds {
			return e.value(arguments[1], at+"[1]")
		}
		return e.value(arguments[2], at+"[2]")
	case "Fn::FindInMap":
		keys, err := e.texts(argument, at)
		if err != nil {
			return nil, err
		}
		if len(keys) != 3 {
			return nil, e.problem(at, "got %d arguments: write [map, first key, second key]", len(keys))
		}
		value, ok := e.Mappings[keys[0]][keys[1]][keys[2]]
		if !ok {
			return nil, e.problem(at, "got %s: the template's Mappings have no such entry", strings.Join(keys, "."))
		}
		return value, nil
	case "Fn::Cidr":
		arguments, err := e.texts(argument, at)
		if err != nil {
			return nil, err
		}
		blocks, err := subnets(arguments)
		if err != nil {
			return nil, e.problem(at, "got %s: %v", strings.Join(arguments, ", "), err)
		}
		return blocks, nil
	}
	return e.Names.Call(name, argument, at)
}

func (e *Evaluator) getAtt(argument any, path string) (any, error) {
	var id, attribute string
	switch argument := argument.(type) {
	case string:
		id, attribute, _ = strings.Cut(argument, ".")
	case []any:
		texts, err := e.texts(argument, path)
		if err != nil {
			return nil, err
		}
		if len(texts) == 2 {
			id, attribute = texts[0], texts[1]
		}
	}
	if id == "" || attribute == "" {
		return nil, e.problem(path, "got %s: write [logical id, attribute]", Describe(argument))
	}
	return e.Names.Attribute(id, attribute, path)
}

func (e *Evaluator) substitute(argument any, path string) (any, error) {
	text, ok := argument.(string)
	variables := map[string]any{}
	if list, isList := argument.([]any); isList && len(list) == 2 {
		var named bool
		text, ok = list[0].(string)
		if variables, named = list[1].(map[string]any); !named {
			return nil, e.problem(path+"[1]", "got %s: write an object of variables", Describe(list[1]))
		}
	}
	if !ok {
		return nil, e.problem(path, "got %s: write a text, or a list of a text and its variables", Describe(argument))
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
			return nil, e.problem(path, "got ${%s without a closing brace", rest)
		}
		text = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			result.WriteString("${" + literal + "}")
			continue
		}
		value, err := e.variable(name, variables, path)
		if err != nil {
			return nil, err
		}
		result.WriteString(value)
	}
}

func (e *Evaluator) variable(name string, variables map[string]any, path string) (string, error) {
	if given, ok := variables[name]; ok {
		return e.Text(given, path+"[1]."+name)
	}
	var value any
	var err error
	if id, attribute, ok := strings.Cut(name, "."); ok {
		value, err = e.Names.Attribute(id, attribute, path)
	} else {
		value, err = e.ref(name, path)
	}
	if err != nil {
		return "", err
	}
	return e.Text(value, path)
}

// subnets returns the first blocks of a range of addresses. The arguments are the range, the number
// of blocks, and the number of bits for the addresses within a block ("Fn::Cidr", AWS
// CloudFormation template reference).
func subnets(arguments []string) ([]any, error) {
	const usage = "write [range, 1 to 256 blocks, bits of a block]"
	if len(arguments) != 3 {
		return nil, errors.New(usage)
	}
	whole, err := netip.ParsePrefix(arguments[0])
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, usage)
	}
	// A text that is no number is 0, and a number that is too large is out of range as well.
	count, _ := strconv.Atoi(arguments[1])
	bits, _ := strconv.Atoi(arguments[2])
	length := whole.Addr().BitLen() - bits
	if count < 1 || count > 256 || bits < 1 || length < whole.Bits() {
		return nil, errors.New(usage)
	}
	if exponent := length - whole.Bits(); exponent < 8 && count > 1<<exponent {
		return nil, fmt.Errorf("the range holds %d such blocks", 1<<exponent)
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

func (e *Evaluator) ref(name, path string) (any, error) {
	if name == "AWS::NoValue" {
		return Absent{}, nil
	}
	return e.Names.Ref(name, path)
}
