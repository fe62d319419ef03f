// Package assembly reads a cloud assembly, the folder that `cdk synth` writes, and resolves its templates as
// CloudFormation would: parameters, conditions, references between resources and stacks, and the names that deployed
// resources would get. It knows nothing of how the assembly was made.
package assembly

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// The environment of stacks that name none.
const (
	DefaultRegion  = "us-east-1"
	DefaultAccount = "000000000000"
)

// ErrNoAssembly reports a folder without a manifest.json.
var ErrNoAssembly = errors.New("no cloud assembly")

// Options change how an assembly is resolved. The zero value is useful.
type Options struct {
	// Region and Account stand in for those of stacks that are synthesised for any environment.
	// Defaults: DefaultRegion, DefaultAccount.
	Region, Account string
	// Stacks choose the stacks to keep, as [Choose] does. The others are read only where these refer to them. Default:
	// all.
	Stacks []string
	// Parameters are values of template parameters by name; a parameter without one takes its default.
	Parameters map[string]string
	// SSMParameters are values of parameters of AWS Systems Manager that no stack declares, by name.
	SSMParameters map[string]string
	// URL gives the address at which a resource is reached on this machine: an HTTP API's endpoint, a queue's URL, a
	// user pool's issuer. It is asked once per resource, while Properties are not resolved yet. An empty answer, or no
	// function, means the address AWS would give.
	URL func(resource *Resource) string
}

// Assembly is a resolved cloud assembly.
type Assembly struct {
	// Dir is the absolute path of its folder.
	Dir string
	// Stacks are the chosen ones in the manifest's order of names, those of nested assemblies included.
	Stacks []*Stack

	all       []*Stack
	assets    map[string]Asset
	importing map[string]bool
}

// Stack is one CloudFormation stack.
type Stack struct {
	Name string
	// DisplayID is what the CDK calls the stack: its name, or the way to it through stages, such as Dev/Ask.
	DisplayID string
	// Path is that of its template.
	Path string
	// Selected says that the stack is one of the chosen.
	Selected bool
	Region   string
	Account  string
	// Metadata is the template's own Metadata section.
	Metadata map[string]any
	// Resources are sorted by logical id. Those whose condition is false are left out.
	Resources []*Resource
	// Outputs by logical id.
	Outputs map[string]Output

	template  template
	described []tableDescription
	existing  []*Resource
	options   Options
	assembly  *Assembly
	resources map[string]*Resource
	values    *intrinsic.Evaluator
}

// Output is a resolved stack output.
type Output struct {
	Value       string
	Description string
	Export      string
}

// Resource is one resource of a stack, resolved.
type Resource struct {
	// LogicalID is empty for a table that exists.
	LogicalID string
	// Type is the CloudFormation type, such as AWS::DynamoDB::GlobalTable.
	Type string
	// Path is the construct path (aws:cdk:path), or the logical id when the template gives none.
	Path string
	// Properties are resolved: they have only map[string]any, []any, string, json.Number, bool and nil.
	Properties map[string]any
	// DependsOn are logical ids.
	DependsOn []string
	// Metadata is the resource's own, as in the template.
	Metadata map[string]any
	// Name is the physical name: the one that the template gives, or STACK-LOGICALID.
	Name string
	// Ref is what a Ref to the resource gives.
	Ref string
	// ARN is empty for types that have none.
	ARN string
	// Stack is the resource's stack.
	Stack *Stack
	// Existing says that the stack uses the resource, a table, and that no stack of the assembly declares it.
	Existing bool

	raw      map[string]any
	url      string
	naming   map[string]string
	identity state
	failure  error
}

// Decode reads the resolved properties into v, a pointer to a struct whose fields are named like the properties.
func (r *Resource) Decode(v any) error {
	text, err := json.Marshal(r.Properties)
	if err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: properties: %w", r, err)
	}
	return nil
}

// String names the resource for people: type, logical id and construct path.
func (r *Resource) String() string {
	if r.Existing {
		return fmt.Sprintf("existing table %s (%s)", r.Name, r.Path)
	}
	return fmt.Sprintf("%s %s (%s)", r.Type, r.LogicalID, r.Path)
}

// Load reads and resolves the assembly in dir. Errors: ErrNoAssembly; a stack of the options that it does not have;
// otherwise all *ResolveErrors, joined.
func Load(dir string, options Options) (*Assembly, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cloud assembly %q: %w", dir, err)
	}
	if options.Region == "" {
		options.Region = DefaultRegion
	}
	if options.Account == "" {
		options.Account = DefaultAccount
	}
	loaded := &Assembly{Dir: absolute, assets: map[string]Asset{}, importing: map[string]bool{}}
	if err := loaded.read(options); err != nil {
		if errors.Is(err, ErrNoAssembly) {
			return nil, noAssembly(dir)
		}
		return nil, err
	}
	if len(loaded.all) == 0 {
		return nil, fmt.Errorf("cloud assembly %s holds no stack: synthesise an app with at least one", dir)
	}
	if err := loaded.choose(options.Stacks); err != nil {
		return nil, err
	}
	var problems []error
	for _, stack := range loaded.all {
		// A problem of a stack that is not chosen counts only where a chosen stack refers to it.
		if found := stack.prepare(); stack.Selected {
			problems = append(problems, found...)
		}
	}
	if len(problems) == 0 {
		// Options.URL is asked for APIs in their order, and not in that in which stacks refer to each other. An error
		// comes again below.
		for _, api := range loaded.APIs() {
			_ = api.Stack.identify(api)
		}
		for _, stack := range loaded.Stacks {
			problems = append(problems, stack.resolve()...)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if err := loaded.addExistingTables(); err != nil {
		return nil, err
	}
	return loaded, nil
}

// LocalPort is the port that the stack's template asks for in a local run: Metadata: {"onesynth": {"localPort": 8080}}.
// 0: none.
func (s *Stack) LocalPort() int {
	metadata, _ := s.Metadata["onesynth"].(map[string]any)
	port, err := strconv.Atoi(fmt.Sprint(metadata["localPort"]))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	return port
}

// APIs are the HTTP APIs of the chosen stacks in the order in which a run lists them and gives them ports: by the ports
// that their stacks ask for, and then the APIs of stacks that ask for none. APIs of one rank are in the order of the
// stacks and of logical ids.
func (a *Assembly) APIs() []*Resource {
	apis := a.Resources("AWS::ApiGatewayV2::Api")
	rank := func(api *Resource) int { return cmp.Or(api.Stack.LocalPort(), math.MaxInt) }
	slices.SortStableFunc(apis, func(a, b *Resource) int { return cmp.Compare(rank(a), rank(b)) })
	return apis
}

// choose selects the stacks. It refuses two of one name, such as those of stages for several accounts: a run cannot
// tell them apart.
func (a *Assembly) choose(wanted []string) error {
	chosen, err := Choose(a.all, wanted, func(stack *Stack) (name, displayID string) {
		return stack.Name, stack.DisplayID
	})
	if err != nil {
		return err
	}
	named := map[string]*Stack{}
	for _, stack := range chosen {
		if other := named[stack.Name]; other != nil {
			return Stackf("stacks %s and %s have one name, %s: choose one of them, with --stack %s",
				other.DisplayID, stack.DisplayID, stack.Name, other.DisplayID)
		}
		named[stack.Name] = stack
		stack.Selected = true
	}
	a.Stacks = chosen
	return nil
}

// Template is the template of one stack of an assembly, unresolved.
type Template struct {
	// Stack is the stack's name.
	Stack string
	// DisplayID is what the CDK calls the stack: its name, or the way to it through stages, such as Dev/Ask.
	DisplayID string
	// Account and Region are empty for stacks that are synthesised for any.
	Account, Region string
	// Path is the absolute path of the file.
	Path string
	// Parameters are the values that the app gives to the template's parameters.
	Parameters map[string]string
}

// Templates lists the templates of the assembly in dir, those of nested assemblies included, in the manifest's order of
// names. Errors: ErrNoAssembly.
func Templates(dir string) ([]Template, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cloud assembly %q: %w", dir, err)
	}
	var templates []Template
	err = walk(folderOf(absolute), func(at folder, id string, found artifact) error {
		if found.Type != stackArtifact {
			return nil
		}
		template, err := found.template(at, id)
		templates = append(templates, template)
		return err
	})
	if errors.Is(err, ErrNoAssembly) {
		return nil, noAssembly(dir)
	}
	return templates, err
}

func noAssembly(dir string) error {
	return fmt.Errorf("%w: no manifest.json in %s: run `cdk synth` or `make synth` first", ErrNoAssembly, dir)
}

const (
	stackArtifact  = "aws:cloudformation:stack"
	nestedArtifact = "cdk:cloud-assembly"
)

type manifest struct {
	Artifacts map[string]artifact
}

type artifact struct {
	Type        string
	Environment string
	Properties  struct {
		TemplateFile  string
		StackName     string
		File          string
		DirectoryName string
		Parameters    map[string]string
	}
	Metadata               map[string][]metadata
	AdditionalMetadataFile string
	DisplayName            string
}

// template reads the artifact of a stack.
func (a artifact) template(at folder, id string) (Template, error) {
	path, err := at.file(a.Properties.TemplateFile)
	if err != nil {
		return Template{}, fmt.Errorf("manifest.json: artifact %s: %w", id, err)
	}
	template := Template{Stack: a.Properties.StackName, Path: path, Parameters: a.Properties.Parameters}
	if template.Stack == "" {
		template.Stack = id
	}
	template.DisplayID = cmp.Or(a.DisplayName, id)
	// aws://ACCOUNT/REGION, with unknown-account and unknown-region for stacks of any environment.
	if account, region, ok := strings.Cut(strings.TrimPrefix(a.Environment, "aws://"), "/"); ok {
		if account != "unknown-account" {
			template.Account = account
		}
		if region != "unknown-region" {
			template.Region = region
		}
	}
	return template, nil
}

// walk visits the artifacts of an assembly and of those nested in it, in the order of their ids.
func walk(at folder, visit func(at folder, id string, found artifact) error) error {
	var read manifest
	if err := readJSON(filepath.Join(at.dir, manifestFile), &read); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNoAssembly
		}
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(read.Artifacts)) {
		found := read.Artifacts[id]
		if found.Type != nestedArtifact {
			if err := visit(at, id, found); err != nil {
				return err
			}
			continue
		}
		nested, err := at.file(found.Properties.DirectoryName)
		if err != nil {
			return fmt.Errorf("manifest.json: artifact %s: %w", id, err)
		}
		if err := walk(folder{root: at.root, dir: nested}, visit); err != nil {
			return fmt.Errorf("nested assembly %s: %w", id, err)
		}
	}
	return nil
}

func (a *Assembly) read(options Options) error {
	return walk(folderOf(a.Dir), func(at folder, id string, found artifact) error {
		switch found.Type {
		case "cdk:asset-manifest":
			return a.readAssets(at, found.Properties.File)
		case stackArtifact:
			file, err := found.template(at, id)
			if err != nil {
				return err
			}
			stack := &Stack{
				Name: file.Stack, DisplayID: file.DisplayID, Path: file.Path,
				Region: cmp.Or(file.Region, options.Region), Account: cmp.Or(file.Account, options.Account),
				options: options, assembly: a,
			}
			if err := readJSON(file.Path, &stack.template); err != nil {
				return fmt.Errorf("stack %s: %w", file.Stack, err)
			}
			if stack.described, err = found.existingTables(at); err != nil {
				return fmt.Errorf("stack %s: %w", file.Stack, err)
			}
			for parameter, value := range file.Parameters {
				if _, given := options.Parameters[parameter]; !given {
					stack.template.overrides(parameter, value)
				}
			}
			a.all = append(a.all, stack)
		}
		return nil
	})
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read cloud assembly: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("%s is not what `cdk synth` writes (JSON): %w; synthesise again", path, err)
	}
	return nil
}

// Resources returns the resources of the given types in all stacks, or all resources when no type is given.
func (a *Assembly) Resources(types ...string) []*Resource {
	var found []*Resource
	for _, stack := range a.Stacks {
		for _, resource := range stack.Resources {
			if len(types) == 0 || slices.Contains(types, resource.Type) {
				found = append(found, resource)
			}
		}
	}
	return found
}

// ByARN returns the resource with the ARN, or nil. A log group is found with and without the `:*` its ARN ends in.
func (a *Assembly) ByARN(arn string) *Resource {
	if arn == "" {
		return nil
	}
	for _, stack := range a.Stacks {
		for _, resource := range stack.Resources {
			if resource.ARN == arn || strings.TrimSuffix(resource.ARN, ":*") == arn {
				return resource
			}
		}
	}
	return nil
}

// ByName returns the resource of one of the types with the physical name, or nil.
func (a *Assembly) ByName(name string, types ...string) *Resource {
	for _, resource := range a.Resources(types...) {
		if resource.Name == name {
			return resource
		}
	}
	return nil
}

// ByLogicalID returns the stack's resource, or nil.
func (s *Stack) ByLogicalID(id string) *Resource {
	for _, resource := range s.Resources {
		if resource.LogicalID == id {
			return resource
		}
	}
	return nil
}

// Unsupported returns the resources that a laptop does not emulate. A run must end naming them, unless told otherwise.
func (a *Assembly) Unsupported() []*Resource {
	var found []*Resource
	for _, resource := range a.Resources() {
		if entryOf(resource.Type).support == unsupported {
			found = append(found, resource)
		}
	}
	return found
}

// Accepted returns the resources that a local run takes without giving them any behaviour, such as alarms.
func (a *Assembly) Accepted() []*Resource {
	var found []*Resource
	for _, resource := range a.Resources() {
		if entryOf(resource.Type).support == accepted {
			found = append(found, resource)
		}
	}
	return found
}

// Has reports whether a stack has the name or the display id, chosen or not.
func (a *Assembly) Has(stack string) bool {
	return slices.ContainsFunc(a.all, func(one *Stack) bool { return one.Name == stack || one.DisplayID == stack })
}

// Environment is the account and region of a stack, as the CDK writes it.
func (s *Stack) Environment() string { return Environment(s.Account, s.Region) }

// Environment writes an account and a region as the CDK does.
func Environment(account, region string) string { return "aws://" + account + "/" + region }

// Environments returns the chosen stacks by account and region, in the order of their first stacks. Most names in AWS
// are unique in one of these.
func (a *Assembly) Environments() []*Assembly {
	var all []*Assembly
	for _, stack := range a.Stacks {
		at := slices.IndexFunc(all, func(other *Assembly) bool {
			return other.Stacks[0].Environment() == stack.Environment()
		})
		if at < 0 {
			part := *a
			part.Stacks = nil
			at, all = len(all), append(all, &part)
		}
		all[at].Stacks = append(all[at].Stacks, stack)
	}
	return all
}

// HasEnvironment reports whether a stack, chosen or not, is of the account and region, as [Environment] writes them.
func (a *Assembly) HasEnvironment(environment string) bool {
	return slices.ContainsFunc(a.all, func(one *Stack) bool { return one.Environment() == environment })
}

// Declared returns the resource of the type with the ARN, resolved, of any stack, chosen or not; nil when there is
// none.
func (a *Assembly) Declared(kind, arn string) (*Resource, error) {
	for _, stack := range a.all {
		for _, resource := range stack.Resources {
			// A resource that is not chosen and has no identity cannot be the one that a chosen stack refers to.
			if resource.Type != kind || stack.identify(resource) != nil || resource.ARN != arn {
				continue
			}
			if resource.Properties == nil {
				if err := stack.evaluateProperties(resource); err != nil {
					return nil, err
				}
			}
			return resource, nil
		}
	}
	return nil, nil
}
