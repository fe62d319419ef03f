package onesynthtest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// maxEvents is how many of the newest events are looked at.
const maxEvents = 1000

// Event waits for an event of that name (its detail-type), with these fields in its detail, on a bus of the run, and
// returns its detail. It compares numbers as JSON has them. The test fails if a minute passes
// without a new event of that name.
func (p *Target) Event(t testing.TB, name string, fields map[string]any) (detail map[string]any) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the event %s with %v", name, fields), func() (any, bool) {
		events := p.Run.Parts().AWS.Events.Events(maxEvents, name)
		for _, event := range events {
			var found map[string]any
			if event.DetailType == name && json.Unmarshal([]byte(event.Detail), &found) == nil && has(found, fields) {
				detail = found
				return nil, true
			}
		}
		return fmt.Sprint(len(events), " events of that name"), false
	}, wait.On(p))
	return detail
}

func has(detail, fields map[string]any) bool {
	for name, want := range fields {
		if fmt.Sprint(detail[name]) != fmt.Sprint(want) {
			return false
		}
	}
	return true
}
