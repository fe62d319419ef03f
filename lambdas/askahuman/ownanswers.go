package askahuman

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// OwnAnswers reads a page of a person's answers of the last [askahuman.KeepResponses], newest first. A page has at most
// limit answers, and MaxListLimit; cursor is the next of the page before. next is empty when there are no more. One of
// the last moments may still be missing. It returns an [*validate.Error] for a cursor of another list.
func (s *Service) OwnAnswers(ctx context.Context, personHash string, limit int,
	cursor string) (answers []askahuman.OwnAnswer, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	ids, next, err := s.answeredIDs(ctx, personHash, s.Clock.Now().Add(-askahuman.KeepResponses),
		min(limit, askahuman.MaxListLimit), after)
	if err != nil || len(ids) == 0 {
		return nil, "", wrap(err, "list the person's answers")
	}
	now := s.Clock.Now()
	var responses []*askahuman.Response
	var questions []*askahuman.Question
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		responses, err = dynamo.ReadBatch[askahuman.Response](ctx, s.DB, "GetOwnAnswers",
			responseKeys(ids, personHash)...)
		return wrap(err, "read the person's answers")
	})
	group.Go(func() (err error) {
		questions, err = dynamo.ReadBatch[askahuman.Question](ctx, s.DB, "GetAnsweredQuestions", keysByID(ids)...)
		return wrap(err, "read the questions of the person's answers")
	})
	if err := group.Wait(); err != nil {
		return nil, "", err
	}
	for i, r := range responses {
		if r == nil {
			continue // deleted meanwhile
		}
		own := askahuman.OwnAnswer{QuestionID: ids[i], Answer: r.Answer, SelectedOption: r.SelectedOption,
			Confidence: r.Confidence, Points: r.Points, CreatedAt: wire.Time(r.CreatedAt)}
		if q := questions[i]; q != nil && q.ExpiresAt.After(now) && q.HiddenAt.IsZero() {
			own.Prompt, own.Status = q.Prompt, unstored(*q).StatusAt(now)
			if at := r.SelectedOption; at != nil && *at < len(q.Options) {
				own.Option = q.Options[*at]
			}
		}
		answers = append(answers, own)
	}
	return answers, next, nil
}

// answeredIDs reads which questions a person has answered since a moment, newest answer first, at most limit after a
// position. next is the cursor of the page after.
func (s *Service) answeredIDs(ctx context.Context, personHash string, since time.Time, limit int,
	after position) (ids []string, next string, err error) {
	query := dynamo.Query{Values: []any{personHash, dynamo.FormatTime(since)}, PageSize: limit + 1,
		StartAfter: after.start("fingerprint_hash", personHash, "created_at", "question_id")}
	if query.StartAfter != nil {
		if after.CreatedAt.Before(since) {
			return nil, "", nil // DynamoDB refuses to begin outside of what it reads.
		}
		query.StartAfter["response_id"] = &types.AttributeValueMemberS{
			Value: askahuman.ResponseID(after.ID, personHash)}
	}
	page, err := s.DB.Page(ctx, "ListRecentAnswers", query)
	if err != nil {
		return nil, "", err
	}
	for i, item := range page.Items {
		var answer askahuman.Response
		if err := attributevalue.UnmarshalMap(item, &answer); err != nil {
			return nil, "", fmt.Errorf("read answer: %w", err)
		}
		if ids = append(ids, answer.QuestionID); i == limit-1 && len(page.Items) > limit {
			return ids, formatCursor(position{answer.CreatedAt, answer.QuestionID}), nil
		}
	}
	return ids, "", nil
}
