package onesynthtest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/rooms"
)

// mostEvents is how many of the newest events are looked at.
const mostEvents = 1000

// Event waits for an event of that name (its detail-type), with these fields in its detail, on a bus of the run, and
// returns its detail. It compares numbers as JSON has them. The test fails if no such event comes within minutes.
func (p *Target) Event(t testing.TB, name string, fields map[string]any) (detail map[string]any) {
	t.Helper()
	Settled(t, fmt.Sprintf("the event %s with %v", name, fields), func() bool {
		for _, event := range rooms.Of(p.Run).AWS.Events.Events(mostEvents, name) {
			var found map[string]any
			if event.DetailType == name && json.Unmarshal([]byte(event.Detail), &found) == nil && has(found, fields) {
				detail = found
				return true
			}
		}
		return false
	})
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
