// Package platform declares the parts that every platform has: the tables of its data
// model, functions with the grants of the model, an API with its routes, secrets,
// alarms and outputs. The package of a platform adds the parts that only it has.
//
// It is for platforms of other modules, too: theirs embed [Props], [Handlers] are
// built from their module, and the rest is the same. Below the platform's construct
// the ids Database, API, Lake, Dashboard and AlarmTopic are taken, and those that end
// with Alarm or AlarmTopic.
package platform

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/outputs"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Handlers are the functions of a platform as [gofunction.Start] builds them, with
// those of other packages of the module that it needs. They are in the module of
// this library: for a platform of your own, set the Module of what it returns, and
// leave out the packages of a lake, which [Platform.Lake] then builds.
func Handlers(described schema.Platform, architecture gofunction.Architecture, others ...string) gofunction.Source {
	source := gofunction.Source{Architecture: architecture}
	for _, f := range described.Functions {
		source.Packages = append(source.Packages, "lambdas/"+described.Name+"/"+f.Name)
	}
	source.Packages = append(source.Packages, others...)
	return source
}

// Ready checks the props before anything is declared. It ends the program, by
// [props.Refuse], if check finds props that are wrong in the region of the scope,
// or if the functions do not build. It returns their build: the given one, or
// without it that of the source.
func Ready(scope constructs.Construct, name, id string, check func(region string) error, build *gofunction.Build, source gofunction.Source) *gofunction.Build {
	props.Accept(name, scope, id, check(props.Region(scope)))
	if build == nil {
		build = gofunction.Start(context.Background(), source)
	}
	if err := build.Wait(); err != nil {
		props.Refuse(fmt.Errorf("%s %s: %w", name, id, err))
	}
	return build
}

// Platform declares a platform's parts, as the schema describes them.
type Platform struct {
	// Schema describes the platform.
	Schema schema.Platform
	// Database is its tables.
	Database *table.Database

	construct constructs.Construct
	props     Props
	functions []function
	alarms    []awscloudwatch.Alarm
	// topic is the one of all alarms, or nil. alarmIDs are those of all alarms, also of
	// such as are off, and silent is how many alarms notify no one.
	topic    awssns.ITopic
	alarmIDs []string
	silent   int
}

// New declares the tables below the platform's construct, and says in the
// assembly which port a local run is to serve the platform on. It ends the
// program, by [props.Refuse], with the error of [schema.Platform.Validate] before
// it declares anything.
func New(construct constructs.Construct, described schema.Platform, p Props) *Platform {
	if err := described.Validate(); err != nil {
		props.Refuse(fmt.Errorf("%s: %w", described.Name, err))
	}
	awscdk.Stack_Of(construct).AddMetadata(jsii.String("onesynth"), map[string]any{"localPort": p.LocalPort})
	return &Platform{
		Schema: described,
		Database: table.NewDatabase(construct, "Database", table.DatabaseProps{
			Database:           described.Database,
			Prefix:             p.Prefix,
			RemoveWithStack:    p.RemoveWithStack,
			DeletionProtection: p.DeletionProtection,
			Key:                p.Key,
			Options:            p.Tables,
		}),
		construct: construct,
		props:     p,
	}
}

// Function declares the function of that name in the schema. It may use the access
// patterns that the schema grants it, and has the names of the tables and the
// given variables in its environment. Timeout 0 is the default of
// [gofunction.Props].
func (p *Platform) Function(id, name string, timeout time.Duration, variables map[string]string) *gofunction.Function {
	declared, ok := p.Schema.Function(name)
	if !ok {
		props.Refuse(fmt.Errorf("%s has no function %q: declare it in the Functions of the schema", p.Schema.Name, name))
	}
	environment := p.Database.Environment()
	maps.Copy(environment, variables)
	if p.props.MetricNamespace != "" {
		environment[schema.MetricNamespaceVariable] = p.props.MetricNamespace
	}
	f := gofunction.New(p.construct, id, gofunction.Props{
		Build:               p.props.Build,
		Name:                name,
		Description:         p.Schema.Title + ": " + declared.Description,
		Environment:         environment,
		Timeout:             p.props.sizes().Timeout(name, timeout),
		MemoryMegabytes:     p.props.MemoryMegabytes[name],
		ReservedConcurrency: p.props.ReservedConcurrency[name],
		LogLevel:            p.props.LogLevel,
		LogRetention:        p.props.LogRetention,
		Tracing:             p.props.Tracing,
		Key:                 p.props.Key,
		Network:             p.props.network(),
	})
	p.Database.Grant(f.Role, p.Schema.Grants(declared)...)
	p.tell(f, declared)
	p.functions = append(p.functions, function{id: id, name: name, function: f})
	return f
}

// tell writes which access patterns the schema grants the function into the template's metadata.
func (p *Platform) tell(f *gofunction.Function, declared schema.Function) {
	var grants []string
	for _, g := range p.Schema.Grants(declared) {
		on := g.Table
		if g.Index != "" {
			on += "." + g.Index
		}
		grants = append(grants, string(g.Operation)+" "+on)
	}
	role, ok := f.Role.Node().DefaultChild().(awsiam.CfnRole)
	if !ok || len(grants) == 0 {
		// The app brings its roles (Role_CustomizeRoles), and their policies.
		return
	}
	props.Tell(f, map[string]any{"function": declared.Name, "role": *awscdk.Stack_Of(f).GetLogicalId(role), "grants": grants})
}

// Secret declares a secret whose text is generated, and that outlives the stack
// unless RemoveWithStack is set.
func (p *Platform) Secret(id, description string, generated awssecretsmanager.SecretStringGenerator) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(p.construct, &id, &awssecretsmanager.SecretProps{
		Description:          &description,
		RemovalPolicy:        props.RemovalPolicy(p.props.RemoveWithStack),
		EncryptionKey:        p.props.Key,
		GenerateSecretString: &generated,
	})
}

// RandomSecret declares a secret that is 64 random letters and digits.
func (p *Platform) RandomSecret(id, description string) awssecretsmanager.Secret {
	return p.Secret(id, description, awssecretsmanager.SecretStringGenerator{
		PasswordLength:     jsii.Number(64),
		ExcludePunctuation: jsii.Bool(true),
	})
}

// AllowRead lets a function read a secret, with the key that encrypts it if that
// is a customer managed one, and no more: the CDK's own grant adds
// secretsmanager:DescribeSecret, which no request needs.
func AllowRead(f *gofunction.Function, secret awssecretsmanager.ISecret) {
	f.Allow([]string{"secretsmanager:GetSecretValue"}, *secret.SecretArn())
	key.Allow(f, f.Role, secret.EncryptionKey(), "secretsmanager", key.Read)
}

// API declares the HTTP API with the routes of the schema. Name, Routes,
// AllowedOrigins, Throttle, RouteThrottles, Domain, LogRetention and Key of the
// given props are filled in, and JWT where it has no issuer.
func (p *Platform) API(own httpapi.Props) *httpapi.API {
	if own.JWT.Issuer == "" {
		own.JWT = p.props.jwt()
	}
	own.Name = p.Schema.Title
	own.Routes = p.Schema.Routes
	own.AllowedOrigins = p.props.AllowedOrigins
	own.Throttle = p.props.Throttle
	own.RouteThrottles = p.props.RouteThrottles
	own.Domain = p.props.domain()
	own.LogRetention = p.props.LogRetention
	own.Key = p.props.Key
	return httpapi.New(p.construct, "API", own)
}

// Lake declares the lake of the schema. Its functions are built here, unless the
// platform's build has a writer and a compactor.
func (p *Platform) Lake(chosen LakeProps) *lake.Lake {
	own := lake.Props{
		BatchWindow: chosen.LakeBatchWindow, CompactEvery: chosen.CompactEvery, FirstDay: chosen.LakeFirstDay,
		RetentionDays: chosen.LakeRetentionDays, QueryLimitBytes: chosen.QueryLimitBytes,
	}
	own.Table = p.Database.Table(p.Schema.Lake.Table)
	own.Database = p.Schema.Database
	own.Lake = p.Schema.Lake
	own.Build = p.lakeBuild()
	own.CatalogName = strings.ReplaceAll(p.props.Prefix, "-", "_")
	own.RemoveWithStack = p.props.RemoveWithStack
	own.Key = p.props.Key
	own.LogLevel = p.props.LogLevel
	own.LogRetention = p.props.LogRetention
	own.Tracing = p.props.Tracing
	own.Network = p.props.network()
	own.Sizes = p.props.sizes()
	own.MetricNamespace = p.props.MetricNamespace
	return lake.New(p.construct, "Lake", own)
}

// lakeBuild returns the platform's build if it has the lake's functions, and
// otherwise one of these for the same machine: a build is of one module, and the
// lake's functions are not in the module of a platform from elsewhere.
func (p *Platform) lakeBuild() *gofunction.Build {
	source := gofunction.Source{Architecture: p.props.Architecture}
	if build := p.props.Build; build != nil {
		var lacking props.Findings
		build.Check(&lacking, "Props.Build", "", schema.LakeWriter, schema.LakeCompactor)
		if lacking.Err() == nil {
			return build
		}
		source = build.Source()
	}
	source.Module, source.Directory, source.Packages = "", "", lake.Packages()
	return gofunction.Start(context.Background(), source)
}

// Outputs declares the outputs that every platform has, the API's address and the
// tables' names, and returns a value to add the platform's own to. scope and id are
// those of the platform's declaration. With a domain name one more output has the
// target of its DNS record. api is nil without an API.
func (p *Platform) Outputs(scope constructs.Construct, id string, api *httpapi.API) *outputs.Outputs {
	o := outputs.New(p.construct, scope, id)
	if api != nil {
		url := api.URL()
		o.Add("ApiUrl", "Address of the API", &url)
	}
	if api != nil && api.Domain != nil {
		o.Add("ApiDomainTarget", "Where the DNS record of the API's domain name has to point to", api.Domain.RegionalDomainName())
		o.Add("ApiDomainHostedZoneId", "Hosted zone of ApiDomainTarget, for an alias record", api.Domain.RegionalHostedZoneId())
	}
	for _, t := range p.Database.Tables {
		o.Add(t.Schema.Name+"TableName", "Physical name of the table "+t.Schema.Name, t.Resource.TableName())
	}
	return o
}

// GrantAccessPatterns lets the grantee use the tables in exactly the ways that
// the named access patterns of the schema describe. It ends the program, by
// [props.Refuse], if there is no pattern of a name.
func (p *Platform) GrantAccessPatterns(grantee awsiam.IGrantable, patterns ...string) {
	for _, name := range patterns {
		if _, ok := p.Schema.Database.AccessPattern(name); !ok {
			props.Refuse(fmt.Errorf("%s has no access pattern %q: docs/ACCESS-PATTERNS.md lists those that it has", p.Schema.Name, name))
		}
	}
	p.Database.Grant(grantee, p.Schema.Grants(schema.Function{AccessPatterns: patterns})...)
}
