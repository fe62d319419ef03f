package dynamodb

import (
	"context"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
)

var _ lexicons.Store = (*Store)(nil)

// wrongAnswersItem are the wrong answers for a category in Lexicon.
type wrongAnswersItem struct {
	key
	WrongAnswers []string `dynamodbav:"wrong_answers"`
}

func wrongAnswersKey(category lingible.Category) key {
	return key{"WRONG_ANSWERS#" + string(category), "METADATA#wrong_answers"}
}

// AddEntry implements [lexicons.Store].
func (s *Store) AddEntry(ctx context.Context, entry lingible.Entry) (added bool, err error) {
	return s.add(ctx, newEntryItem(entry, time.Now()))
}

// AddWrongAnswers implements [lexicons.Store].
func (s *Store) AddWrongAnswers(ctx context.Context, category lingible.Category, answers []string) (added bool, err error) {
	return s.add(ctx, wrongAnswersItem{wrongAnswersKey(category), answers})
}

func (s *Store) add(ctx context.Context, item any) (added bool, err error) {
	return dynamo.Held(s.db.Put(ctx, "AddEntry", item, dynamo.Absent("PK")))
}
