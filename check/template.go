package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// ErrNotJSON reports a template that is not a JSON object. The CDK writes JSON; CloudFormation also takes YAML, which
// [Parse] does not read.
var ErrNotJSON = errors.New("not a template in JSON")

// Template is the part of a CloudFormation template that [Compare] reads. [Parse] returns one.
type Template struct {
	parameters map[string]parameter
	conditions map[string]any
	resources  map[string]declaration
	outputs    map[string]output
	metadata   map[string]metadata
}

type output struct {
	Value  any
	Export struct{ Name any }
}

type parameter struct {
	Type    string
	Default any
}

// declaration is a resource as the template declares it.
type declaration struct {
	Type                string
	Properties          map[string]any
	Condition           string
	DeletionPolicy      any
	UpdateReplacePolicy any
	Metadata            map[string]any
}

// Parse reads a template in JSON. It returns [ErrNotJSON], or an error that names the place at which the template is
// invalid.
func Parse(text []byte) (*Template, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, fmt.Errorf("%w: it does not begin with {; write YAML as JSON first", ErrNotJSON)
	}
	var read struct {
		Metadata   json.RawMessage
		Parameters map[string]parameter
		Conditions map[string]any
		Resources  map[string]json.RawMessage
		Outputs    map[string]output
	}
	if err := decode(text, &read); err != nil {
		return nil, err
	}
	template := &Template{parameters: read.Parameters, conditions: read.Conditions, resources: map[string]declaration{},
		outputs: read.Outputs, metadata: readMetadata(read.Metadata)}
	for id, text := range read.Resources {
		var resource declaration
		if err := decode(text, &resource); err != nil {
			return nil, fmt.Errorf("resource %s: %w", id, err)
		}
		if resource.Type == "" {
			return nil, fmt.Errorf("resource %s: got no Type: every resource has one", id)
		}
		template.resources[id] = resource
	}
	return template, nil
}

func decode(text []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s: got %s, which no template has there", cmp.Or(wrong.Field, "at the top"), wrong.Value)
		}
		return fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the template's end", ErrNotJSON)
	}
	return nil
}

// resource is a resource in which every value that is known before a deployment is resolved.
type resource struct {
	id, kind, path string
	// properties hold only map[string]any, []any and string: CloudFormation takes "35" for 35 and "true" for true.
	properties map[string]any
	condition  string
	// deletion and replacement are the policies, with CloudFormation's default.
	deletion, replacement string
}

// constructPath returns the construct path, or the logical id if the template has no paths.
func (r *resource) constructPath() string { return cmp.Or(r.path, r.id) }

// at returns the value that the names lead to, or nil.
func (r *resource) at(names ...string) any { return at(r.properties, names...) }

func at(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// text returns a value that is known before a deployment, or else the JSON of the expression; "" if there is none.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		encoded, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(encoded)
	}
}

// say returns a value as findings print it: resources by their logical ids, and texts that are put together as one.
func say(v any) string {
	if id := text(at(v, "Ref")); id != "" {
		return id
	}
	if attribute := list(at(v, "Fn::GetAtt")); len(attribute) == 2 {
		if text(attribute[1]) == "Arn" {
			return text(attribute[0])
		}
		return text(attribute[0]) + "." + text(attribute[1])
	}
	if parts := list(at(v, "Fn::Join")); len(parts) == 2 {
		return strings.Join(sayAll(parts[1]), text(parts[0]))
	}
	if sub, ok := at(v, "Fn::Sub").(string); ok {
		return strings.NewReplacer("${", "", "}", "").Replace(sub)
	}
	if _, ok := v.([]any); ok {
		return join(sayAll(v))
	}
	return text(v)
}

// sayAll returns what [say] says of each element of a list.
func sayAll(v any) []string {
	var all []string
	for _, element := range list(v) {
		all = append(all, say(element))
	}
	return all
}

func list(v any) []any {
	values, _ := v.([]any)
	return values
}

// sorted returns the members of a map in the order of their names.
func sorted[V any](all map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

// of returns the resources of some types, in the order of their logical ids.
func of(resources map[string]*resource, kinds ...string) iter.Seq[*resource] {
	return func(yield func(*resource) bool) {
		for _, r := range sorted(resources) {
			if slices.Contains(kinds, r.kind) && !yield(r) {
				return
			}
		}
	}
}

// partition and suffix of a Region, by what begins its name.
var partitions = map[string][2]string{"cn-": {"aws-cn", "amazonaws.com.cn"}, "us-gov-": {"aws-us-gov", "amazonaws.com"}}

// known returns the values of parameters and pseudo parameters that are known before a deployment.
func (t *Template) known(environment Environment) map[string]string {
	known := map[string]string{}
	for name, declared := range t.parameters {
		// The default of other types is not the value, but its name in AWS.
		if declared.Type == "String" || declared.Type == "Number" {
			if value, ok := simplify(declared.Default, nil).(string); ok {
				known[name] = value
			}
		}
		if value, ok := environment.Parameters[name]; ok {
			known[name] = value
		}
	}
	names := [2]string{"aws", "amazonaws.com"}
	for begin, other := range partitions {
		if strings.HasPrefix(environment.Region, begin) {
			names = other
		}
	}
	if environment.Region != "" {
		known["AWS::Partition"], known["AWS::URLSuffix"] = names[0], names[1]
	}
	for name, value := range map[string]string{
		"AWS::Region": environment.Region, "AWS::AccountId": environment.Account, "AWS::StackName": environment.Stack,
	} {
		if value != "" {
			known[name] = value
		}
	}
	return known
}

// resolve returns the template's resources by logical id.
func (t *Template) resolve(environment Environment) map[string]*resource {
	resources, known := map[string]*resource{}, t.known(environment)
	for id, declared := range t.resources {
		properties, _ := simplify(declared.Properties, known).(map[string]any)
		path, _ := declared.Metadata["aws:cdk:path"].(string)
		resources[id] = &resource{
			id: id, kind: declared.Type, path: path, properties: properties, condition: declared.Condition,
			deletion: policy(declared.DeletionPolicy), replacement: policy(declared.UpdateReplacePolicy),
		}
	}
	return resources
}

// policy returns a DeletionPolicy or UpdateReplacePolicy; without one CloudFormation deletes.
func policy(v any) string {
	if v == nil {
		return "Delete"
	}
	return text(v)
}

// simplify resolves known values, drops null and AWS::NoValue, and makes scalars strings.
func simplify(v any, known map[string]string) any {
	evaluator := intrinsic.Evaluator{Names: names(known), Partial: true, Problem: func(path, problem string) error {
		return errors.New(path + ": " + problem)
	}}
	value, err := evaluator.Value(intrinsic.Canonical(scalars(v)), "")
	if _, none := value.(intrinsic.Absent); none || err != nil {
		return nil
	}
	return intrinsic.Canonical(value)
}

// scalars drops null, and makes scalars strings.
func scalars(v any) any {
	switch v := v.(type) {
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case []any:
		values := make([]any, 0, len(v))
		for _, element := range v {
			if element = scalars(element); element != nil {
				values = append(values, element)
			}
		}
		return values
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, value := range v {
			if value = scalars(value); value != nil {
				object[name] = value
			}
		}
		return object
	default:
		return v
	}
}

// names are the parameters and pseudo parameters that are known before a deployment.
type names map[string]string

var errUnknown = errors.New("not known before a deployment")

// Ref implements [intrinsic.Names].
func (n names) Ref(name, _ string) (any, error) {
	if value, ok := n[name]; ok {
		return value, nil
	}
	return nil, errUnknown
}

// Attribute implements [intrinsic.Names].
func (names) Attribute(_, _, _ string) (any, error) { return nil, errUnknown }

// Call implements [intrinsic.Names].
func (names) Call(string, any, string) (any, error) { return nil, errUnknown }
