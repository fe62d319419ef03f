package run

// What a run reads before anything starts: the assembly, its functions and its lakes.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/dev"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
)

// design is what a run has read of an assembly. Apply replaces it as a whole.
type design struct {
	assembly  *assembly.Assembly
	functions []lambda.Declared
	// roles are those of functions and, with scheduleCaller before the name, of schedules.
	roles map[string]*policy.Role
	// code has the SHA-256 of each function's program.
	code      map[string]string
	schedules []scheduler.Schedule
	rules     *events.Rules
	lakes     []catalog.Lake
	users     *cognito.Pools
	gateways  map[apiName]*apigateway.Gateway
	apis      []console.API
	databases *dynamodb.Databases
	// mappings deliver streams and queues to functions.
	mappings *eventsource.Mappings
	// opened are the APIs whose ports were opened for this assembly.
	opened []apiName
}

// readAssembly reads the assembly in the folder with its functions and lakes, and needs no service for it. It unpacks
// code into the other folder.
func (r *Runner) readAssembly(ctx context.Context, folder, code string) (*design, error) {
	d, err := r.load(folder)
	if err != nil {
		return d, err
	}
	if err := r.readFunctions(ctx, d, code); err != nil {
		return d, err
	}
	return d, r.checkLakes(ctx, d)
}

// load reads the assembly in the folder, and refuses what cannot be run.
func (r *Runner) load(folder string) (*design, error) {
	d := &design{}
	var problems []error
	a, err := assembly.Load(folder, assembly.Options{Stacks: r.options.Stacks, SSMParameters: r.options.SSMParameters,
		URL: func(resource *assembly.Resource) string {
			switch resource.Type {
			case "AWS::SQS::Queue":
				return url(r.ports.aws)
			case "AWS::ApiGatewayV2::Api":
				if !resource.Stack.Selected {
					return ""
				}
				name := nameOf(resource)
				if listener, known := r.ports.apis[name]; known {
					return url(listener)
				}
				listener, err := r.ports.listenAPI(resource.Stack, r.options)
				if err != nil {
					problems = append(problems, err)
					return ""
				}
				r.ports.apis[name] = listener
				d.opened = append(d.opened, name)
				return url(listener)
			}
			return ""
		}})
	if err := errors.Join(append(problems, err)...); err != nil {
		return d, err
	}
	d.assembly = a
	for _, stack := range slices.Sorted(maps.Keys(r.options.Ports)) {
		if !a.Has(stack) {
			return d, assembly.Stackf("port of stack %q: the assembly has no stack of that name or display id", stack)
		}
	}
	if d.rules, err = events.Read(a); err != nil {
		return d, err
	}
	if err := r.refuseUnsupported(d); err != nil {
		return d, err
	}
	if err := refuseSameNames(a); err != nil {
		return d, err
	}
	d.lakes, err = catalog.Read(a)
	return d, err
}

// openBuckets keeps objects in the run's data folder, or else in its temporary folder.
func (r *Runner) openBuckets(of *assembly.Assembly) (err error) {
	dir := subfolder(r.options.Data, bucketsFolder)
	if dir == "" {
		dir = subfolder(r.folder, bucketsFolder)
	}
	r.buckets, err = s3.New(dir, of)
	return err
}

// readFunctions reads the functions, with binaries that run here, and gives them their access keys and the inbox. It
// unpacks code into the folder.
func (r *Runner) readFunctions(ctx context.Context, d *design, folder string) error {
	functions, problems := lambda.Read(d.assembly, folder)
	if err := r.attachDebugger(ctx, functions); err != nil {
		return errors.Join(append(problems, err)...)
	}
	// A run that follows its source has asked for an assembly with the handlers that were built last.
	compare := r.design.Load() == nil || !r.options.Watch
	if err := lambda.BuildForThisMachine(ctx, functions, r.searched(), compare, r.log.line); err != nil {
		return errors.Join(append(problems, err)...)
	}
	for _, wanted := range slices.Sorted(maps.Keys(r.options.Environment)) {
		if _, err := dev.Find(functions, wanted); err != nil {
			problems = append(problems, fmt.Errorf("environment: %w", err))
		}
	}
	// Functions that name where people sign in name the run's endpoints.
	signIn, err := cognito.Addresses(d.assembly)
	problems = append(problems, err)
	d.roles = map[string]*policy.Role{}
	routes := apigateway.RoutesTo(d.assembly)
	for i := range functions {
		f := &functions[i]
		f.Routes = routes[f.Name]
		for _, name := range []string{f.Label, f.Name} {
			if given := r.options.Environment[name]; len(given) > 0 && f.Environment == nil {
				f.Environment = maps.Clone(given)
			} else {
				maps.Copy(f.Environment, given)
			}
		}
		f.AccessKeyID, f.SecretAccessKey = accessKey(), aws.Secret
		for name, value := range f.Environment {
			switch {
			case value == fcmAddress:
				f.Environment[name] = r.inbox.URL()
			case slices.Contains(signIn, value):
				f.Environment[name] = r.ConsoleURL()
			}
		}
		problems = append(problems, f.Check())
		d.roles[f.Name] = r.role(f.Name, f.Role)
	}
	d.functions = functions
	return errors.Join(problems...)
}

// attachDebugger gives the function that is to be debugged a debugger. Without such a function it does nothing.
func (r *Runner) attachDebugger(ctx context.Context, functions []lambda.Declared) (err error) {
	if r.options.Debug == "" {
		return nil
	}
	// Delve would say so in a line among others, and the function would never start.
	if r.debugged == "" {
		listener, err := listen(r.debugPort())
		if err != nil {
			return fmt.Errorf("debugger: %w: stop what uses it, or choose another with --debug-port", err)
		}
		_ = listener.Close()
	}
	r.debugged, err = dev.Debugger{
		Function: r.options.Debug, Port: r.debugPort(),
		Folder:  filepath.Join(r.folder, "debug", strconv.Itoa(r.applied)),
		Modules: r.searched(), Log: r.log.line,
	}.Attach(ctx, functions)
	return err
}

func (r *Runner) isDebugged(function string) bool { return r.debugged != "" && function == r.debugged }

func (r *Runner) debugPort() int { return cmp.Or(r.options.DebugPort, DefaultDebugPort) }

// searched returns the folders whose Go modules may require those of the functions: the folder of the assembly, and the
// working directory.
func (r *Runner) searched() []string {
	var folders []string
	for _, folder := range []string{filepath.Dir(filepath.Clean(r.options.Assembly)), "."} {
		if absolute, err := filepath.Abs(folder); err == nil && !slices.Contains(folders, absolute) {
			folders = append(folders, absolute)
		}
	}
	return folders
}

// checkLakes looks for views and queries that do not run, if this program has an engine for queries.
func (r *Runner) checkLakes(ctx context.Context, d *design) error {
	if r.options.Lake.Check == nil {
		return nil
	}
	var problems []error
	for _, lake := range d.lakes {
		warnings, err := r.options.Lake.Check(ctx, lake)
		for _, warning := range warnings {
			r.log.printf("warning: %s", warning)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (r *Runner) refuseUnsupported(d *design) error {
	var refused []string
	custom := false
	without := d.assembly.WithoutEffect()
	if d.rules.Idle > 0 {
		without[rules] = d.rules.Idle
	}
	if d.rules.Elsewhere > 0 {
		without[rules+".Targets"] = d.rules.Elsewhere
	}
	for _, resource := range d.assembly.Unsupported() {
		if slices.Contains(r.options.AllowUnsupported, resource.Type) {
			without[resource.Type]++
			continue
		}
		remedy := ""
		if resource.Type == "AWS::CloudFormation::Stack" {
			remedy = ": a run reads no nested stack: put the platform in it into a stack of its own (awscdk.NewStack)"
		}
		refused = append(refused, "  "+resource.String()+remedy)
		custom = custom || strings.HasPrefix(resource.Type, "Custom::") ||
			resource.Type == "AWS::CloudFormation::CustomResource"
	}
	for _, unserved := range d.assembly.Unserved() {
		property := unserved.Property
		if !property.Refused || slices.Contains(r.options.AllowUnsupported, property.String()) {
			without[property.String()]++
			continue
		}
		refused = append(refused, fmt.Sprintf("  %s: %s: %s, or go on without it by --allow-unsupported %s",
			unserved.Resource, property.Name, property.Instead, property))
	}
	if len(refused) == 0 {
		if r.design.Load() == nil {
			r.nameWithoutEffect(without)
		}
		return nil
	}
	remedy := "--allow-unsupported TYPE leaves a type without effect"
	if custom {
		remedy += "\ncode makes a custom resource during a deployment: keep it in a stack of its own, " +
			"such as that of the network, and name the others with --stack; " +
			"a VPC of the CDK does without when RestrictDefaultSecurityGroup is false"
	}
	return fmt.Errorf("the assembly has %w:\n%s\n%s", ErrUnsupported, strings.Join(refused, "\n"), remedy)
}

// rules is the type of the rules of Amazon EventBridge.
const rules = "AWS::Events::Rule"

// nameWithoutEffect prints one line with the types of resources that have no effect here, and how many there are.
func (r *Runner) nameWithoutEffect(counts map[string]int) {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		part := fmt.Sprintf("%s (%d)", kind, counts[kind])
		if kind == rules {
			part = fmt.Sprintf("%s (%d, which fire nothing)", kind, counts[kind])
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		r.log.printf("without effect here: %s", strings.Join(parts, ", "))
	}
}

// refuseSameNames finds resources that a run could not tell apart. A run may have tables and catalogs of one name in
// several accounts and regions, as AWS may. Other resources need a name of their own in the run.
func refuseSameNames(a *assembly.Assembly) error {
	type identity struct{ kind, place, name string }
	known := map[identity]*assembly.Resource{}
	var problems []error
	for _, resource := range a.Resources() {
		one := identity{kind: resource.Type, name: resource.Name}
		switch resource.Type {
		case "AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable":
			one.kind, one.place = "table", resource.Stack.Environment()
		case "AWS::Glue::Database", "AWS::SSM::Parameter":
			one.place = resource.Stack.Environment()
		case "AWS::IAM::Role":
			one.place = resource.Stack.Account
		case "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::SecretsManager::Secret", "AWS::S3::Bucket",
			"AWS::Scheduler::Schedule":
		case rules:
			if resource.Properties["ScheduleExpression"] == nil {
				continue
			}
			one.kind = "AWS::Scheduler::Schedule"
		default:
			continue
		}
		if other := known[one]; other != nil {
			problems = append(problems, assembly.Stackf("stack %s: %s has the same name as %s of stack %s, %s: a run "+
				"can have only one of them; choose a stack with --stack %s",
				resource.Stack.DisplayID, resource, other, other.Stack.DisplayID, resource.Name, other.Stack.DisplayID))
			continue
		}
		known[one] = resource
	}
	return errors.Join(problems...)
}

// keyAttributes returns the names of the key attributes of a table.
func (r *Runner) keyAttributes(table string) (names []string) {
	for _, resource := range r.design.Load().assembly.Tables() {
		var p struct {
			KeySchema []struct{ AttributeName string }
		}
		if resource.Name != table || resource.Decode(&p) != nil {
			continue
		}
		for _, key := range p.KeySchema {
			names = append(names, key.AttributeName)
		}
		return names
	}
	return nil
}

// readsStream reports whether a function gets the records of the table's stream.
func (r *Runner) readsStream(table string) bool {
	mappings := r.design.Load().mappings
	return mappings != nil && mappings.ReadsStream(table)
}

func (r *Runner) stackOf(function string) string {
	if resource := r.design.Load().assembly.ByName(function, "AWS::Lambda::Function"); resource != nil {
		return resource.Stack.Name
	}
	return ""
}
