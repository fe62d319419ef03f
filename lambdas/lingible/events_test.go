package lingible_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, lingible.Platform(), "../../docs/reference/events/lingible")
}

// Each operation has its events: free users' translations have none, and neither has a vote for a term that was
// approved before.
func TestEventsOfOperations(t *testing.T) {
	t.Parallel()
	m, ctx := newModerated(t, 1), t.Context()
	newQuiz(t, m.World, some(3, lingible.Praise)...)
	var tables []func() []json.RawMessage
	for _, table := range []string{"Translations", "Submissions", "Users"} {
		tables = append(tables, triggertest.Stream(t, lingible.Platform(), m.Tables, table))
	}
	ada, bob := m.Premium(t, "ada"), m.Caller("bob")
	must.Get(m.Translate(ctx, bob, lingible.TranslationInput{Text: "text"}))(t)
	kept := must.Get(m.Translate(ctx, ada, lingible.TranslationInput{Text: "text"}))(t)
	voted, approved, rejected := m.open("voted"), m.open("approved"), m.open("rejected")
	m.speaker.Judge = func(lingible.Proposal) (lingible.Verdict, error) {
		return lingible.Verdict{Valid: true, Confidence: 0.9, Usage: 8}, nil
	}
	sure := m.open("sure")
	for _, err := range []error{
		second(m.Vote(ctx, ada, voted.ID)), second(m.Vote(ctx, bob, voted.ID)),
		second(m.Approve(ctx, "admin", approved.ID)), second(m.Reject(ctx, "admin", rejected.ID)),
	} {
		must.OK(t, err)
	}
	question := ask(t, m.Service, ada)
	answer(t, m.Service, ada, question, true)
	for range 2 { // the second time changes nothing
		must.Get(m.EndQuiz(ctx, ada, question.SessionID))(t)
	}
	var records []json.RawMessage
	for _, table := range tables {
		records = append(records, table()...)
	}
	got := triggertest.Lines(t, lingible.Platform(), service.EventsOf, records, "user_id",
		"translation_id", "submission_id", "approval_type", "session_id", "questions_asked")
	want := []string{
		fmt.Sprintln("TranslationKept ada", kept.ID, "<nil> <nil> <nil> <nil>"),
		fmt.Sprintln("TermSubmitted author 1 <nil>", voted.ID, "<nil> <nil> <nil>"),
		fmt.Sprintln("TermSubmitted author 2 <nil>", approved.ID, "<nil> <nil> <nil>"),
		fmt.Sprintln("TermSubmitted author 3 <nil>", rejected.ID, "<nil> <nil> <nil>"),
		fmt.Sprintln("TermSubmitted author 4 <nil>", sure.ID, "<nil> <nil> <nil>"),
		fmt.Sprintln("TermApproved author 1 <nil>", voted.ID, "community_vote <nil> <nil>"),
		fmt.Sprintln("TermApproved author 2 <nil>", approved.ID, "admin_manual <nil> <nil>"),
		fmt.Sprintln("TermApproved author 4 <nil>", sure.ID, "llm_auto <nil> <nil>"),
		fmt.Sprintln("QuizFinished ada <nil> <nil> <nil>", question.SessionID, "1"),
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
