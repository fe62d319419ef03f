package awsapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
)

// parameter is a parameter of AWS Systems Manager. It changes with the assembly alone.
type parameter struct{ name, kind, value, arn string }

func (s *served) readParameters(elsewhere map[string]string) error {
	s.parameters = map[place]parameter{}
	for _, environment := range s.assembly.Environments() {
		stack := environment.Stacks[0]
		for name, value := range elsewhere {
			s.parameters[place{stack.Environment(), name}] = parameter{name: name, kind: "String", value: value, arn: assembly.ParameterARN(stack.Account, stack.Region, name)}
		}
	}
	for _, resource := range s.assembly.Resources("AWS::SSM::Parameter") {
		var declared struct{ Type, Value string }
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		s.parameters[place{resource.Stack.Environment(), resource.Name}] = parameter{name: resource.Name, kind: declared.Type, value: declared.Value, arn: resource.ARN}
	}
	return nil
}

// describe is the parameter as GetParameter answers. A run has one version of each.
func (p parameter) describe(since time.Time, selector string) map[string]any {
	described := map[string]any{"Name": p.name, "Type": p.kind, "Value": p.value, "Version": 1, "LastModifiedDate": epoch(since), "ARN": p.arn, "DataType": "text"}
	if selector != "" {
		described["Selector"] = ":" + selector
	}
	return described
}

// defaultPage and largestPage are how many parameters GetParametersByPath gives at once; mostNames is what GetParameters takes.
const (
	defaultPage = 10
	largestPage = 10
	mostNames   = 10
)

func (s *Server) systemsManager(by *caller, account, region, operation string) func(context.Context, []byte) (any, error) {
	environment := assembly.Environment(account, region)
	// find checks the role, and then finds the parameter of a name or an ARN, with or without a version.
	find := func(given string) (found parameter, selector string, err error) {
		name := given
		if _, rest, isARN := strings.Cut(given, ":parameter/"); isARN && strings.HasPrefix(given, "arn:") {
			if name = rest; strings.Contains(rest, "/") {
				name = "/" + rest
			}
		}
		name, selector, _ = strings.Cut(name, ":")
		if err := s.authorise(by, "ssm:"+operation, assembly.ParameterARN(account, region, name)); err != nil {
			return parameter{}, "", err
		}
		found, ok := s.served.Load().parameters[place{environment, name}]
		if !ok {
			// The name of one that is not in a path may have the ARN of one that is: /name and name.
			found, ok = s.served.Load().parameters[place{environment, "/" + name}]
			ok = ok && strings.HasPrefix(given, "arn:")
		}
		if !ok || selector != "" && selector != "1" {
			return parameter{}, "", &apiError{Type: "ParameterNotFound", Message: "Parameter " + given + " not found."}
		}
		return found, selector, nil
	}
	switch operation {
	case "GetParameter":
		return typed(func(_ context.Context, in struct{ Name string }) (any, error) {
			found, selector, err := find(in.Name)
			if err != nil {
				return nil, err
			}
			return map[string]any{"Parameter": found.describe(s.started, selector)}, nil
		})
	case "GetParameters":
		return typed(func(_ context.Context, in struct{ Names []string }) (any, error) {
			if len(in.Names) < 1 || len(in.Names) > mostNames {
				return nil, invalid(fmt.Sprintf("got %d names: give 1 to %d", len(in.Names), mostNames))
			}
			parameters, unknown := []any{}, []string{}
			for _, name := range in.Names {
				found, selector, err := find(name)
				if failure, ok := err.(*apiError); ok && failure.Type == "ParameterNotFound" {
					unknown = append(unknown, name)
					continue
				}
				if err != nil {
					return nil, err
				}
				parameters = append(parameters, found.describe(s.started, selector))
			}
			return map[string]any{"Parameters": parameters, "InvalidParameters": unknown}, nil
		})
	case "GetParametersByPath":
		return typed(func(_ context.Context, in byPath) (any, error) {
			if err := s.authorise(by, "ssm:"+operation, assembly.ParameterARN(account, region, strings.TrimSuffix(in.Path, "/"))); err != nil {
				return nil, err
			}
			return s.parametersByPath(environment, in)
		})
	}
	return func(context.Context, []byte) (any, error) { return nil, unknown("ssm", operation) }
}

// byPath is the input of GetParametersByPath.
type byPath struct {
	Path             string
	Recursive        bool
	MaxResults       int
	NextToken        string
	ParameterFilters []any
}

func (s *Server) parametersByPath(environment string, in byPath) (any, error) {
	known := s.served.Load().parameters
	first := 0
	if in.NextToken != "" {
		var err error
		if first, err = strconv.Atoi(in.NextToken); err != nil || first < 0 {
			return nil, &apiError{Type: "InvalidNextToken", Message: "The specified token is not valid."}
		}
	}
	if in.MaxResults == 0 {
		in.MaxResults = defaultPage
	}
	switch {
	case !strings.HasPrefix(in.Path, "/"):
		return nil, invalid(fmt.Sprintf("got path %q: it begins with a slash", in.Path))
	case in.MaxResults < 1 || in.MaxResults > largestPage:
		return nil, invalid(fmt.Sprintf("got MaxResults %d: give 1 to %d", in.MaxResults, largestPage))
	case len(in.ParameterFilters) > 0:
		return nil, unknown("ssm", "GetParametersByPath with ParameterFilters")
	}
	path := strings.TrimSuffix(in.Path, "/") + "/"
	var names []string
	for at := range maps.Keys(known) {
		rest, below := strings.CutPrefix(at.name, path)
		if at.environment == environment && below && rest != "" && (in.Recursive || !strings.Contains(rest, "/")) {
			names = append(names, at.name)
		}
	}
	slices.Sort(names)
	names = names[min(first, len(names)):]
	answer := map[string]any{}
	if len(names) > in.MaxResults {
		names = names[:in.MaxResults]
		answer["NextToken"] = strconv.Itoa(first + in.MaxResults)
	}
	parameters := []any{}
	for _, name := range names {
		parameters = append(parameters, known[place{environment, name}].describe(s.started, ""))
	}
	answer["Parameters"] = parameters
	return answer, nil
}

func invalid(message string) error { return &apiError{Type: "ValidationException", Message: message} }
