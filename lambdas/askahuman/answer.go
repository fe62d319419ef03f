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

// Answer is an answer as a person gives it, on the wire, too. The tags are its limits.
type Answer struct {
	QuestionID     string  `json:"question_id" maxLength:"64" doc:"The question that it answers." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Text           *string `json:"answer,omitempty" nullable:"true" minLength:"1" maxLength:"5000" doc:"To a text question: more than white space. It is kept as written." example:"Only if it is our fault."`
	Option         *int    `json:"selected_option,omitempty" nullable:"true" minimum:"0" maximum:"9" doc:"To a multiple choice question: the option's index, from 0."`
	Confidence     *int    `json:"confidence,omitempty" nullable:"true" minimum:"1" maximum:"5" doc:"How sure the person is." example:"4"`
	ResponseTimeMS *int64  `json:"response_time_ms,omitempty" nullable:"true" minimum:"0" doc:"Milliseconds from seeing the question to sending the answer." example:"42000"`
}

// validate returns an [*validate.Error] with all that would be wrong as an answer to any question.
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
	p.Form(a)
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

// Receipt is what a person gets for an answer.
type Receipt struct {
	ResponseID   string  `json:"response_id" format:"uuid"`
	PointsEarned int     `json:"points_earned" example:"12"`
	NewBadges    []Badge `json:"new_badges" nullable:"false"`
	TotalPoints  int     `json:"total_points" example:"112"`
	// Submitted is the state of the question after the answer, and SinceAsked the age of the
	// question.
	Submitted  Submitted     `json:"-"`
	SinceAsked time.Duration `json:"-"`
}

// Answer stores a person's answer and its points; zone decides when the person's
// days begin and end, nil is UTC.
//
// It returns an [*validate.Error], [ErrQuestionNotFound], [ErrAlreadyAnswered] (also when the
// question has ended since), [ErrQuestionClosed], [ErrBlocked], or, when too many answer at once, an error that
// wraps [retry.ErrStale]: try again later.
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
	err := retry.Do(ctx, func() (err error) {
		receipt, err = p.answer(ctx, personHash, zone, answer)
		return err
	})
	if errors.Is(err, retry.ErrStale) {
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
	switch {
	case known.Answered:
		return Receipt{}, ErrAlreadyAnswered
	case !known.Stats.BlockedAt.IsZero():
		return Receipt{}, ErrBlocked
	case !known.Question.HiddenAt.IsZero():
		return Receipt{}, ErrQuestionNotFound
	}
	if !known.Question.AnswerableAt(now) {
		return Receipt{}, p.refusal(ctx, personHash, answer.QuestionID)
	}
	if err := answer.validateFor(known.Question); err != nil {
		return Receipt{}, err
	}

	response := answer.response(known.Question, personHash, now)
	response.Flags = flagsFor(response, known.recent)
	points, stats, earned := p.Rewards.withDefaults().award(known.Stats, known.Question, response, known.NotifiedAt, zone)
	response.Points = points

	submitted, err := p.Store.SubmitResponse(ctx, known.Question, response, stats)
	if errors.Is(err, ErrQuestionClosed) {
		return Receipt{}, p.refusal(ctx, personHash, answer.QuestionID)
	}
	if err != nil {
		return Receipt{}, wrap(err, "store the answer")
	}
	return Receipt{
		ResponseID:   response.ID,
		PointsEarned: points,
		NewBadges:    withNames(earned),
		TotalPoints:  stats.TotalPoints,
		Submitted:    submitted,
		SinceAsked:   now.Sub(known.Question.CreatedAt),
	}, nil
}

// response returns the answer in its stored form.
func (a Answer) response(question Question, personHash string, now time.Time) Response {
	response := Response{
		ID:             ResponseID(question.ID, personHash),
		QuestionID:     question.ID,
		PersonHash:     personHash,
		Type:           question.Type,
		ResponseTimeMS: -1,
		CreatedAt:      now,
	}
	if a.Confidence != nil {
		response.Confidence = *a.Confidence
	}
	if a.ResponseTimeMS != nil {
		response.ResponseTimeMS = *a.ResponseTimeMS
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

// refusal returns why an ended question takes no answer from this person. It reads the person's
// answer after the end, because that answer may have ended the question.
func (p *People) refusal(ctx context.Context, personHash, questionID string) error {
	answered, err := p.Store.HasAnswered(ctx, questionID, personHash)
	switch {
	case err != nil:
		return wrap(err, "look for the person's answer")
	case answered:
		return ErrAlreadyAnswered
	}
	return ErrQuestionClosed
}

// known is all that an answer's points depend on.
type known struct {
	AnswerState
	recent []RecentAnswer
}

func (p *People) knownFor(ctx context.Context, personHash, questionID string, now time.Time) (known, error) {
	var k known
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		k.AnswerState, err = p.Store.AnswerState(ctx, questionID, personHash, now)
		return wrap(err, "read question "+questionID+" and what is the person's")
	})
	group.Go(func() (err error) {
		k.recent, err = p.Store.RecentAnswers(ctx, personHash, now.Add(-KeepResponses), RecentAnswersCompared)
		return wrap(err, "list recent answers")
	})
	if err := group.Wait(); err != nil {
		return known{}, err
	}
	return k, nil
}
