package lingible

import (
	"fmt"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// The contract names RES_001, BIZ_001 and BIZ_004. The other codes are for cases that it does not mention.
const (
	codeDeleted  = "AUTH_003"
	codeNotFound = "RES_001"
	codeConflict = "RES_002"
)

func notFound(message string) error { return problem.New(http.StatusNotFound, codeNotFound, message) }
func conflict(message string) error { return problem.New(http.StatusConflict, codeConflict, message) }

// The errors that the API returns to callers. Match them with errors.Is.
var (
	// ErrUserDeleted says that the caller's account is deleted, or is being deleted.
	ErrUserDeleted = problem.New(http.StatusForbidden, codeDeleted,
		"your account is deleted: sign in again to open a new one")
	// ErrTranslationNotFound says that the caller has no such translation.
	ErrTranslationNotFound = notFound("there is no such translation")
	// ErrSubmissionNotFound says that there is no such submission.
	ErrSubmissionNotFound = notFound("there is no such submission")
	// ErrTermKnown says that the lexicon has the term.
	ErrTermKnown = conflict("the lexicon has the term already")
	// ErrAlreadySubmitted says that the caller has submitted the term in the last 7 days.
	ErrAlreadySubmitted = conflict("you have submitted this term in the last 7 days")
	// ErrOwnSubmission says that the vote is for the caller's own submission.
	ErrOwnSubmission = conflict("you cannot vote for your own submission")
	// ErrAlreadyVoted says that the caller's vote counts already.
	ErrAlreadyVoted = conflict("you have voted for this submission already")
	// ErrNotOpen says that a submission takes no votes: it is not validated yet, it was decided without votes, or it
	// has [MaxVotes].
	ErrNotOpen = conflict("the submission takes no votes: it is not validated yet, or it is decided")
	// ErrNoQuiz says that the caller has no such quiz, or that it has ended.
	ErrNoQuiz = notFound("there is no such quiz, or it has ended: get a question to begin one")
	// ErrNoSuchQuestion says that another question is the quiz's last.
	ErrNoSuchQuestion = conflict("the quiz has not asked this question last: get its question")
	// ErrAnswered says that the question already has another answer.
	ErrAnswered = conflict("the question has another answer already: get the next question")
	// ErrNoQuestion says that the lexicon has no further question.
	ErrNoQuestion = notFound(
		"there is no further question of this kind: end the quiz, or ask for another category or difficulty")
	// ErrNoTerms says that the quiz has no term at all: the initial data is missing.
	ErrNoTerms = notFound("there is no question, because the lexicon has no term: " +
		"an operator loads the first ones with onesynth seed lingible")
)

// DecidedError says that a submission is approved or rejected already. Status is the result, and At is its time.
type DecidedError struct {
	Status SubmissionStatus
	At     time.Time
}

// Error says who approved or rejected the submission. All administrators are "an administrator", since their ids are
// not kept.
func (e *DecidedError) Error() string {
	by := map[SubmissionStatus]string{AutoApproved: "the language model has approved it",
		CommunityApproved: "votes have approved it", AdminApproved: "an administrator has approved it",
		Rejected: "the language model has rejected it", AdminRejected: "an administrator has rejected it"}[e.Status]
	return fmt.Sprintf("the submission is decided already: %s at %s", by, wire.Time(e.At))
}

// Problem implements [problem.Problem].
func (e *DecidedError) Problem() *problem.Error {
	return &problem.Error{Status: http.StatusConflict, Code: codeConflict, Message: e.Error()}
}

// UsageError says that the caller has used up what the tier allows.
type UsageError struct {
	// What names the thing that is used up, such as "translations".
	What string
	// Limit is the number that the tier allows.
	Limit int
	// Until is when the tier allows more.
	Until time.Time
}

// Error implements error.
func (e *UsageError) Error() string {
	return fmt.Sprintf("your tier allows %d %s: try again after %s, or upgrade", e.Limit, e.What,
		e.Until.UTC().Format(time.RFC3339))
}

// Is reports whether target is a *UsageError, with any fields.
func (e *UsageError) Is(target error) bool { _, ok := target.(*UsageError); return ok }

// Problem implements [problem.Problem].
func (e *UsageError) Problem() *problem.Error {
	return &problem.Error{Status: http.StatusTooManyRequests, Code: "BIZ_001"}
}

// RetryAt returns when the tier allows more.
func (e *UsageError) RetryAt() time.Time { return e.Until }

// SubscriptionError says that a feature is for premium users.
type SubscriptionError struct {
	// What names the feature, such as "the history of translations".
	What string
}

// Error implements error.
func (e *SubscriptionError) Error() string {
	return e.What + " is for premium users: upgrade with POST /user/upgrade"
}

// Is reports whether target is a *SubscriptionError, for any feature.
func (e *SubscriptionError) Is(target error) bool { _, ok := target.(*SubscriptionError); return ok }

// Problem implements [problem.Problem].
func (e *SubscriptionError) Problem() *problem.Error {
	return &problem.Error{Status: http.StatusForbidden, Code: "BIZ_004"}
}
