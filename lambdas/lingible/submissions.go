package lingible

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// A valid submission with at least these is approved without a vote.
	autoConfidence, autoUsage = 0.85, 7
	// revalidateAfter is how old a submission is when its validation has failed, or died.
	revalidateAfter = time.Minute
	// leastValidationTime is how much time a validation needs: with less it is not begun.
	leastValidationTime = 20 * time.Second
	// concurrentValidations is how many validations a run makes at once.
	concurrentValidations = 4
	// validationsPerRun is how many submissions a run looks at, at most: more than it can judge in its time.
	validationsPerRun = 1000
	// validationFailures is after how many failures a run begins no further validation: the language is unavailable,
	// and the next run is a better retry.
	validationFailures = 20
)

// Submit stores a proposal. It returns [lingible.ErrUserDeleted], a [*lingible.SubscriptionError], a
// [*lingible.UsageError], [lingible.ErrTermKnown] or [lingible.ErrAlreadySubmitted].
func (s *Service) Submit(ctx context.Context, caller Caller,
	proposal lingible.Proposal) (submission lingible.Submission, err error) {
	id := uuid.NewString()
	err = retry.Do(ctx, func() error {
		var isKnown bool
		usage, err := s.usageAfter(ctx, caller, func() (err error) {
			_, isKnown, err = s.entry(ctx, lingible.Slug(proposal.Term))
			return err
		})
		if err != nil {
			return err
		}
		now := s.Calendar.Clock.Now()
		recent, err := submittable(usage, now)
		switch {
		case err != nil:
			return err
		case isKnown:
			return lingible.ErrTermKnown
		}
		submission = lingible.Submission{ID: id, UserID: caller.ID, Proposal: proposal,
			Status: lingible.Pending, CreatedAt: now, ValidationStatus: lingible.Pending}
		return s.storeSubmission(ctx, submission, usage, append(recent, now))
	})
	err = unlessLimited(ctx, err, func(ctx context.Context) error {
		usage, err := s.Usage(ctx, caller)
		if err == nil {
			_, err = submittable(usage, s.Calendar.Clock.Now())
		}
		return err
	})
	if err != nil {
		return lingible.Submission{}, err
	}
	s.count(ctx, "Submissions", 1)
	return submission, nil
}

// submittable returns the times of the submissions that count at a moment, if the user may make another one. Otherwise
// it returns a [*lingible.SubscriptionError] or a [*lingible.UsageError].
func submittable(usage lingible.Usage, now time.Time) (recent []time.Time, err error) {
	limit := usage.Tier.Limits().Submissions
	recent = usage.Submitted(now)
	switch {
	case limit == 0:
		return nil, &lingible.SubscriptionError{What: "submitting terms"}
	case len(recent) >= limit:
		return nil, &lingible.UsageError{What: "submissions in 24 hours", Limit: limit,
			Until: recent[len(recent)-limit].Add(lingible.SubmissionWindow)}
	}
	return recent, nil
}

// Validate judges a submission, unless it is judged, decided or gone. A submission that the
// language could not judge stays as it is, for [Service.Revalidate], and is no error.
func (s *Service) Validate(ctx context.Context, slug, id string) error {
	submission, found, err := s.submissionAt(ctx, submissionKey(slug, id))
	if err != nil || !found || submission.ValidationStatus != lingible.Pending {
		return err
	}
	_, err = s.validate(ctx, submission)
	return err
}

// validate judges a submission as it was read, and reports whether the language could.
func (s *Service) validate(ctx context.Context, read lingible.Submission) (isJudged bool, err error) {
	verdict, err := s.Language.Validate(ctx, read.Proposal)
	if _, failed := errors.AsType[*model.Error](err); failed {
		s.count(ctx, "LanguageFailures", 1)
		s.log().WarnContext(ctx, "a submission is not validated yet", "submission_id", read.ID, "error", err.Error())
		return false, nil
	}
	if err != nil {
		return false, err
	}
	verdict.Reasons = append([]string{}, verdict.Reasons...)
	judged := read
	judged.Validation, judged.ValidationStatus = &lingible.Validation{Verdict: verdict,
		ModelUsed: s.Language.ModelID()}, lingible.Validated
	switch {
	case !verdict.Valid:
		judged.ValidationStatus = lingible.Rejected
		judged = judged.Decided(lingible.Rejected, s.Calendar.Clock.Now())
	case verdict.Confidence >= autoConfidence && verdict.Usage >= autoUsage:
		judged = judged.Decided(lingible.AutoApproved, s.Calendar.Clock.Now())
	default:
		judged.Status = lingible.Validated
	}
	if judged.ApprovalType == "" {
		err = s.storeJudgement(ctx, read, judged)
	} else {
		err = s.storeReview(ctx, read, judged)
	}
	// A stale one was judged or decided meanwhile.
	if err != nil && !errors.Is(err, retry.ErrStale) {
		return false, err
	}
	return true, nil
}

// Revalidation is what [Service.Revalidate] did.
type Revalidation struct {
	// Validated counts the submissions that were judged, Failed those that the language could not
	// judge.
	Validated, Failed int
	// Unfinished says that there are more for the next run.
	Unfinished bool
}

// Revalidate judges the submissions whose validation failed or died, a few at a time, until none is left, time runs
// out, or the language fails too often. A submission that cannot be read or written does not keep it from the others;
// the error has all of these. The order is random: one that fails each time does not stay before the others.
func (s *Service) Revalidate(ctx context.Context) (run Revalidation, err error) {
	var waiting []lingible.Submission
	for listed, err := range dynamo.Read[lingible.Submission](ctx, s.DB, "ListByValidationStatus",
		dynamo.Query{Values: []any{lingible.Pending}}) {
		if err != nil {
			return run, err
		}
		if waiting = append(waiting, listed); len(waiting) == validationsPerRun {
			break
		}
	}
	rand.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	var failures atomic.Int64
	run.Unfinished = len(waiting) == validationsPerRun
	whileAvailable := func(yield func(lingible.Submission, error) bool) {
		for _, listed := range waiting {
			if failures.Load() >= validationFailures {
				run.Unfinished = true
				return
			}
			if !yield(listed, nil) {
				return
			}
		}
	}
	unfinished, err := kit.Work(ctx, whileAvailable, concurrentValidations, leastValidationTime,
		func(ctx context.Context, listed lingible.Submission) (*int, error) {
			// The index has neither the age nor the texts, and may be behind the table.
			read, found, err := s.submissionAt(ctx, submissionKey(lingible.Slug(listed.Term), listed.ID))
			if err != nil {
				return nil, fmt.Errorf("submission %s: %w", listed.ID, err)
			}
			if !found || read.ValidationStatus != lingible.Pending ||
				read.CreatedAt.After(s.Calendar.Clock.Now().Add(-revalidateAfter)) {
				return nil, nil
			}
			isJudged, err := s.validate(ctx, read)
			if !isJudged {
				failures.Add(1)
				return &run.Failed, err
			}
			return &run.Validated, err
		})
	run.Unfinished = run.Unfinished || unfinished
	return run, err
}

// Vote counts the caller's vote for a submission, once. The vote that reaches
// [Service.VotesToApprove] approves it. It returns [lingible.ErrUserDeleted], [lingible.ErrSubmissionNotFound],
// [lingible.ErrOwnSubmission], [lingible.ErrNotOpen] or [lingible.ErrAlreadyVoted].
func (s *Service) Vote(ctx context.Context, caller Caller, id string) (vote lingible.Vote, err error) {
	var now lingible.Submission
	err = retry.Do(ctx, s.onSubmission(ctx, id, func(read func() (lingible.Submission, error)) error {
		var submission lingible.Submission
		_, err := s.usageAfter(ctx, caller, func() (err error) {
			submission, err = read()
			return err
		})
		now = submission
		now.Upvotes++
		switch {
		case err != nil:
			return err
		case submission.UserID == caller.ID:
			return lingible.ErrOwnSubmission
		case submission.Status != lingible.Validated && submission.Status != lingible.CommunityApproved ||
			submission.Upvotes >= lingible.MaxVotes:
			return lingible.ErrNotOpen
		case submission.Status == lingible.CommunityApproved:
			return s.storeVote(ctx, caller.ID, submission, lingible.MaxVotes)
		case now.Upvotes < s.VotesToApprove:
			return s.storeVote(ctx, caller.ID, submission, s.VotesToApprove-1)
		}
		now = now.Decided(lingible.CommunityApproved, s.Calendar.Clock.Now())
		return s.storeApproval(ctx, caller.ID, submission, now)
	}))
	if err != nil {
		return lingible.Vote{}, err
	}
	return lingible.Vote{SubmissionID: id, Upvotes: now.Upvotes, Status: now.Status,
		Approved: now.Status.ApprovalType() != ""}, nil
}

// Approve approves a submission as an administrator. It returns [lingible.ErrSubmissionNotFound] or a
// [lingible.DecidedError].
func (s *Service) Approve(ctx context.Context, administrator, id string) (lingible.Submission, error) {
	return s.decide(ctx, administrator, id, lingible.AdminApproved)
}

// Reject rejects a submission as [Service.Approve] approves one.
func (s *Service) Reject(ctx context.Context, administrator, id string) (lingible.Submission, error) {
	return s.decide(ctx, administrator, id, lingible.AdminRejected)
}

func (s *Service) decide(ctx context.Context, administrator, id string,
	status lingible.SubmissionStatus) (decided lingible.Submission, err error) {
	err = retry.Do(ctx, s.onSubmission(ctx, id, func(read func() (lingible.Submission, error)) error {
		submission, err := read()
		if err != nil {
			return err
		}
		if submission.Status != lingible.Pending && submission.Status != lingible.Validated {
			return &lingible.DecidedError{Status: submission.Status, At: submission.ReviewedAt}
		}
		decided = submission.Decided(status, s.Calendar.Clock.Now())
		decided.ReviewedBy = digestOf([]byte(administrator))
		if decided.ValidationStatus == lingible.Pending {
			decided.ValidationStatus = ""
		}
		return s.storeReview(ctx, submission, decided)
	}))
	return decided, err
}

// onSubmission is work on a submission, for [retry.Do]. It first reads the submission as it was a
// moment ago, which takes one request. If that is stale, or the work is refused by its status, it
// reads the submission as it is now.
func (s *Service) onSubmission(ctx context.Context, id string,
	work func(read func() (lingible.Submission, error)) error) func() error {
	isAgain := false
	return func() error {
		err := work(func() (lingible.Submission, error) { return s.submission(ctx, id, isAgain) })
		_, decided := errors.AsType[*lingible.DecidedError](err)
		if !isAgain && (decided || errors.Is(err, retry.ErrStale) || errors.Is(err, lingible.ErrNotOpen)) {
			isAgain = true
			return retry.ErrStale
		}
		return err
	}
}

// submission reads a submission, as it was a moment ago or as it is now.
func (s *Service) submission(ctx context.Context, id string, isNow bool) (lingible.Submission, error) {
	if !wire.IsID(id) {
		return lingible.Submission{}, lingible.ErrSubmissionNotFound
	}
	submission, found, err := first[lingible.Submission](ctx, s.DB, "GetSubmissionByID", id)
	if err == nil && found && isNow {
		submission, found, err = s.submissionAt(ctx, submissionKey(lingible.Slug(submission.Term), id))
	}
	if err == nil && !found {
		err = lingible.ErrSubmissionNotFound
	}
	return submission, err
}

// OwnSubmissions lists up to most submissions of a user, newest first, from a cursor on; "" is the beginning. It
// returns a [*validate.Error] for a cursor of another list.
func (s *Service) OwnSubmissions(ctx context.Context, user string, most int, from string) (lingible.SubmissionList,
	error) {
	return s.submissionList(ctx, "ListUserSubmissions", user, most, from)
}

// OpenSubmissions lists up to most submissions to vote on, oldest first, likewise.
func (s *Service) OpenSubmissions(ctx context.Context, most int, from string) (lingible.SubmissionList, error) {
	list, err := s.submissionList(ctx, "ListSubmissionsByStatus", string(lingible.Validated), most, from)
	list.Submissions = slices.DeleteFunc(list.Submissions, func(s lingible.Submission) bool {
		return s.Status != lingible.Validated
	})
	return list, err
}

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

func submissionKey(slug, id string) key { return keyOf(lingible.SubmissionKey(slug, id)) }

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

// storeSubmission stores a submission and the times of the user's submissions. It returns
// [lingible.ErrAlreadySubmitted], or [retry.ErrStale] if the usage has other times or another tier. The TTL of
// SUBMITTED# is swept late: created_at decides.
func (s *Service) storeSubmission(ctx context.Context, submission lingible.Submission, usage lingible.Usage,
	times []time.Time) error {
	item := newSubmissionItem(submission)
	submitted := referenceItem{
		key:          key{userKey(submission.UserID), submittedPrefix + lingible.Slug(submission.Term)},
		SubmissionID: submission.ID, TermKey: item.PK,
		CreatedAt: submission.CreatedAt, TTL: dynamo.ExpiryAt(submission.CreatedAt.Add(lingible.SameTermAfter)),
	}
	longAgo := dynamo.Absent("PK").Or(dynamo.Name("created_at").LessThanEqual(
		expression.Value(dynamo.FormatTime(submission.CreatedAt.Add(-lingible.SameTermAfter)))))
	asRead := dynamo.Equal("tier", usage.Tier).And(dynamo.Equal("submitted_at", formatted(usage.SubmittedAt)))
	err := idempotency.Transact(ctx, s.DB, "Submit", submission,
		dynamo.Put(submissions, item, dynamo.Absent("PK")),
		dynamo.Put(users, submitted, longAgo),
		dynamo.Update(users, usageKey(submission.UserID).values(),
			expression.Set(dynamo.Name("submitted_at"), expression.Value(formatted(times))), asRead))
	return dynamo.UnlessStale(err, dynamo.OnFailed(1, lingible.ErrAlreadySubmitted))
}

// formatted are times as items have them.
func formatted(times []time.Time) []string {
	texts := make([]string, len(times))
	for i, at := range times {
		texts[i] = dynamo.FormatTime(at)
	}
	return texts
}

// submissionAt reads a submission as it is now; false: there is none.
func (s *Service) submissionAt(ctx context.Context, at key) (submission lingible.Submission, found bool, err error) {
	read, err := dynamo.ReadBatch[lingible.Submission](ctx, s.DB, "GetSubmissions", at.values())
	if err != nil || read[0] == nil {
		return submission, false, err
	}
	return *read[0], true, nil
}

// submissionList reads the keys of a page from an index, and the submissions as they are now.
func (s *Service) submissionList(ctx context.Context, pattern, value string, most int,
	from string) (list lingible.SubmissionList, err error) {
	index := dynamo.List{Pattern: pattern, Values: []any{value}, Key: s.CursorKey, Scope: []string{value}}
	keys, next, err := dynamo.ReadPage[key](ctx, s.DB, index, from, most)
	if err != nil {
		return list, err
	}
	wanted := make([][]any, len(keys))
	for i, k := range keys {
		wanted[i] = k.values()
	}
	read, err := dynamo.ReadBatch[lingible.Submission](ctx, s.DB, "GetSubmissions", wanted...)
	list = lingible.SubmissionList{Submissions: []lingible.Submission{}, NextCursor: next}
	for _, submission := range read {
		if submission != nil {
			list.Submissions = append(list.Submissions, *submission)
		}
	}
	return list, err
}

// storeJudgement stores what a validation said that does not approve the submission. It returns [retry.ErrStale] if the
// submission has another status or other votes than were read, or if an attempt of its own whose answer was lost has
// stored it. It is half of what a transaction costs.
func (s *Service) storeJudgement(ctx context.Context, read, judged lingible.Submission) error {
	update, err := reviewOf(judged)
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(s.DB.Update(ctx, "JudgeSubmission", newSubmissionItem(read).values(), update,
		isAsRead(read), nil))
}

// storeReview stores the review of a submission. It returns [retry.ErrStale] if the submission has another status or
// other votes than were read.
func (s *Service) storeReview(ctx context.Context, read, reviewed lingible.Submission) error {
	update, err := reviewOf(reviewed)
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(s.transactReview(ctx, "ReviewSubmission", reviewed,
		dynamo.Update(submissions, newSubmissionItem(read).values(), update, isAsRead(read))))
}

// storeVote counts a vote of a user, with a note of it among what the user has, if the submission has fewer votes than
// most. It returns [lingible.ErrAlreadyVoted], or [retry.ErrStale] if it has no fewer, or another status than was read,
// or if the user has no usage.
func (s *Service) storeVote(ctx context.Context, user string, read lingible.Submission, most int) error {
	isOpen := dynamo.Equal("status", read.Status).And(dynamo.Name("upvotes").LessThan(expression.Value(most)))
	return s.addVote(ctx, user, read, lingible.Submission{}, expression.UpdateBuilder{}, isOpen)
}

// storeApproval is storeVote with a review, as [Service.storeReview] stores it.
func (s *Service) storeApproval(ctx context.Context, user string, read, reviewed lingible.Submission) error {
	update, err := reviewOf(reviewed)
	if err != nil {
		return err
	}
	return s.addVote(ctx, user, read, reviewed, update, isAsRead(read))
}

// addVote adds a vote to a change of a submission, with the note by which the account cleaner finds it.
// There may be a note already, of a version that wrote it before the vote: alone it counts for nothing.
func (s *Service) addVote(ctx context.Context, user string, read, reviewed lingible.Submission,
	update expression.UpdateBuilder, condition expression.ConditionBuilder) error {
	voter := &types.AttributeValueMemberSS{Value: []string{user}}
	update = update.Add(dynamo.Name("upvotes"), expression.Value(1)).Add(dynamo.Name("upvoted_by"),
		expression.Value(voter))
	hasNotVoted := expression.Not(dynamo.Name("upvoted_by").Contains(user))
	item := newSubmissionItem(read)
	note := referenceItem{key: voteKey(user, read.ID), SubmissionID: read.ID, TermKey: item.PK}
	err := s.transactReview(ctx, "Vote", reviewed,
		dynamo.Update(submissions, item.values(), update, condition.And(hasNotVoted)),
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

// transactReview changes a submission by a transaction. It brings the term of one that is approved by that into the
// lexicon, unless the lexicon has it.
func (s *Service) transactReview(ctx context.Context, pattern string, reviewed lingible.Submission,
	change dynamo.Write, more ...dynamo.Write) error {
	if reviewed.ApprovalType == "" {
		return s.DB.Transact(ctx, pattern, append([]dynamo.Write{change}, more...)...)
	}
	entry := dynamo.Put(lexicon, newEntryItem(reviewed.Entry(), reviewed.ReviewedAt), dynamo.Absent("PK"))
	err := s.DB.Transact(ctx, pattern, append([]dynamo.Write{change, entry}, more...)...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, isKnown := refused.Failed(1); isKnown {
			err = s.DB.Transact(ctx, pattern, append([]dynamo.Write{change}, more...)...)
		}
	}
	if err == nil {
		s.count(ctx, "Approvals", 1)
	}
	return err
}

// reviewOf sets what a review changes of a submission.
func reviewOf(reviewed lingible.Submission) (expression.UpdateBuilder, error) {
	update, err := dynamo.Changes(newSubmissionItem(reviewed), "status", "reviewed_at", "approval_type", "reviewed_by",
		"llm_validation_status", "llm_validation_result", "ttl")
	if err != nil {
		err = fmt.Errorf("write the submission: %w", err)
	}
	return update, err
}

// isAsRead says that no one has decided, judged or voted since a submission was read.
func isAsRead(read lingible.Submission) expression.ConditionBuilder {
	return dynamo.Equal("status", read.Status).And(dynamo.Equal("upvotes", read.Upvotes))
}
