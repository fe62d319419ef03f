package askahuman

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Answer stores a person's answer and its points; zone decides when the person's
// days begin and end, nil is UTC. Of an answer that is [askahuman.Answer.RewardedLate] it stores the points alone.
//
// It returns an [*validate.Error], [askahuman.ErrQuestionNotFound], [askahuman.ErrAlreadyAnswered] (also when the
// question has ended since), [askahuman.ErrQuestionClosed], [askahuman.ErrBlocked], or, when too many answer at once,
// an error that wraps [retry.ErrStale]: try again later.
func (s *Service) Answer(ctx context.Context, personHash string, zone *time.Location,
	answer askahuman.Answer) (askahuman.Receipt, error) {
	zone = cmp.Or(zone, time.UTC)
	if !wire.IsID(answer.QuestionID) {
		return askahuman.Receipt{}, askahuman.ErrQuestionNotFound
	}
	var receipt askahuman.Receipt
	err := retry.Do(ctx, func() (err error) {
		receipt, err = s.answer(ctx, personHash, zone, answer)
		return err
	})
	if errors.Is(err, retry.ErrStale) {
		err = fmt.Errorf("answer question %s: %w", answer.QuestionID, err)
	}
	return receipt, err
}

// answer tries once.
func (s *Service) answer(ctx context.Context, personHash string, zone *time.Location,
	answer askahuman.Answer) (askahuman.Receipt, error) {
	now := s.Clock.Now()
	known, err := s.knownFor(ctx, personHash, answer.QuestionID, now)
	if err != nil {
		return askahuman.Receipt{}, err
	}
	switch {
	case known.answered || !known.stats.Late[answer.QuestionID].IsZero():
		return askahuman.Receipt{}, askahuman.ErrAlreadyAnswered
	case !known.stats.BlockedAt.IsZero():
		return askahuman.Receipt{}, askahuman.ErrBlocked
	case !known.question.HiddenAt.IsZero():
		return askahuman.Receipt{}, askahuman.ErrQuestionNotFound
	}
	if !known.question.AnswerableAt(now) {
		return s.answerLate(ctx, known, answer, now)
	}
	if err := answer.ValidateFor(known.question); err != nil {
		return askahuman.Receipt{}, err
	}

	response := answer.ResponseTo(known.question, personHash, now)
	response.Flags = askahuman.FlagsFor(response, known.recent)
	points, stats, earned := s.rules().Award(known.stats, known.question, response, known.notifiedAt,
		zone)
	response.Points = points

	answers, err := s.submitResponse(ctx, known.question, response, stats)
	switch {
	case errors.Is(err, askahuman.ErrQuestionClosed) && !answer.HandedAt.IsZero():
		return askahuman.Receipt{}, retry.ErrStale // it may be in time for its points
	case errors.Is(err, askahuman.ErrQuestionClosed):
		return askahuman.Receipt{}, s.refusal(ctx, personHash, answer.QuestionID)
	case err != nil:
		return askahuman.Receipt{}, wrap(err, "store the answer")
	}
	return askahuman.Receipt{
		ResponseID:   response.ID,
		PointsEarned: points,
		NewBadges:    earned,
		TotalPoints:  stats.TotalPoints,
		Answers:      answers,
		Completed:    answers == known.question.RequiredResponses,
		NextBadge:    nextBadge(stats),
		OptionShares: s.optionShares(ctx, known.question, answers),
		SinceAsked:   now.Sub(time.Time(known.question.CreatedAt)),
	}, nil
}

// answerLate gives the points of an answer whose question had ended when its state was read at now, or refuses it.
//
// The stats are written on the version that was read, and mark the answer. So of two answers of a person to a question,
// late or in time, only one earns points.
func (s *Service) answerLate(ctx context.Context, known known, answer askahuman.Answer,
	now time.Time) (askahuman.Receipt, error) {
	person := known.stats.PersonHash
	if err := s.refusal(ctx, person, answer.QuestionID); !errors.Is(err, askahuman.ErrQuestionClosed) ||
		!answer.RewardedLate(known.question, now) {
		return askahuman.Receipt{}, err
	}
	if err := answer.ValidateFor(known.question); err != nil {
		return askahuman.Receipt{}, err
	}
	response := answer.ResponseTo(known.question, person, now)
	points, stats := s.rules().AwardLate(known.stats, known.question, response, known.notifiedAt)
	rewarded, err := dynamo.Satisfied(s.DB.Transact(ctx, "RewardLate", s.putStats(stats)))
	switch {
	case err != nil:
		return askahuman.Receipt{}, wrap(err, "store the points of a late answer")
	case !rewarded:
		return askahuman.Receipt{}, retry.ErrStale
	}
	return askahuman.Receipt{ResponseID: response.ID, PointsEarned: points, NewBadges: []askahuman.Badge{},
		TotalPoints: stats.TotalPoints, Answers: known.question.CurrentResponses, NextBadge: nextBadge(stats),
		Late: true}, nil
}

func nextBadge(stats askahuman.Stats) *askahuman.NextBadge {
	if next := askahuman.NextBadges(stats, 1); len(next) > 0 {
		return &next[0]
	}
	return nil
}

// sharesTimeout is how long an answer that is stored waits for the shares of its question's options.
const sharesTimeout = time.Second

// optionShares are the shares of a question that has so many answers, if the platform tells them. An error leaves them
// out: the answer is stored.
func (s *Service) optionShares(ctx context.Context, question askahuman.Question, answers int) []int {
	if !s.Parts.ShareOptions || question.Type != askahuman.TypeMultipleChoice || answers < askahuman.LeastShared {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, sharesTimeout)
	defer cancel()
	votes, err := s.votes(within, question)
	if err != nil && s.SharesUnread != nil {
		s.SharesUnread(ctx, wrap(err, "read the answers to question "+question.ID))
	}
	return askahuman.OptionShares(votes)
}

// refusal returns why an ended question takes no answer from this person. It reads the person's
// answer after the end, because that answer may have ended the question.
func (s *Service) refusal(ctx context.Context, personHash, questionID string) error {
	answered, err := s.hasAnswered(ctx, questionID, personHash)
	switch {
	case err != nil:
		return wrap(err, "look for the person's answer")
	case answered:
		return askahuman.ErrAlreadyAnswered
	}
	return askahuman.ErrQuestionClosed
}

// known is all that an answer's points depend on.
type known struct {
	question askahuman.Question
	// answered says that the person has answered the question.
	answered bool
	// stats are the person's, zero, but for the hash, if the person never answered.
	stats askahuman.Stats
	// notifiedAt is when the person was notified of the question; zero: never, or of another one since.
	notifiedAt time.Time
	// recent are the person's answers before, the newest first.
	recent []askahuman.Response
}

func (s *Service) knownFor(ctx context.Context, personHash, questionID string, now time.Time) (known, error) {
	var k known
	var recent []askahuman.Response
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		k, err = s.answerState(ctx, questionID, personHash, now)
		return wrap(err, "read question "+questionID+" and what is the person's")
	})
	group.Go(func() (err error) {
		recent, err = s.recentAnswers(ctx, personHash, now.Add(-askahuman.KeepResponses),
			askahuman.RecentAnswersCompared)
		return wrap(err, "list recent answers")
	})
	err := group.Wait()
	k.recent = recent
	return k, err
}
