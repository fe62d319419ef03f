package askahuman

import (
	"errors"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// A person has the name that they chose on every leaderboard, until they drop it or an operator resets it. It outlasts
// answers, and so does a reset.
func TestHandles(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	operators := p.as(t, "moderationapi")
	if _, err := p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Ann"}); !errors.Is(err,
		askahuman.ErrNeverAnswered) {
		t.Errorf("got %v; want that they never answered", err)
	}
	p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "First."))
	p.answer(t, person(1), text(p.ask(t, textAsk()).ID, "First."))
	shown := func(viewer, want string) {
		t.Helper()
		p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "One more."))
		p.MoveTo(p.Now().Add(2 * boardAge))
		if got := must.Get(p.people.Stats(t.Context(), person(0), nil))(t); got.Handle != want {
			t.Errorf("the person is called %q; want %q", got.Handle, want)
		}
		board := must.Get(p.people.Leaderboard(t.Context(), viewer, askahuman.PeriodDaily, 10))(t)
		if len(board.Entries) != 2 || board.Entries[0].Handle != want ||
			board.Entries[1].Handle != askahuman.HandleOf(person(1), "") {
			t.Errorf("the board has %+v; want %q first", board.Entries, want)
		}
		if got := must.Get(operators.Board(t.Context(), askahuman.PeriodDaily))(t); len(got) != 2 ||
			got[0].Person != person(0) || got[0].Handle != want {
			t.Errorf("operators see %+v", got)
		}
	}
	made := askahuman.HandleOf(person(0), "")
	shown("", made)
	kept := must.Get(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: " Ann  B "}))(t)
	if kept.Handle != "Ann B" {
		t.Errorf("kept %q", kept)
	}
	shown("", "Ann B")
	for taken, want := range map[string]error{"ann b": askahuman.ErrHandleTaken, "Ann 8": askahuman.ErrHandleTaken,
		"4nn-B": askahuman.ErrHandleTaken, "Moderator": askahuman.ErrHandleReserved,
		"F u c k": askahuman.ErrHandleOffensive, "+ 1": nil} {
		_, err := p.people.ChooseHandle(t.Context(), person(1), askahuman.Handle{Handle: taken})
		if want != nil && !errors.Is(err, want) || err == nil {
			t.Errorf("%s: got %v; want %v", taken, err, want)
		}
	}
	shown(person(1), "Ann B")
	shown(person(0), "Ann B")
	if got := must.Get(p.people.DropHandle(t.Context(), person(0)))(t); got.Handle != made {
		t.Errorf("got %q back", got)
	}
	shown("", made)
	must.Get(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Rude"}))(t)
	shown("", "Rude")
	must.OK(t, operators.ResetHandle(t.Context(), as("olga"), person(0), true))
	shown("", made)
	for _, change := range []func() error{
		func() error {
			_, err := p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Ruder"})
			return err
		},
		func() error { _, err := p.people.DropHandle(t.Context(), person(0)); return err },
	} {
		if err := change(); !errors.Is(err, askahuman.ErrHandleReset) {
			t.Errorf("got %v; want that an operator reset it", err)
		}
	}
	must.OK(t, operators.ResetHandle(t.Context(), as("olga"), person(0), false))
	must.Get(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Polite"}))(t)
	shown("", "Polite")
	if err := operators.ResetHandle(t.Context(), as("olga"), person(2), true); !errors.Is(err,
		askahuman.ErrPersonNotFound) {
		t.Errorf("got %v; want no such person", err)
	}
}

// People report a name that a leaderboard shows. Operators see the name as it is now, take it, and dismiss the report.
// A deletion of the person's data takes the report along.
func TestReportedName(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	operators := p.as(t, "moderationapi")
	p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "First."))
	must.Get(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Rather Rude"}))(t)
	p.MoveTo(p.Now().Add(2 * boardAge))
	report := func(name string) (askahuman.Reported, error) {
		return p.people.ReportByPerson(t.Context(), person(1), askahuman.PersonReport{Handle: &name, Reason: "abuse"})
	}
	if _, err := report("Nobody"); !errors.Is(err, askahuman.ErrHandleNotFound) {
		t.Errorf("got %v; want that no one has the name", err)
	}
	reported := must.Get(report("Rather Rude"))(t)
	open := func() []askahuman.OperatorReport {
		reports, _, err := operators.Reports(t.Context(), askahuman.ReportOpen, 10, "")
		must.OK(t, err)
		return reports
	}
	got := open()
	if len(got) != 1 || got[0].ID != reported.ReportID || got[0].Handle != "Rather Rude" ||
		got[0].CurrentHandle != "Rather Rude" || got[0].Person != person(0) ||
		len(got[0].Complaints) != 1 || got[0].QuestionID != "" {
		t.Fatalf("operators see %+v", got)
	}
	must.OK(t, operators.ResetHandle(t.Context(), askahuman.Decision{Operator: "olga", Seen: &got[0].PersonVersion},
		person(0), true))
	if got := open(); len(got) != 1 || !got[0].NameReset || got[0].Handle != "Rather Rude" ||
		got[0].CurrentHandle != askahuman.HandleOf(person(0), "") {
		t.Errorf("then operators see %+v", got)
	}
	must.OK(t, operators.Dismiss(t.Context(), as("olga"), reported.ReportID, true))
	// What was decided about one name says nothing about the next.
	version := got[0].PersonVersion + 1
	must.OK(t, operators.ResetHandle(t.Context(), askahuman.Decision{Operator: "olga", Seen: &version}, person(0),
		false))
	must.Get(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Ruder Still"}))(t)
	p.MoveTo(p.Now().Add(2 * boardAge))
	for range 2 {
		must.Get(report("Ruder Still"))(t)
	}
	if got := open(); len(got) != 1 || got[0].Handle != "Ruder Still" || len(got[0].Complaints) != 1 ||
		got[0].Version != 1 || got[0].DecidedBy != "" {
		t.Errorf("of the next name operators see %+v", got)
	}
	must.OK(t, operators.Dismiss(t.Context(), as("olga"), reported.ReportID, true))
	must.Get(p.people.ReportByPerson(t.Context(), person(2), askahuman.PersonReport{Handle: new("Ruder Still"),
		Reason: "abuse"}))(t)
	if got := open(); len(got) != 0 {
		t.Errorf("a further report of the dismissed name opened %+v", got)
	}
	deleteAll(t, p.people, p, person(0))
	if left := linked(t, p, person(0)); left["Reports"] != 0 {
		t.Errorf("after a deletion the tables have %v", left)
	}
	for _, state := range []askahuman.ReportState{askahuman.ReportOpen, askahuman.ReportDismissed} {
		if reports, _, err := operators.Reports(t.Context(), state, 10, ""); err != nil || len(reports) > 0 {
			t.Errorf("after a deletion operators see %+v, %v", reports, err)
		}
	}
}
