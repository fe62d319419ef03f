package local_test

import (
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/services/events"
)

// An event that a function puts on a bus comes to the targets of the bus' rule, as each wants it.
func TestEvents(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), nil)
	told := queueOf(t, r, "Told")
	bodies := func() (bodies []string) {
		for _, message := range told.Messages() {
			bodies = append(bodies, message.Body)
		}
		slices.Sort(bodies)
		return bodies
	}
	want(t, 200, "null")(call(t, "POST", r.URL("")+"/events", `{"note": "hello"}`))
	eventually(t, "the function takes the event", func() bool {
		_, body := call(t, "GET", r.URL("")+"/items/noted", "")
		return body == `"hello"`
	})
	eventually(t, "both messages", func() bool { return len(bodies()) == 2 })
	if got := bodies(); !slices.Equal(got, []string{`"noted hello"`, `{"note":"hello"}`}) {
		t.Errorf("the queue got %q", got)
	}

	// The template makes no JSON of this note. The function fails on the other one: that is for Lambda to try again.
	want(t, 200, "null")(call(t, "POST", r.URL("")+"/events", `{"note": "\"quoted\""}`))
	message := failed(t, r, "Queue")
	want(t, 200, "INVALID_JSON")(call(t, "GET", message, ""))
	if published := rooms.Of(r).AWS.Events.Events(10, "own"); len(published) != 2 ||
		published[0].Deliveries[2].State != events.Failed || published[0].Function != "worker" {
		t.Errorf("got %+v", published)
	}
	want(t, 502, "MalformedDetail")(call(t, "POST", r.URL("")+"/events", `no JSON`))
}
