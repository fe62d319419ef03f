package lingible

import (
	"context"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// entryKind is the sort key of a term in Lexicon.
const entryKind = lingible.EntryKind

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
	item := entryItem{key: keyOf(lingible.EntryKey(entry.Slug())), Entry: entry, Source: entry.Sources[0],
		LastUpdated: now}
	if !entry.IsQuizEligible {
		item.QuizCategory = ""
		return item
	}
	score := entry.QuizScore()
	item.QuizDifficulty, item.QuizScore = entry.QuizDifficulty(), &score
	return item
}

// entry reads the term of the lexicon with a slug; false: there is none.
func (s *Service) entry(ctx context.Context, slug string) (entry lingible.Entry, found bool, err error) {
	found, err = s.DB.Get(ctx, "GetEntry", &entry, lingible.EntryKey(slug)...)
	return entry, found, err
}

// wrongAnswersItem are the wrong answers for a category in Lexicon.
type wrongAnswersItem struct {
	key
	WrongAnswers []string `dynamodbav:"wrong_answers"`
}

func wrongAnswersKey(category lingible.Category) key {
	return key{"WRONG_ANSWERS#" + string(category), "METADATA#wrong_answers"}
}

// AddEntry stores a term of the lexicon and reports true, or leaves what is there unchanged and reports false. After a
// lost answer it may report false for what it has stored.
func (s *Service) AddEntry(ctx context.Context, entry lingible.Entry) (added bool, err error) {
	return s.add(ctx, newEntryItem(entry, time.Now()))
}

// AddWrongAnswers stores the wrong answers for a category likewise.
func (s *Service) AddWrongAnswers(ctx context.Context, category lingible.Category, answers []string) (added bool,
	err error) {
	return s.add(ctx, wrongAnswersItem{wrongAnswersKey(category), answers})
}

func (s *Service) add(ctx context.Context, item any) (added bool, err error) {
	return dynamo.Satisfied(s.DB.Put(ctx, "AddEntry", item, dynamo.Absent("PK")))
}
