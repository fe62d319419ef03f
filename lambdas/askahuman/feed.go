package askahuman

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// People is the side of the platform that people see: they find questions, answer them, earn points
// and subscribe to notifications. Only a hash of the fingerprint that their device sends identifies
// a person.
type People struct {
	// Store keeps the questions, answers, stats and subscriptions.
	Store PeopleStore
	// Rewards are the points of answers. The zero value is the default.
	Rewards Rewards
	// Now is the clock; nil is [time.Now].
	Now func() time.Time

	boards boards
}

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
// audience keeps questions with any of the tags; empty keeps all. limit is 1 or
// more; a page has at most MaxListLimit; 0 is DefaultListLimit; cursor is the next of
// the page before.
//
// next is empty when there are no more. A page may be short, even empty, and still have a next one.
// A question answered within the last moments may still be offered. Feed returns an
// [*validate.Error].
func (p *People) Feed(ctx context.Context, personHash string, audience []string, limit int, cursor string) (questions []Question, next string, err error) {
	var invalid problems
	for i, tag := range audience {
		validate.OneOf(&invalid.Problems, fmt.Sprintf("audience[%d]", i), tag, Audiences())
		invalid.repeated(audience, i)
	}
	limit = invalid.limit(limit, DefaultListLimit, MaxListLimit)
	after := invalid.cursor(cursor)
	if err := invalid.Err(); err != nil {
		return nil, "", err
	}
	now := clock(p.Now)
	pageSize := limit + feedSpare

	var answered map[string]bool
	var page []Question
	var more bool
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		answered, err = p.answered(groupCtx, personHash, now)
		return err
	})
	group.Go(func() (err error) {
		page, more, err = p.Store.OpenQuestions(groupCtx, pageSize, after, now)
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
					return questions, formatCursor(positionOf(&questions[limit-1])), nil
				}
				questions = append(questions, *question)
			}
			last = positionOf(question)
		}
		examined += len(page)
		if !more || len(page) == 0 {
			return questions, "", nil
		}
		if examined >= feedExamined {
			return questions, formatCursor(last), nil
		}
		if page, more, err = p.Store.OpenQuestions(ctx, feedExamined-examined, last, now); err != nil {
			return nil, "", wrap(err, "list open questions")
		}
	}
}

func positionOf(question *Question) Position {
	return Position{CreatedAt: question.CreatedAt, ID: question.ID}
}

// answered returns the open questions that the person has answered. No question is open for longer
// than MaxTimeout, so it reads no older answers.
func (p *People) answered(ctx context.Context, personHash string, now time.Time) (map[string]bool, error) {
	if personHash == "" {
		return nil, nil
	}
	recent, err := p.Store.RecentAnswers(ctx, personHash, now.Add(-MaxTimeout), 0)
	if err != nil {
		return nil, wrap(err, "list recent answers")
	}
	ids := make(map[string]bool, len(recent))
	for _, answer := range recent {
		ids[answer.QuestionID] = true
	}
	return ids, nil
}

func addressedTo(question *Question, audience []string) bool {
	return len(audience) == 0 || slices.ContainsFunc(audience, func(tag string) bool { return slices.Contains(question.Audience, tag) })
}

// Question reads one question that takes answers. canAnswer is false when the
// person has answered it. It is true for an unknown person (personHash empty), who needs
// a fingerprint to answer. It returns [ErrQuestionNotFound] or
// [ErrQuestionClosed].
func (p *People) Question(ctx context.Context, personHash, questionID string) (q Question, canAnswer bool, err error) {
	if !isID(questionID) {
		return Question{}, false, ErrQuestionNotFound
	}
	now := clock(p.Now)
	var answered bool
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		q, err = p.Store.Question(ctx, questionID, now)
		return wrap(err, "read question "+questionID)
	})
	if personHash != "" {
		group.Go(func() (err error) {
			answered, err = p.Store.HasAnswered(ctx, questionID, personHash)
			return wrap(err, "look for the person's answer")
		})
	}
	if err := group.Wait(); err != nil {
		return Question{}, false, err
	}
	switch {
	case !q.HiddenAt.IsZero():
		return Question{}, false, ErrQuestionNotFound
	case !q.AnswerableAt(now):
		return Question{}, false, ErrQuestionClosed
	}
	return q, !answered, nil
}
