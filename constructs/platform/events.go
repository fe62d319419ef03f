package platform

import (
	"fmt"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// addEventBus declares the bus of the platform's events, before the function that publishes them.
func (p *Platform) addEventBus() {
	if p.props.Events {
		p.Events = eventbus.New(p.construct, "EventBus", eventbus.Props{Key: p.props.Key,
			Description: "What happened in " + p.Schema.Title})
	}
}

// On hands the events of that name to a function or a queue, with a queue of failures and an alarm on it:
//
//	p.On("TaskCompleted", eventbus.Target{Function: p.Functions["congratulator"]})
//
// It ends the program, by [props.Fatal], if the platform has no such event, if the event has no field that the target's
// Detail names, or if its props turn events off.
func (p *Platform) On(event string, to eventbus.Target) *eventbus.Rule {
	if p.Events == nil {
		props.Fatal(fmt.Errorf("On %s: %s publishes no events: set Events of its props", event, p.Schema.Name))
	}
	published, ok := p.Schema.Event(event)
	if !ok {
		names := props.Map(p.Schema.Events, func(e schema.Event) string { return e.Name })
		props.Fatal(fmt.Errorf("On: got %q, allowed are the events of %s: %s", event, p.Schema.Name,
			strings.Join(names, ", ")))
	}
	var f finding.List
	published.CheckPattern(&f, "Target.Detail", to.Detail)
	if err := f.Err(); err != nil {
		props.Fatal(fmt.Errorf("On %s: %w", event, err))
	}
	rule := p.Events.On(p.construct, p.Schema.Name, event, to)
	if !p.props.NoAlarms {
		p.watch(*rule.Node().Id()+"DeadLettersAlarm", "events that the target of "+event+
			" did not take are in the queue of failures", alarm.Props{Metric: rule.MetricDeadLetters(nil)})
	}
	p.Outputs.Add(*rule.Node().Id()+"DeadLetterQueueUrl", "Address of the queue of events that the target of "+event+
		" did not take", rule.DeadLetters.QueueUrl())
	return rule
}
