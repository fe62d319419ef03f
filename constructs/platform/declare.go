package platform

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
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
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/schema"
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
	// Model is what the functions with CallsModel call. Default: they find no model in their environment, and may call
	// none.
	Model model.Props
	// Module is the path of your own module with the main packages of the functions.
	// [Declare] then checks the props and builds the functions. Default: the platform's
	// construct does, by [Ready].
	Module string
	// Agents names the programs for which the platform's own user pool has clients. Required if callers of routes show
	// a token of a program, unless Props.JWTIssuer is set or OpenRoutes has all these routes.
	Agents []string
	// AgentScopes are the scopes that an agent's client may request, by the agent's name. They are scopes of the
	// schema's callers, without the platform's name. Default: each agent may request all.
	AgentScopes map[string][]string
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

// Declare initialises the construct of under that id, declares below it all that the schema describes, and fills in its
// [Platform]. Call [Ready] first, which checks the props, or set Declaration.Module. Below the construct, Declare uses
// the ids Database, API, Users, Agents, Lake, Dashboard and AlarmTopic, the ids that the schema names (for a further
// lake see [schema.Platform.LakeID]), and all that end with Alarm or AlarmTopic.
//
// Before it declares anything, it ends the program, by [props.Refuse], with the error of [schema.Platform.Validate]. It
// also does so if the props change an alarm that does not exist.
//
// Alarms notify no one without one of Props.AlarmTopic, AlarmTopicARN and AlarmEmail; a synth warns of that. The
// description of each alarm has the address of the Runbook, which says under the alarm's id what to do. One alarm
// watches the throttles of ten functions; for more functions there is a Throttles2Alarm, and so on.
func Declare(of Construct, scope constructs.Construct, id string, described schema.Platform, d Declaration) {
	p := of.parts()
	if p == nil {
		props.Refuse(fmt.Errorf("%s %s: %T: got a nil *platform.Platform, allowed is a platform.Platform: embed the "+
			"struct itself", described.Name, id, of))
	}
	described = d.Publishing(described).Extended(d.Extra...)
	joined := described.Join(d.Own.Own)
	if err := joined.Validate(); err != nil {
		props.Refuse(fmt.Errorf("%s: %w", described.Name, err))
	}
	if d.Module != "" {
		d.Build = Ready(scope, described.Name, id, func(region string) error {
			return d.check(region, described)
		}, d.Build, Handlers(d.Module, described, d.Architecture))
	}
	own := d.Own.build(described.Name, id, d.Architecture)
	described = joined
	p.begin(of, scope, id, described, d.Props)
	p.model, p.own = d.Model, own
	p.addSecrets(d.Secrets)
	p.addBuckets()
	p.addQueues()
	p.addEventBus()
	for _, f := range described.Functions {
		p.addFunction(f.ConstructID(), f, d.Environment[f.Name])
	}
	p.addAPI(d)
	for _, f := range described.Functions {
		p.addTrigger(f)
	}
	p.addLakes(d.LakeProps)
	p.operate(d.ServerErrorAlarm)
	p.addOutputs(scope, id)
}

// check returns a [finding.List] with all props of every platform that are invalid, or nil.
func (d Declaration) check(region string, described schema.Platform) error {
	var f finding.List
	d.Props.Check(&f, "Props", region, described)
	d.UserProps.Check(&f, "Props", d.JWTIssuer, described)
	d.LakeProps.Check(&f, "Props")
	d.Model.Check(&f, "Props.Model", region, described)
	return f.Err()
}

// begin declares the construct and the tables below it, and says in the assembly which
// port a local run is to serve the platform on.
func (p *Platform) begin(of Construct, scope constructs.Construct, id string, described schema.Platform, own Props) {
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
		props:       own,
	}
	constructs.NewConstruct_Override(of, scope, &id)
	awscdk.Stack_Of(of).AddMetadata(jsii.String("onesynth"), map[string]any{"localPort": own.LocalPort})
	p.Database = table.NewDatabase(of, "Database", table.DatabaseProps{
		Database:           described.Database,
		Prefix:             own.Prefix,
		RemoveWithStack:    own.RemoveWithStack,
		DeletionProtection: own.DeletionProtection,
		Key:                own.Key,
		Options:            own.Tables,
	})
}

// issuers say whose tokens the API accepts, of programs and of users alike, or else of each. They
// declare a user pool for each of the two whose routes require tokens, if the props name no other
// issuer.
func (p *Platform) issuers(d Declaration) (jwt, ofUsers httpapi.JWT) {
	if p.props.JWTIssuer != "" {
		return p.props.jwt(), httpapi.JWT{}
	}
	if p.closed(schema.TokenOfUser, d.OpenRoutes) {
		if d.UserPool != nil {
			ofUsers.Issuer = identity.Issuer(p.construct, d.UserPool)
			for _, client := range d.UserPoolClients {
				ofUsers.Audience = append(ofUsers.Audience, *client.UserPoolClientId())
			}
		} else {
			p.addUsers(d.UserProps)
			ofUsers = httpapi.JWT{Issuer: p.Users.Issuer, Audience: []string{p.Users.ClientID()}}
			if pages := p.Users.PageClientID(); pages != "" {
				ofUsers.Audience = append(ofUsers.Audience, pages)
			}
		}
	}
	if !p.closed(schema.TokenOfProgram, d.OpenRoutes) {
		return ofUsers, httpapi.JWT{}
	}
	p.Agents = identity.NewMachines(p.construct, "Agents", identity.MachinesProps{
		Name:               p.Schema.Name,
		Clients:            d.Agents,
		Scopes:             p.Schema.Scopes(),
		ClientScopes:       d.AgentScopes,
		RemoveWithStack:    p.props.RemoveWithStack,
		DeletionProtection: p.props.DeletionProtection,
	})
	return httpapi.JWT{Issuer: p.Agents.Issuer, Audience: p.Agents.ClientIDs()}, ofUsers
}

// closed reports whether one of the routes needs such a token.
func (p *Platform) closed(token schema.Token, open []string) bool {
	return slices.ContainsFunc(p.Schema.Routes, func(r schema.Route) bool {
		return r.Caller.Token == token && !slices.Contains(open, r.Key())
	})
}

func (p *Platform) addUsers(own UserProps) {
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
