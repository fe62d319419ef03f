package askahuman

import (
	"errors"
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

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
	// ErrNeverAnswered: the person has no place on a leaderboard that could have a name.
	ErrNeverAnswered = problem.New(http.StatusConflict, "NEVER_ANSWERED",
		"you are on no leaderboard yet: answer a question, then choose a name")
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
