package askahuman

import (
	"errors"
	"testing"

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
		p.now = p.now.Add(2 * boardAge)
		if got := Must(p.people.Stats(t.Context(), person(0), nil))(t); got.Handle != want {
			t.Errorf("the person is called %q; want %q", got.Handle, want)
		}
		board := Must(p.people.Leaderboard(t.Context(), viewer, askahuman.PeriodDaily, 10))(t)
		if len(board.Entries) != 2 || board.Entries[0].Handle != want ||
			board.Entries[1].Handle != askahuman.HandleOf(person(1), "") {
			t.Errorf("the board has %+v; want %q first", board.Entries, want)
		}
		if got := Must(operators.Board(t.Context(), askahuman.PeriodDaily))(t); len(got) != 2 ||
			got[0].Person != person(0) || got[0].Handle != want {
			t.Errorf("operators see %+v", got)
		}
	}
	made := askahuman.HandleOf(person(0), "")
	shown("", made)
	kept := Must(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: " Ann  B "}))(t)
	if kept.Handle != "Ann B" {
		t.Errorf("kept %q", kept)
	}
	shown(person(1), "Ann B")
	shown(person(0), "Ann B")
	if got := Must(p.people.DropHandle(t.Context(), person(0)))(t); got.Handle != made {
		t.Errorf("got %q back", got)
	}
	shown("", made)
	Must(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Rude"}))(t)
	shown("", "Rude")
	OK(t, operators.ResetHandle(t.Context(), person(0), true))
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
	OK(t, operators.ResetHandle(t.Context(), person(0), false))
	Must(p.people.ChooseHandle(t.Context(), person(0), askahuman.Handle{Handle: "Polite"}))(t)
	shown("", "Polite")
	if err := operators.ResetHandle(t.Context(), person(2), true); !errors.Is(err, askahuman.ErrPersonNotFound) {
		t.Errorf("got %v; want no such person", err)
	}
}
