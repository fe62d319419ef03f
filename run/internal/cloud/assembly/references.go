package assembly

// What a template refers to: pseudo parameters, parameters, resources and their attributes. A resource has its name
// before its properties are resolved, because they may name the resource.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

type state int

const (
	untouched state = iota
	working
	done
)

// ssmValue begins the types of template parameters that take their value from a parameter of AWS Systems Manager.
const ssmValue = "AWS::SSM::Parameter::Value"

// names are what the values of the stack's template refer to.
type names struct{ *Stack }

// Ref implements intrinsic.Names.
func (s names) Ref(target, path string) (any, error) {
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
		return fmt.Sprintf("arn:aws:cloudformation:%s:%s:stack/%s/%s", s.Region, s.Account, s.Name, uuidOf(s.Name)), nil
	case "AWS::NotificationARNs":
		return []any{}, nil
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
		if text, ok := value.(string); ok && (strings.HasPrefix(kind, "CommaDelimitedList") ||
			strings.HasPrefix(kind, "List<")) {
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
			return nil, s.problem(path, "got %q: condition %s of the resource is false, so it does not exist", id,
				declared.Condition)
		}
		return nil, &ResolveError{Stack: s.Name, Path: path,
			Problem: fmt.Sprintf("got %q: the template has no such parameter or resource", id), dangling: true}
	}
	if resource.identity == working {
		return nil, s.problem(path, "got %q: its name depends on itself", id)
	}
	return resource, s.identify(resource)
}

// Attribute implements intrinsic.Names. It gives a text or a list.
func (s names) Attribute(id, attribute, path string) (any, error) {
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
		return nil, s.problem(path, "got attribute %q of %s: a local run knows %s", attribute, resource,
			strings.Join(known, ", "))
	}
	value, err := give(resource)
	if err != nil {
		return nil, s.problem(path, "attribute %s of %s: %v", attribute, resource, err)
	}
	return value, nil
}

const knownFunctions = "Ref, Fn::GetAtt, Fn::Join, Fn::Sub, Fn::Select, Fn::Split, Fn::If, Fn::FindInMap, " +
	"Fn::GetAZs, Fn::Cidr, Fn::ImportValue, Fn::GetStackOutput"

// Call implements intrinsic.Names.
func (s names) Call(function string, argument any, path string) (any, error) {
	switch function {
	case "Fn::GetAZs":
		region, err := s.values.Text(argument, path)
		if err != nil {
			return nil, err
		}
		region = cmp.Or(region, s.Region)
		return []any{region + "a", region + "b", region + "c"}, nil
	case "Fn::ImportValue":
		export, err := s.values.Text(argument, path)
		if err != nil {
			return nil, err
		}
		return s.importValue(export, path)
	case "Fn::GetStackOutput":
		return s.stackOutput(argument, path)
	}
	return nil, s.problem(path, "unknown intrinsic function %s: a local run knows %s", function, knownFunctions)
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

// property evaluates one text property of a resource whose Properties are not resolved yet; it is empty when not set. A
// dot leads into an object.
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
	evaluated, err := s.values.Value(given, at)
	if err != nil {
		return "", err
	}
	if _, none := evaluated.(intrinsic.Absent); none {
		return "", nil
	}
	text, err := s.values.Text(evaluated, at)
	if err != nil {
		return "", err
	}
	return s.dereference(text, at)
}
