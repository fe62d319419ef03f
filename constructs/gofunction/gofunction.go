// Package gofunction makes an AWS Lambda function of a Go main package.
//
// [Start] builds main packages with the Go toolchain that every user of the CDK
// for Go has: no container, no shell. [New] declares a function that runs one of
// the binaries.
package gofunction

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3assets"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// DefaultTimeout ends an invocation unless [Props.Timeout] says otherwise.
const DefaultTimeout = 10 * time.Second

// Limits and defaults ("Lambda quotas", AWS Lambda developer guide).
const (
	minimumMemory  = 128
	maximumMemory  = 10240
	defaultMemory  = 256
	maximumTimeout = 15 * time.Minute
	// longestRequest is how long an HTTP API waits for a function, in seconds ("Quotas for
	// configuring and running an HTTP API in API Gateway").
	longestRequest = 30
	// shortestRequest leaves time for an attempt at DynamoDB that is ended after 2 seconds,
	// and for the answer (lambdas/kit).
	shortestRequest = 3

	longestDescription = 256
	// largestEnvironment is of all names and values together, in bytes.
	largestEnvironment = 4096
)

var (
	// variableName and reservedVariable are what AWS Lambda takes, and what it keeps
	// for itself ("CreateFunction", AWS Lambda API reference: Environment; "Working with
	// Lambda environment variables": reserved ones).
	variableName     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)
	reservedVariable = regexp.MustCompile(
		`^(AWS_(ACCESS_KEY|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|REGION|DEFAULT_REGION|EXECUTION_ENV)|` +
			`AWS_LAMBDA_(FUNCTION_NAME|FUNCTION_MEMORY_SIZE|FUNCTION_VERSION|INITIALIZATION_TYPE|LOG_GROUP_NAME|LOG_STREAM_NAME|RUNTIME_API)|LAMBDA_(TASK_ROOT|RUNTIME_DIR))$`)
)

// loopbackVariables begin the names of the variables by which a local run tells functions of its own endpoints:
// LoopbackVariable of lambdas/kit/webhook, InboxVariable of lambdas/askahuman/page.
const loopbackVariables = "ONESYNTH_LOOPBACK_"

// Props describe a function. Package, or Build with Name, is required.
type Props struct {
	// Package is the folder of the main package of the caller's own module, relative to the working directory, such as
	// "handlers/hello". [New] builds it on the spot; to build several at once, use Build.
	Package string
	// Architecture is the processor for Package. Default: [ARM64]. With Build it
	// is the build's.
	Architecture Architecture
	// Build is a build begun with [Start]. Default: Package is built.
	Build *Build
	// Name says which of the build's binaries the function runs: the last element of its package, or more of the last
	// elements where several packages have that one, such as "todo/eventpublisher".
	Name string

	// Description is shown in the AWS console. Default: none.
	Description string
	// Environment has the function's environment variables, 4 KB in all, except LOG_LEVEL and the names that AWS Lambda
	// reserves. Default: none.
	Environment map[string]string
	// MemoryMegabytes is the memory in MB, 128 to 10240; processor time grows with
	// it. Default: 256.
	MemoryMegabytes int `min:"128" max:"10240" default:"256"`
	// Timeout ends an invocation that takes longer: 1 second to 15 minutes, in
	// whole seconds. Default: 10 seconds.
	Timeout time.Duration `min:"1s" max:"15m" step:"1s" default:"10 seconds"`
	Settings
	// ReservedConcurrency limits how many invocations run at once, and reserves as many for this function. Default: 0,
	// no limit and no reserve.
	ReservedConcurrency int `min:"1" max:"2147483647" default:"no limit"`
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	switch {
	case p.Build == nil && p.Package == "":
		f.Add("Props.Package", p.Package, "the folder of a main package",
			"name the handler's folder, or set Build and Name")
	case p.Build != nil && p.Package != "":
		f.Add("Props.Package", p.Package, "empty with Build", "set Name to the package's last element instead")
	case p.Build != nil && p.Name == "":
		f.Add("Props.Name", p.Name, "the last element of a package of the build", "set it to the handler's name")
	}
	if base := filepath.Base(p.Package); p.Package != "" && (base == "." || base == "..") {
		f.Add("Props.Package", p.Package, "a folder with a name",
			"move the handler into a folder of its own, such as handlers/hello")
	}
	p.Architecture.Check(&f, "Props.Architecture")
	if p.Build != nil && p.Name != "" {
		p.Build.Check(&f, "Props.Build", p.Architecture, p.Name)
	}
	if len(p.Description) > longestDescription {
		f.Add("Props.Description", p.Description, "up to 256 bytes", "shorten it")
	}
	checkEnvironment(&f, "Props.Environment", p.Environment)
	p.Settings.Check(&f, "Props", "Props.Network", "")
	f.Limits("Props", p)
	return f.Err()
}

func checkEnvironment(f *finding.List, path string, variables map[string]string) {
	size := 0
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		size += len(name) + len(variables[name])
		one := fmt.Sprintf("%s[%q]", path, name)
		switch {
		case name == logLevelVariable:
			f.Add(one, variables[name], "no "+name, "set LogLevel instead")
		case strings.HasPrefix(name, loopbackVariables):
			f.Add(one, variables[name], "a variable that only a local run sets",
				"leave it out: with it, the function would trust addresses of its own machine")
		case reservedVariable.MatchString(name):
			f.Add(one, name, "a name that AWS Lambda does not keep for itself", "rename it")
		case !variableName.MatchString(name):
			f.Add(one, name, "a letter, then letters, digits and underscores", "rename it")
		}
	}
	if size > largestEnvironment {
		f.Add(path, fmt.Sprintf("%d bytes", size), "4096 bytes of names and values",
			"put what is large into a parameter or a secret, and pass its name")
	}
}

// Sizes has the sizes of several functions by name, the last element of a function's package.
type Sizes struct {
	// MemoryMegabytes and ReservedConcurrency are as in [Props]. TimeoutSeconds is Props.Timeout in
	// seconds, except that 0 is not allowed. Default: each function's own.
	MemoryMegabytes, ReservedConcurrency, TimeoutSeconds map[string]int
}

// For returns the props with the sizes of the function p.Name, by its last element. A size that is not set keeps the
// value of the props.
func (s Sizes) For(p Props) Props {
	name := path.Base(p.Name)
	p.Timeout = s.Timeout(name, p.Timeout)
	p.MemoryMegabytes = cmp.Or(s.MemoryMegabytes[name], p.MemoryMegabytes)
	p.ReservedConcurrency = cmp.Or(s.ReservedConcurrency[name], p.ReservedConcurrency)
	return p
}

// Timeout returns the time-out of the function of that name, or the default.
func (s Sizes) Timeout(name string, otherwise time.Duration) time.Duration {
	if seconds, ok := s.TimeoutSeconds[name]; ok {
		return time.Duration(seconds) * time.Second
	}
	return otherwise
}

// Of returns the sizes of the functions of those names.
func (s Sizes) Of(names ...string) Sizes {
	other := func(name string, _ int) bool { return !slices.Contains(names, name) }
	chosen := Sizes{MemoryMegabytes: maps.Clone(s.MemoryMegabytes),
		ReservedConcurrency: maps.Clone(s.ReservedConcurrency), TimeoutSeconds: maps.Clone(s.TimeoutSeconds)}
	for _, sizes := range []map[string]int{chosen.MemoryMegabytes, chosen.ReservedConcurrency, chosen.TimeoutSeconds} {
		maps.DeleteFunc(sizes, other)
	}
	return chosen
}

// Check adds a finding for each size that AWS Lambda does not allow, and for each function that is not among the names.
// Their paths begin with path. The functions of an API, ofAPI, have 3 to 30 seconds.
func (s Sizes) Check(f *finding.List, path string, names, ofAPI []string) {
	check := func(field string, sizes map[string]int, least, most int) {
		for _, name := range slices.Sorted(maps.Keys(sizes)) {
			one, size := fmt.Sprintf("%s.%s[%q]", path, field, name), sizes[name]
			if !slices.Contains(names, name) {
				f.Add(one, name, "one of "+strings.Join(names, ", "), "name a function of the platform")
			}
			ofAPI := field == "TimeoutSeconds" && slices.Contains(ofAPI, name)
			switch {
			case size == 0:
				f.Add(one, 0, "1 or more", "leave it out for the default: 0 would neither stop a function nor limit it")
			case ofAPI && (size < shortestRequest || size > longestRequest):
				f.Add(one, size, "3 to 30 for a function of the API", "leave it out for the default: sooner, a slow "+
					"attempt at DynamoDB leaves no time for the answer; later, Amazon API Gateway has answered 503")
			case size < least || size > most:
				f.Add(one, size, fmt.Sprintf("%d to %d", least, most), "leave it out for the default")
			}
		}
	}
	check("MemoryMegabytes", s.MemoryMegabytes, minimumMemory, maximumMemory)
	check("ReservedConcurrency", s.ReservedConcurrency, 1, props.LargestNumber)
	check("TimeoutSeconds", s.TimeoutSeconds, 1, int(maximumTimeout.Seconds()))
}

// logLevelVariable is where handlers find the level.
const logLevelVariable = "LOG_LEVEL"

// Check adds a finding at path if the function is nil, or [New] did not declare it.
func (f *Function) Check(found *finding.List, path string) {
	if f == nil || f.Resource == nil {
		found.Add(path, nil, "a function", "pass a function of package gofunction")
	}
}

// Function is an AWS Lambda function with its own role and log group.
type Function struct {
	constructs.Construct
	props.Location
	// Resource is the function.
	Resource awslambda.Function
	// Role is the function's role. It may write to its own log group, and do nothing else until you grant it more.
	Role awsiam.Role
	// LogGroup receives the function's logs; it is removed with the function.
	LogGroup awslogs.LogGroup
}

// New declares a function. It ends the program, by [props.Fatal], with the error
// of [Props.Validate] or of [Build.Binary] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Function {
	location := props.Accept("gofunction", scope, id, p.Validate())
	build, name := p.Build, p.Name
	if build == nil {
		source, base := ownModule(p.Package, p.Architecture)
		build, name = Start(context.Background(), source), base
	}
	binary, err := build.Binary(name)
	if err != nil {
		props.Fatal(fmt.Errorf("gofunction %s: %w", id, err))
	}

	build.prune(scope)
	f := &Function{Location: location}
	constructs.NewConstruct_Override(f, scope, &id)
	f.LogGroup = awslogs.NewLogGroup(f, jsii.String("Logs"), &awslogs.LogGroupProps{
		Retention:     p.LogRetention.Days(),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		EncryptionKey: p.Key,
	})
	key.AllowLogs(f, p.Key)
	// The construct makes the role itself: the CDK's has an AWS managed policy that
	// allows writing to every log group.
	f.Role = awsiam.NewRole(f, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	f.Allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, *f.LogGroup.LogGroupArn())
	// AWS Lambda gives the role this permission by a grant, which does not outlive the role.
	key.Allow(f, f.Role, p.Key, "lambda", key.Read)

	f.Resource = awslambda.NewFunction(f, jsii.String("Resource"), f.described(p, binary))
	metadata, recipe := build.recipe(binary).Metadata()
	f.Resource.Node().DefaultChild().(awslambda.CfnFunction).AddMetadata(&metadata, recipe)
	return f
}

// described is the function for the CDK.
func (f *Function) described(p Props, binary Binary) *awslambda.FunctionProps {
	description := &awslambda.FunctionProps{
		Code: awslambda.Code_FromAsset(&binary.Directory, &awss3assets.AssetOptions{
			AssetHash:     &binary.Hash,
			AssetHashType: awscdk.AssetHashType_CUSTOM,
		}),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Handler:       jsii.String("bootstrap"),
		MemorySize:    jsii.Number(cmp.Or(p.MemoryMegabytes, defaultMemory)),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(cmp.Or(p.Timeout, DefaultTimeout).Seconds())),
		Role:          f.Role,
		LogGroup:      f.LogGroup,
		LoggingFormat: awslambda.LoggingFormat_JSON,
		RecursiveLoop: awslambda.RecursiveLoop_TERMINATE,

		Description:                  props.Optional(p.Description),
		EnvironmentEncryption:        p.Key,
		ReservedConcurrentExecutions: props.Optional(float64(p.ReservedConcurrency)),
	}
	f.attach(description, p.Network)
	if binary.Architecture == X86_64 {
		description.Architecture = awslambda.Architecture_X86_64()
	} else {
		description.Architecture = awslambda.Architecture_ARM_64()
	}
	if p.Tracing {
		description.Tracing = awslambda.Tracing_ACTIVE
	}
	level := cmp.Or(p.LogLevel, "info")
	// AWS Lambda takes a line without a level, such as one of metrics, for INFO
	// ("Log-level filtering"): its own filter must not drop these.
	description.ApplicationLogLevelV2 = awslambda.ApplicationLogLevel_INFO
	// Lambda's reports of successful invocations have INFO there, others WARN.
	description.SystemLogLevelV2 = awslambda.SystemLogLevel_WARN
	if level == "debug" {
		description.ApplicationLogLevelV2 = awslambda.ApplicationLogLevel_DEBUG
		description.SystemLogLevelV2 = awslambda.SystemLogLevel_INFO
	}
	environment := map[string]*string{logLevelVariable: &level}
	for k, v := range p.Environment {
		environment[k] = &v
	}
	description.Environment = &environment
	return description
}

// Allow lets the function's role do the actions, such as
// "secretsmanager:GetSecretValue", on exactly the resources.
func (f *Function) Allow(actions []string, resourceARNs ...string) {
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      f.Role,
		Actions:      jsii.Strings(slices.Sorted(slices.Values(actions))...),
		ResourceArns: jsii.Strings(resourceARNs...),
	})
}

// AddEnvironment sets environment variables.
func (f *Function) AddEnvironment(variables map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		f.Resource.AddEnvironment(jsii.String(name), jsii.String(variables[name]), nil)
	}
}

// GrantInvoke lets the grantee invoke the function, but not its versions and aliases, which the CDK's own grant covers
// with a wildcard.
func (f *Function) GrantInvoke(grantee awsiam.IGrantable) awsiam.Grant {
	return awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      grantee,
		Actions:      jsii.Strings("lambda:InvokeFunction"),
		ResourceArns: jsii.Strings(*f.Resource.FunctionArn()),
	})
}

// MetricReported is a metric that the function reports itself, over five minutes. dimension is its one dimension, whose
// value is the function's name.
func (f *Function) MetricReported(namespace, dimension, name, statistic string) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &name, Statistic: &statistic,
		DimensionsMap: &map[string]*string{dimension: f.Resource.FunctionName()},
	})
}

// MetricErrors counts failed invocations: a sum over five minutes unless options
// say otherwise; options may be nil.
func (f *Function) MetricErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return f.Resource.MetricErrors(options)
}

// MetricThrottles counts invocations that AWS Lambda refused because concurrency was used up: a sum over five minutes
// unless options say otherwise; options may be nil.
func (f *Function) MetricThrottles(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return f.Resource.MetricThrottles(options)
}

// MetricDuration is the time that invocations took, in milliseconds: an average
// over five minutes unless options say otherwise; options may be nil.
func (f *Function) MetricDuration(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return f.Resource.MetricDuration(options)
}
