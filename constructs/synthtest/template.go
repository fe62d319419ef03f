package synthtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Template is a synthesised AWS CloudFormation template.
type Template struct {
	Resources map[string]Resource
	Outputs   map[string]struct{ Value any }
	Metadata  map[string]any
	// Entries are the metadata of constructs, such as warnings, by construct path, such as "/stack/Platform".
	Entries map[string][]Entry `json:"-"`
	// Source is the template as written.
	Source string `json:"-"`
}

// Entry is an entry of the metadata of a construct.
type Entry struct {
	Type string
	Data any
}

// Resource is one resource of a template.
type Resource struct {
	Type                string
	Properties          map[string]any
	Metadata            map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
	DependsOn           any
}

// Load reads the template of a stack in the folder of a cloud assembly.
func Load(folder, stack string) (Template, error) {
	content, err := os.ReadFile(filepath.Join(folder, stack+".template.json"))
	if err != nil {
		return Template{}, err
	}
	entries, err := os.ReadFile(filepath.Join(folder, stack+".metadata.json"))
	if err != nil {
		return Template{}, err
	}
	t := Template{Source: string(content)}
	if err := errors.Join(json.Unmarshal(content, &t), json.Unmarshal(entries, &t.Entries)); err != nil {
		return Template{}, fmt.Errorf("template of %s: %w", stack, err)
	}
	return t, nil
}

// Stack returns the template of a stack that [Main] has synthesised.
func Stack(t testing.TB, name string) Template {
	t.Helper()
	return must.Get(Load(assembly, name))(t)
}

// Stacks returns the templates of several stacks, by their names.
func Stacks(t testing.TB, names ...string) map[string]Template {
	t.Helper()
	all := map[string]Template{}
	for _, name := range names {
		all[name] = Stack(t, name)
	}
	return all
}

// OfType returns the resources of a type by logical id.
func (t Template) OfType(kind string) map[string]Resource {
	found := map[string]Resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// One returns the only resource of a type whose logical id begins with the text, before
// the eight digits that the CDK adds. If there are several, it returns the one whose
// logical id has nothing between.
func (t Template) One(tb testing.TB, kind, prefix string) (string, Resource) {
	tb.Helper()
	var ids, exact []string
	for id := range t.OfType(kind) {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
		if Stable(id) == prefix {
			exact = append(exact, id)
		}
	}
	if len(exact) == 1 {
		ids = exact
	}
	if len(ids) != 1 {
		tb.Fatalf("resources %s of type %s: got %v, want one", prefix, kind, ids)
	}
	return ids[0], t.Resources[ids[0]]
}

// Named returns the resources of a type by logical id without the eight digits
// that the CDK adds.
func (t Template) Named(kind string) map[string]Resource {
	found := map[string]Resource{}
	for id, r := range t.OfType(kind) {
		found[Stable(id)] = r
	}
	return found
}

// logicalID is a logical id that the CDK has made up: it ends with eight digits.
var logicalID = regexp.MustCompile(`\b([A-Za-z][A-Za-z0-9]*?)[0-9A-F]{8}\b`)

// Stable returns a text without the digits that the CDK adds to logical ids.
func Stable(text string) string { return logicalID.ReplaceAllString(text, "$1") }

// Cycle returns the logical ids of resources that need each other, each followed by one that it needs; nil if there are
// none. AWS CloudFormation refuses a template with circular dependencies when it is deployed.
func (t Template) Cycle() []string {
	var path []string
	done := map[string]bool{}
	var visit func(id string) []string
	visit = func(id string) []string {
		if i := slices.Index(path, id); i >= 0 {
			return slices.Clone(path[i:])
		}
		r, ok := t.Resources[id]
		if done[id] || !ok {
			return nil
		}
		path = append(path, id)
		for _, needed := range r.needs() {
			if cycle := visit(needed); cycle != nil {
				return cycle
			}
		}
		path = path[:len(path)-1]
		done[id] = true
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		if cycle := visit(id); cycle != nil {
			return cycle
		}
	}
	return nil
}

// needs returns the logical ids that a resource refers to or depends on, with those of parameters.
func (r Resource) needs() []string {
	text, err := json.Marshal(r.Properties) // Canonical changes its argument.
	var properties any
	if err = errors.Join(err, json.Unmarshal(text, &properties)); err != nil {
		panic(err)
	}
	ids := intrinsic.References(intrinsic.Canonical(properties))
	for _, id := range List(r.DependsOn) {
		ids = append(ids, Text(id))
	}
	return ids
}

// At returns the value that a path of keys and list positions leads to, or nil.
func At(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// List returns an element of a policy, which may be one value or a list.
func List(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// Text writes a value of a template on one line: "Table.Arn" for
// {"Fn::GetAtt": ["Table", "Arn"]}, its parts for an Fn::Join.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		if ref, ok := v["Ref"].(string); ok {
			return ref
		}
		if a, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("%s.%s", a[0], a[1])
		}
		if j, ok := v["Fn::Join"].([]any); ok {
			var parts []string
			for _, p := range j[1].([]any) {
				parts = append(parts, Text(p))
			}
			return strings.Join(parts, j[0].(string))
		}
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// Statement is one statement of any resource's policy.
type Statement struct {
	// Owner is the logical id of the resource that has the policy.
	Owner string
	// Effect is "Allow" or "Deny".
	Effect string
	// Actions and Resources are as [Text] writes them.
	Actions, Resources []string
	// Condition is as the template has it.
	Condition any
}

// Statements returns the statements of all policies of the template.
func (t Template) Statements() []Statement {
	var all []Statement
	for id, r := range t.Resources {
		for _, document := range []any{r.Properties["PolicyDocument"], r.Properties["AssumeRolePolicyDocument"]} {
			for _, s := range List(At(document, "Statement")) {
				one := Statement{Owner: id, Effect: At(s, "Effect").(string), Condition: At(s, "Condition")}
				for _, a := range List(At(s, "Action")) {
					one.Actions = append(one.Actions, Text(a))
				}
				for _, a := range List(At(s, "Resource")) {
					one.Resources = append(one.Resources, Text(a))
				}
				all = append(all, one)
			}
		}
		// Other types have a property of that name, too.
		if !strings.HasPrefix(r.Type, "AWS::IAM::") {
			continue
		}
		for _, p := range List(r.Properties["Policies"]) {
			all = append(all, Statement{Owner: id, Effect: "Allow", Actions: []string{"inline policy *"},
				Resources: []string{Text(p)}})
		}
	}
	return all
}

// Case is a value, and the paths of its findings in their order.
type Case[V any] = struct {
	Props V
	Paths []string
}

// Validate checks the findings of the values, by the name of the case.
func Validate[V interface{ Validate() error }](t *testing.T, cases map[string]Case[V]) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.Paths, Paths(t, test.Props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// Findings checks the paths of what a check finds, in their order.
func Findings(t *testing.T, want []string, check func(*finding.List)) {
	t.Helper()
	var f finding.List
	check(&f)
	if diff := cmp.Diff(want, Paths(t, f.Err())); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// Paths returns the paths of the findings of an error of Validate, in order, and checks that each finding says all that
// a person needs. A nil error gives no paths.
func Paths(tb testing.TB, err error) []string {
	tb.Helper()
	if err == nil {
		return nil
	}
	var invalid finding.List
	if !errors.As(err, &invalid) {
		tb.Fatalf("got %T %v, want a finding.List", err, err)
	}
	var list []string
	for _, f := range invalid {
		list = append(list, f.Path)
		if f.Got == "" || f.Allowed == "" || f.Remedy == "" {
			tb.Errorf("finding says too little: %+v", f)
		}
		if !strings.Contains(err.Error(), f.String()) {
			tb.Errorf("the error's text lacks %q", f.String())
		}
	}
	return list
}
