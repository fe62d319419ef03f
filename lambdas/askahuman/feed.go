package askahuman

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
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
	pageSize := limit + feedSpare

	var answered map[string]bool
	var page []askahuman.Question
	var more bool
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		answered, err = s.answered(groupCtx, personHash, now)
		return err
	})
	group.Go(func() (err error) {
		page, more, err = s.openQuestions(groupCtx, pageSize, after, now)
		return wrap(err, "list open questions")
	})
	if err := group.Wait(); err != nil {
		return nil, "", err
	}

	last := after // the last question that was looked at
	for examined := 0; ; {
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

// answered returns the open questions that the person has answered. No question is open for longer
// than MaxTimeout, so it reads no older answers.
func (s *Service) answered(ctx context.Context, personHash string, now time.Time) (map[string]bool, error) {
	if personHash == "" {
		return nil, nil
	}
	recent, err := s.recentAnswers(ctx, personHash, now.Add(-askahuman.MaxTimeout), 0)
	if err != nil {
		return nil, wrap(err, "list recent answers")
	}
	ids := make(map[string]bool, len(recent))
	for _, answer := range recent {
		ids[answer.QuestionID] = true
	}
	return ids, nil
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
	if !askahuman.IsID(questionID) {
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
