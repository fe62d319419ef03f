// Package eventbus declares a bus of Amazon EventBridge, and rules that hand its events to functions and queues. An
// event that its target did not take ends in a queue of failures.
package eventbus

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/internal/pattern"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	// maxPattern is how many characters a pattern may have ("Amazon EventBridge quotas", event pattern size).
	maxPattern = 2048
	// maxNamePart is how much of a bus's name the stack's name may have, and how much the rest: it has 256 characters
	// ("AWS::Events::EventBus").
	maxNamePart = 127
)

// Props describe a bus. The zero value is valid.
type Props struct {
	// Description is shown in the AWS console. Default: none.
	Description string
	// Key is a customer managed key of AWS KMS that encrypts the rules' queues of failures. The bus itself keeps events
	// only until their delivery, with a key of AWS. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Bus is a bus of events.
type Bus struct {
	constructs.Construct
	// Resource is the bus.
	Resource awsevents.EventBus

	key awskms.IKey
}

// New declares a bus. Its physical name is the stack's name and its logical id, so that an app can be deployed under
// several names of its stack.
func New(scope constructs.Construct, id string, p Props) *Bus {
	b := &Bus{key: p.Key}
	constructs.NewConstruct_Override(b, scope, &id)
	b.Resource = awsevents.NewEventBus(b, jsii.String("Resource"),
		&awsevents.EventBusProps{Description: props.Optional(p.Description)})
	bus := b.Resource.Node().DefaultChild().(awsevents.CfnEventBus)
	id = props.LogicalID(b, bus)
	bus.SetName(jsii.String(*awscdk.Stack_Of(b).StackName() + "-" + id[max(0, len(id)-maxNamePart):]))
	return b
}

// AllowPut lets a function put events on the bus, and sets [schema.EventBusVariable] in its environment.
func (b *Bus) AllowPut(f *gofunction.Function) {
	f.Allow([]string{"events:PutEvents"}, *b.Resource.EventBusArn())
	f.AddEnvironment(map[string]string{schema.EventBusVariable: *b.Resource.EventBusName()})
}

// Target is what receives events: a function or a queue.
type Target struct {
	// Function gets each event as an event of Amazon EventBridge. An event that it fails to handle three times, or that
	// could not be handed over within a day, goes to the queue of failures.
	Function *gofunction.Function
	// Queue gets each event as a message. It is a standard queue, and no key of AWS KMS that AWS manages encrypts it.
	Queue awssqs.IQueue
	// Detail is a pattern of the event's detail that narrows what the target gets, such as
	// {"priority": []any{"high"}} ("Creating Amazon EventBridge event patterns"). With source and name, the pattern has
	// up to 2,048 characters. Default: each event of the name.
	Detail map[string]any
	// ID is the construct id of the rule. A second target of an event needs its own. Default: "On" and the name of the
	// event.
	ID string
}

// Check adds a finding for each part of the target that is invalid, but for Detail and ID, which [Bus.On] checks. Their
// paths begin with path.
func (t Target) Check(f *finding.List, path string) {
	if (t.Function == nil) == props.IsNil(t.Queue) {
		f.Add(path, "neither, or both, of Function and Queue", "one of them", "say what gets the event")
	}
	if t.Function != nil {
		t.Function.Check(f, path+".Function")
	}
	if !props.IsNil(t.Queue) {
		checkQueue(f, path+".Queue", t.Queue)
	}
}

// checkQueue adds a finding for a queue to which a rule cannot send: a FIFO queue needs a message group of each message
// ("Amazon SQS queue targets"), and the policy of a key that AWS manages lets no service in ("Encrypted queues", Amazon
// EventBridge permissions).
func checkQueue(f *finding.List, path string, queue awssqs.IQueue) {
	if fifo := queue.Fifo(); fifo != nil && *fifo {
		f.Add(path, "a FIFO queue", "a standard queue", "a bus keeps no order: pass a standard queue, or a function "+
			"that sends to this one with a message group")
	}
	if queue.EncryptionType() == awssqs.QueueEncryption_KMS_MANAGED {
		f.Add(path, "a queue under alias/aws/sqs", "one with a key of Amazon SQS or of your own",
			"set its Encryption to QueueEncryption_SQS_MANAGED, or its EncryptionMasterKey")
	}
}

// checkPattern adds a finding for a pattern that Amazon EventBridge does not take.
func checkPattern(f *finding.List, path string, of map[string]any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(of)
	if err == nil {
		_, err = pattern.New(text.String())
	}
	if err != nil {
		f.Add(path, err.Error(), "a pattern of events", `write it as in {"priority": []any{"high"}}`)
	} else if n := utf8.RuneCount(bytes.TrimSpace(text.Bytes())); n > maxPattern {
		f.Add(path, fmt.Sprintf("%d characters, with source and detail-type", n), fmt.Sprintf("up to %d", maxPattern),
			"name fewer values, or declare a rule for some of them")
	}
}

// On declares a rule that hands the events of that source and name to a target. The target's Function or Queue lets
// only this rule in. It ends the program, by [props.Fatal], if the target is invalid.
func (b *Bus) On(scope constructs.Construct, source, event string, to Target) *Rule {
	var f finding.List
	to.Check(&f, "Target")
	events := map[string]any{"source": []any{source}, "detail-type": []any{event}}
	if len(to.Detail) > 0 {
		events["detail"] = to.Detail
	}
	checkPattern(&f, "Target.Detail", events)
	id := cmp.Or(to.ID, "On"+event)
	if !props.IsNil(scope) && scope.Node().TryFindChild(&id) != nil {
		f.Add("Target.ID", id, "one that no other construct of the platform has",
			"set it, such as "+strconv.Quote(id+"Again")+": the default is of the event's first target")
	}
	if err := f.Err(); err != nil {
		props.Fatal(fmt.Errorf("%s: %w", event, err))
	}
	r := NewRule(scope, id, RuleProps{Bus: b, Pattern: events, Function: to.Function, Queue: to.Queue, Key: b.key})
	if to.Function == nil {
		return r
	}
	// The failures of a function end in the queue of the first rule that it has.
	if id := jsii.String("Events"); to.Function.Node().TryFindChild(id) == nil {
		r.KeepFailures(constructs.NewConstruct(to.Function, id), to.Function)
	}
	return r
}
