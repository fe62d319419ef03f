package askahuman

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// feedSpare is how many questions beyond the limit a feed reads first, to make up for those
	// that the person has answered.
	feedSpare = 10
	// feedExamined is how many questions one call looks at, in two reads at most. A person who has answered
	// nearly all of them, or asks for a rare audience, gets a short page and a cursor.
	feedExamined = 120
)

// Feed reads a page of the questions that take answers, newest first, without
// those that the person has answered; personHash empty is an unknown person.
// audience keeps questions with any of the tags; empty keeps all. A page has at most limit questions, and
// MaxListLimit; cursor is the next of the page before.
//
// next is empty when there are no more. A page may be short, even empty, and still have a next one.
// A question answered within the last moments may still be offered. Feed returns an
// [*validate.Error].
func (s *Service) Feed(ctx context.Context, personHash string, audience []string, limit int,
	cursor string) (questions []askahuman.Question, next string, err error) {
	var invalid validate.Problems
	for i, tag := range audience {
		validate.OneOf(&invalid, fmt.Sprintf("audience[%d]", i), tag, askahuman.Audiences())
		askahuman.CheckRepeated(&invalid, audience, i)
	}
	after, err := parseCursor(cursor)
	if err := cmp.Or(invalid.Err(), err); err != nil {
		return nil, "", err
	}
	limit = min(limit, askahuman.MaxListLimit)
	now := s.Clock.Now()
	page, more, err := s.openQuestions(ctx, limit+feedSpare, after, now)
	if err != nil {
		return nil, "", wrap(err, "list open questions")
	}
	last := after // the last question that was looked at
	for examined := 0; ; {
		answered, err := s.answered(ctx, personHash, page)
		if err != nil {
			return nil, "", err
		}
		for i := range page {
			question := &page[i]
			if !answered[question.ID] && addressedTo(question, audience) {
				if len(questions) == limit {
					return questions, cursorAfter(questions[limit-1]), nil
				}
				questions = append(questions, *question)
			}
			last = positionOf(*question)
		}
		examined += len(page)
		if !more || len(page) == 0 {
			return questions, "", nil
		}
		if examined >= feedExamined {
			return questions, formatCursor(last), nil
		}
		if page, more, err = s.openQuestions(ctx, feedExamined-examined, last, now); err != nil {
			return nil, "", wrap(err, "list open questions")
		}
	}
}

// answered returns which of the questions the person has answered: by the key that the answer has, which outlasts a
// deletion of the person's data. Nobody has answered a question without answers, which is not looked for.
func (s *Service) answered(ctx context.Context, personHash string, questions []askahuman.Question) (map[string]bool,
	error) {
	if personHash == "" {
		return nil, nil
	}
	var ids []string
	for _, q := range questions {
		if q.CurrentResponses > 0 {
			ids = append(ids, q.ID)
		}
	}
	found, err := dynamo.ReadBatch[askahuman.Response](ctx, s.DB, "GetAnswersOfFeed", responseKeys(ids, personHash)...)
	if err != nil {
		return nil, wrap(err, "look for the person's answers")
	}
	answered := map[string]bool{}
	for i, answer := range found {
		answered[ids[i]] = answer != nil
	}
	return answered, nil
}

func addressedTo(question *askahuman.Question, audience []string) bool {
	return len(audience) == 0 || slices.ContainsFunc(audience, func(tag string) bool {
		return slices.Contains(question.Audience, tag)
	})
}

// Question reads one question that takes answers. canAnswer is false when the
// person has answered it. It is true for an unknown person (personHash empty), who needs
// a fingerprint to answer. It returns [askahuman.ErrQuestionNotFound] or
// [askahuman.ErrQuestionClosed].
func (s *Service) Question(ctx context.Context, personHash, questionID string) (q askahuman.Question, canAnswer bool,
	err error) {
	if !wire.IsID(questionID) {
		return askahuman.Question{}, false, askahuman.ErrQuestionNotFound
	}
	now := s.Clock.Now()
	var answered bool
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		q, err = s.question(ctx, questionID, now)
		return wrap(err, "read question "+questionID)
	})
	if personHash != "" {
		group.Go(func() (err error) {
			answered, err = s.hasAnswered(ctx, questionID, personHash)
			return wrap(err, "look for the person's answer")
		})
	}
	if err := group.Wait(); err != nil {
		return askahuman.Question{}, false, err
	}
	switch {
	case !q.HiddenAt.IsZero():
		return askahuman.Question{}, false, askahuman.ErrQuestionNotFound
	case !q.AnswerableAt(now):
		return askahuman.Question{}, false, askahuman.ErrQuestionClosed
	}
	return q, !answered, nil
}
