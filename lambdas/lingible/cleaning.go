package lingible

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// CleanAccount removes everything of a user whose account is being deleted: first what other items
// have of the user, and last the profile. It ends before the context does, and reports whether
// nothing is left.
//
// The tables themselves remember how far it has come, so it may die at any point and be called
// again. A user who has come back since is not touched. No request adds anything meanwhile: those
// that began before the deletion have ended, and later ones find no usage.
func (s *Service) CleanAccount(ctx context.Context, user string) (complete bool, err error) {
	profile, found, err := s.readUser(ctx, user)
	if err != nil || !found || profile.Status != lingible.Deleting {
		return err == nil, err
	}
	if complete, err := s.cleanReferences(ctx, user); err != nil || !complete {
		return false, err
	}
	// The index has the submissions that no item of the user names any more.
	submitted := dynamo.Read[key](ctx, s.DB, "ListUserSubmissions", dynamo.Query{Values: []any{user}})
	if complete, err := cleanEach(ctx, submitted, s.deleteSubmission); err != nil || !complete {
		return false, err
	}
	if complete, err := s.eraseTranslations(ctx, user); err != nil || !complete {
		return false, err
	}
	own := profileKey(user)
	complete, err = s.DB.Erase(ctx, dynamo.Erasure{
		List: "ListUserItems", Delete: "DeleteUserItem",
		Keep: func(item dynamo.Item) bool {
			sk, ok := item["SK"].(*types.AttributeValueMemberS)
			return ok && sk.Value == own.SK
		},
	}, own.PK)
	if err != nil || !complete {
		return false, err
	}
	_, err = dynamo.Satisfied(s.DB.Delete(ctx, "DeleteUserItem", own.values(),
		dynamo.Equal("status", lingible.Deleting)))
	return err == nil, err
}

const (
	// cleanParallel is how many references of a user are cleaned at once.
	cleanParallel = 16
	// cleanReserve is how long before the end of its context a cleaning begins nothing more: time for an unanswered
	// attempt at a request, and the next ones.
	cleanReserve = kit.AttemptTimeout + time.Second
)

// cleanEach cleans items, some at once, until one fails or the context ends soon. It reports whether it has cleaned
// all.
func cleanEach[T any](ctx context.Context, items iter.Seq2[T, error],
	clean func(context.Context, T) error) (complete bool, _ error) {
	cleaning, failed := errgroup.WithContext(ctx)
	cleaning.SetLimit(cleanParallel)
	complete = true
	for item, err := range items {
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < cleanReserve || failed.Err() != nil {
			complete = false
			break
		}
		cleaning.Go(func() error {
			if err != nil {
				return err
			}
			return clean(ctx, item)
		})
	}
	err := cleaning.Wait()
	return complete && err == nil, err
}

// cleanReferences withdraws the votes of a user, and deletes the submissions that items of the user
// name. A vote's item goes once the vote is withdrawn.
func (s *Service) cleanReferences(ctx context.Context, user string) (complete bool, err error) {
	references := dynamo.Read[referenceItem](ctx, s.DB, "ListUserItems", dynamo.Query{Values: []any{userKey(user)}})
	return cleanEach(ctx, references, func(ctx context.Context, reference referenceItem) error {
		submission := key{reference.TermKey, submissionKey("", reference.SubmissionID).SK}
		switch {
		case strings.HasPrefix(reference.SK, voteKey(user, "").SK):
			if err := s.withdrawVote(ctx, submission, user); err != nil {
				return err
			}
			return s.deleteVote(ctx, user, reference.SubmissionID)
		case strings.HasPrefix(reference.SK, submittedPrefix):
			return s.deleteSubmission(ctx, submission)
		}
		return nil
	})
}

// withdrawVote takes back the vote of a user, if the submission is there and has it.
func (s *Service) withdrawVote(ctx context.Context, submission key, user string) error {
	update := expression.Add(dynamo.Name("upvotes"), expression.Value(-1)).
		Delete(dynamo.Name("upvoted_by"), expression.Value(&types.AttributeValueMemberSS{Value: []string{user}}))
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "WithdrawVote", submission.values(), update,
		dynamo.Name("upvoted_by").Contains(user), nil))
	return err
}

// deleteVote deletes the note of a vote.
func (s *Service) deleteVote(ctx context.Context, user, id string) error {
	return s.DB.Delete(ctx, "DeleteUserItem", voteKey(user, id).values(), expression.ConditionBuilder{})
}

// deleteSubmission deletes a submission, and before it the items of the votes for it.
func (s *Service) deleteSubmission(ctx context.Context, submission key) error {
	return retry.Do(ctx, func() error {
		read, found, err := s.submissionAt(ctx, submission)
		if err != nil || !found {
			return err
		}
		for _, voter := range read.UpvotedBy {
			if err := s.deleteVote(ctx, voter, read.ID); err != nil {
				return err
			}
		}
		sameVotes := dynamo.Absent("upvoted_by")
		if len(read.UpvotedBy) > 0 {
			sameVotes = dynamo.Equal("upvoted_by", &types.AttributeValueMemberSS{Value: read.UpvotedBy})
		}
		return dynamo.UnlessStale(s.DB.Delete(ctx, "DeleteSubmission", submission.values(), sameVotes))
	})
}

// DeletedUser returns the user of a profile in a change of Users, if the account is being deleted; "": it is not. A
// profile that does not say whose it is is an error.
func DeletedUser(change events.DynamoDBStreamRecord) (user string, err error) {
	text := func(name string) string { return trigger.Text(change.NewImage, name) }
	if text("SK") != profileKey("").SK || text("status") != string(lingible.Deleting) {
		return "", nil
	}
	if user = text("user_id"); user == "" {
		err = errors.New("the profile of an account that is being deleted has no user_id that is a text")
	}
	return user, err
}
