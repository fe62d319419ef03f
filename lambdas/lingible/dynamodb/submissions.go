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
func (s *Store) Submission(ctx context.Context, slug, id string) (lingible.Submission, bool, error) {
	return s.submission(ctx, submissionKey(slug, id))
}

func (s *Store) submission(ctx context.Context, at key) (submission lingible.Submission, found bool, err error) {
	read, err := dynamo.ReadBatch[lingible.Submission](ctx, s.db, "GetSubmissions", at.values())
	if err != nil || read[0] == nil {
		return submission, false, err
	}
	return *read[0], true, nil
}

// FindSubmission implements [lingible.ModerationStore].
func (s *Store) FindSubmission(ctx context.Context, id string) (lingible.Submission, bool, error) {
	return first[lingible.Submission](ctx, s, "GetSubmissionByID", id)
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

// Judge implements [lingible.ModerationStore]. It is half of what a transaction costs.
func (s *Store) Judge(ctx context.Context, read, judged lingible.Submission) error {
	update, err := reviewOf(judged)
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(s.db.Update(ctx, "JudgeSubmission", newSubmissionItem(read).values(), update, isAsRead(read), nil))
}

// Review implements [lingible.ModerationStore].
func (s *Store) Review(ctx context.Context, read, reviewed lingible.Submission, entry *lingible.Entry) error {
	update, err := reviewOf(reviewed)
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(s.decide(ctx, "ReviewSubmission", changed(read, update, isAsRead(read)), added(reviewed, entry)))
}

// Vote implements [lingible.ModerationStore].
func (s *Store) Vote(ctx context.Context, user string, read lingible.Submission, most int) error {
	isOpen := dynamo.Equal("status", read.Status).And(dynamo.Name("upvotes").LessThan(expression.Value(most)))
	return s.vote(ctx, user, read, expression.UpdateBuilder{}, isOpen, nil)
}

// VoteToApprove implements [lingible.ModerationStore].
func (s *Store) VoteToApprove(ctx context.Context, user string, read, reviewed lingible.Submission, entry *lingible.Entry) error {
	update, err := reviewOf(reviewed)
	if err != nil {
		return err
	}
	return s.vote(ctx, user, read, update, isAsRead(read), added(reviewed, entry))
}

// vote adds a vote to a change of a submission, with the note by which the account cleaner finds it.
// There may be a note already, of a version that wrote it before the vote: alone it counts for nothing.
func (s *Store) vote(ctx context.Context, user string, read lingible.Submission, update expression.UpdateBuilder, condition expression.ConditionBuilder, entry []dynamo.Write) error {
	voter := &types.AttributeValueMemberSS{Value: []string{user}}
	update = update.Add(dynamo.Name("upvotes"), expression.Value(1)).Add(dynamo.Name("upvoted_by"), expression.Value(voter))
	hasNotVoted := expression.Not(dynamo.Name("upvoted_by").Contains(user))
	note := referenceItem{key: voteKey(user, read.ID), SubmissionID: read.ID, TermKey: newSubmissionItem(read).PK}
	err := s.decide(ctx, "Vote", changed(read, update, condition.And(hasNotVoted)), entry,
		dynamo.Check(users, usageKey(user).values(), expression.AttributeExists(dynamo.Name("PK"))),
		dynamo.Put(users, note, expression.ConditionBuilder{}))
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		item, _ := refused.Failed(0)
		var stored lingible.Submission
		if err := attributevalue.UnmarshalMap(item, &stored); err != nil {
			return fmt.Errorf("read the submission: %w", err)
		}
		if slices.Contains(stored.UpvotedBy, user) {
			return lingible.ErrAlreadyVoted
		}
	}
	return dynamo.UnlessStale(err)
}

// decide changes a submission by a transaction, with the entry, if there is one, unless the lexicon has
// its term.
func (s *Store) decide(ctx context.Context, pattern string, change dynamo.Write, entry []dynamo.Write, more ...dynamo.Write) error {
	err := s.db.Transact(ctx, pattern, slices.Concat([]dynamo.Write{change}, entry, more)...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok && len(entry) > 0 {
		if _, isKnown := refused.Failed(1); isKnown {
			return s.decide(ctx, pattern, change, nil, more...)
		}
	}
	return err
}

// changed changes a submission, if the condition is true.
func changed(read lingible.Submission, update expression.UpdateBuilder, condition expression.ConditionBuilder) dynamo.Write {
	return dynamo.Update(submissions, newSubmissionItem(read).values(), update, condition)
}

// added adds the entry of an approved submission to the lexicon. Nil adds none.
func added(reviewed lingible.Submission, entry *lingible.Entry) []dynamo.Write {
	if entry == nil {
		return nil
	}
	return []dynamo.Write{dynamo.Put(lexicon, newEntryItem(*entry, reviewed.ReviewedAt), dynamo.Absent("PK"))}
}

// reviewOf sets what a review changes of a submission.
func reviewOf(reviewed lingible.Submission) (expression.UpdateBuilder, error) {
	update, err := dynamo.Changes(newSubmissionItem(reviewed), "status", "reviewed_at", "approval_type", "reviewed_by", "llm_validation_status", "llm_validation_result", "ttl")
	if err != nil {
		err = fmt.Errorf("write the submission: %w", err)
	}
	return update, err
}

// isAsRead says that no one has decided, judged or voted since a submission was read.
func isAsRead(read lingible.Submission) expression.ConditionBuilder {
	return dynamo.Equal("status", read.Status).And(dynamo.Equal("upvotes", read.Upvotes))
}
