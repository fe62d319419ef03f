// Package platform declares a whole platform from its schema and its props, in one call:
// tables, functions with exactly the grants that they need, secrets, an HTTP API, an issuer of
// tokens, schedules, streams with queues of failures, a lake, alarms, a dashboard and
// outputs.
//
// A platform's own package has its [Props] and a struct with what only it has:
//
//	type Links struct {
//		constructs.Construct
//		platform.Platform
//	}
//
//	func New(scope constructs.Construct, id string, p Props) *Links {
//		l := &Links{}
//		platform.Declare(l, scope, id, Schema(), platform.Declaration{Module: "example.com/links", Props: p.Props})
//		return l
//	}
//
// A platform with props beside these checks them in [Declaration.Check].
package platform

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/bucket"
	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/outputs"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

// Platform is what [Declare] declared. A platform's struct embeds it, after
// [constructs.Construct].
type Platform struct {
	props.Location
	// Schema describes the platform.
	Schema schema.Platform
	// Database is its tables.
	Database *table.Database
	// Functions are its functions, by the name in the schema.
	Functions map[string]*gofunction.Function
	// Secrets are its secrets, by the name in the schema.
	Secrets map[string]awssecretsmanager.ISecret
	// Buckets are its buckets, by the name in the schema. A lake's bucket is not among them.
	Buckets map[string]*bucket.Bucket
	// API is its HTTP API. It is nil if the schema has no routes.
	API *httpapi.API
	// Users issues the tokens of people, and Agents the tokens of programs. They are nil if the
	// schema has no such callers, or if others issue the tokens.
	Users  *identity.Users
	Agents *identity.Machines
	// Events is the bus on which it publishes its domain events. It is nil unless Props.Events is set.
	Events *eventbus.Bus
	// Streams are by the name of the function that handles the changes; if it handles several tables, a dot and the
	// table's name follow. Schedules are by the name of the function that runs.
	Streams   map[string]*stream.Mapping
	Schedules map[string]*schedule.Schedule
	// Queues are the queues of the functions that handle messages, by the name of the function.
	Queues map[string]*queue.Queue
	// DeadLetters are the failure queues of the triggers, by the name of the function.
	DeadLetters map[string]awssqs.Queue
	// Lakes hold the changes of tables, by the name in the schema.
	Lakes map[string]*lake.Lake
	// Alarms watch the platform. With Props.NoAlarms the list is empty.
	Alarms []awscloudwatch.Alarm
	// Dashboard shows the platform. It is nil with Props.NoDashboard.
	Dashboard awscloudwatch.Dashboard
	// Outputs are its stack outputs, to which you can add.
	Outputs *outputs.Outputs

	construct constructs.Construct
	props     Declaration
	// declared are the functions in the order of their declaration.
	declared []function
	// topic is the topic of all alarms, or nil. alarmIDs has the ids of all alarms, including those
	// that are off. silent counts the alarms that notify no one.
	topic    awssns.ITopic
	alarmIDs []string
	silent   int
}

// addFunction declares a function of the schema. It may use the access patterns, secrets, objects
// and model that the schema names, and has their names and its variables in its environment.
func (p *Platform) addFunction(id string, declared schema.Function) {
	name := declared.Name
	environment := map[string]string{}
	if len(p.Schema.PatternsOf(declared.Name)) > 0 || name == schema.EventPublisher {
		environment = p.Database.Environment()
		if len(p.Schema.Extra) > 0 {
			environment[schema.ExtraVariable] = schema.EncodeExtra(p.Schema.Extra)
		}
	}
	for _, secret := range declared.Secrets {
		described, _ := p.Schema.Secret(secret)
		environment[described.Variable] = *p.Secrets[secret].SecretArn()
	}
	for _, b := range p.Schema.BucketsOf(declared) {
		environment[b.Variable] = *p.Buckets[b.Name].Resource.BucketName()
	}
	for _, q := range p.Schema.QueuesOf(declared) {
		environment[q.Trigger.(schema.OnQueue).Variable] = *p.Queues[q.Name].Resource.QueueUrl()
	}
	if declared.CallsModel {
		maps.Copy(environment, p.props.Model.Environment())
	}
	maps.Copy(environment, p.props.Environment[name])
	if p.props.MetricNamespace != "" {
		environment[schema.MetricNamespaceVariable] = p.props.MetricNamespace
	}
	build := p.props.Build
	if slices.ContainsFunc(p.props.Own.Functions, func(f schema.Function) bool { return f.Name == name }) {
		build = p.props.Own.Build
	}
	f := gofunction.New(p.construct, id, p.props.sizes().For(gofunction.Props{
		Build:       build,
		Name:        build.NameOf(p.Schema.Name, name),
		Description: p.Schema.Title + ": " + declared.Description,
		Environment: environment,
		Timeout:     declared.Timeout,
		Settings:    p.props.settings(),
	}))
	p.Database.Grant(f.Role, p.Schema.GrantsOf(declared.Name)...)
	for _, secret := range declared.Secrets {
		allowRead(f, p.Secrets[secret])
	}
	for _, o := range declared.Puts {
		p.Buckets[o.Bucket].AllowPut(f, o.Prefix)
	}
	for _, o := range declared.Gets {
		p.Buckets[o.Bucket].AllowGet(f, o.Prefix)
	}
	for _, to := range declared.Sends {
		p.Queues[to].AllowSend(f)
	}
	if declared.CallsModel {
		p.props.Model.Allow(f)
	}
	if p.Events != nil && name == schema.EventPublisher {
		p.Events.AllowPut(f)
	}
	p.addMetadata(f, declared)
	p.declared = append(p.declared, function{id: id, name: name, function: f})
	p.Functions[name] = f
}

// addMetadata writes which access patterns the schema grants the function into the template's metadata.
func (p *Platform) addMetadata(f *gofunction.Function, declared schema.Function) {
	var grants []string
	for _, g := range p.Schema.GrantsOf(declared.Name) {
		on := g.Table
		if g.Index != "" {
			on += "." + g.Index
		}
		grants = append(grants, string(g.Action)+" "+on)
	}
	role, ok := f.Role.Node().DefaultChild().(awsiam.CfnRole)
	if !ok || len(grants) == 0 {
		// The app brings its roles (Role_CustomizeRoles), and their policies.
		return
	}
	props.AddMetadata(f, map[string]any{"function": declared.Name, "role": props.LogicalID(f, role), "grants": grants})
}

// addSecrets declares the secrets of the schema, except for those that exist already. They
// outlive the stack unless RemoveWithStack is set.
func (p *Platform) addSecrets() {
	replicas := p.secretReplicas()
	for _, described := range p.Schema.Secrets {
		given := cmp.Or(p.props.Secrets[described.Name], p.props.Props.Secrets[described.Name])
		if given != nil {
			p.Secrets[described.Name] = given
			continue
		}
		generated := awssecretsmanager.SecretStringGenerator{PasswordLength: jsii.Number(64),
			ExcludePunctuation: jsii.Bool(true)}
		if described.Template != "" {
			generated = awssecretsmanager.SecretStringGenerator{SecretStringTemplate: &described.Template,
				GenerateStringKey: &described.Generated}
		}
		p.Secrets[described.Name] = awssecretsmanager.NewSecret(p.construct, &described.Name,
			&awssecretsmanager.SecretProps{
				Description:          &described.Description,
				RemovalPolicy:        props.RemovalPolicy(p.props.RemoveWithStack),
				EncryptionKey:        p.props.Key,
				GenerateSecretString: &generated,
				ReplicaRegions:       replicas,
			})
	}
}

// secretReplicas declares the keys of the replicas, and returns the regions that get a replica of each secret.
func (p *Platform) secretReplicas() *[]*awssecretsmanager.ReplicaRegion {
	var all []*awssecretsmanager.ReplicaRegion
	for _, region := range slices.Sorted(maps.Keys(p.props.SecretReplicas)) {
		replica := &awssecretsmanager.ReplicaRegion{Region: &region}
		if arn, id := p.props.SecretReplicas[region], "SecretKey-"+region; arn != "" {
			replica.EncryptionKey = awskms.Key_FromKeyArn(p.construct, &id, &arn)
		}
		all = append(all, replica)
	}
	return props.OptionalList(all)
}

// addBuckets declares the buckets of the schema. They outlive the stack unless
// RemoveWithStack is set.
func (p *Platform) addBuckets() {
	for _, described := range p.Schema.Buckets {
		p.Buckets[described.Name] = bucket.New(constructs.NewConstruct(p.construct, &described.Name), bucket.Props{
			RetentionDays:   described.RetentionDays,
			Retention:       described.Retention,
			LogPrefix:       "objects/",
			LogRetention:    p.props.LogRetention,
			RemoveWithStack: p.props.RemoveWithStack,
			Key:             p.props.Key,
		})
	}
}

// addQueues declares the queues of messages, before the functions that send to them, and their queues of
// failures.
func (p *Platform) addQueues() {
	for _, f := range p.Schema.Functions {
		trigger, ok := f.Trigger.(schema.OnQueue)
		if !ok {
			continue
		}
		trigger = trigger.WithDefaults(f)
		if after, ok := p.Schema.Function(trigger.After); ok {
			trigger.Delay += p.timeout(after)
		}
		p.DeadLetters[f.Name] = deadletter.NewQueue(p.construct, trigger.Failures.ID,
			deadletter.Props{Key: p.props.Key})
		p.Queues[f.Name] = queue.New(p.construct, trigger.ID, queue.Props{
			OnFailure: p.DeadLetters[f.Name],
			Timeout:   p.timeout(f),
			On:        trigger,
			Key:       p.props.Key,
		})
	}
}

// timeout is when an invocation of a function ends.
func (p *Platform) timeout(f schema.Function) time.Duration {
	return p.props.sizes().Timeout(f.Name, cmp.Or(f.Timeout, gofunction.DefaultTimeout))
}

// allowRead lets a function read a secret, with the key that encrypts it if that
// is a customer managed one, and no more: the CDK's own grant adds
// secretsmanager:DescribeSecret, which no request needs.
func allowRead(f *gofunction.Function, secret awssecretsmanager.ISecret) {
	f.Allow([]string{"secretsmanager:GetSecretValue"}, *secret.SecretArn())
	key.Allow(f, f.Role, secret.EncryptionKey(), "secretsmanager", key.Read)
}

// addAPI declares the HTTP API with the routes of the schema, if there are any.
func (p *Platform) addAPI() {
	if len(p.Schema.Routes) == 0 {
		return
	}
	jwt, userJWT := p.issuers()
	// Props.Own.Callers may have closed a route that the platform opens.
	open := slices.DeleteFunc(slices.Clone(p.props.OpenRoutes), func(key string) bool {
		_, closed := p.props.Own.Callers[key]
		return closed
	})
	p.API = httpapi.New(p.construct, "API", httpapi.Props{
		Name:           p.Schema.Title,
		Description:    p.Schema.Description,
		Routes:         p.Schema.Routes,
		Functions:      p.Functions,
		JWT:            jwt,
		UserJWT:        userJWT,
		Authorizers:    p.Schema.Authorizers(),
		OpenRoutes:     open,
		AllowedOrigins: p.props.AllowedOrigins,
		AllowedHeaders: p.Schema.RequestHeaders,
		ExposedHeaders: p.Schema.ResponseHeaders,
		Throttle:       p.props.Throttle,
		Throttles:      p.props.Throttles,
		RouteThrottles: p.props.RouteThrottles,
		Domain:         p.props.domain(),
		PublicURL:      p.props.PublicURL,
		LogRetention:   p.props.LogRetention,
		Key:            p.props.Key,
	})
	p.addDocument()
	p.addSignIn()
	for _, b := range p.Schema.Buckets {
		if b.Pages {
			p.Buckets[b.Name].AllowPages(p.pageOrigins()...)
		}
	}
}

// addDocument writes the API's OpenAPI document into the assembly, from where onesynth openapi reads it. The name of
// the file has the API's logical id. A function that serves the document derives the same bytes.
func (p *Platform) addDocument() {
	document, err := openapi.Document(p.Schema)
	if err != nil {
		props.Fatal(fmt.Errorf("%s: %w", *p.construct.Node().Path(), err))
	}
	api := p.API.Resource.Node().DefaultChild().(awsapigatewayv2.CfnApi)
	props.WriteFile(p.construct, "."+props.LogicalID(p.construct, api)+".openapi.json", document)
}

// pageOrigins are the origins of pages that may use the platform: its own API's, and those that may call it.
func (p *Platform) pageOrigins() []string {
	own := p.API.URL()
	if d := p.props.domain(); d.Name != "" {
		own = "https://" + d.Name
	}
	return append([]string{own}, p.props.AllowedOrigins...)
}

// addLakes declares the lakes of the schema. Their functions are built here, once, unless the
// platform's build has a writer and a compactor.
func (p *Platform) addLakes() {
	if len(p.Schema.Lakes) == 0 {
		return
	}
	build := p.lakeBuild()
	for _, described := range p.Schema.Lakes {
		p.Lakes[described.Name] = p.addLake(described, build)
	}
}

func (p *Platform) addLake(described schema.Lake, build *gofunction.Build) *lake.Lake {
	catalogName := strings.ReplaceAll(p.props.Prefix, "-", "_")
	id := p.Schema.LakeID(described.Name)
	if catalogName != "" && id != firstLake {
		catalogName += "_" + described.Name
	}
	return lake.New(p.construct, id, lake.Props{
		Table:           p.Database.Table(described.Table),
		Database:        p.Schema.Database,
		Lake:            described,
		Build:           build,
		CatalogName:     catalogName,
		Options:         p.props.LakeProps,
		MetricNamespace: p.props.MetricNamespace,
		RemoveWithStack: p.props.RemoveWithStack,
		Off:             p.props.Standby,
		Settings:        p.props.settings(),
		Sizes:           p.props.sizes(),
	})
}

// lakeBuild returns the platform's build if it has the lake's functions, and
// otherwise one of these for the same machine: a build is of one module, and the
// lake's functions are not in the module of a platform from elsewhere.
func (p *Platform) lakeBuild() *gofunction.Build {
	source := gofunction.Source{Architecture: p.props.Architecture}
	if build := p.props.Build; build != nil {
		var lacking finding.List
		lake.CheckBuild(&lacking, "Props.Build", build)
		if lacking.Err() == nil {
			return build
		}
		source = build.Source()
	}
	source.Module, source.Directory, source.Packages = "", "", lake.Packages()
	return gofunction.Start(context.Background(), source)
}

// addOutputs declares the outputs that callers and operators need. scope and id are those
// of the platform's declaration.
func (p *Platform) addOutputs(scope constructs.Construct, id string) {
	o := outputs.New(p.construct, scope, id)
	p.Outputs = o
	if p.API != nil {
		url := p.API.URL()
		o.Add("ApiUrl", "Address of the API", &url)
		if p.API.Domain != nil {
			o.Add("ApiDomainTarget", "Where the DNS record of the API's domain name has to point to",
				p.API.Domain.RegionalDomainName())
			o.Add("ApiDomainHostedZoneId", "Hosted zone of ApiDomainTarget, for an alias record",
				p.API.Domain.RegionalHostedZoneId())
		}
	}
	names := p.Database.Environment()
	for _, t := range p.Database.Tables {
		o.Add(t.Schema.Name+"TableName", "Physical name of the table "+t.Schema.Name,
			jsii.String(names[t.Schema.EnvironmentVariable()]))
	}
	for _, s := range p.Schema.Secrets {
		if len(p.props.SecretReplicas) > 0 {
			o.Add(s.Name+"Arn", "ARN of the secret "+s.Name+", whose replicas differ in the region",
				p.Secrets[s.Name].SecretArn())
		}
	}
	for _, b := range p.Schema.Buckets {
		o.Add(b.Name+"BucketName", "Bucket of "+b.Description, p.Buckets[b.Name].Resource.BucketName())
	}
	if p.Events != nil {
		o.Add("EventBusName", "Name of the bus of events", p.Events.Resource.EventBusName())
	}
	for _, q := range p.queues() {
		o.Add(strings.TrimSuffix(q.id, "s")+"QueueUrl", "Address of the queue of "+q.holds, q.queue.QueueUrl())
	}
	if f, ok := p.Schema.Seeder(); ok {
		o.Add(p.Schema.SeedOutput(), "Function that onesynth seed invokes, to load initial data",
			p.Functions[f.Name].Resource.FunctionName())
	}
	for _, l := range p.lakes() {
		o.Add(l.id+"BucketName", "Bucket of the lake"+l.name, l.Bucket.BucketName())
		o.Add(l.id+"DatabaseName", "Name of the lake"+l.name+"'s database in the AWS Glue catalog", l.Catalog.Ref())
		o.Add(l.id+"WorkGroupName", "Name of the Amazon Athena workgroup to query the lake"+l.name+" in",
			l.WorkGroup.Ref())
		o.Add(l.id+"FailureQueueUrl", "Address of the queue of records that cannot become rows"+l.of(),
			l.Failures.QueueUrl())
		o.Add(l.id+"DeadLetterQueueUrl", "Address of the queue of failed runs of the compactor"+l.of(),
			l.Schedule.DeadLetters.QueueUrl())
	}
	if u := p.Users; u != nil {
		o.Add("UserPoolId", "User pool in which people sign up", u.Resource.UserPoolId())
		o.Add("UserPoolClientId", "Client id for apps that sign people in", u.Client.UserPoolClientId())
		issuer := "TokenIssuer"
		if p.Agents != nil {
			issuer = "UserTokenIssuer"
		}
		o.Add(issuer, "Issuer of the users' tokens", &u.Issuer)
		if pages := u.SignInURL(); pages != "" {
			o.Add("SignInUrl", "Where the sign-in pages are", &pages)
		}
	}
	if a := p.Agents; a != nil {
		o.Add("TokenIssuer", "Issuer of the agents' tokens", &a.Issuer)
		o.Add("TokenEndpoint", "Where agents get tokens by the client credentials grant", &a.TokenEndpoint)
		o.Add("TokenScope", "Scope to ask for", &a.Scope)
		for i, client := range a.Clients {
			o.Add(fmt.Sprintf("Agent%dClientId", i+1), "Client id of an agent", client.UserPoolClientId())
		}
	}
}

// GrantAccessPatterns lets the grantee use the tables in exactly the ways that the named access patterns of the schema
// describe. It ends the program, by [props.Fatal], if the schema lacks a pattern.
func (p *Platform) GrantAccessPatterns(grantee awsiam.IGrantable, patterns ...string) {
	for _, name := range patterns {
		if _, ok := p.Schema.Database.AccessPattern(name); !ok {
			props.Fatal(fmt.Errorf(
				"%s has no access pattern %q: docs/reference/access-patterns lists those that it has",
				p.Schema.Name, name))
		}
	}
	p.Database.Grant(grantee, p.Schema.Grants(patterns...)...)
}

// MetricServerErrors counts the API's responses from 500 up: a sum over five
// minutes unless options say otherwise; options may be nil. It ends the program, by
// [props.Fatal], if the schema has no routes.
func (p *Platform) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	if p.API == nil {
		props.Fatal(fmt.Errorf("%s has no API: give its schema routes, or leave the metric out", p.Schema.Name))
	}
	return p.API.MetricServerErrors(options)
}
