package assembly

// What a stack takes from other stacks of the assembly.

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

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
			name, err := other.values.Text(declared.Export.Name, "Outputs."+id+".Export.Name")
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
	return "", s.problem(path, "no stack of the assembly exports %q; exported are: %s", export,
		strings.Join(known, ", "))
}

// stackOutput returns an output of another stack, exported or not ("Fn::GetStackOutput", AWS CloudFormation template
// reference). The default region is this stack's.
func (s *Stack) stackOutput(argument any, path string) (string, error) {
	names, _ := argument.(map[string]any)
	stack, err := s.values.Text(names["StackName"], path+".StackName")
	if err != nil {
		return "", err
	}
	id, err := s.values.Text(names["OutputName"], path+".OutputName")
	if err != nil {
		return "", err
	}
	region := s.Region
	if names["Region"] != nil {
		if region, err = s.values.Text(names["Region"], path+".Region"); err != nil {
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
		// Stacks of several accounts may have the name: one of this account wins.
		if other.Name == stack && other.Region == region && (found == nil || other.Account == s.Account) {
			found = other
		}
	}
	if found == nil {
		return "", s.problem(path, "the assembly has no stack %s in %s; it has %s", stack, region,
			strings.Join(known, ", "))
	}
	if _, ok := found.template.Outputs[id]; !ok {
		return "", s.problem(path, "got %q: the outputs of stack %s are %s", id, stack,
			strings.Join(slices.Sorted(maps.Keys(found.template.Outputs)), ", "))
	}
	output, exists, err := found.output(id)
	if err == nil && !exists {
		err = s.problem(path, "the condition of output %q of stack %s is false", id, stack)
	}
	return output.Value, err
}

// enter notes, until leave is called, that a value of another stack is being looked up. It fails if the value depends
// on itself.
func (s *Stack) enter(what, path string) (leave func(), err error) {
	if s.assembly.importing[what] {
		return nil, s.problem(path, "%s depends on itself", what)
	}
	s.assembly.importing[what] = true
	return func() { delete(s.assembly.importing, what) }, nil
}
