package askahuman

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, askahuman.Platform(), "../../docs/reference/events/askahuman")
}

// A history of questions yields exactly its events, however its changes are cut into batches, and whatever the bus
// refuses.
func TestHistoriesYieldTheirEvents(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := &questionHistory{platform: newPlatform(t), random: rand.New(rand.NewPCG(seed, 1))}
			questions := triggertest.Stream(t, askahuman.Platform(), h.Tables, "Questions")
			reports := triggertest.Stream(t, askahuman.Platform(), h.Tables, "Reports")
			for range 60 {
				h.step(t)
			}
			bus := triggertest.NewBus(t, askahuman.Platform())
			publisher := triggertest.NewPublisher(askahuman.Platform(), bus, EventsOf)
			var got []string
			for _, e := range publisher.Tell(t, bus, h.random, append(questions(), reports()...)) {
				var d detail
				must.OK(t, json.Unmarshal([]byte(e.Detail), &d))
				got, told[e.DetailType] = append(got, fmt.Sprint(e.DetailType, d)), true
			}
			slices.Sort(got)
			slices.Sort(h.want)
			if diff := cmp.Diff(h.want, got); diff != "" {
				t.Errorf("- want, + got:\n%s", diff)
			}
		})
	}
	if len(told) != len(askahuman.Platform().Events) {
		t.Errorf("the histories have only the events %v", told)
	}
}

// questionHistory does anything to a few questions, and notes which events that has by what the operations answer.
type questionHistory struct {
	*platform
	random *rand.Rand
	asked  []string
	open   map[string]int // answers of those that take further ones
	done   map[string]bool
	counts map[string]int // reports
	want   []string
}

// detail is what this test reads of an event.
type detail struct {
	Question string `json:"question_id"`
	Response string `json:"response_id"`
	Status   askahuman.Status
	Current  int `json:"current_responses"`
	Hidden   bool
	Reason   string
	By       string
	Reports  int
}

func (h *questionHistory) note(event string, d detail) { h.want = append(h.want, fmt.Sprint(event, d)) }

func (h *questionHistory) step(t *testing.T) {
	t.Helper()
	if h.open == nil {
		h.open, h.done, h.counts = map[string]int{}, map[string]bool{}, map[string]int{}
	}
	ctx := t.Context()
	h.MoveTo(h.Now().Add(time.Duration(h.random.IntN(4)) * time.Minute))
	action := h.random.IntN(12)
	if len(h.asked) == 0 || action < 3 {
		ask := askahuman.Ask{Prompt: awkward, Type: askahuman.TypeText, MinResponses: new(2),
			TimeoutSeconds: new(600)}.WithDefaults()
		if h.random.IntN(2) == 0 {
			ask.Type, ask.Options = askahuman.TypeMultipleChoice, []string{"one", "<two>"}
		}
		q := must.Get(h.Ask(ctx, "agent", ask))(t)
		h.asked, h.open[q.ID] = append(h.asked, q.ID), 0
		h.note(askahuman.QuestionAsked, detail{Question: q.ID})
		return
	}
	id, by := h.asked[h.random.IntN(len(h.asked))], person(h.random.IntN(4))
	q := must.Get(h.people.question(ctx, id, h.Now()))(t)
	current, answers := h.open[id]
	due := answers && !h.Now().Before(time.Time(q.Deadline))
	switch action {
	case 3, 4, 5, 6:
		answer := askahuman.Answer{QuestionID: id, Text: new("yes")}
		if q.Type == askahuman.TypeMultipleChoice {
			answer = askahuman.Answer{QuestionID: id, Option: new(1)}
		}
		receipt, err := h.people.Answer(ctx, by, nil, answer)
		if err != nil {
			return // answered before, or too late
		}
		h.open[id] = current + 1
		status := askahuman.StatusPartial
		if receipt.Completed {
			status = askahuman.StatusClosed
		}
		h.note(askahuman.QuestionAnswered, detail{Question: id, Status: status, Current: current + 1})
		if receipt.Completed {
			delete(h.open, id)
			h.note(askahuman.QuestionClosed, detail{Question: id, Status: askahuman.StatusClosed, Current: current + 1})
		}
	case 7:
		if h.Close(ctx, "agent", id) == nil && answers && !due {
			delete(h.open, id)
			h.note(askahuman.QuestionClosed, detail{Question: id, Status: askahuman.StatusClosed, Current: current})
		} else if due {
			delete(h.open, id)
			h.note(askahuman.QuestionExpired, detail{Question: id, Status: askahuman.StatusExpired, Current: current})
		}
	case 8, 9:
		if !due {
			return
		}
		if ended := must.Get(h.notifying.endQuestion(ctx, q, h.Now()))(t); ended {
			delete(h.open, id)
			h.note(askahuman.QuestionExpired, detail{Question: id, Status: askahuman.StatusExpired, Current: current})
		}
	case 10:
		must.Get(h.people.ReportByPerson(ctx, by, askahuman.PersonReport{QuestionID: &id, Reason: "spam",
			Comment: new("secret")}))(t)
		if !h.done[id+by] {
			h.done[id+by] = true
			h.counts[id]++
			h.note(askahuman.ContentReported, detail{Question: id, Reason: "spam", By: "person", Reports: h.counts[id]})
		}
	case 11:
		if due {
			return
		}
		must.OK(t, h.as(t, "moderationapi").HideQuestion(ctx, as("operator"), id, true))
		if answers {
			delete(h.open, id)
			h.note(askahuman.QuestionClosed, detail{Question: id, Status: askahuman.StatusClosed, Current: current,
				Hidden: true})
		}
	}
}
