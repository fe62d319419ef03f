package lingible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/backlog"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

const (
	// DefaultVotesToApprove is how many votes approve a submission.
	DefaultVotesToApprove = 10
	// MaxVotes is how many votes a submission takes: upvoted_by names each user, by up to 255 bytes,
	// and DynamoDB allows 400 KB for an item.
	MaxVotes = 1400
	// SameTermAfter is how long after a submission its user may submit the term again.
	SameTermAfter = 7 * 24 * time.Hour
	// RejectedFor is how long a rejected submission is kept.
	RejectedFor = 90 * 24 * time.Hour

	// A valid submission with at least these is approved without a vote.
	autoConfidence, autoUsage = 0.85, 7
	// An entry without a verdict has these.
	unjudgedConfidence, unjudgedMomentum = 0.8, 0.5
	// revalidateAfter is how old a submission is when its validation has failed, or died.
	revalidateAfter = time.Minute
	// leastValidationTime is how much time a validation needs: with less it is not begun.
	leastValidationTime = 20 * time.Second
	// concurrentValidations is how many validations a run makes at once.
	concurrentValidations = 4
)

// SubmissionStatus says how far a submission is.
type SubmissionStatus string

// The statuses. Users vote on [Validated] submissions; votes for [CommunityApproved] ones still
// count. Only [Pending] and [Validated] ones change their status.
const (
	Pending           SubmissionStatus = "pending"
	Validated         SubmissionStatus = "validated"
	AutoApproved      SubmissionStatus = "auto_approved"
	CommunityApproved SubmissionStatus = "community_approved"
	AdminApproved     SubmissionStatus = "admin_approved"
	Rejected          SubmissionStatus = "rejected"
	AdminRejected     SubmissionStatus = "admin_rejected"
)

// ApprovalType says how a submission was approved; "" for a status that is no approval.
func (s SubmissionStatus) ApprovalType() string {
	switch s {
	case AutoApproved:
		return "llm_auto"
	case CommunityApproved:
		return "community_vote"
	case AdminApproved:
		return "admin_manual"
	}
	return ""
}

// Submission is a proposal with its validation, votes and review, also on the wire, where it names
// no user.
type Submission struct {
	ID     string `json:"submission_id" dynamodbav:"submission_id" format:"uuid"`
	UserID string `json:"-" dynamodbav:"user_id"`
	Proposal
	Status    SubmissionStatus `json:"status" dynamodbav:"status" enum:"pending,validated,auto_approved,community_approved,admin_approved,rejected,admin_rejected"`
	CreatedAt time.Time        `json:"created_at" dynamodbav:"created_at"`
	// ReviewedAt is when it was approved or rejected.
	ReviewedAt   time.Time `json:"reviewed_at,omitzero" dynamodbav:"reviewed_at,omitempty"`
	ApprovalType string    `json:"approval_type,omitempty" dynamodbav:"approval_type,omitempty" enum:"llm_auto,community_vote,admin_manual" doc:"Absent unless it is approved."`
	// ReviewedBy is the SHA-256 of the id of the administrator who reviewed it, hexadecimal: it does
	// not name a user, whose account may be deleted. Empty: no administrator did.
	ReviewedBy string `json:"-" dynamodbav:"reviewed_by,omitempty"`
	// ValidationStatus is [Pending], [Validated] or [Rejected]; empty if an administrator decided
	// before the validation.
	ValidationStatus SubmissionStatus `json:"llm_validation_status,omitempty" dynamodbav:"llm_validation_status,omitempty" enum:"pending,validated,rejected" doc:"Absent when an administrator decided before the validation."`
	Validation       *Validation      `json:"llm_validation_result,omitempty" dynamodbav:"llm_validation_result,omitempty"`
	Upvotes          int              `json:"upvotes" dynamodbav:"upvotes"`
	UpvotedBy        []string         `json:"-" dynamodbav:"upvoted_by,stringset,omitempty"`
}

// Validation is what a language said about a submission.
type Validation struct {
	Verdict
	ModelUsed string `json:"model_used" dynamodbav:"model_used"`
}

// decided is the submission with that status from now on.
func (s Submission) decided(status SubmissionStatus, now time.Time) Submission {
	s.Status, s.ReviewedAt, s.ApprovalType = status, now, status.ApprovalType()
	return s
}

// entry is the entry of the lexicon that an approval makes. It names no user.
func (s Submission) entry() Entry {
	e := Entry{
		Term: s.Term, Gloss: s.Meaning, Examples: []string{s.Example}, Sources: []string{SourceCommunity},
		Confidence: unjudgedConfidence, Momentum: unjudgedMomentum,
	}
	if v := s.Validation; v != nil {
		e.Confidence, e.Momentum = v.Confidence, float64(v.Usage)/10
	}
	return e
}

// SubmissionList is a page of submissions.
type SubmissionList struct {
	Submissions []Submission `json:"submissions" nullable:"false"`
	NextCursor  string       `json:"next_cursor,omitempty" doc:"For the parameter cursor, to get the next page. Absent on the last one."`
}

// Vote is how a submission stands after a vote.
type Vote struct {
	SubmissionID string           `json:"submission_id" format:"uuid"`
	Upvotes      int              `json:"upvotes" doc:"Others that are made at the same moment may be missing."`
	Status       SubmissionStatus `json:"status" enum:"validated,community_approved"`
	Approved     bool             `json:"approved" doc:"Whether the term is in the lexicon."`
}

// ModerationStore is the storage that [Moderation] needs. Each write is all or nothing.
type ModerationStore interface {
	// Entry reads the term of the lexicon with a slug; false: there is none.
	Entry(ctx context.Context, slug string) (Entry, bool, error)
	// Submit stores a submission and the times of the user's submissions. It returns
	// [ErrAlreadySubmitted], or [retry.ErrStale] if the usage has other times or another tier.
	Submit(ctx context.Context, submission Submission, usage Usage, times []time.Time) error
	// Submission reads a submission as it is now, by the slug of its term and its id; false: there
	// is none.
	Submission(ctx context.Context, slug, id string) (Submission, bool, error)
	// FindSubmission reads a submission by its id, as it was a moment ago.
	FindSubmission(ctx context.Context, id string) (Submission, bool, error)
	// UserSubmissions reads up to most submissions of a user, newest first, from a cursor on; "" is
	// the beginning. It returns a [*validate.Error] for a cursor of another list.
	UserSubmissions(ctx context.Context, user string, most int, from string) (SubmissionList, error)
	// OpenSubmissions reads up to most [Validated] submissions, oldest first, likewise.
	OpenSubmissions(ctx context.Context, most int, from string) (SubmissionList, error)
	// UnvalidatedSubmissions reads the id and the term of each submission whose validation is
	// [Pending], in no order.
	UnvalidatedSubmissions(ctx context.Context) iter.Seq2[Submission, error]
	// Judge stores what a validation said that does not approve the submission. It returns
	// [retry.ErrStale] if the submission has another status or other votes than were read, or if an
	// attempt of its own whose answer was lost has stored it.
	Judge(ctx context.Context, read, judged Submission) error
	// Review stores the review of a submission, with the entry, unless that is nil or the lexicon has
	// its term. It returns [retry.ErrStale] if the submission has another status or other votes than
	// were read.
	Review(ctx context.Context, read, reviewed Submission, entry *Entry) error
	// Vote counts a vote of a user, with a note of it among what the user has, if the submission has
	// fewer votes than most. It returns [ErrAlreadyVoted], or [retry.ErrStale] if it has no fewer, or
	// another status than was read, or if the user has no usage.
	Vote(ctx context.Context, user string, read Submission, most int) error
	// VoteToApprove is Vote with a review, as [ModerationStore.Review] stores it.
	VoteToApprove(ctx context.Context, user string, read, reviewed Submission, entry *Entry) error
}

// Moderation takes submissions, and brings them into the lexicon. It is safe for concurrent use.
//
// The input of each method has passed [validate.Form], which package httpapi calls once for a
// request, before the request's key is claimed.
type Moderation struct {
	Users    *Users
	Store    ModerationStore
	Language Language
	// VotesToApprove is how many votes approve a submission, 1 to [MaxVotes].
	VotesToApprove int
	Calendar       Calendar
	Count          Counter
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger
}

// Submit stores a proposal. It returns [ErrUserDeleted], a [*SubscriptionError], a [*UsageError],
// [ErrTermKnown] or [ErrAlreadySubmitted].
func (m *Moderation) Submit(ctx context.Context, caller Caller, proposal Proposal) (submission Submission, err error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return Submission{}, fmt.Errorf("make an id: %w", err)
	}
	err = retry.Do(ctx, func() error {
		var isKnown bool
		usage, err := m.Users.usageAfter(ctx, caller, func() (err error) {
			_, isKnown, err = m.Store.Entry(ctx, Slug(proposal.Term))
			return err
		})
		if err != nil {
			return err
		}
		now, limit := m.Calendar.Time(), usage.Tier.Limits().Submissions
		recent := usage.Submitted(now)
		switch {
		case limit == 0:
			return &SubscriptionError{What: "submitting terms"}
		case len(recent) >= limit:
			return &UsageError{What: "submissions in 24 hours", Limit: limit, Until: recent[len(recent)-limit].Add(SubmissionWindow)}
		case isKnown:
			return ErrTermKnown
		}
		submission = Submission{ID: id.String(), UserID: caller.ID, Proposal: proposal, Status: Pending, CreatedAt: now, ValidationStatus: Pending}
		return m.Store.Submit(ctx, submission, usage, append(recent, now))
	})
	if err != nil {
		return Submission{}, err
	}
	m.Count.add(ctx, "Submissions", 1)
	return submission, nil
}

// Validate judges a submission, unless it is judged, decided or gone. A submission that the
// language could not judge stays as it is, for [Moderation.Revalidate], and is no error.
func (m *Moderation) Validate(ctx context.Context, slug, id string) error {
	submission, found, err := m.Store.Submission(ctx, slug, id)
	if err != nil || !found || submission.ValidationStatus != Pending {
		return err
	}
	_, err = m.validate(ctx, submission)
	return err
}

// validate judges a submission as it was read, and reports whether the language could.
func (m *Moderation) validate(ctx context.Context, read Submission) (isJudged bool, err error) {
	verdict, err := m.Language.Validate(ctx, read.Proposal)
	if _, failed := errors.AsType[*model.Error](err); failed {
		m.Count.add(ctx, "LanguageFailures", 1)
		m.log().WarnContext(ctx, "a submission is not validated yet", "submission_id", read.ID, "error", err.Error())
		return false, nil
	}
	if err != nil {
		return false, err
	}
	verdict.Reasons = append([]string{}, verdict.Reasons...)
	judged := read
	judged.Validation, judged.ValidationStatus = &Validation{Verdict: verdict, ModelUsed: m.Language.ModelID()}, Validated
	switch {
	case !verdict.Valid:
		judged.ValidationStatus = Rejected
		judged = judged.decided(Rejected, m.Calendar.Time())
	case verdict.Confidence >= autoConfidence && verdict.Usage >= autoUsage:
		judged = judged.decided(AutoApproved, m.Calendar.Time())
	default:
		judged.Status = Validated
	}
	if judged.ApprovalType == "" {
		err = m.Store.Judge(ctx, read, judged)
	} else {
		err = m.review(ctx, read, judged, m.Store.Review)
	}
	// A stale one was judged or decided meanwhile.
	if err != nil && !errors.Is(err, retry.ErrStale) {
		return false, err
	}
	return true, nil
}

// Revalidation is what [Moderation.Revalidate] did.
type Revalidation struct {
	// Validated counts the submissions that were judged, Failed those that the language could not
	// judge.
	Validated, Failed int
	// Unfinished says that time ran out.
	Unfinished bool
}

// Revalidate judges the submissions whose validation failed or died, a few at a time, until none
// is left or time runs out. A submission that cannot be read or written does not keep it from the
// others; the error has all of these.
func (m *Moderation) Revalidate(ctx context.Context) (run Revalidation, err error) {
	run.Unfinished, err = backlog.Work(ctx, m.Store.UnvalidatedSubmissions(ctx), concurrentValidations, leastValidationTime, func(ctx context.Context, listed Submission) (*int, error) {
		// The index has neither the age nor the texts, and may be behind the table.
		read, found, err := m.Store.Submission(ctx, Slug(listed.Term), listed.ID)
		if err != nil {
			return nil, fmt.Errorf("submission %s: %w", listed.ID, err)
		}
		if !found || read.ValidationStatus != Pending || read.CreatedAt.After(m.Calendar.Time().Add(-revalidateAfter)) {
			return nil, nil
		}
		isJudged, err := m.validate(ctx, read)
		if !isJudged {
			return &run.Failed, err
		}
		return &run.Validated, err
	})
	return run, err
}

// Vote counts the caller's vote for a submission, once. The vote that reaches
// [Moderation.VotesToApprove] approves it. It returns [ErrUserDeleted], [ErrSubmissionNotFound],
// [ErrOwnSubmission], [ErrNotOpen] or [ErrAlreadyVoted].
func (m *Moderation) Vote(ctx context.Context, caller Caller, id string) (vote Vote, err error) {
	var now Submission
	err = retry.Do(ctx, m.onSubmission(ctx, id, func(read func() (Submission, error)) error {
		var submission Submission
		_, err := m.Users.usageAfter(ctx, caller, func() (err error) {
			submission, err = read()
			return err
		})
		now = submission
		now.Upvotes++
		switch {
		case err != nil:
			return err
		case submission.UserID == caller.ID:
			return ErrOwnSubmission
		case submission.Status != Validated && submission.Status != CommunityApproved || submission.Upvotes >= MaxVotes:
			return ErrNotOpen
		case submission.Status == CommunityApproved:
			return m.Store.Vote(ctx, caller.ID, submission, MaxVotes)
		case now.Upvotes < m.VotesToApprove:
			return m.Store.Vote(ctx, caller.ID, submission, m.VotesToApprove-1)
		}
		now = now.decided(CommunityApproved, m.Calendar.Time())
		return m.review(ctx, submission, now, func(ctx context.Context, read, reviewed Submission, entry *Entry) error {
			return m.Store.VoteToApprove(ctx, caller.ID, read, reviewed, entry)
		})
	}))
	if err != nil {
		return Vote{}, err
	}
	return Vote{SubmissionID: id, Upvotes: now.Upvotes, Status: now.Status, Approved: now.Status.ApprovalType() != ""}, nil
}

// Approve approves a submission as an administrator. It returns [ErrSubmissionNotFound] or
// [ErrDecided].
func (m *Moderation) Approve(ctx context.Context, administrator, id string) (Submission, error) {
	return m.decide(ctx, administrator, id, AdminApproved)
}

// Reject rejects a submission as [Moderation.Approve] approves one.
func (m *Moderation) Reject(ctx context.Context, administrator, id string) (Submission, error) {
	return m.decide(ctx, administrator, id, AdminRejected)
}

func (m *Moderation) decide(ctx context.Context, administrator, id string, status SubmissionStatus) (decided Submission, err error) {
	err = retry.Do(ctx, m.onSubmission(ctx, id, func(read func() (Submission, error)) error {
		submission, err := read()
		if err != nil {
			return err
		}
		if submission.Status != Pending && submission.Status != Validated {
			return ErrDecided
		}
		decided = submission.decided(status, m.Calendar.Time())
		decided.ReviewedBy = digestOf([]byte(administrator))
		if decided.ValidationStatus == Pending {
			decided.ValidationStatus = ""
		}
		return m.review(ctx, submission, decided, m.Store.Review)
	}))
	if err != nil {
		return Submission{}, err
	}
	return decided, nil
}

// review stores a review, and brings the term of an approved submission into the lexicon.
func (m *Moderation) review(ctx context.Context, read, reviewed Submission, store func(ctx context.Context, read, reviewed Submission, entry *Entry) error) error {
	if reviewed.ApprovalType == "" {
		return store(ctx, read, reviewed, nil)
	}
	entry := reviewed.entry()
	if err := store(ctx, read, reviewed, &entry); err != nil {
		return err
	}
	m.Count.add(ctx, "Approvals", 1)
	return nil
}

// onSubmission is work on a submission, for [retry.Do]. It first reads the submission as it was a
// moment ago, which takes one request. If that is stale, or the work is refused by its status, it
// reads the submission as it is now.
func (m *Moderation) onSubmission(ctx context.Context, id string, work func(read func() (Submission, error)) error) func() error {
	isAgain := false
	return func() error {
		err := work(func() (Submission, error) { return m.submission(ctx, id, isAgain) })
		if !isAgain && (errors.Is(err, retry.ErrStale) || errors.Is(err, ErrNotOpen) || errors.Is(err, ErrDecided)) {
			isAgain = true
			return retry.ErrStale
		}
		return err
	}
}

// submission reads a submission, as it was a moment ago or as it is now.
func (m *Moderation) submission(ctx context.Context, id string, isNow bool) (Submission, error) {
	// Another spelling of the same UUID is another key to a store, so it is no id.
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return Submission{}, ErrSubmissionNotFound
	}
	submission, found, err := m.Store.FindSubmission(ctx, id)
	if err == nil && found && isNow {
		submission, found, err = m.Store.Submission(ctx, Slug(submission.Term), id)
	}
	if err == nil && !found {
		err = ErrSubmissionNotFound
	}
	return submission, err
}

// Mine lists the submissions of a user, newest first, as [ModerationStore] does.
func (m *Moderation) Mine(ctx context.Context, user string, most int, from string) (SubmissionList, error) {
	return m.Store.UserSubmissions(ctx, user, most, from)
}

// Pending lists the submissions to vote on, oldest first, as [ModerationStore] does.
func (m *Moderation) Pending(ctx context.Context, most int, from string) (SubmissionList, error) {
	return m.Store.OpenSubmissions(ctx, most, from)
}

func (m *Moderation) log() *slog.Logger { return cmp.Or(m.Log, slog.Default()) }
