package console

// What the map draws, read from the assembly: what invokes what, and what roles allow.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// plan is a map without figures.
type plan struct {
	assembly *assembly.Assembly
	parts    []Part
	// at has the places of parts by their ids.
	at     map[string]int
	arrows []*plannedArrow
}

// plannedArrow is an arrow with the ways whose counts are its own.
type plannedArrow struct {
	Arrow
	ways []trace.Way
}

func (a *plannedArrow) count(way trace.Way) {
	if !slices.Contains(a.ways, way) {
		a.ways = append(a.ways, way)
	}
}

// readPlan reads the plan of an assembly with its lakes.
func readPlan(a *assembly.Assembly, lakes []catalog.Lake) (*plan, error) {
	p := &plan{assembly: a, at: map[string]int{}}
	labels := lambda.Labels(a)
	for _, one := range []struct {
		kind  PartKind
		types []string
	}{
		{SchedulePart, []string{"AWS::Scheduler::Schedule"}},
		{UserPoolPart, []string{"AWS::Cognito::UserPool"}},
		{FunctionPart, []string{"AWS::Lambda::Function"}},
		{TablePart, []string{"AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table"}},
		{QueuePart, []string{"AWS::SQS::Queue"}},
		{BucketPart, []string{"AWS::S3::Bucket"}},
	} {
		for _, resource := range a.Resources(one.types...) {
			part := Part{ID: resource.ARN, Kind: one.kind, Name: resource.Name, Stack: resource.Stack.Name}
			if one.kind == FunctionPart {
				part.Label = labels[resource.Name]
			}
			p.add(part)
		}
	}
	for _, read := range []func() error{p.readRoutes, p.readSchedules, p.readUserPools, p.readMappings, p.readFailures,
		p.readRules, p.readRoles} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("the map of the assembly: %w", err)
		}
	}
	p.addLakes(lakes)
	p.leaveOut()
	return p, nil
}

// add adds a part, if it is not there.
func (p *plan) add(part Part) {
	if _, ok := p.at[part.ID]; !ok {
		p.at[part.ID] = len(p.parts)
		p.parts = append(p.parts, part)
	}
}

// arrow returns the arrow from a part to another, which it adds if it is not there. It leads nowhere if one of the
// parts is not in the assembly.
func (p *plan) arrow(from, to string, carries Carries) *plannedArrow {
	_, begins := p.at[from]
	_, ends := p.at[to]
	if !begins || !ends {
		return &plannedArrow{}
	}
	for _, known := range p.arrows {
		if known.From == from && known.To == to {
			return known
		}
	}
	made := &plannedArrow{Arrow: Arrow{From: from, To: to, Carries: carries}}
	p.arrows = append(p.arrows, made)
	return made
}

// invokes adds the arrow from a part to the function that it invokes, for requests of a kind and cause.
func (p *plan) invokes(from, function string, kind trace.Kind, cause string) *plannedArrow {
	resource := p.assembly.Function(function)
	if resource == nil {
		return &plannedArrow{}
	}
	arrow := p.arrow(from, resource.ARN, CarriesInvocations)
	arrow.Search = cause
	arrow.count(trace.Way{Kind: kind, From: cause, To: resource.Name})
	return arrow
}

// fails adds the arrow from a part to the queue of what failed there, if it has one.
func (p *plan) fails(from, queue string) { p.arrow(from, queue, CarriesMessages).DeadLetter = true }

// readRoutes reads APIs: all routes of one to the same function are a part.
func (p *plan) readRoutes() error {
	for _, resource := range p.assembly.APIs() {
		api, err := apigateway.Read(p.assembly, resource, nil)
		if err != nil {
			return err
		}
		for _, route := range api.Routes {
			function := p.assembly.Function(route.Function)
			id := resource.Stack.Name + "/" + resource.LogicalID + " to " + function.Name
			p.add(Part{ID: id, Kind: RoutesPart, Name: api.Name, Stack: resource.Stack.Name})
			part := &p.parts[p.at[id]]
			part.Routes = append(part.Routes, MappedRoute{Key: route.Key})
			invoked := []*assembly.Resource{function}
			if by, ok := route.Authorizer.(*apigateway.FunctionAuthorizer); ok {
				invoked = append(invoked, p.assembly.Function(by.Function))
			}
			for _, function := range invoked {
				arrow := p.arrow(id, function.ARN, CarriesRequests)
				arrow.Search = p.parts[p.at[function.ARN]].Label
				arrow.count(trace.Way{Kind: trace.HTTP, Stack: resource.Stack.Name, API: api.Name, From: route.Key,
					To: function.Name})
			}
		}
	}
	for i := range p.parts {
		slices.SortFunc(p.parts[i].Routes, func(a, b MappedRoute) int { return compareRoutes(a.Key, b.Key) })
	}
	return nil
}

// compareRoutes puts routes of one path together.
func compareRoutes(a, b string) int {
	method, path, _ := strings.Cut(a, " ")
	otherMethod, otherPath, _ := strings.Cut(b, " ")
	return slices.Compare([]string{path, method}, []string{otherPath, otherMethod})
}

func (p *plan) readSchedules() error {
	for _, resource := range p.assembly.Resources("AWS::Scheduler::Schedule") {
		var declared struct {
			Target struct {
				Arn              string
				DeadLetterConfig struct{ Arn string }
			}
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		p.invokes(resource.ARN, declared.Target.Arn, trace.Schedule, resource.Name)
		p.fails(resource.ARN, declared.Target.DeadLetterConfig.Arn)
	}
	return nil
}

func (p *plan) readUserPools() error {
	for _, resource := range p.assembly.Resources("AWS::Cognito::UserPool") {
		var declared struct {
			LambdaConfig struct{ PostConfirmation string }
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		p.invokes(resource.ARN, declared.LambdaConfig.PostConfirmation, trace.SignUp, resource.Ref)
	}
	return nil
}

// readMappings reads which functions get the records of streams, and the messages of queues.
func (p *plan) readMappings() error {
	for _, resource := range p.assembly.Resources("AWS::Lambda::EventSourceMapping") {
		var declared struct {
			EventSourceArn, FunctionName string
			Enabled                      *bool
			DestinationConfig            struct{ OnFailure struct{ Destination string } }
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		source, _, isStream := strings.Cut(declared.EventSourceArn, "/stream/")
		at, known := p.at[source]
		if !known || declared.Enabled != nil && !*declared.Enabled {
			continue
		}
		from, kind := p.parts[at], trace.Queue
		if isStream {
			kind = trace.Stream
			p.add(Part{ID: declared.EventSourceArn, Kind: StreamPart, Name: from.Name, Stack: from.Stack})
			p.arrow(source, declared.EventSourceArn, CarriesRecords)
		}
		// AWS Lambda sends what failed as the role of the function.
		p.fails(p.invokes(declared.EventSourceArn, declared.FunctionName, kind, from.Name).To,
			declared.DestinationConfig.OnFailure.Destination)
	}
	return nil
}

// readFailures reads where what failed goes: events of functions, and messages of queues.
func (p *plan) readFailures() error {
	for _, resource := range p.assembly.Resources("AWS::Lambda::Function", "AWS::Lambda::EventInvokeConfig",
		"AWS::SQS::Queue") {
		var declared struct {
			FunctionName      string
			DeadLetterConfig  struct{ TargetArn string }
			DestinationConfig struct{ OnFailure struct{ Destination string } }
			RedrivePolicy     struct {
				DeadLetterTargetArn string `json:"deadLetterTargetArn"`
			}
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		from := resource.ARN
		if resource.Type == "AWS::Lambda::EventInvokeConfig" {
			if function := p.assembly.Function(declared.FunctionName); function != nil {
				from = function.ARN
			}
		}
		for _, queue := range []string{declared.DeadLetterConfig.TargetArn,
			declared.DestinationConfig.OnFailure.Destination, declared.RedrivePolicy.DeadLetterTargetArn} {
			p.fails(from, queue)
		}
	}
	return nil
}

// readRules reads buses, which buckets send to them, and what their rules choose for whom. A rule that fires by time is
// a schedule.
func (p *plan) readRules() error {
	rules, err := events.Read(p.assembly)
	if err != nil {
		return err
	}
	buckets := map[string][]string{} // names, by the ARN of the bus
	for _, resource := range p.assembly.Resources("AWS::S3::Bucket") {
		var declared struct {
			NotificationConfiguration struct{ EventBridgeConfiguration map[string]any }
		}
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		if on := declared.NotificationConfiguration.EventBridgeConfiguration; on != nil &&
			on["EventBridgeEnabled"] != false {
			bus := fmt.Sprintf("arn:aws:events:%s:%s:event-bus/default", resource.Stack.Region, resource.Stack.Account)
			buckets[bus] = append(buckets[bus], resource.Name)
		}
	}
	for _, bus := range rules.Buses() {
		part := Part{ID: bus.ARN, Kind: BusPart, Name: bus.Name}
		if declared := p.assembly.ByARN(bus.ARN); declared != nil {
			part.Stack = declared.Stack.Name
		}
		p.add(part)
		for _, bucket := range buckets[bus.ARN] {
			p.arrow("arn:aws:s3:::"+bucket, bus.ARN, CarriesEvents)
		}
		for _, rule := range bus.Rules {
			for _, target := range rule.Targets {
				p.addTarget(bus, rule, target, buckets[bus.ARN])
			}
		}
	}
	return nil
}

func (p *plan) addTarget(bus events.Bus, rule events.Rule, target events.Target, buckets []string) {
	if rule.Expression != "" {
		p.add(Part{ID: rule.ARN, Kind: SchedulePart, Name: rule.Name, Stack: p.assembly.ByARN(rule.ARN).Stack.Name})
		p.reach(rule.ARN, target, trace.Schedule, rule.Name)
		p.fails(rule.ARN, target.DeadLetter)
	}
	if rule.Pattern == nil {
		return
	}
	arrow := p.reach(bus.ARN, target, trace.Bus, bus.Name)
	arrow.Rules = append(arrow.Rules, rule.Name)
	for _, bucket := range buckets {
		if target.Kind == "function" {
			arrow.count(trace.Way{Kind: trace.Objects, From: bucket, To: target.Name})
		}
	}
	p.fails(bus.ARN, target.DeadLetter)
}

// reach adds the arrow to the target of a rule.
func (p *plan) reach(from string, target events.Target, kind trace.Kind, cause string) *plannedArrow {
	if target.Kind == "function" {
		return p.invokes(from, target.ARN, kind, cause)
	}
	return p.arrow(from, target.ARN, CarriesMessages)
}

// accesses are what functions do with parts, by the actions that they need for it.
var accesses = []struct {
	to      PartKind
	does    string
	actions []string
}{
	{TablePart, "reads", []string{"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan",
		"dynamodb:ConditionCheckItem"}},
	{TablePart, "writes", []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
		"dynamodb:BatchWriteItem"}},
	{BucketPart, "reads", []string{"s3:GetObject", "s3:ListBucket"}},
	{BucketPart, "writes", []string{"s3:PutObject", "s3:DeleteObject"}},
	{QueuePart, "sends", []string{"sqs:SendMessage"}},
	{BusPart, "sends", []string{"events:PutEvents"}},
}

// readRoles reads what the roles of functions allow.
func (p *plan) readRoles() error {
	for _, resource := range p.assembly.Resources("AWS::Lambda::Function") {
		var declared struct{ Role string }
		if err := resource.Decode(&declared); err != nil {
			return err
		}
		role, err := policy.ForRole(p.assembly, declared.Role)
		if err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
		grants := role.Grants()
		for _, part := range p.parts {
			for _, access := range accesses {
				if access.to != part.Kind || !slices.ContainsFunc(grants, func(g policy.Grant) bool {
					return permits(role, g, access.actions, part.ID)
				}) {
					continue
				}
				arrow := p.arrow(resource.ARN, part.ID, CarriesCalls)
				arrow.Carries, arrow.Search = CarriesCalls, p.parts[p.at[resource.ARN]].Label
				arrow.Access = append(arrow.Access, access.does)
				arrow.count(trace.Way{From: resource.Name, To: part.ID})
			}
		}
	}
	return nil
}

// permits reports whether a grant of the role lets it do one of the actions on the resource or a part of it, such as an
// index or an object, in some request: conditions may be met.
func permits(role *policy.Role, g policy.Grant, actions []string, resource string) bool {
	if strings.HasPrefix(g.Resource, resource+"/") {
		resource = g.Resource
	}
	return g.Effect == "Allow" && slices.ContainsFunc(actions, func(action string) bool {
		if !g.Matches(action, resource) {
			return false
		}
		decision := role.Decide(policy.Request{Action: action, Resource: resource})
		return decision == policy.Allowed || decision == policy.NotAllowed
	})
}

// addLakes adds lakes, with the buckets of their tables.
func (p *plan) addLakes(lakes []catalog.Lake) {
	for _, lake := range lakes {
		part := Part{ID: lake.Stack + "/" + lake.Database, Kind: LakePart, Name: lake.Database, Stack: lake.Stack}
		p.add(part)
		for _, table := range lake.Tables {
			bucket, _, _ := strings.Cut(strings.TrimPrefix(table.Location, "s3://"), "/")
			p.arrow("arn:aws:s3:::"+bucket, part.ID, CarriesObjects)
		}
	}
}

// leaveOut leaves out buses that each account has, and user pools without a trigger, if they have no arrow.
func (p *plan) leaveOut() {
	p.parts = slices.DeleteFunc(p.parts, func(part Part) bool {
		return (part.Kind == BusPart && part.Stack == "" || part.Kind == UserPoolPart) &&
			!slices.ContainsFunc(p.arrows, func(a *plannedArrow) bool { return a.From == part.ID || a.To == part.ID })
	})
	for i, part := range p.parts {
		p.at[part.ID] = i
	}
}
