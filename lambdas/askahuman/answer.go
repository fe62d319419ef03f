package askahuman

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Answer is an answer as a person gives it. A text is kept exactly as given.
type Answer struct {
	// QuestionID is the question that it answers.
	QuestionID string
	// Text answers a text question, with 1 to MaxAnswerLength characters; Option,
	// an index from 0, a multiple choice question. The other is nil.
	Text   *string
	Option *int
	// Confidence is MinConfidence to MaxConfidence; 0: not given.
	Confidence int
	// ResponseTimeMS is how long the person took in milliseconds, as the client
	// says; -1: not given.
	ResponseTimeMS int64
}

// validate returns an [*validate.Error] with all that is wrong for any question.
func (a Answer) validate(personHash string) error {
	var p problems
	if personHash == "" {
		p.Add("X-Fingerprint", validate.RuleRequired, "is missing; send the device's fingerprint in this header, so that one person answers a question once")
	}
	switch {
	case a.Text == nil && a.Option == nil:
		p.Add("answer", validate.RuleRequired, "is missing; send answer for a text question, or selected_option for a multiple choice question")
	case a.Text != nil && a.Option != nil:
		p.Add("answer", validate.RuleConflict, "was sent together with selected_option; send answer for a text question, or selected_option for a multiple choice question")
	}
	if a.Text != nil {
		p.Text("answer", *a.Text, 1, MaxAnswerLength)
	}
	if a.Option != nil && (*a.Option < 0 || *a.Option >= MaxOptions) {
		p.Number("selected_option", *a.Option, 0, MaxOptions-1)
	}
	if a.Confidence != 0 {
		p.Number("confidence", a.Confidence, MinConfidence, MaxConfidence)
	}
	if a.ResponseTimeMS < -1 {
		least := 0
		p.Range("response_time_ms", a.ResponseTimeMS, &least, nil)
	}
	return p.Err()
}

// validateFor returns an [*validate.Error] when the answer does not fit the
// question.
func (a Answer) validateFor(question Question) error {
	var p problems
	switch question.Type {
	case TypeMultipleChoice:
		if a.Option == nil {
			p.Add("selected_option", validate.RuleRequired, "is missing, but this is a multiple choice question; send the index of an option, 0 to %d", len(question.Options)-1)
		} else {
			p.Number("selected_option", *a.Option, 0, len(question.Options)-1)
		}
	default:
		if a.Text == nil {
			p.Add("answer", validate.RuleRequired, "is missing, but this is a text question; send the answer as text, without selected_option")
		}
	}
	return p.Err()
}

// Receipt is the result of an answer for its person.
type Receipt struct {
	ResponseID string
	// Points is what the answer earned, bonuses included.
	Points int
	// NewBadges are the badges that it earned.
	NewBadges []Badge
	// TotalPoints are all of the person's points after it.
	TotalPoints int
	// Status is the question's status after it.
	Status Status
	// First says that it is the question's first answer, and SinceAsked how old the
	// question is.
	First      bool
	SinceAsked time.Duration
}

// Answer stores a person's answer and its points; zone decides when the person's
// days begin and end, nil is UTC.
//
// It returns an [*validate.Error], [ErrQuestionNotFound], [ErrAlreadyAnswered] (also
// when the question has ended since), [ErrQuestionClosed], or an error that wraps
// [ErrStale] when so many answer at once that trying again later is better.
func (p *People) Answer(ctx context.Context, personHash string, zone *time.Location, answer Answer) (Receipt, error) {
	if zone == nil {
		zone = time.UTC
	}
	if err := answer.validate(personHash); err != nil {
		return Receipt{}, err
	}
	if !isID(answer.QuestionID) {
		return Receipt{}, ErrQuestionNotFound
	}
	var receipt Receipt
	err := retry.Do(ctx, ErrStale, func() (err error) {
		receipt, err = p.answer(ctx, personHash, zone, answer)
		return err
	})
	if errors.Is(err, ErrStale) {
		err = fmt.Errorf("answer question %s: %w", answer.QuestionID, err)
	}
	return receipt, err
}

// answer tries once.
func (p *People) answer(ctx context.Context, personHash string, zone *time.Location, answer Answer) (Receipt, error) {
	now := clock(p.Now)
	known, err := p.knownFor(ctx, personHash, answer.QuestionID, now)
	if err != nil {
		return Receipt{}, err
	}
	if known.answered {
		return Receipt{}, ErrAlreadyAnswered
	}
	if !known.question.AnswerableAt(now) {
		return Receipt{}, p.refusal(ctx, personHash, answer.QuestionID)
	}
	if err := answer.validateFor(known.question); err != nil {
		return Receipt{}, err
	}

	response := answer.response(known.question, personHash, now)
	response.Flags = flagsFor(response, known.recent)
	points, stats, earned := p.Rewards.withDefaults().award(known.stats, known.question, response, known.notifiedAt, zone)
	response.Points = points

	submitted, err := p.Store.SubmitResponse(ctx, known.question, response, stats)
	if errors.Is(err, ErrQuestionClosed) {
		return Receipt{}, p.refusal(ctx, personHash, answer.QuestionID)
	}
	if err != nil {
		return Receipt{}, because(err, "store the answer")
	}
	return Receipt{
		ResponseID:  response.ID,
		Points:      points,
		NewBadges:   withNames(earned),
		TotalPoints: stats.TotalPoints,
		Status:      submitted.Status,
		First:       submitted.First,
		SinceAsked:  now.Sub(known.question.CreatedAt),
	}, nil
}

// response is the answer as it is stored.
func (a Answer) response(question Question, personHash string, now time.Time) Response {
	response := Response{
		ID:             ResponseID(question.ID, personHash),
		QuestionID:     question.ID,
		PersonHash:     personHash,
		Type:           question.Type,
		Confidence:     a.Confidence,
		ResponseTimeMS: a.ResponseTimeMS,
		CreatedAt:      now,
	}
	if question.Type == TypeMultipleChoice {
		response.SelectedOption = *a.Option
		return response
	}
	response.Answer = *a.Text
	response.ContentDigest = contentDigest(*a.Text)
	response.ContentLength = lengthOf(*a.Text)
	return response
}

// refusal is why a question that has ended takes no answer from this person. It
// is read after the end was seen: the person's own answer may have been the last.
func (p *People) refusal(ctx context.Context, personHash, questionID string) error {
	answered, err := p.Store.HasAnswered(ctx, questionID, personHash)
	switch {
	case err != nil:
		return because(err, "look for the person's answer")
	case answered:
		return ErrAlreadyAnswered
	}
	return ErrQuestionClosed
}

// known is all that an answer's points depend on.
type known struct {
	question   Question
	answered   bool
	stats      Stats
	notifiedAt time.Time
	recent     []RecentAnswer
}

func (p *People) knownFor(ctx context.Context, personHash, questionID string, now time.Time) (known, error) {
	var k known
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		k.question, err = p.Store.Question(ctx, questionID, now)
		return because(err, "read question "+questionID)
	})
	group.Go(func() (err error) {
		k.answered, err = p.Store.HasAnswered(ctx, questionID, personHash)
		return because(err, "look for the person's answer")
	})
	group.Go(func() (err error) {
		k.stats, err = p.Store.Stats(ctx, personHash)
		return because(err, "read the person's stats")
	})
	group.Go(func() (err error) {
		k.notifiedAt, err = p.Store.NotifiedAt(ctx, questionID, personHash)
		return because(err, "read when the person was notified")
	})
	group.Go(func() (err error) {
		k.recent, err = p.Store.RecentAnswers(ctx, personHash, now.Add(-KeepResponses), RecentAnswersCompared)
		return because(err, "list recent answers")
	})
	if err := group.Wait(); err != nil {
		return known{}, err
	}
	return k, nil
}

// sleep waits for a while, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
