package lingible_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/events/eventstest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	eventstest.CheckSchemas(t, lingible.Platform(), "../../docs/reference/events/lingible")
}

// A history yields exactly its events, however its changes are cut into batches, and whatever the bus refuses: free
// users' translations have none, and neither has a vote for a term that was approved before.
func TestHistoriesYieldTheirEvents(t *testing.T) {
	t.Parallel()
	h := &termHistory{moderated: newModerated(t, 2), random: rand.New(rand.NewPCG(3, 3))}
	newQuiz(t, h.World, some(6, lingible.Praise)...)
	var tables []func() []json.RawMessage
	for _, table := range []string{"Translations", "Submissions", "Users"} {
		tables = append(tables, eventstest.Stream(t, lingible.Platform(), h.Tables, table))
	}
	h.premium, h.free = h.Premium(t, "ada"), h.Caller("bob")
	for n := range 70 {
		h.step(n)
	}
	var records []json.RawMessage
	for _, table := range tables {
		records = append(records, table()...)
	}
	bus := eventstest.NewBus(t, lingible.Platform())
	publisher := eventstest.NewPublisher(lingible.Platform(), bus, service.Happened, nil)
	told, got := map[string]bool{}, []string{}
	for _, e := range publisher.Tell(t, bus, h.random, records) {
		var f struct {
			User        string `json:"user_id"`
			Translation string `json:"translation_id"`
			Submission  string `json:"submission_id"`
			Approval    string `json:"approval_type"`
			Session     string `json:"session_id"`
			Questions   int    `json:"questions_asked"`
		}
		if err := json.Unmarshal([]byte(e.Detail), &f); err != nil {
			t.Fatal(err)
		}
		told[e.DetailType] = true
		got = append(got, said(e.DetailType, f.User, f.Translation+f.Submission+f.Session, f.Approval, f.Questions))
	}
	slices.Sort(got)
	slices.Sort(h.want)
	if diff := cmp.Diff(h.want, got); diff != "" || len(told) != len(lingible.Platform().Events) {
		t.Errorf("of %v: - want, + got:\n%s", told, diff)
	}
}

// termHistory does what users and administrators may do, and notes which events that has by what they are answered.
type termHistory struct {
	*moderated
	random        *rand.Rand
	premium, free service.Caller
	submissions   []lingible.Submission
	want          []string
}

func said(name, user, id, approval string, questions int) string {
	return fmt.Sprint(name, " ", user, " ", id, " ", approval, " ", questions)
}

func (h *termHistory) note(name, user, id, approval string, questions int) {
	h.want = append(h.want, said(name, user, id, approval, questions))
}

func (h *termHistory) step(n int) {
	h.t.Helper()
	ctx := h.t.Context()
	action := h.random.IntN(9)
	if action == 0 || len(h.submissions) == 0 {
		made := h.submitted(fmt.Sprint("term ", n))
		h.submissions = append(h.submissions, made)
		h.note(lingible.TermSubmitted, made.UserID, made.ID, "", 0)
		return
	}
	one := h.submissions[h.random.IntN(len(h.submissions))]
	before := h.stored(one).Status.ApprovalType()
	switch action {
	case 1:
		made, err := h.Translate(ctx, h.premium, lingible.TranslationInput{Text: fmt.Sprint("text ", n)})
		if err != nil {
			h.t.Fatal(err)
		}
		h.note(lingible.TranslationKept, h.premium.ID, made.ID, "", 0)
	case 2:
		_, _ = h.Translate(ctx, h.free, lingible.TranslationInput{Text: "text"}) // up to its limit
	case 3:
		if err := h.Validate(ctx, lingible.Slug(one.Term), one.ID); err != nil {
			h.t.Fatal(err)
		}
	case 4, 5, 6:
		_, _ = h.Vote(ctx, h.Premium(h.t, fmt.Sprint("voter ", h.random.IntN(4))), one.ID)
	case 7:
		if h.random.IntN(2) == 0 {
			_, _ = h.Reject(ctx, "admin", one.ID)
		} else {
			_, _ = h.Approve(ctx, "admin", one.ID)
		}
	case 8:
		question := ask(h.t, h.Service, h.premium)
		answer(h.t, h.Service, h.premium, question, true)
		for range 2 { // the second time changes nothing
			progress, err := h.EndQuiz(ctx, h.premium, question.SessionID)
			if err != nil || progress.Status != lingible.QuizEnded {
				h.t.Fatalf("end a quiz: %+v, %v", progress, err)
			}
		}
		h.note(lingible.QuizFinished, h.premium.ID, question.SessionID, "", 1)
	}
	if after := h.stored(one).Status.ApprovalType(); after != before {
		h.note(lingible.TermApproved, one.UserID, one.ID, after, 0)
	}
}
