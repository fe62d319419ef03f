// Package ssm is the parameters of AWS Systems Manager at the endpoint of functions.
package ssm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// parameter is a parameter of AWS Systems Manager. It changes with the assembly alone.
type parameter struct{ name, kind, value, arn string }

// key is a name with the account and region in which it is unique.
type key struct{ environment, name string }

// Parameters are the service. Make one with New.
type Parameters struct {
	aws.Operations
	// elsewhere are values of parameters that no assembly declares.
	elsewhere map[string]string
	started   time.Time
	declared  atomic.Pointer[map[key]parameter]
}

// New makes the service. Values by name are those of parameters that the assembly does not declare.
func New(elsewhere map[string]string) *Parameters {
	p := &Parameters{elsewhere: elsewhere, started: time.Now()}
	p.declared.Store(&map[key]parameter{})
	p.Operations = p.operations()
	return p
}

// Prepare reads the parameters of an assembly. What it returns makes the service serve them.
func (p *Parameters) Prepare(source *assembly.Assembly) (apply func(), err error) {
	next := map[key]parameter{}
	for _, environment := range source.Environments() {
		stack := environment.Stacks[0]
		for name, value := range p.elsewhere {
			next[key{stack.Environment(), name}] = parameter{name: name, kind: "String", value: value,
				arn: assembly.ParameterARN(stack.Account, stack.Region, name)}
		}
	}
	for _, resource := range source.Resources("AWS::SSM::Parameter") {
		var declared struct{ Type, Value string }
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		next[key{resource.Stack.Environment(), resource.Name}] = parameter{name: resource.Name, kind: declared.Type,
			value: declared.Value, arn: resource.ARN}
	}
	return func() { p.declared.Store(&next) }, nil
}

// describe is the parameter as GetParameter answers. A run has one version of each.
func (p parameter) describe(since time.Time, selector string) map[string]any {
	described := map[string]any{"Name": p.name, "Type": p.kind, "Value": p.value, "Version": 1,
		"LastModifiedDate": aws.Epoch(since), "ARN": p.arn, "DataType": "text"}
	if selector != "" {
		described["Selector"] = ":" + selector
	}
	return described
}

// Listed is a parameter, as people see it.
type Listed struct {
	Name string `json:"name"`
	ARN  string `json:"arn"`
	// Type is String, StringList or SecureString.
	Type string `json:"type"`
	// Value is that of a parameter that is no SecureString.
	Value string `json:"value,omitempty"`
}

// All returns the parameters, sorted by ARN.
func (p *Parameters) All() []Listed {
	all := []Listed{}
	for _, one := range *p.declared.Load() {
		listed := Listed{Name: one.name, ARN: one.arn, Type: one.kind}
		if one.kind != "SecureString" {
			listed.Value = one.value
		}
		all = append(all, listed)
	}
	slices.SortFunc(all, func(a, b Listed) int { return strings.Compare(a.ARN, b.ARN) })
	return all
}

// defaultPage and largestPage are how many parameters GetParametersByPath gives at once; maxNames is what
// GetParameters takes.
const (
	defaultPage = 10
	largestPage = 10
	maxNames    = 10
)

// nameOf is the name and the version that a name or an ARN, with or without a version, gives.
func nameOf(given string) (name, selector string) {
	name = given
	if _, rest, isARN := strings.Cut(given, ":parameter/"); isARN && strings.HasPrefix(given, "arn:") {
		if name = rest; strings.Contains(rest, "/") {
			name = "/" + rest
		}
	}
	name, selector, _ = strings.Cut(name, ":")
	return name, selector
}

// needs is what IAM asks for parameters.
func needs(call *aws.Call, given ...string) (needed []aws.Permission) {
	for _, one := range given {
		name, _ := nameOf(one)
		needed = append(needed, aws.Permission{Action: "ssm:" + call.Operation,
			Resource: assembly.ParameterARN(call.Account, call.Region, name)})
	}
	return needed
}

// find finds the parameter of a name or an ARN.
func (p *Parameters) find(call *aws.Call, given string) (described map[string]any, ok bool) {
	name, selector := nameOf(given)
	known := *p.declared.Load()
	found, ok := known[key{call.Environment(), name}]
	if !ok {
		// The name of one that is not in a path may have the ARN of one that is: /name and name.
		found, ok = known[key{call.Environment(), "/" + name}]
		ok = ok && strings.HasPrefix(given, "arn:")
	}
	return found.describe(p.started, selector), ok && (selector == "" || selector == "1")
}

func (p *Parameters) operations() aws.Operations {
	type one struct{ Name string }
	type several struct{ Names []string }
	return aws.Operations{
		"GetParameter": aws.Typed(
			func(call *aws.Call, in one) ([]aws.Permission, error) { return needs(call, in.Name), nil },
			func(call *aws.Call, in one) (any, error) {
				found, ok := p.find(call, in.Name)
				if !ok {
					return nil, &aws.Failure{Type: "ParameterNotFound", Message: "Parameter " + in.Name + " not found."}
				}
				return map[string]any{"Parameter": found}, nil
			}),
		"GetParameters": aws.Typed(
			func(call *aws.Call, in several) ([]aws.Permission, error) {
				if len(in.Names) < 1 || len(in.Names) > maxNames {
					return nil, aws.Invalid(fmt.Sprintf("got %d names: give 1 to %d", len(in.Names), maxNames))
				}
				return needs(call, in.Names...), nil
			},
			func(call *aws.Call, in several) (any, error) {
				parameters, unknown := []any{}, []string{}
				for _, name := range in.Names {
					if found, ok := p.find(call, name); ok {
						parameters = append(parameters, found)
					} else {
						unknown = append(unknown, name)
					}
				}
				return map[string]any{"Parameters": parameters, "InvalidParameters": unknown}, nil
			}),
		"GetParametersByPath": aws.Typed(
			func(call *aws.Call, in byPath) ([]aws.Permission, error) {
				return needs(call, strings.TrimSuffix(in.Path, "/")), nil
			},
			func(call *aws.Call, in byPath) (any, error) { return p.byPath(call.Environment(), in) }),
	}
}

// byPath is the input of GetParametersByPath.
type byPath struct {
	Path             string
	Recursive        bool
	MaxResults       int
	NextToken        string
	ParameterFilters []any
}

func (p *Parameters) byPath(environment string, in byPath) (any, error) {
	known := *p.declared.Load()
	first := 0
	if in.NextToken != "" {
		var err error
		if first, err = strconv.Atoi(in.NextToken); err != nil || first < 0 {
			return nil, &aws.Failure{Type: "InvalidNextToken", Message: "The specified token is not valid."}
		}
	}
	if in.MaxResults == 0 {
		in.MaxResults = defaultPage
	}
	switch {
	case !strings.HasPrefix(in.Path, "/"):
		return nil, aws.Invalid(fmt.Sprintf("got path %q: it begins with a slash", in.Path))
	case in.MaxResults < 1 || in.MaxResults > largestPage:
		return nil, aws.Invalid(fmt.Sprintf("got MaxResults %d: give 1 to %d", in.MaxResults, largestPage))
	case len(in.ParameterFilters) > 0:
		return nil, aws.Unknown("ssm", "GetParametersByPath with ParameterFilters")
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
		parameters = append(parameters, known[key{environment, name}].describe(p.started, ""))
	}
	answer["Parameters"] = parameters
	return answer, nil
}
