package events

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Timed is a rule that fires by time ("Creating a scheduled rule in Amazon EventBridge").
type Timed struct {
	Name, ARN string
	// Expression is rate(…) or cron(…), in UTC.
	Expression string
	Disabled   bool
	// Target is the ARN of its first target.
	Target string
}

// Timed returns the rules that fire by time.
func (r *Rules) Timed() (timed []Timed) {
	for _, one := range r.rules {
		if one.expression != "" {
			timed = append(timed, Timed{Name: one.name, ARN: one.arn, Expression: one.expression,
				Disabled: one.disabled, Target: one.targets[0].arn})
		}
	}
	return timed
}

// Fire delivers the event of a rule's time to the rule's targets. Its error says that there is no such rule.
func (s *Service) Fire(ruleARN string, at time.Time) error {
	for _, one := range s.rules.Load().rules {
		if one.arn != ruleARN {
			continue
		}
		s.spread(one.bus, event{Version: "0", ID: uuid.NewString(), DetailType: "Scheduled Event", Source: "aws.events",
			Account: one.bus.account, Region: one.bus.region, Time: at.UTC().Truncate(time.Second),
			Resources: []string{one.arn}, Detail: []byte("{}")},
			publisher{}, trace.Origin{Kind: trace.Schedule, Path: one.name}, one.targets, true)
		return nil
	}
	return fmt.Errorf("no rule %s in the assembly", ruleARN)
}
