package assembly

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
)

type template struct {
	Metadata   map[string]any
	Parameters map[string]struct {
		Type    string
		Default any
	}
	Mappings   map[string]map[string]map[string]any
	Conditions map[string]any
	Resources  map[string]struct {
		Type       string
		Properties map[string]any
		DependsOn  any
		Condition  string
		Metadata   map[string]any
	}
	Outputs map[string]struct {
		Value       any
		Description any
		Condition   string
		Export      struct{ Name any }
	}
}

func (t *template) overrides(parameter, value string) {
	if declared, ok := t.Parameters[parameter]; ok {
		declared.Default = value
		t.Parameters[parameter] = declared
	}
}

// ResolveError is a part of a template that cannot be resolved.
type ResolveError struct {
	// Stack is the stack's name.
	Stack string
	// Path leads to the value, such as Resources.Table.Properties.TableName.
	Path string
	// Problem says what was got and what is allowed.
	Problem string

	// dangling says that the value refers to what the template does not have.
	dangling bool
}

// Error names the stack, the value and the problem.
func (e *ResolveError) Error() string {
	return fmt.Sprintf("stack %s: %s: %s", e.Stack, e.Path, e.Problem)
}

type state int

const (
	untouched state = iota
	working
	done
)

type verdict struct {
	state state
	holds bool
}

// absent is what Ref AWS::NoValue gives: the property or element that has it is left out.
type absent struct{}

func (s *Stack) problem(path, format string, arguments ...any) error {
	return &ResolveError{Stack: s.Name, Path: path, Problem: fmt.Sprintf(format, arguments...)}
}

// prepare decides which resources exist, so that other stacks can refer to them.
func (s *Stack) prepare() (problems []error) {
	s.resources = map[string]*Resource{}
	s.verdicts = map[string]verdict{}
	if s.Metadata = s.template.Metadata; s.Metadata == nil {
		s.Metadata = map[string]any{}
	}
	for _, id := range slices.Sorted(maps.Keys(s.template.Resources)) {
		declared := s.template.Resources[id]
		if declared.Condition != "" {
			holds, err := s.condition(declared.Condition, "Resources."+id+".Condition")
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if !holds {
				continue
			}
		}
		resource := &Resource{LogicalID: id, Type: declared.Type, Path: id, Metadata: declared.Metadata, Stack: s, raw: declared.Properties}
		if path, ok := declared.Metadata["aws:cdk:path"].(string); ok && path != "" {
			resource.Path = path
		}
		switch dependencies := declared.DependsOn.(type) {
		case nil:
		case string:
			resource.DependsOn = []string{dependencies}
		case []any:
			for _, dependency := range dependencies {
				resource.DependsOn = append(resource.DependsOn, fmt.Sprint(dependency))
			}
		default:
			problems = append(problems, s.problem("Resources."+id+".DependsOn", "got %T: write a logical id or a list of them", dependencies))
		}
		s.resources[id] = resource
		s.Resources = append(s.Resources, resource)
	}
	return problems
}

func (s *Stack) resolve() (problems []error) {
	for _, resource := range s.Resources {
		at := "Resources." + resource.LogicalID
		for _, dependency := range resource.DependsOn {
			if _, ok := s.template.Resources[dependency]; !ok {
				problems = append(problems, s.problem(at+".DependsOn", "got %q: there is no such resource in the stack", dependency))
			}
		}
		if err := s.identify(resource); err != nil {
			problems = append(problems, err)
			continue
		}
		if err := s.evaluateProperties(resource); err != nil {
			problems = append(problems, err)
		}
	}
	for _, described := range s.described {
		table, err := s.existingTable(described)
		if err != nil {
			problems = append(problems, err)
		} else if table != nil {
			s.existing = append(s.existing, table)
		}
	}
	s.Outputs = map[string]Output{}
	for _, id := range slices.Sorted(maps.Keys(s.template.Outputs)) {
		output, exists, err := s.output(id)
		if err != nil {
			problems = append(problems, err)
		} else if exists {
			s.Outputs[id] = output
		}
	}
	return problems
}

func (s *Stack) evaluateProperties(resource *Resource) error {
	at := "Resources." + resource.LogicalID + ".Properties"
	value, err := s.evaluate(resource.raw, at)
	if err != nil {
		return err
	}
	if value, err = s.dereferenceAll(value, at); err != nil {
		return err
	}
	if resource.Properties, _ = value.(map[string]any); resource.Properties == nil {
		resource.Properties = map[string]any{}
	}
	return nil
}

func (s *Stack) output(id string) (output Output, exists bool, err error) {
	declared, at := s.template.Outputs[id], "Outputs."+id
	if declared.Condition != "" {
		holds, err := s.condition(declared.Condition, at+".Condition")
		if err != nil || !holds {
			return Output{}, false, err
		}
	}
	if output.Value, err = s.text(declared.Value, at+".Value"); err != nil {
		return Output{}, false, err
	}
	if output.Value, err = s.dereference(output.Value, at+".Value"); err != nil {
		return Output{}, false, err
	}
	output.Description, _ = declared.Description.(string)
	if declared.Export.Name != nil {
		if output.Export, err = s.text(declared.Export.Name, at+".Export.Name"); err != nil {
			return Output{}, false, err
		}
	}
	return output, true, nil
}

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

// ssmValue begins the types of template parameters whose value is that of a parameter of AWS Systems Manager.
const ssmValue = "AWS::SSM::Parameter::Value"

func (s *Stack) reference(target, path string) (any, error) {
	switch target {
	case "AWS::Region":
		return s.Region, nil
	case "AWS::AccountId":
		return s.Account, nil
	case "AWS::Partition":
		return "aws", nil
	case "AWS::URLSuffix":
		return "amazonaws.com", nil
	case "AWS::StackName":
		return s.Name, nil
	case "AWS::StackId":
		return fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/%s", s.Region, s.Account, s.Name, uuid(s.Name)), nil
	case "AWS::NotificationARNs":
		return []any{}, nil
	case "AWS::NoValue":
		return absent{}, nil
	}
	if parameter, ok := s.template.Parameters[target]; ok {
		value, given := any(s.options.Parameters[target]), false
		if _, given = s.options.Parameters[target]; !given {
			value = parameter.Default
			if name, ok := value.(string); ok && strings.HasPrefix(parameter.Type, ssmValue) {
				var err error
				if value, err = s.ssmParameter(name, path); err != nil {
					return nil, err
				}
			}
		}
		if value == nil {
			return nil, s.problem(path, "parameter %s has no default: give it a value", target)
		}
		kind := strings.TrimPrefix(parameter.Type, ssmValue+"<")
		if text, ok := value.(string); ok && (strings.HasPrefix(kind, "CommaDelimitedList") || strings.HasPrefix(kind, "List<")) {
			list := []any{}
			for element := range strings.SplitSeq(text, ",") {
				list = append(list, strings.TrimSpace(element))
			}
			return list, nil
		}
		return value, nil
	}
	resource, err := s.resource(target, path)
	if err != nil {
		return nil, err
	}
	return resource.Ref, nil
}

// resource returns an identified resource.
func (s *Stack) resource(id, path string) (*Resource, error) {
	resource, ok := s.resources[id]
	if !ok {
		if declared, ok := s.template.Resources[id]; ok {
			return nil, s.problem(path, "got %q: condition %s of the resource is false, so it does not exist", id, declared.Condition)
		}
		return nil, &ResolveError{Stack: s.Name, Path: path, Problem: fmt.Sprintf("got %q: the template has no such parameter or resource", id), dangling: true}
	}
	if resource.identity == working {
		return nil, s.problem(path, "got %q: its name depends on itself", id)
	}
	return resource, s.identify(resource)
}

func (s *Stack) getAtt(argument any, path string) (any, error) {
	var id, attribute string
	switch argument := argument.(type) {
	case string:
		id, attribute, _ = strings.Cut(argument, ".")
	case []any:
		texts, err := s.texts(argument, path)
		if err != nil {
			return nil, err
		}
		if len(texts) == 2 {
			id, attribute = texts[0], texts[1]
		}
	}
	if id == "" || attribute == "" {
		return nil, s.problem(path, "got %s: write [logical id, attribute]", describe(argument))
	}
	return s.attribute(id, attribute, path)
}

// attribute evaluates to a text or a list.
func (s *Stack) attribute(id, attribute, path string) (any, error) {
	resource, err := s.resource(id, path)
	if err != nil {
		return nil, err
	}
	entry := entryOf(resource.Type)
	if entry.support == unsupported && entry.attributes == nil {
		// The run ends for the unsupported type, or was told to go on without it.
		return "unsupported-" + id + "-" + attribute, nil
	}
	if list, ok := entry.lists[attribute]; ok {
		return list(resource), nil
	}
	give, ok := entry.attributes[attribute]
	if !ok {
		known := slices.AppendSeq(slices.Collect(maps.Keys(entry.attributes)), maps.Keys(entry.lists))
		slices.Sort(known)
		if len(known) == 0 {
			known = []string{"none"}
		}
		return nil, s.problem(path, "got attribute %q of %s: a local run knows %s", attribute, resource, strings.Join(known, ", "))
	}
	value, err := give(resource)
	if err != nil {
		return nil, s.problem(path, "attribute %s of %s: %v", attribute, resource, err)
	}
	return value, nil
}

func (s *Stack) identify(resource *Resource) error {
	if resource.identity == done {
		return resource.failure
	}
	resource.identity = working
	resource.failure = s.name(resource)
	resource.identity = done
	return resource.failure
}

func (s *Stack) name(resource *Resource) error {
	entry := entryOf(resource.Type)
	var err error
	if resource.Name, err = s.property(resource, entry.nameProperty); err != nil {
		return err
	}
	resource.naming = map[string]string{}
	for _, property := range entry.naming {
		if resource.naming[property], err = s.property(resource, property); err != nil {
			return err
		}
	}
	if resource.Name == "" {
		resource.Name = generatedName(s.Name+"-"+resource.LogicalID, entry)
	}
	if s.options.URL != nil && entry.addressed {
		resource.url = strings.TrimSuffix(s.options.URL(resource), "/")
	}
	if entry.arn != nil {
		arn, err := entry.arn(resource)
		if err != nil {
			return s.problem("Resources."+resource.LogicalID, "%v", err)
		}
		resource.ARN = arn
	}
	resource.Ref = resource.Name
	if entry.ref != nil {
		ref, err := entry.ref(resource)
		if err != nil {
			return s.problem("Resources."+resource.LogicalID, "%v", err)
		}
		resource.Ref = ref
	}
	return nil
}

// property evaluates one text property of a resource whose Properties are not resolved yet; it is empty when not set. A dot
// leads into an object.
func (s *Stack) property(resource *Resource, property string) (string, error) {
	given, ok := any(nil), false
	within := resource.raw
	for name := range strings.SplitSeq(property, ".") {
		if given, ok = within[name]; !ok {
			return "", nil
		}
		within, _ = given.(map[string]any)
	}
	at := "Resources." + resource.LogicalID + ".Properties." + property
	evaluated, err := s.evaluate(given, at)
	if err != nil {
		return "", err
	}
	if _, none := evaluated.(absent); none {
		return "", nil
	}
	text, err := s.text(evaluated, at)
	if err != nil {
		return "", err
	}
	return s.dereference(text, at)
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

func (s *Stack) importValue(export, path string) (string, error) {
	leave, err := s.enter("export "+strconv.Quote(export), path)
	if err != nil {
		return "", err
	}
	defer leave()
	var known []string
	for _, other := range s.assembly.all {
		// Exports are those of an account in a region.
		if other.Environment() != s.Environment() {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(other.template.Outputs)) {
			declared := other.template.Outputs[id]
			if declared.Export.Name == nil || other == s {
				continue
			}
			name, err := other.text(declared.Export.Name, "Outputs."+id+".Export.Name")
			if err != nil && !other.Selected {
				continue
			}
			if err != nil {
				return "", err
			}
			if known = append(known, name); name != export {
				continue
			}
			output, exists, err := other.output(id)
			if err != nil {
				return "", err
			}
			if exists {
				return output.Value, nil
			}
		}
	}
	sort.Strings(known)
	return "", s.problem(path, "no stack of the assembly exports %q; exported are: %s", export, strings.Join(known, ", "))
}

// stackOutput returns an output of another stack, exported or not ("Fn::GetStackOutput", AWS CloudFormation template
// reference). Without a region the other stack is in that of this one.
func (s *Stack) stackOutput(argument any, path string) (string, error) {
	names, _ := argument.(map[string]any)
	stack, err := s.text(names["StackName"], path+".StackName")
	if err != nil {
		return "", err
	}
	id, err := s.text(names["OutputName"], path+".OutputName")
	if err != nil {
		return "", err
	}
	region := s.Region
	if names["Region"] != nil {
		if region, err = s.text(names["Region"], path+".Region"); err != nil {
			return "", err
		}
	}
	leave, err := s.enter(fmt.Sprintf("output %q of stack %s", id, stack), path)
	if err != nil {
		return "", err
	}
	defer leave()
	var known []string
	var found *Stack
	for _, other := range s.assembly.all {
		known = append(known, other.Name+" in "+other.Region)
		// Stacks of several accounts may have the name: the nearest is meant.
		if other.Name == stack && other.Region == region && (found == nil || other.Account == s.Account) {
			found = other
		}
	}
	if found == nil {
		return "", s.problem(path, "the assembly has no stack %s in %s; it has %s", stack, region, strings.Join(known, ", "))
	}
	if _, ok := found.template.Outputs[id]; !ok {
		return "", s.problem(path, "got %q: the outputs of stack %s are %s", id, stack, strings.Join(slices.Sorted(maps.Keys(found.template.Outputs)), ", "))
	}
	output, exists, err := found.output(id)
	if err == nil && !exists {
		err = s.problem(path, "the condition of output %q of stack %s is false", id, stack)
	}
	return output.Value, err
}

// enter notes that something of another stack is being looked up, until leave is called. Errors: it is already, on the way
// to itself.
func (s *Stack) enter(what, path string) (leave func(), err error) {
	if s.assembly.importing[what] {
		return nil, s.problem(path, "%s depends on itself", what)
	}
	s.assembly.importing[what] = true
	return func() { delete(s.assembly.importing, what) }, nil
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
