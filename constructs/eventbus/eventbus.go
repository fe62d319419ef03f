// Package eventbus declares a bus of Amazon EventBridge, and rules that hand its events to functions and queues. An
// event that its target did not take ends in a queue of failures.
package eventbus

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// maxPattern is how long a pattern may be ("Amazon EventBridge quotas").
const maxPattern = 4096

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

// New declares a bus.
func New(scope constructs.Construct, id string, p Props) *Bus {
	b := &Bus{key: p.Key}
	constructs.NewConstruct_Override(b, scope, &id)
	b.Resource = awsevents.NewEventBus(b, jsii.String("Resource"),
		&awsevents.EventBusProps{Description: props.Optional(p.Description)})
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
	// Queue gets each event as a message.
	Queue awssqs.IQueue
	// Detail is a pattern of the event's detail that narrows what the target gets, such as
	// {"priority": []any{"high"}} ("Creating Amazon EventBridge event patterns"). Default: each event of the name.
	Detail map[string]any
	// ID is the construct id of the rule. A second target of an event needs its own. Default: "On" and the name of the
	// event.
	ID string
}

// Check adds a finding for each part of the target that is invalid. Their paths begin with path.
func (t Target) Check(f *finding.List, path string) {
	if (t.Function == nil) == props.IsNil(t.Queue) {
		f.Add(path, "neither, or both, of Function and Queue", "one of them", "say what gets the event")
	}
	if t.Function != nil {
		t.Function.Check(f, path+".Function")
	}
	if text, err := json.Marshal(t.Detail); err != nil || len(text) > maxPattern {
		f.Add(path+".Detail", fmt.Sprint(t.Detail), fmt.Sprintf("a pattern of up to %d bytes of JSON", maxPattern),
			`write it as in {"priority": []any{"high"}}`)
	}
}

// On declares a rule that hands the events of that source and name to a target. The target's Function or Queue lets
// only this rule in. It ends the program, by [props.Fatal], if the target is invalid.
func (b *Bus) On(scope constructs.Construct, source, event string, to Target) *Rule {
	var f finding.List
	to.Check(&f, "Target")
	if err := f.Err(); err != nil {
		props.Fatal(fmt.Errorf("%s: %w", event, err))
	}
	pattern := map[string]any{"source": []any{source}, "detail-type": []any{event}}
	if len(to.Detail) > 0 {
		pattern["detail"] = to.Detail
	}
	r := NewRule(scope, cmp.Or(to.ID, "On"+event), RuleProps{Bus: b, Pattern: pattern, Function: to.Function,
		Queue: to.Queue, Key: b.key})
	if to.Function == nil {
		return r
	}
	// The failures of a function end in the queue of the first rule that it has.
	if id := jsii.String("Events"); to.Function.Node().TryFindChild(id) == nil {
		r.KeepFailures(constructs.NewConstruct(to.Function, id), to.Function)
	}
	return r
}
