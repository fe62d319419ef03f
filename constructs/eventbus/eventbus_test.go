package eventbus_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// queue is what a rule's props are told of a queue.
type queue struct {
	awssqs.IQueue
	fifo *bool
	key  awssqs.QueueEncryption
}

func (q queue) Fifo() *bool { return q.fifo }

func (q queue) EncryptionType() awssqs.QueueEncryption { return q.key }

// A rule is refused that Amazon EventBridge would not take, or whose target would get nothing.
func TestRulePropsValidate(t *testing.T) {
	t.Parallel()
	to := func(pattern map[string]any) eventbus.RuleProps {
		return eventbus.RuleProps{Queue: queue{fifo: jsii.Bool(false)}, Pattern: pattern}
	}
	of := func(value any) map[string]any { return map[string]any{"source": []any{value}} }
	pattern := []string{"RuleProps.Pattern"}
	synthtest.Validate(t, map[string]synthtest.Case[eventbus.RuleProps]{
		"OK":      {to(of(map[string]any{"numeric": []any{">", 1}})), nil},
		"Longest": {to(of(strings.Repeat("<", 2048-len(`{"source":[""]}`)))), nil},
		"ErrLong": {to(of(strings.Repeat("x", 2049-len(`{"source":[""]}`)))), pattern},
		"ErrZero": {eventbus.RuleProps{}, []string{"RuleProps", "RuleProps.Pattern"}},
		// A word that another service has for the operator.
		"ErrOperator": {to(of(map[string]any{"contains": "x"})), pattern},
		"ErrNoList":   {to(map[string]any{"source": "shop"}), pattern},
		"ErrNoJSON":   {to(of(func() {})), pattern},
		"ErrFIFO": {eventbus.RuleProps{Queue: queue{fifo: jsii.Bool(true)}, Pattern: of("shop")},
			[]string{"RuleProps.Queue"}},
		"ErrManagedKey": {eventbus.RuleProps{Queue: queue{key: awssqs.QueueEncryption_KMS_MANAGED},
			Pattern: of("shop")}, []string{"RuleProps.Queue"}},
	})
}

// A second target of an event needs an id, and an app that is deployed as two stacks has two names of its bus.
func TestOn(t *testing.T) {
	t.Parallel()
	stack := awscdk.NewStack(nil, jsii.String("app"), &awscdk.StackProps{StackName: jsii.String("acme-shop")})
	bus := eventbus.New(stack, "Bus", eventbus.Props{})
	constructs.NewConstruct(stack, jsii.String("OnThingSold"))
	got := synthtest.Paths(t, synthtest.PanicOf(func() {
		bus.On(stack, "shop", "ThingSold", eventbus.Target{Queue: queue{}, Detail: map[string]any{"price": 1}})
	}))
	if want := []string{"Target.Detail", "Target.ID"}; !slices.Equal(got, want) {
		t.Errorf("got findings at %v, want %v", got, want)
	}
	if name := *bus.Resource.Node().DefaultChild().(awsevents.CfnEventBus).Name(); !strings.HasPrefix(name,
		"acme-shop-Bus") {
		t.Errorf("got the name %s of a bus, want it to begin with those of the stack and the bus", name)
	}
}
