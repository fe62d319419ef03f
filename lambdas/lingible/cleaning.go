package lingible

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
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
	own := profileKey(user)
	complete, err = ownership.Deletion{
		DB: s.DB, Owned: lingible.Owned(), Person: user,
		Hooks: map[string]func(context.Context) (bool, error){
			"submissions": func(ctx context.Context) (bool, error) { return s.deleteSubmissions(ctx, user) }},
		Keep: func(item dynamo.Item) bool { return dynamo.Text(item, "SK") == own.SK },
	}.Erase(ctx)
	if err != nil || !complete {
		return false, err
	}
	_, err = dynamo.Satisfied(s.DB.Delete(ctx, "DeleteUserItem", own.values(),
		dynamo.Equal("status", lingible.Deleting)))
	return err == nil, err
}

// deleteSubmissions deletes the submissions that items of a user name, and then those that only the index has.
func (s *Service) deleteSubmissions(ctx context.Context, user string) (complete bool, err error) {
	complete, err = s.DB.Erase(ctx, dynamo.Erasure{List: "ListUserItems", Sort: submittedPrefix,
		Each: func(ctx context.Context, item dynamo.Item) error {
			id := dynamo.Text(item, "submission_id")
			return s.deleteSubmission(ctx, key{dynamo.Text(item, "term_key"), submissionKey("", id).SK})
		}}, userKey(user))
	if err != nil || !complete {
		return false, err
	}
	return s.DB.Erase(ctx, dynamo.Erasure{List: "ListUserSubmissions",
		Each: func(ctx context.Context, item dynamo.Item) error {
			return s.deleteSubmission(ctx, key{dynamo.Text(item, "PK"), dynamo.Text(item, "SK")})
		}}, user)
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
