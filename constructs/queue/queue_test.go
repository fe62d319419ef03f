package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"

	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// failures is a queue whose methods are not called.
type failures struct{ awssqs.IQueue }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[queue.Props]{
		"OK":       {queue.Props{OnFailure: failures{}, Timeout: time.Second}, nil},
		"Limits":   {queue.Props{OnFailure: failures{}, Timeout: 15 * time.Minute}, nil},
		"ErrZero":  {queue.Props{}, []string{"Props.OnFailure", "Props.Timeout"}},
		"ErrNil":   {queue.Props{OnFailure: (*failures)(nil), Timeout: time.Second}, []string{"Props.OnFailure"}},
		"ErrAbove": {queue.Props{OnFailure: failures{}, Timeout: 901 * time.Second}, []string{"Props.Timeout"}},
		"ErrFraction": {queue.Props{OnFailure: failures{}, Timeout: 1500 * time.Millisecond},
			[]string{"Props.Timeout"}},
		"ErrOn": {queue.Props{OnFailure: failures{}, Timeout: time.Second, On: schema.OnQueue{BatchSize: 11}},
			[]string{"Props.On.BatchSize"}},
	})
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() {
		queue.New(nil, "Queue", queue.Props{})
	}, "Props.OnFailure", "Props.Timeout")
	if found := synthtest.Paths(t, synthtest.PanicOf(func() { new(queue.Queue).Invoke(nil) })); !slices.Equal(found,
		[]string{"Invoke"}) {
		t.Errorf("without a function: got findings at %v", found)
	}
}
