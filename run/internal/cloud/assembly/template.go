package assembly

// What a template says, and how a stack is resolved: which resources exist, their names, their properties, the outputs.

import (
	"fmt"
	"maps"
	"slices"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
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
	// cause is [ErrNoParameter], or nil.
	cause error
}

// Error names the stack, the value and the problem.
func (e *ResolveError) Error() string {
	return fmt.Sprintf("stack %s: %s: %s", e.Stack, e.Path, e.Problem)
}

// Unwrap returns [ErrNoParameter] if that is the problem.
func (e *ResolveError) Unwrap() error { return e.cause }

func (s *Stack) problem(path, format string, arguments ...any) error {
	return &ResolveError{Stack: s.Name, Path: path, Problem: fmt.Sprintf(format, arguments...)}
}

// prepare decides which resources exist, so that other stacks can refer to them.
func (s *Stack) prepare() (problems []error) {
	s.resources = map[string]*Resource{}
	s.values = &intrinsic.Evaluator{
		Names: names{s}, Conditions: s.template.Conditions, Mappings: s.template.Mappings,
		Problem: func(path, problem string) error { return s.problem(path, "%s", problem) },
	}
	if s.Metadata = s.template.Metadata; s.Metadata == nil {
		s.Metadata = map[string]any{}
	}
	for _, id := range slices.Sorted(maps.Keys(s.template.Resources)) {
		declared := s.template.Resources[id]
		if declared.Condition != "" {
			holds, err := s.values.Holds(declared.Condition, "Resources."+id+".Condition")
			if err != nil {
				problems = append(problems, err)
				continue
			}
			if !holds {
				continue
			}
		}
		resource := &Resource{LogicalID: id, Type: declared.Type, Path: id, Metadata: declared.Metadata, Stack: s,
			raw: declared.Properties}
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
			problems = append(problems, s.problem("Resources."+id+".DependsOn",
				"got %T: write a logical id or a list of them", dependencies))
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
				problems = append(problems, s.problem(at+".DependsOn", "got %q: there is no such resource in the stack",
					dependency))
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
	value, err := s.values.Value(resource.raw, at)
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
		holds, err := s.values.Holds(declared.Condition, at+".Condition")
		if err != nil || !holds {
			return Output{}, false, err
		}
	}
	if output.Value, err = s.values.Text(declared.Value, at+".Value"); err != nil {
		return Output{}, false, err
	}
	if output.Value, err = s.dereference(output.Value, at+".Value"); err != nil {
		return Output{}, false, err
	}
	output.Description, _ = declared.Description.(string)
	if declared.Export.Name != nil {
		if output.Export, err = s.values.Text(declared.Export.Name, at+".Export.Name"); err != nil {
			return Output{}, false, err
		}
	}
	return output, true, nil
}
