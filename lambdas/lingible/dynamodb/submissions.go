package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

var _ lingible.ModerationStore = (*Store)(nil)

// submissionItem is an item of Submissions.
type submissionItem struct {
	key
	lingible.Submission
	TTL int64 `dynamodbav:"ttl,omitempty"`
}

func newSubmissionItem(submission lingible.Submission) submissionItem {
	item := submissionItem{key: submissionKey(lingible.Slug(submission.Term), submission.ID), Submission: submission}
	if !submission.ReviewedAt.IsZero() && submission.ApprovalType == "" {
		item.TTL = dynamo.ExpiryAt(submission.ReviewedAt.Add(lingible.RejectedFor))
	}
	return item
}

func submissionKey(slug, id string) key { return key{termKey(slug), "SUBMISSION#" + id} }

// referenceItem is an item of a user that names a submission: VOTE# and SUBMITTED#.
type referenceItem struct {
	key
	SubmissionID string    `dynamodbav:"submission_id"`
	TermKey      string    `dynamodbav:"term_key"`
	CreatedAt    time.Time `dynamodbav:"created_at,omitempty"`
	TTL          int64     `dynamodbav:"ttl,omitempty"`
}

// submittedPrefix begins the sort key of the item that says that a user has submitted a term.
const submittedPrefix = "SUBMITTED#"

func voteKey(user, id string) key { return key{userKey(user), "VOTE#" + id} }

// Submit implements [lingible.ModerationStore]. The TTL of SUBMITTED# is swept late: created_at
// decides.
func (s *Store) Submit(ctx context.Context, submission lingible.Submission, usage lingible.Usage, times []time.Time) error {
	item := newSubmissionItem(submission)
	submitted := referenceItem{
		key: key{userKey(submission.UserID), submittedPrefix + lingible.Slug(submission.Term)}, SubmissionID: submission.ID, TermKey: item.PK,
		CreatedAt: submission.CreatedAt, TTL: dynamo.ExpiryAt(submission.CreatedAt.Add(lingible.SameTermAfter)),
	}
	longAgo := dynamo.Absent("PK").Or(dynamo.Name("created_at").LessThanEqual(expression.Value(dynamo.FormatTime(submission.CreatedAt.Add(-lingible.SameTermAfter)))))
	asRead := dynamo.Equal("tier", usage.Tier).And(dynamo.Equal("submitted_at", formatted(usage.SubmittedAt)))
	err := idempotency.Transact(ctx, s.db, "Submit", submission,
		dynamo.Put(submissions, item, dynamo.Absent("PK")),
		dynamo.Put(users, submitted, longAgo),
		dynamo.Update(users, usageKey(submission.UserID).values(), expression.Set(dynamo.Name("submitted_at"), expression.Value(formatted(times))), asRead))
	return dynamo.UnlessStale(err, dynamo.Means(1, lingible.ErrAlreadySubmitted))
}

// formatted are times as items have them.
func formatted(times []time.Time) []string {
	texts := make([]string, len(times))
	for i, at := range times {
		texts[i] = dynamo.FormatTime(at)
	}
	return texts
}

// Submission implements [lingible.ModerationStore].
func (s *Store) Submission(ctx context.Context, slug, id string) (submission lingible.Submission, found bool, err error) {
	found, err = s.db.Get(ctx, "GetSubmission", &submission, submissionKey(slug, id).values()...)
	return submission, found, err
}

// FindSubmission implements [lingible.ModerationStore].
func (s *Store) FindSubmission(ctx context.Context, id string) (submission lingible.Submission, found bool, err error) {
	page, err := s.db.Page(ctx, "GetSubmissionByID", dynamo.Query{Values: []any{id}})
	if err != nil || len(page.Items) == 0 {
		return submission, false, err
	}
	return submission, true, attributevalue.UnmarshalMap(page.Items[0], &submission)
}

// UserSubmissions implements [lingible.ModerationStore].
func (s *Store) UserSubmissions(ctx context.Context, user string, most int, from string) (lingible.SubmissionList, error) {
	return s.submissionList(ctx, "ListUserSubmissions", user, most, from)
}

// OpenSubmissions implements [lingible.ModerationStore].
func (s *Store) OpenSubmissions(ctx context.Context, most int, from string) (lingible.SubmissionList, error) {
	list, err := s.submissionList(ctx, "ListSubmissionsByStatus", string(lingible.Validated), most, from)
	list.Submissions = slices.DeleteFunc(list.Submissions, func(s lingible.Submission) bool { return s.Status != lingible.Validated })
	return list, err
}

// submissionList reads the keys of a page from an index, and the submissions as they are now.
func (s *Store) submissionList(ctx context.Context, pattern, value string, most int, from string) (list lingible.SubmissionList, err error) {
	index := dynamo.List{Pattern: pattern, Values: []any{value}, Key: s.CursorKey, Scope: []string{value}}
	keys, next, err := dynamo.ReadPage[key](ctx, s.db, index, from, most)
	if err != nil {
		return list, err
	}
	wanted := make([][]any, len(keys))
	for i, k := range keys {
		wanted[i] = k.values()
	}
	read, err := dynamo.ReadBatch[lingible.Submission](ctx, s.db, "GetSubmissions", wanted...)
	list = lingible.SubmissionList{Submissions: []lingible.Submission{}, NextCursor: next}
	for _, submission := range read {
		if submission != nil {
			list.Submissions = append(list.Submissions, *submission)
		}
	}
	return list, err
}

// UnvalidatedSubmissions implements [lingible.ModerationStore].
func (s *Store) UnvalidatedSubmissions(ctx context.Context) iter.Seq2[lingible.Submission, error] {
	return dynamo.Read[lingible.Submission](ctx, s.db, "ListByValidationStatus", dynamo.Query{Values: []any{lingible.Pending}})
}

// Review implements [lingible.ModerationStore].
func (s *Store) Review(ctx context.Context, read, reviewed lingible.Submission, entry *lingible.Entry, voter string) error {
	item := newSubmissionItem(reviewed)
	update, err := dynamo.Changes(item, "status", "reviewed_at", "approval_type", "reviewed_by", "llm_validation_status", "llm_validation_result", "ttl")
	if err != nil {
		return fmt.Errorf("write the submission: %w", err)
	}
	asRead := dynamo.Equal("status", read.Status)
	if voter != "" {
		update = withVote(update, voter)
		asRead = asRead.And(dynamo.Equal("upvotes", read.Upvotes), hasNotVoted(voter))
	}
	writes := []dynamo.Write{dynamo.Update(submissions, item.values(), update, asRead)}
	if entry != nil {
		writes = append(writes, dynamo.Put(lexicon, newEntryItem(*entry, reviewed.ReviewedAt), dynamo.Absent("PK")))
	}
	err = s.db.Transact(ctx, "ReviewSubmission", writes...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, stale := refused.Failed(0); !stale {
			// The lexicon has the term, and keeps it.
			return s.Review(ctx, read, reviewed, nil, voter)
		}
	}
	return dynamo.UnlessStale(err)
}

// withVote adds a vote to the changes of a submission.
func withVote(update expression.UpdateBuilder, user string) expression.UpdateBuilder {
	return update.Add(dynamo.Name("upvotes"), expression.Value(1)).
		Add(dynamo.Name("upvoted_by"), expression.Value(&types.AttributeValueMemberSS{Value: []string{user}}))
}

func hasNotVoted(user string) expression.ConditionBuilder {
	return expression.Not(dynamo.Name("upvoted_by").Contains(user))
}

// RecordVote implements [lingible.ModerationStore].
func (s *Store) RecordVote(ctx context.Context, user string, submission lingible.Submission) (isNew bool, err error) {
	vote := referenceItem{key: voteKey(user, submission.ID), SubmissionID: submission.ID, TermKey: newSubmissionItem(submission).PK}
	err = s.db.Transact(ctx, "RecordVote",
		dynamo.Check(users, usageKey(user).values(), expression.AttributeExists(dynamo.Name("PK"))),
		dynamo.Put(users, vote, dynamo.Absent("PK")))
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, deleted := refused.Failed(0); !deleted {
			return false, nil
		}
	}
	return err == nil, dynamo.UnlessStale(err)
}

// CountVote implements [lingible.ModerationStore].
func (s *Store) CountVote(ctx context.Context, user string, submission lingible.Submission, most int) (now lingible.Submission, counted bool, err error) {
	// Setting the status to itself returns it.
	update := withVote(expression.Set(dynamo.Name("status"), dynamo.Name("status")), user)
	open := dynamo.Equal("status", lingible.CommunityApproved).Or(
		dynamo.Equal("status", lingible.Validated).And(dynamo.Name("upvotes").LessThan(expression.Value(most))))
	err = s.db.Update(ctx, "CountVote", newSubmissionItem(submission).values(), update, open.And(hasNotVoted(user)), &now)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		return now, false, attributevalue.UnmarshalMap(refused.Item, &now)
	}
	return now, err == nil, err
}

// DeleteVote implements [lingible.ModerationStore].
func (s *Store) DeleteVote(ctx context.Context, user, id string) error {
	return s.db.Delete(ctx, "DeleteUserItem", voteKey(user, id).values(), expression.ConditionBuilder{})
}
