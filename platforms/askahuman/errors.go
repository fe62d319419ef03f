package askahuman

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// DecidedError says that an operator has decided about the same thing since the caller read it. It contains that
// decision.
type DecidedError struct{ LastDecision }

// Error says who has decided what, and when.
func (e *DecidedError) Error() string {
	return fmt.Sprintf("operator %s has decided this at %s, with the outcome %s: read it again, and decide about what "+
		"it is now", e.By, e.At, e.What)
}

// Problem implements [problem.Problem].
func (e *DecidedError) Problem() *problem.Error {
	return &problem.Error{Status: http.StatusConflict, Code: "DECIDED_MEANWHILE", Message: e.Error()}
}

// The errors that callers distinguish. The wire format lists the codes of questions and answers; those of
// subscriptions, blocks and operators are for cases that it does not mention.
var (
	// ErrQuestionNotFound: there is no such question, its retention has ended, or another agent has asked it.
	ErrQuestionNotFound = problem.New(http.StatusNotFound, "QUESTION_NOT_FOUND",
		"no such question: check the id; questions are kept for 7 days after they close and for 24 hours "+
			"after they expire")
	// ErrQuestionClosed: the question takes no more answers.
	ErrQuestionClosed = problem.New(http.StatusGone, "QUESTION_CLOSED",
		"this question takes no more answers: it has all it asked for, was closed, or its deadline has "+
			"passed")
	// ErrAlreadyAnswered: this person has answered this question.
	ErrAlreadyAnswered = problem.New(http.StatusConflict, "ALREADY_ANSWERED",
		"you have answered this question already: one person answers a question once")
	// ErrQuotaExceeded: the agent has as many open questions as it may have.
	ErrQuotaExceeded = problem.New(http.StatusForbidden, "AGENT_QUOTA_EXCEEDED",
		"you have as many questions open or partial as an agent may have: wait for answers, or close some "+
			"with DELETE /agent/questions/{question_id}")
	// ErrSubscriptionNotFound: there is no such subscription.
	ErrSubscriptionNotFound = problem.New(http.StatusNotFound, "SUBSCRIPTION_NOT_FOUND",
		"no such subscription: it may have been ended; subscribe again with POST /human/push/subscribe")
	// ErrBlocked: an operator has blocked the person or the agent.
	ErrBlocked = problem.New(http.StatusForbidden, "BLOCKED",
		"an operator of this platform has blocked you: ask them to lift the block")
	// ErrResponseNotFound: the question has no such answer.
	ErrResponseNotFound = problem.New(http.StatusNotFound, "RESPONSE_NOT_FOUND",
		"no such answer to this question: send the response_id as the question's answers have it; answers "+
			"are kept for 30 days")
	// ErrNeverAnswered: the person is on no leaderboard, and so cannot choose a name.
	ErrNeverAnswered = problem.New(http.StatusConflict, "NEVER_ANSWERED",
		"you are on no leaderboard yet: answer a question, then choose a name")
	// ErrHandleReserved: the name looks like that of someone who operates the platform, or of no one.
	ErrHandleReserved = problem.New(http.StatusBadRequest, "HANDLE_RESERVED",
		"this name promises someone else, such as an operator, whatever letters it is written with: choose another")
	// ErrHandleOffensive: the name has a word that insults.
	ErrHandleOffensive = problem.New(http.StatusBadRequest, "HANDLE_OFFENSIVE",
		"this name has a word that insults people: choose another")
	// ErrHandleNumber: the name can be a phone number.
	ErrHandleNumber = problem.New(http.StatusBadRequest, "HANDLE_NUMBER",
		"this name has more than 6 digits, as phone numbers have: choose one with fewer")
	// ErrHandleTaken: another person on the leaderboards has the name, or one that looks like it.
	ErrHandleTaken = problem.New(http.StatusConflict, "HANDLE_TAKEN",
		"someone else on the leaderboards has this name, or one that looks like it: choose another")
	// ErrHandleNotFound: no one on the leaderboards has the name that was reported.
	ErrHandleNotFound = problem.New(http.StatusNotFound, "HANDLE_NOT_FOUND",
		"no one on the leaderboards has this name: send it as they show it")
	// ErrHandleReset: an operator has taken the person's name away.
	ErrHandleReset = problem.New(http.StatusForbidden, "HANDLE_RESET",
		"an operator of this platform has reset your name, and you cannot choose another: ask them")
	// ErrReportNotFound: no one has reported or hidden anything with that id.
	ErrReportNotFound = problem.New(http.StatusNotFound, "REPORT_NOT_FOUND",
		"no such report: GET /operator/reports lists those that there are; reports are kept for 90 days")
	// ErrPersonNotFound: no person with that hash has answered.
	ErrPersonNotFound = problem.New(http.StatusNotFound, "PERSON_NOT_FOUND",
		"no such person: send the person of a report of an answer; a person who has never answered cannot "+
			"be blocked")
	// ErrUnknownAgentKey: there is no such key, or it was revoked; callers do not learn which.
	ErrUnknownAgentKey = problem.New(http.StatusUnauthorized, "UNAUTHORIZED",
		"there is no such key, or it was revoked: send one that was issued to you, as X-Agent-Id: KEY or "+
			"as Authorization: Bearer KEY")
	// ErrAgentKeyNotFound: operators asked for a key that does not exist.
	ErrAgentKeyNotFound = errors.New("there is no such key")
)
