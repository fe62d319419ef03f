package askahuman

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// Any cursor of the right form gives a page of one's own answers, also one from before all of them, or of
// another list.
func TestOwnAnswersFromAnywhere(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	q := p.ask(t, textAsk())
	p.answer(t, person(0), text(q.ID, "I do."))
	for at, want := range map[time.Time]int{time.Unix(0, 0): 0, p.Now().Add(-31 * 24 * time.Hour): 0,
		p.Now().Add(-time.Hour): 0, p.Now().Add(time.Hour): 1, latestCursorTime: 1} {
		for _, id := range []string{q.ID, uuid.NewString()} {
			cursor := formatCursor(position{CreatedAt: at, ID: id})
			if got, _, err := p.people.OwnAnswers(t.Context(), person(0), 20, cursor); err != nil || len(got) != want {
				t.Errorf("from %v on: got %d answers, %v; want %d", at, len(got), err, want)
			}
		}
	}
	_, _, err := p.people.OwnAnswers(t.Context(), person(0), 20, "x")
	wantError(t, err, errCursor)
}
