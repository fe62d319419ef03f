package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/bucket"
	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/internal/handlersource"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Construct is a pointer to a struct that embeds [constructs.Construct] and [Platform], in
// that order.
type Construct interface {
	constructs.Construct
	parts() *Platform
}

//lint:ignore U1000 a struct that embeds Platform is a Construct by it
func (p *Platform) parts() *Platform { return p }

// Declaration is what a platform's props and its package add to the schema.
type Declaration struct {
	Props
	// UserProps are for a platform with routes of users.
	UserProps
	// LakeProps are for a platform with lakes.
	LakeProps
	// Model is the model that the functions with CallsModel call. Default: they find no model in their environment, and
	// may call none.
	Model model.Props
	// Module is the path of your own module with the main packages of the functions. Default: the module of this
	// library.
	Module string
	// Check adds a finding for each of the platform's further props that is invalid. region is the stack's, or "" while
	// it is not known. Default: there are no further ones.
	Check func(f *finding.List, region string)
	// UserPath is the path of the UserProps in findings. Default: "Props", for a platform that embeds them.
	UserPath string
	// Agents names the programs for which the platform's own user pool has clients. Required if callers of routes show
	// a token of a program, unless Props.JWTIssuer is set or OpenRoutes has all these routes.
	Agents []string
	// AgentScopes are the scopes that an agent's client may request, by the agent's name. They are scopes of the
	// schema's callers, without the platform's name. Default: each agent may request all.
	AgentScopes map[string][]string
	// Whole is the platform with the parts that its props leave out: the source of the functions names these, too.
	// Default: there are none.
	Whole schema.Platform
	// Accepted are findings of cdk-nag that the platform accepts beside those that every platform does
	// ([Platform.Accepted]). Default: none.
	Accepted []nag.Accepted
	// OpenRoutes are as in [httpapi.Props.OpenRoutes]. Default: none.
	OpenRoutes []string
	// Throttles limit the routes of a rate limit, by the limit's name, to less than Props.Throttle. Default: none.
	Throttles map[string]httpapi.Throttle
	// Environment has further environment variables of functions, by the function's name.
	// Default: none.
	Environment map[string]map[string]string
	// Secrets are existing secrets, by the name in the schema. Default: the construct makes them.
	Secrets map[string]awssecretsmanager.ISecret
	// ServerErrorAlarm is the construct id of the alarm on failed requests. Default:
	// "ServerErrorAlarm".
	ServerErrorAlarm string
}

// Validate returns a [finding.List] of all that is invalid in the props, or, if they are valid, in the platform with
// what they add to it. It returns nil if there is nothing. [Declare] does the same first, and also checks what depends
// on the stack's region.
func (d Declaration) Validate(described schema.Platform) error { return d.validate("", described) }

func (d Declaration) validate(region string, described schema.Platform) error {
	var f finding.List
	d.Props.Check(&f, "Props", region, described)
	d.UserProps.Check(&f, cmp.Or(d.UserPath, "Props"), d.JWTIssuer, described)
	d.LakeProps.Check(&f, "Props")
	d.Model.Check(&f, "Props.Model", region, described)
	d.checkStandby(&f, d.extended(described))
	if d.Check != nil {
		d.Check(&f, region)
	}
	if len(f) > 0 {
		return f
	}
	return d.extended(described).Join(d.Own.Own).Validate()
}

// compare returns a [finding.List] of what the functions' source names and the schema lacks. described is the platform
// with what the props add.
func (d Declaration) compare(described schema.Platform) error {
	whole := described
	if d.Whole.Name != "" {
		whole = d.extended(d.Whole).Join(d.Own.Own)
	}
	var sources []string
	for _, build := range []*gofunction.Build{d.Build, d.Own.Build} {
		for _, f := range described.Functions {
			if build == nil {
				continue
			}
			// A build without the function is another one's.
			binary, _ := build.Binary(build.NameOf(described.Name, f.Name))
			sources = append(sources, strings.Split(strings.TrimSpace(binary.Sources), "\n")...)
		}
	}
	slices.Sort(sources)
	sources = slices.DeleteFunc(slices.Compact(sources), func(name string) bool { return name == "" })
	var f finding.List
	if err := handlersource.Check(&f, whole, sources); err != nil {
		return err
	}
	return f.Err()
}

// Declare initialises a construct, of, with that id, declares below it all that the schema describes, and fills in its
// [Platform]. Below the construct, Declare uses the ids Database, API, Users, Agents, Lake, Dashboard and AlarmTopic,
// the ids that the schema names (for a further lake see [schema.Platform.LakeID]), and all that end with Alarm or
// AlarmTopic.
//
// Before it declares anything, it ends the program, by [props.Fatal], with the error of [Declaration.Validate], or of
// [gofunction.Build.Wait]. It also ends it if the functions' source names an attribute, a table or an access pattern
// that the schema lacks, or if the props change an alarm that does not exist.
//
// Alarms notify no one without one of Props.AlarmTopic, AlarmTopicARN and AlarmEmail; a synth warns of that. The
// description of each alarm has the address of the Runbook, which says under the alarm's id what to do. One alarm
// watches the throttles of ten functions; for more functions there is a Throttles2Alarm, and so on.
func Declare(of Construct, scope constructs.Construct, id string, described schema.Platform, d Declaration) {
	p := of.parts()
	if p == nil {
		props.Fatal(fmt.Errorf("%s %s: %T: got a nil *platform.Platform, allowed is a platform.Platform: embed the "+
			"struct itself", described.Name, id, of))
	}
	props.Accept(described.Name, scope, id, d.validate(props.Region(scope), described))
	name := described.Name + " " + id
	described = d.extended(described)
	d.Build = built(name, d.Build, Handlers(d.Module, described, d.Architecture))
	if len(d.Own.Functions) > 0 {
		d.Own.Build = built(name+": Props.Own", d.Own.Build, Handlers(d.Own.Module,
			schema.Platform{Name: described.Name, Functions: d.Own.Functions}, d.Architecture))
	}
	described = described.Join(d.Own.Own)
	props.Accept(described.Name, scope, id, d.compare(described))
	p.initialise(of, scope, id, described, d)
	for _, warning := range described.Warnings() {
		awscdk.Annotations_Of(of).AddWarningV2(jsii.String("@onesynth/platform:keyLength"),
			jsii.String(warning.String()))
	}
	p.addSecrets()
	p.addBuckets()
	p.addQueues()
	p.addEventBus()
	for _, f := range p.Schema.Functions {
		p.addFunction(f.ConstructID(), f)
	}
	p.addAPI()
	for _, f := range p.Schema.Functions {
		p.addTrigger(f)
	}
	p.addLakes()
	p.addMonitoring()
	p.addOutputs(scope, id)
}

// Handlers returns the source of a platform's functions, for [gofunction.Start]: main packages of the module. It
// includes the functions of lakes only if the module is this library's, which has them. [Declare] builds those of
// another module's lakes itself.
func Handlers(module string, described schema.Platform, architecture gofunction.Architecture) gofunction.Source {
	source := gofunction.Source{Architecture: architecture}
	for _, f := range described.Functions {
		source.Packages = append(source.Packages, "lambdas/"+described.Name+"/"+f.Name)
	}
	switch {
	case module != library:
		source.Module = module
	case len(described.Lakes) > 0:
		source.Packages = append(source.Packages, lake.Packages()...)
	}
	return source
}

// built waits for a build: for the given one, or, if that is nil, for a new one of the source. It ends the program, by
// [props.Fatal], if the functions do not build. of begins the message.
func built(of string, build *gofunction.Build, source gofunction.Source) *gofunction.Build {
	if build == nil {
		build = gofunction.Start(context.Background(), source)
	}
	if err := build.Wait(); err != nil {
		props.Fatal(fmt.Errorf("%s: %w", of, err))
	}
	return build
}

// initialise declares the construct and the tables below it, and says in the assembly which
// port a local run is to serve the platform on.
func (p *Platform) initialise(of Construct, scope constructs.Construct, id string, described schema.Platform,
	d Declaration) {
	*p = Platform{
		Location:    props.LocationBelow(scope, id),
		Schema:      described,
		Functions:   map[string]*gofunction.Function{},
		Secrets:     map[string]awssecretsmanager.ISecret{},
		Buckets:     map[string]*bucket.Bucket{},
		Streams:     map[string]*stream.Mapping{},
		Schedules:   map[string]*schedule.Schedule{},
		Queues:      map[string]*queue.Queue{},
		DeadLetters: map[string]awssqs.Queue{},
		Lakes:       map[string]*lake.Lake{},
		construct:   of,
		props:       d,
	}
	constructs.NewConstruct_Override(of, scope, &id)
	awscdk.Stack_Of(of).AddMetadata(jsii.String("onesynth"), map[string]any{"localPort": d.LocalPort})
	p.Database = table.NewDatabase(of, "Database", table.DatabaseProps{
		Database:           described.Database,
		Prefix:             d.Prefix,
		RemoveWithStack:    d.RemoveWithStack,
		DeletionProtection: d.DeletionProtection,
		Key:                d.Key,
		Options:            d.Tables,
	})
}

// issuers say whose tokens the API accepts, of programs and of users alike, or else of each. They
// declare a user pool for each of the two whose routes require tokens, if the props name no other
// issuer.
func (p *Platform) issuers() (jwt, ofUsers httpapi.JWT) {
	d := p.props
	if d.JWTIssuer != "" {
		return d.jwt(), httpapi.JWT{}
	}
	if p.closed(schema.TokenOfUser) {
		if d.UserPool != nil {
			ofUsers.Issuer = identity.Issuer(p.construct, d.UserPool)
			ofUsers.Audience = props.Map(d.UserPoolClients,
				func(client awscognito.IUserPoolClient) string { return *client.UserPoolClientId() })
		} else {
			p.addUsers()
			ofUsers = httpapi.JWT{Issuer: p.Users.Issuer, Audience: []string{p.Users.ClientID()}}
			if pages := p.Users.PageClientID(); pages != "" {
				ofUsers.Audience = append(ofUsers.Audience, pages)
			}
		}
	}
	if !p.closed(schema.TokenOfProgram) {
		return ofUsers, httpapi.JWT{}
	}
	p.Agents = identity.NewMachines(p.construct, "Agents", identity.MachinesProps{
		Name:               p.Schema.Name,
		Clients:            d.Agents,
		Scopes:             p.Schema.Scopes(),
		ClientScopes:       d.AgentScopes,
		RemoveWithStack:    d.RemoveWithStack,
		DeletionProtection: d.DeletionProtection,
	})
	return httpapi.JWT{Issuer: p.Agents.Issuer, Audience: p.Agents.ClientIDs()}, ofUsers
}

// closed reports whether one of the routes needs such a token.
func (p *Platform) closed(token schema.Token) bool { return p.props.closed(p.Schema, token) }

func (p *Platform) addUsers() {
	own := p.props.UserProps
	triggers := own.UserPoolTriggers
	if f, ok := p.Schema.SignUpHandler(); ok {
		triggers.PostConfirmation = p.Functions[f.Name].Resource
	}
	p.Users = identity.NewUsers(p.construct, "Users", identity.UsersProps{
		Name:               p.Schema.Name,
		InviteOnly:         own.InviteOnly,
		RequireMFA:         own.RequireMFA,
		CallbackURLs:       own.CallbackURLs,
		LogoutURLs:         own.LogoutURLs,
		Pages:              len(p.Schema.SignInPages()) > 0,
		Triggers:           triggers,
		Groups:             p.Schema.Groups(),
		Email:              own.Email,
		RemoveWithStack:    p.props.RemoveWithStack,
		DeletionProtection: p.props.DeletionProtection,
	})
}

// addSignIn lets pages sign people in, and tells their functions where.
func (p *Platform) addSignIn() {
	for _, f := range p.Schema.SignInPages() {
		page := p.API.URL() + f.SignsInAt
		p.Users.AddPage(page)
		p.Functions[f.Name].AddEnvironment(map[string]string{
			schema.SignInURLVariable: p.Users.SignInURL(), schema.SignInClientVariable: p.Users.PageClientID(),
			schema.SignInPageVariable: page,
		})
	}
}

// streamName is the name of a mapping among the platform's.
func streamName(f schema.Function, read schema.OnStream) string {
	if _, several := f.Trigger.(schema.OnStreams); several {
		return f.Name + "." + read.Table
	}
	return f.Name
}

// addTrigger declares what invokes the function, beside routes and sign-ups.
func (p *Platform) addTrigger(f schema.Function) {
	switch trigger := f.Trigger.(type) {
	case schema.OnStream, schema.OnStreams:
		_, failures, _ := f.Failures()
		queue := deadletter.NewQueue(p.construct, failures.ID, deadletter.Props{Key: p.props.Key})
		p.DeadLetters[f.Name] = queue
		for _, read := range f.Streams() {
			if after, ok := p.Schema.Function(read.After); ok {
				read.BatchWindow += p.timeout(after)
			}
			p.Streams[streamName(f, read)] = stream.New(p.construct, read.ID, stream.Props{
				Table: p.Database.Table(read.Table), Function: p.Functions[f.Name], OnFailure: queue, On: read,
				Off: p.props.Standby,
			})
		}
	case schema.OnSchedule:
		trigger = trigger.WithDefaults(f)
		p.Schedules[f.Name] = schedule.New(p.construct, trigger.ID, schedule.Props{
			Function: p.Functions[f.Name], On: trigger, Key: p.props.Key,
			Description: p.Schema.Title + ": runs the " + f.Name, Off: p.props.Standby,
		})
		p.DeadLetters[f.Name] = p.Schedules[f.Name].DeadLetters
	case schema.OnQueue:
		p.Queues[f.Name].Invoke(p.Functions[f.Name])
	case schema.OnObjects:
		trigger = trigger.WithDefaults(f)
		p.DeadLetters[f.Name] = bucket.NewTrigger(p.construct, trigger.ID, bucket.TriggerProps{
			Bucket: p.Buckets[trigger.Bucket], Prefix: trigger.Prefix, Function: p.Functions[f.Name], Key: p.props.Key,
			Description: p.Schema.Title + ": new objects for the " + f.Name,
		}).DeadLetters
	}
}

// failureQueue is a queue that is empty when all is well.
type failureQueue struct {
	// id begins the ids of its alarm and of its output; holds says what is in it.
	id, holds string
	queue     awssqs.Queue
}

// queues returns the failure queues of the triggers, in the order of the functions.
func (p *Platform) queues() []failureQueue {
	var all []failureQueue
	for _, f := range p.Schema.Functions {
		if _, failures, ok := f.Failures(); ok {
			all = append(all, failureQueue{id: failures.ID, holds: failures.Description, queue: p.DeadLetters[f.Name]})
		}
	}
	return all
}
