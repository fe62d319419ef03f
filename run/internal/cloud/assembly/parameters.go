package assembly

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrNoParameter says that a template uses a parameter of AWS Systems Manager whose value is not known here.
var ErrNoParameter = errors.New("the value of a parameter is missing")

const parameterType = "AWS::SSM::Parameter"

func parameterARN(r *Resource) (string, error) {
	return ParameterARN(r.Stack.Account, r.Stack.Region, r.Name), nil
}

// ParameterARN is the ARN of a parameter of AWS Systems Manager; a slash that begins its name is not doubled ("Actions,
// resources, and condition keys for AWS Systems Manager").
func ParameterARN(account, region, name string) string {
	return fmt.Sprintf("arn:aws:ssm:%s:%s:parameter/%s", region, account, strings.TrimPrefix(name, "/"))
}

// ssmParameter is the value of a parameter of AWS Systems Manager. A stack of the account and region,
// chosen or not, declares it; otherwise the options give it.
func (s *Stack) ssmParameter(name, path string) (string, error) {
	leave, err := s.enter(fmt.Sprintf("parameter %q of Systems Manager", name), path)
	if err != nil {
		return "", err
	}
	defer leave()
	for _, other := range s.assembly.all {
		if other.Environment() != s.Environment() {
			continue
		}
		for _, resource := range other.Resources {
			if resource.Type != parameterType || resource.identity == working {
				continue
			}
			// A parameter without identity is a problem of its own stack.
			if other.identify(resource) == nil && resource.Name == name {
				return resource.naming["Value"], nil
			}
		}
	}
	if value, ok := s.options.SSMParameters[name]; ok {
		return value, nil
	}
	return "", &ResolveError{Stack: s.Name, Path: path, cause: ErrNoParameter,
		Problem: fmt.Sprintf("got the parameter %s of Systems Manager, which no stack of the assembly declares in "+
			"%s: give its value with --ssm-parameter %[1]s=VALUE, or in cdk.json", name, s.Environment())}
}

// dynamicReference is described in "Get a plaintext value from Systems Manager Parameter Store" (AWS CloudFormation
// User Guide).
var dynamicReference = regexp.MustCompile(`\{\{resolve:ssm:([a-zA-Z0-9_.\-/]+)(?::[0-9]+)?\}\}`)

// dereference replaces the dynamic references of a text by their values.
func (s *Stack) dereference(text, path string) (string, error) {
	if !strings.Contains(text, "{{resolve:ssm:") {
		return text, nil
	}
	var problem error
	text = dynamicReference.ReplaceAllStringFunc(text, func(reference string) string {
		value, err := s.ssmParameter(dynamicReference.FindStringSubmatch(reference)[1], path)
		if err != nil && problem == nil {
			problem = err
		}
		return value
	})
	return text, problem
}

// dereferenceAll dereferences all texts of a resolved value.
func (s *Stack) dereferenceAll(value any, path string) (_ any, err error) {
	switch value := value.(type) {
	case string:
		return s.dereference(value, path)
	case []any:
		for i := range value {
			if value[i], err = s.dereferenceAll(value[i], fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range value {
			if value[key], err = s.dereferenceAll(value[key], path+"."+key); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
