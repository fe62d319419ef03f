package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/internal/pattern"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
)

// service is the name that resource-based policies know Amazon EventBridge by.
const service = "events.amazonaws.com"

// Rules are the buses of an assembly, and the rules that fire here. They do not change.
type Rules struct {
	buses []bus
	rules []*rule
	// Idle is how many rules fire nothing here: they are disabled, wait for events of other services than Amazon S3, or
	// have only targets that a run does not have. Elsewhere is how many such targets others have.
	Idle, Elsewhere int
}

type rule struct {
	name, arn string
	bus       bus
	// pattern is as the template has it; nil for a rule that no event fires. expression is that of a rule that fires by
	// time, which is off if disabled.
	pattern    json.RawMessage
	expression string
	disabled   bool
	filter     pattern.Filter
	targets    []*target
}

// target is a function or a queue.
type target struct {
	rule *rule
	id   string
	arn  string
	// function is the name of the function; empty for a queue.
	function string
	name     string
	input    input
	retries  int
	age      time.Duration
	// deadLetter is the ARN of the queue of events that were not delivered; empty: there is none.
	deadLetter string
}

// The retry policy of a target that names none ("How EventBridge retries delivering events").
const (
	defaultRetries = 185
	defaultAge     = 24 * time.Hour
)

// properties are those of AWS::Events::Rule that a local run reads.
type properties struct {
	EventBusName, State string
	ScheduleExpression  string
	EventPattern        map[string]any
	Targets             []declaredTarget
}

type declaredTarget struct {
	Id, Arn          string
	Input, InputPath string
	InputTransformer *struct {
		InputPathsMap map[string]string
		InputTemplate string
	}
	RetryPolicy struct {
		MaximumRetryAttempts     *int
		MaximumEventAgeInSeconds int
	}
	DeadLetterConfig struct{ Arn string }
}

// Read reads the buses and rules of an assembly. Its error names a rule that AWS would not create, or one whose
// target does not let the rule in.
func Read(a *assembly.Assembly) (*Rules, error) {
	read := &Rules{}
	for _, stack := range a.Stacks {
		read.add(bus{stack.Account, stack.Region, defaultBus})
	}
	for _, resource := range a.Resources("AWS::Events::EventBus") {
		read.add(busOf("", "", resource.ARN))
	}
	var problems []error
	for _, resource := range a.Resources("AWS::Events::Rule") {
		if err := read.addRule(a, resource); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", resource, err))
		}
	}
	return read, errors.Join(problems...)
}

func (r *Rules) add(b bus) {
	if !r.has(b) {
		r.buses = append(r.buses, b)
	}
}

func (r *Rules) has(b bus) bool { return slices.Contains(r.buses, b) }

// matching returns the targets of the rules of the bus that let an event through.
func (r *Rules) matching(b bus, event []byte) (targets []*target) {
	for _, one := range r.rules {
		if one.bus != b || one.pattern == nil {
			continue
		}
		if passes, err := one.filter.Passes(event); err == nil && passes {
			targets = append(targets, one.targets...)
		}
	}
	return targets
}

func (r *Rules) addRule(a *assembly.Assembly, resource *assembly.Resource) error {
	var declared properties
	if err := resource.Decode(&declared); err != nil {
		return err
	}
	here := func(t declaredTarget) bool { return a.Function(t.Arn) != nil || a.IsQueue(t.Arn) }
	if !declared.fires() && declared.ScheduleExpression == "" || !slices.ContainsFunc(declared.Targets, here) {
		r.Idle++
		return nil
	}
	read := &rule{name: resource.Name, arn: resource.ARN, expression: declared.ScheduleExpression,
		disabled: declared.State == "DISABLED",
		bus:      busOf(resource.Stack.Account, resource.Stack.Region, declared.EventBusName)}
	if read.expression != "" && read.bus.name != defaultBus {
		return fmt.Errorf("got ScheduleExpression on bus %s: EventBridge takes it on the default bus alone",
			read.bus.name)
	}
	if read.expression != "" {
		if _, err := cron.ParseRule(read.expression, time.Time{}); err != nil {
			return fmt.Errorf("ScheduleExpression: %w", err)
		}
	}
	if declared.fires() {
		var err error
		read.pattern = encode(declared.EventPattern)
		if read.filter, err = pattern.New(string(read.pattern)); err != nil {
			return err
		}
	}
	for _, one := range declared.Targets {
		if !here(one) {
			r.Elsewhere++
			continue
		}
		t, err := readTarget(a, read, one)
		if err != nil {
			return fmt.Errorf("target %s: %w", one.Id, err)
		}
		read.targets = append(read.targets, t)
	}
	// A bus that only a rule names exists elsewhere.
	r.add(read.bus)
	r.rules = append(r.rules, read)
	return nil
}

// fires reports whether events of this machine may match: those that functions put on a bus, and those of buckets.
func (p properties) fires() bool {
	sources, named := p.EventPattern["source"].([]any)
	fromElsewhere := named && !slices.ContainsFunc(sources, func(source any) bool {
		text, ok := source.(string)
		return !ok || text == sourceOfObjects || !strings.HasPrefix(text, "aws.")
	})
	return len(p.EventPattern) > 0 && p.State != "DISABLED" && !fromElsewhere
}

func readTarget(a *assembly.Assembly, of *rule, declared declaredTarget) (*target, error) {
	t := &target{rule: of, id: declared.Id, arn: declared.Arn, retries: defaultRetries, age: defaultAge,
		deadLetter: declared.DeadLetterConfig.Arn}
	if most := declared.RetryPolicy.MaximumRetryAttempts; most != nil {
		t.retries = *most
	}
	if seconds := declared.RetryPolicy.MaximumEventAgeInSeconds; seconds > 0 {
		t.age = time.Duration(seconds) * time.Second
	}
	var err error
	if t.input, err = readInput(declared); err != nil {
		return nil, err
	}
	if function := a.Function(declared.Arn); function != nil {
		t.function, t.name = function.Name, function.Name
		if !policy.MayInvoke(a, service, declared.Arn, of.arn) {
			return nil, fmt.Errorf("no AWS::Lambda::Permission lets %s invoke %s from %s: AWS would deliver no event",
				service, function.Name, of.arn)
		}
	} else {
		queue := a.ByARN(declared.Arn)
		t.name = queue.Name
		if err := maySend(a, queue, of.arn); err != nil {
			return nil, err
		}
	}
	if t.deadLetter == "" {
		return t, nil
	}
	if !a.IsQueue(t.deadLetter) {
		return nil, fmt.Errorf("dead-letter queue %s is not in the assembly", t.deadLetter)
	}
	return t, maySend(a, a.ByARN(t.deadLetter), of.arn)
}

func maySend(a *assembly.Assembly, queue *assembly.Resource, rule string) error {
	may, err := policy.MaySend(a, service, queue, rule)
	if err == nil && !may {
		err = fmt.Errorf("no AWS::SQS::QueuePolicy lets %s send to %s from %s: AWS would deliver no event", service,
			queue.Name, rule)
	}
	return err
}
