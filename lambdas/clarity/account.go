package clarity

import (
	"cmp"
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Deletion is the deletion of a user that goes on, or, without ID and User, one that is over.
type Deletion struct {
	// ID is random.
	ID   string `dynamodbav:"deletion,omitempty"`
	User string `dynamodbav:"deletedUser,omitempty"`
}

func deletionKey(user string) []any { return []any{clarity.DeletionKey(ratelimit.Digest(user))} }

// deletionOf reads the deletion of a user. found is false if there was none lately.
func (s *Service) deletionOf(ctx context.Context, user string) (deletion Deletion, found bool, err error) {
	found, err = s.DB.Get(ctx, "GetDeletion", &deletion, deletionKey(user)...)
	return deletion, found, err
}

// Admit returns [clarity.ErrBeingDeleted] if a user is being deleted. Nothing may be written before for the user.
func (s *Service) Admit(ctx context.Context, user string) error {
	deletion, _, err := s.deletionOf(ctx, user)
	if err == nil && deletion.ID != "" {
		err = clarity.ErrBeingDeleted
	}
	return err
}

// DeleteUser begins the deletion of what is kept of a user, which [Service.Erase] carries out. One that goes on is
// handed to it again.
func (s *Service) DeleteUser(ctx context.Context, user string) error {
	now := expression.Value(dynamo.FormatTime(s.Clock.Now()))
	deletion := dynamo.Name("deletion")
	update := expression.Set(deletion, expression.IfNotExists(deletion, expression.Value(uuid.NewString()))).
		Set(dynamo.Name("deletedUser"), expression.Value(user)).Set(dynamo.Name("deletedAt"), now).
		Remove(dynamo.Name("expiresAt"))
	return s.DB.Update(ctx, "BeginDeletion", deletionKey(user), update, expression.ConditionBuilder{}, nil)
}

// DeletionIn is the deletion in a change of Guards that goes on. The zero value: there is none.
func DeletionIn(change events.DynamoDBStreamRecord) (Deletion, error) {
	deletion := Deletion{trigger.Text(change.NewImage, "deletion"), trigger.Text(change.NewImage, "deletedUser")}
	if deletion.ID != "" && deletion.User == "" {
		return Deletion{}, errors.New("a deletion has no deletedUser that is a text")
	}
	if deletion.ID == "" {
		return Deletion{}, nil
	}
	return deletion, nil
}

var errDeletionOver = errors.New("the deletion is over")

// Erase deletes what is kept of a user, if the deletion still goes on, and ends it. complete is false if the context
// ends soon: call it again. No request adds anything meanwhile: those that began before the deletion have ended, and
// later ones are not admitted. Nor does the profiler.
func (s *Service) Erase(ctx context.Context, deletion Deletion) (complete bool, err error) {
	complete, err = ownership.Deletion{DB: s.DB, Owned: clarity.Owned(), Person: deletion.User,
		// The user cannot begin anew before the deletion is over. So what was listed before it goes on is old.
		GoesOn: func(ctx context.Context) error {
			stored, _, err := s.deletionOf(ctx, deletion.User)
			if err == nil && stored.ID != deletion.ID {
				err = errDeletionOver
			}
			return err
		}}.Erase(ctx)
	if errors.Is(err, errDeletionOver) {
		return true, nil
	}
	if err != nil || !complete {
		return false, err
	}
	update := expression.Remove(dynamo.Name("deletion")).Remove(dynamo.Name("deletedUser")).
		Set(dynamo.Name("expiresAt"), expression.Value(dynamo.ExpiryAt(s.Clock.Now().Add(clarity.DeletionKept))))
	_, err = dynamo.Satisfied(s.DB.Update(ctx, "FinishDeletion", deletionKey(deletion.User), update,
		dynamo.Equal("deletion", deletion.ID), nil))
	return err == nil, err
}

// kept returns the attempts of a user but those that were deleted with the user, or are being deleted: profiles of
// these would stay for ever.
func (s *Service) kept(ctx context.Context, attempts []clarity.Attempt) (kept []clarity.Attempt, err error) {
	if len(attempts) == 0 {
		return nil, nil
	}
	deletion, found, err := s.deletionOf(ctx, attempts[0].UserID)
	if err != nil || !found {
		return attempts, err
	}
	for _, attempt := range attempts {
		if deletion.ID != "" {
			break
		}
		_, err := s.read(ctx, attempt.ID)
		if err == nil {
			kept = append(kept, attempt)
		} else if !errors.Is(err, clarity.ErrAttemptNotFound) {
			return nil, err
		}
	}
	return kept, nil
}

// Data reads a page of what is kept of a user: attempts, and then profiles, up to limit of the one or the other. It
// returns a *validate.Error for a token of another list.
func (s *Service) Data(ctx context.Context, user string, limit int, nextToken string) (data clarity.Data, err error) {
	data = clarity.Data{UserID: user, Attempts: []clarity.Attempt{}, Profiles: []clarity.Profile{}}
	limit = cmp.Or(limit, clarity.DefaultPageSize)
	data.NextToken, err = ownership.Export(ctx, nextToken,
		ownership.List{Read: func(ctx context.Context, from string) (string, error) {
			list, err := s.Attempts(ctx, user, limit, from)
			data.Attempts = append(data.Attempts, list.Attempts...)
			return list.NextToken, err
		}},
		ownership.List{Prefix: "profiles.", Read: func(ctx context.Context, from string) (string, error) {
			list, err := s.Profiles(ctx, user, limit, from)
			data.Profiles = append(data.Profiles, list.Profiles...)
			return list.NextToken, err
		}})
	return data, err
}
