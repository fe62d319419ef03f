package dynamodb

import (
	"context"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// entryKind is the sort key of a term in Lexicon.
const entryKind = "METADATA#lexicon"

// entryItem is a term in Lexicon.
type entryItem struct {
	key
	lingible.Entry
	Source         string              `dynamodbav:"source"`
	QuizDifficulty lingible.Difficulty `dynamodbav:"quiz_difficulty,omitempty"`
	QuizScore      *float64            `dynamodbav:"quiz_score,omitempty"`
	LastUpdated    time.Time           `dynamodbav:"last_updated"`
}

// newEntryItem is the item of an entry that [lingible.Entry.Check] accepts. The indexes of the quiz
// have only the terms that the quiz asks about.
func newEntryItem(entry lingible.Entry, now time.Time) entryItem {
	item := entryItem{key: key{termKey(entry.Slug()), entryKind}, Entry: entry, Source: entry.Sources[0], LastUpdated: now}
	if !entry.IsQuizEligible {
		item.QuizCategory = ""
		return item
	}
	score := entry.QuizScore()
	item.QuizDifficulty, item.QuizScore = entry.QuizDifficulty(), &score
	return item
}

// Entry reads the term of the lexicon with a slug; false: there is none.
func (s *Store) Entry(ctx context.Context, slug string) (entry lingible.Entry, found bool, err error) {
	found, err = s.db.Get(ctx, "GetEntry", &entry, termKey(slug), entryKind)
	return entry, found, err
}
