package lambda

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// defaultArchitecture is the architecture of functions that declare none ("AWS::Lambda::Function", CloudFormation).
const defaultArchitecture = "x86_64"

// functionProperties are the properties of AWS::Lambda::Function that a local run reads.
type functionProperties struct {
	PackageType                  string
	Runtime                      string
	Code                         struct{ S3Key, ImageUri, ZipFile string }
	Handler                      string
	Role                         string
	MemorySize                   int
	Timeout                      int
	ReservedConcurrentExecutions *int
	Environment                  struct{ Variables map[string]string }
	LoggingConfig                struct{ LogGroup string }
	TracingConfig                struct{ Mode string }
	DeadLetterConfig             struct{ TargetArn string }
	Architectures                []string
}

// Declared is a function of the assembly.
type Declared struct {
	Function
	// Role is the function's, as synthesised.
	Role *policy.Role
	// Traced says that X-Ray traces are on.
	Traced bool
	// recipe says how the code can be built for another machine, or is nil.
	recipe *gobuild.Recipe
}

// Read reads every function with its role and asynchronous settings. It returns the functions that it can read, and the
// problems of the others. It unpacks code into the folder.
func Read(a *assembly.Assembly, folder string) (functions []Declared, problems []error) {
	async := map[string]Async{}
	for _, resource := range a.Resources("AWS::Lambda::EventInvokeConfig") {
		var p struct {
			FunctionName             string
			MaximumEventAgeInSeconds int
			MaximumRetryAttempts     *int
			DestinationConfig        struct{ OnFailure struct{ Destination string } }
		}
		if err := resource.Decode(&p); err != nil {
			problems = append(problems, err)
			continue
		}
		if d := p.DestinationConfig.OnFailure.Destination; d != "" && !a.IsQueue(d) {
			problems = append(problems, fmt.Errorf(
				"%s: OnFailure destination %s: only queues of the assembly are run locally", resource, d))
		}
		name, _ := assembly.SplitFunction(p.FunctionName)
		async[name] = Async{
			MaxRetries: p.MaximumRetryAttempts, MaxAge: time.Duration(p.MaximumEventAgeInSeconds) * time.Second,
			OnFailure: p.DestinationConfig.OnFailure.Destination,
		}
	}
	labels := Labels(a)
	for _, resource := range a.Resources("AWS::Lambda::Function") {
		f, err := readFunction(a, resource, async[resource.Name], folder)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		f.Label = labels[f.Name]
		functions = append(functions, f)
	}
	return functions, problems
}

// Labels are what people call the functions of an assembly, by their names: what each is built of, or its name where
// that is not known, or the same for another function.
func Labels(a *assembly.Assembly) map[string]string {
	labels, times := map[string]string{}, map[string]int{}
	for _, resource := range a.Resources("AWS::Lambda::Function") {
		// [Read] tells of an error.
		if recipe, ok, err := gobuild.ReadRecipe(resource.Metadata); ok && err == nil {
			labels[resource.Name] = recipe.Name()
		} else {
			labels[resource.Name] = resource.Name
		}
		times[labels[resource.Name]]++
	}
	for name, label := range labels {
		if times[label] > 1 {
			labels[name] = name
		}
	}
	return labels
}

func readFunction(a *assembly.Assembly, resource *assembly.Resource, async Async, folder string) (Declared, error) {
	var p functionProperties
	if err := resource.Decode(&p); err != nil {
		return Declared{}, err
	}
	switch {
	case p.PackageType == "Image" || p.Code.ImageUri != "":
		return Declared{}, fmt.Errorf("%s: container images are not run locally: build a bootstrap binary", resource)
	case !strings.HasPrefix(p.Runtime, "provided"):
		return Declared{}, fmt.Errorf("%s: runtime %q: a local run starts bootstrap binaries (provided.al2023)",
			resource, p.Runtime)
	case p.Code.S3Key == "":
		return Declared{}, fmt.Errorf("%s: its code is not an asset of the assembly", resource)
	}
	asset, err := a.Asset(p.Code.S3Key)
	if err != nil {
		return Declared{}, fmt.Errorf("%s: %w", resource, err)
	}
	target := filepath.Join(folder, resource.Name)
	if err := os.MkdirAll(target, 0o700); err != nil {
		return Declared{}, fmt.Errorf("%s: %w", resource, err)
	}
	code, err := asset.Folder(target)
	if err != nil {
		return Declared{}, fmt.Errorf("%s: %w", resource, err)
	}
	role, err := policy.ForRole(a, p.Role)
	if err != nil {
		return Declared{}, fmt.Errorf("%s: %w", resource, err)
	}
	if !role.Trusts(policy.Lambda, map[string]string{policy.SourceAccount: resource.Stack.Account,
		policy.SourceARN: resource.ARN}) {
		return Declared{}, fmt.Errorf("%s: role %s does not let %s assume it: AWS would refuse to create the function",
			resource, role.Name, policy.Lambda)
	}
	if d := p.DeadLetterConfig.TargetArn; d != "" && !a.IsQueue(d) {
		return Declared{}, fmt.Errorf("%s: dead-letter target %s: only queues of the assembly are run locally",
			resource, d)
	}
	async.DeadLetter = p.DeadLetterConfig.TargetArn
	architecture := defaultArchitecture
	if len(p.Architectures) > 0 {
		architecture = p.Architectures[0]
	}
	read := Declared{
		Function: Function{
			Name: resource.Name, ARN: resource.ARN, Region: resource.Stack.Region, Code: code,
			Architecture: architecture, Handler: p.Handler, MemoryMB: p.MemorySize,
			Timeout: time.Duration(p.Timeout) * time.Second, ReservedConcurrency: p.ReservedConcurrentExecutions,
			Environment: maps.Clone(p.Environment.Variables), LogGroup: p.LoggingConfig.LogGroup, Async: async,
		},
		Role: role, Traced: p.TracingConfig.Mode == "Active",
	}
	recipe, ok, err := gobuild.ReadRecipe(resource.Metadata)
	if err != nil {
		return Declared{}, fmt.Errorf("%s: %w", resource, err)
	}
	if ok {
		read.recipe = &recipe
	}
	return read, nil
}
