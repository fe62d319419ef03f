package lingible

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// DefaultVotesToApprove is how many votes approve a submission.
	DefaultVotesToApprove = 10
	// MaxVotes limits the votes for a submission: upvoted_by names each user in up to 255 bytes, and DynamoDB allows
	// 400 KB for an item.
	MaxVotes = 1400
	// SameTermAfter is how long after a submission its user may submit the term again.
	SameTermAfter = 7 * 24 * time.Hour
	// RejectedFor is how long the table keeps a rejected submission.
	RejectedFor = 90 * 24 * time.Hour

	// An entry without a verdict has these.
	unjudgedConfidence, unjudgedMomentum = 0.8, 0.5
)

// SubmissionStatus is the state of a submission.
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

// ApprovalType returns how a submission was approved, or "" for a status that is no approval.
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

// Submission is a proposal with its validation, votes and review, also on the wire. There it names no user.
type Submission struct {
	ID     string `json:"submission_id" dynamodbav:"submission_id" format:"uuid" attribute:"UUID"`
	UserID string `json:"-" dynamodbav:"user_id" attribute:"Subject of the token of the user who submitted it"`
	Proposal
	Status    SubmissionStatus `json:"status" dynamodbav:"status" enum:"pending,validated,auto_approved,community_approved,admin_approved,rejected,admin_rejected" attribute:"pending, validated (to vote on), auto_approved, community_approved, admin_approved, rejected or admin_rejected"`
	CreatedAt time.Time        `json:"created_at" dynamodbav:"created_at" attribute:"Submission: RFC 3339 in UTC with milliseconds"`
	// ReviewedAt is when it was approved or rejected.
	ReviewedAt   time.Time `json:"reviewed_at,omitzero" dynamodbav:"reviewed_at,omitempty" attribute:"Approval or rejection: RFC 3339 in UTC with milliseconds"`
	ApprovalType string    `json:"approval_type,omitempty" dynamodbav:"approval_type,omitempty" enum:"llm_auto,community_vote,admin_manual" doc:"Absent unless it is approved." attribute:"llm_auto, community_vote or admin_manual; absent unless it is approved"`
	// ReviewedBy is the SHA-256 of the id of the administrator who reviewed it, hexadecimal. So it does not name a
	// user, who may delete the account. Empty: no administrator reviewed it.
	ReviewedBy string `json:"-" dynamodbav:"reviewed_by,omitempty" attribute:"SHA-256 of the subject of the token of the administrator who reviewed it, hexadecimal; absent unless one did"`
	// ValidationStatus is [Pending], [Validated] or [Rejected]; empty if an administrator decided
	// before the validation.
	ValidationStatus SubmissionStatus `json:"llm_validation_status,omitempty" dynamodbav:"llm_validation_status,omitempty" enum:"pending,validated,rejected" doc:"Absent when an administrator decided before the validation." attribute:"pending, validated or rejected; absent when an administrator decided before the validation"`
	Validation       *Validation      `json:"llm_validation_result,omitempty" dynamodbav:"llm_validation_result,omitempty" attribute:"valid, confidence, usage_score, reasons and model_used; absent until it is validated"`
	Upvotes          int              `json:"upvotes" dynamodbav:"upvotes" attribute:"Votes"`
	UpvotedBy        []string         `json:"-" dynamodbav:"upvoted_by,stringset,omitempty" attribute:"Subjects of the tokens of those who voted; absent when there is none"`
	wire.Extended
}

// Validation is a language's verdict on a submission, also on the wire.
type Validation struct {
	Verdict
	ModelUsed string `json:"model_used" dynamodbav:"model_used"`
}

// Decided returns the submission with the status, which approves or rejects it, and with now as its ReviewedAt.
func (s Submission) Decided(status SubmissionStatus, now time.Time) Submission {
	s.Status, s.ReviewedAt, s.ApprovalType = status, now, status.ApprovalType()
	return s
}

// Entry returns the lexicon's entry that an approval makes. It names no user.
func (s Submission) Entry() Entry {
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

// Vote is the state of a submission after a vote, on the wire.
type Vote struct {
	SubmissionID string           `json:"submission_id" format:"uuid"`
	Upvotes      int              `json:"upvotes" doc:"Others that are made at the same moment may be missing."`
	Status       SubmissionStatus `json:"status" enum:"validated,community_approved"`
	Approved     bool             `json:"approved" doc:"Whether the term is in the lexicon."`
}
