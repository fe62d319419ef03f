package queue_test

import (
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// failures is a queue whose methods are not called.
type failures struct{ awssqs.IQueue }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	synthtest.Validate(t, map[string]synthtest.Case[queue.Props]{
		"OK":          {queue.Props{OnFailure: failures{}, Timeout: time.Second}, nil},
		"Limits":      {queue.Props{OnFailure: failures{}, Timeout: 15 * time.Minute, Attempts: 1000}, nil},
		"ErrZero":     {queue.Props{}, []string{"Props.OnFailure", "Props.Timeout"}},
		"ErrNil":      {queue.Props{OnFailure: (*failures)(nil), Timeout: time.Second}, []string{"Props.OnFailure"}},
		"ErrAbove":    {queue.Props{OnFailure: failures{}, Timeout: 901 * time.Second, Attempts: 1001}, []string{"Props.Timeout", "Props.Attempts"}},
		"ErrBelow":    {queue.Props{OnFailure: failures{}, Timeout: -time.Second, Attempts: -1}, []string{"Props.Timeout", "Props.Attempts"}},
		"ErrFraction": {queue.Props{OnFailure: failures{}, Timeout: 1500 * time.Millisecond}, []string{"Props.Timeout"}},
	})
}

func TestInvocationsValidate(t *testing.T) {
	t.Parallel()
	function := &gofunction.Function{Resource: struct{ awslambda.Function }{}}
	synthtest.Validate(t, map[string]synthtest.Case[queue.Invocations]{
		"OK":       {queue.Invocations{Function: function}, nil},
		"Limits":   {queue.Invocations{Function: function, BatchSize: 10, MaximumConcurrency: 1000}, nil},
		"ErrZero":  {queue.Invocations{}, []string{"Invocations.Function"}},
		"ErrAbove": {queue.Invocations{Function: function, BatchSize: 11, MaximumConcurrency: 1001}, []string{"Invocations.BatchSize", "Invocations.MaximumConcurrency"}},
		"ErrBelow": {queue.Invocations{Function: function, BatchSize: -1, MaximumConcurrency: 1}, []string{"Invocations.BatchSize", "Invocations.MaximumConcurrency"}},
	})
}

func TestNewErrProps(t *testing.T) {
	t.Parallel()
	synthtest.PanicsWithFindings(t, func() { queue.New(nil, "Queue", queue.Props{}) }, "Props.OnFailure", "Props.Timeout")
}
