package askahuman

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// The errors of moderation that callers distinguish.
var (
	// ErrBlocked: an operator has blocked the person or the agent.
	ErrBlocked = errors.New("an operator of this platform has blocked you: ask them to lift the block")
	// ErrResponseNotFound: the question has no such answer.
	ErrResponseNotFound = errors.New("no such answer to this question: send the response_id as the question's answers have it; answers are kept for 30 days")
	// ErrReportNotFound: no one reported or hid what has that id.
	ErrReportNotFound = errors.New("no such report: GET /operator/reports lists those that there are; reports are kept for 90 days")
	// ErrPersonNotFound: no person of that hash has answered.
	ErrPersonNotFound = errors.New("no such person: send the person of a report of an answer; a person who has never answered cannot be blocked")
)

// What a report may have at most.
const (
	// MaxReporters is how many reports of one question or answer are kept. Further ones change nothing.
	MaxReporters = 50
	// MaxOpenShown is how many questions of one agent operators see, or hide, in one call.
	MaxOpenShown = 100
	// KeepReports is how long a report is kept after the last report or decision.
	KeepReports = 90 * 24 * time.Hour
)

// ReportState is what operators have decided about a report.
type ReportState string

// The states.
const (
	ReportOpen      ReportState = "open"
	ReportDismissed ReportState = "dismissed"
	ReportHidden    ReportState = "hidden"
)

// ReportStates are all states.
func ReportStates() []ReportState { return []ReportState{ReportOpen, ReportDismissed, ReportHidden} }

// QuestionReport is a report of a question, on the wire, too. The tags are its limits.
type QuestionReport struct {
	QuestionID string  `json:"question_id" maxLength:"64" doc:"The question." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Reason     string  `json:"reason" enum:"spam,abuse,personal_data,illegal,other" doc:"What is wrong with it." example:"abuse"`
	Comment    *string `json:"comment,omitempty" nullable:"true" maxLength:"500" doc:"What operators should know."`
}

// ResponseReport is a report of an answer, by the agent that asked.
type ResponseReport struct {
	QuestionReport
	ResponseID string `json:"response_id" maxLength:"64" doc:"The answer, as the question's answers name it." example:"0b7d2f0e-52a1-8a0d-b6f5-0d9a4c2f7e11"`
}

// Complaint is what one person or agent said about a question or answer.
type Complaint struct {
	Reason  string    `dynamodbav:"reason"`
	Comment string    `dynamodbav:"comment,omitempty"`
	By      string    `dynamodbav:"by"` // person or agent
	At      time.Time `dynamodbav:"at"`
}

// Case is a question or an answer that was reported or hidden.
type Case struct {
	// ID is that of the answer, or else of the question.
	ID         string      `dynamodbav:"report_id"`
	QuestionID string      `dynamodbav:"question_id"`
	ResponseID string      `dynamodbav:"response_id,omitempty"` // empty: the question
	State      ReportState `dynamodbav:"state"`
	ReportedAt time.Time   `dynamodbav:"reported_at"`
	Complaints []Complaint `dynamodbav:"reports"`
	DecidedAt  time.Time   `dynamodbav:"decided_at,omitempty"` // zero: not yet
	DecidedBy  string      `dynamodbav:"decided_by,omitempty"`
	// Content is what it is about. It is zero if that has been deleted since.
	Content Content `dynamodbav:"-"`
}

// Content is the text of a question or of an answer.
type Content struct {
	Prompt   string
	Options  []string
	AgentID  string
	Response *Response // nil: the question is meant
	Hidden   bool
}

// Decision is who decides, and when.
type Decision struct {
	Operator string
	At       time.Time
}

// ReportStore is the storage that [PersonReports] and [AgentReports] need.
type ReportStore interface {
	// Question reads one question as it is now. It returns [ErrQuestionNotFound].
	Question(ctx context.Context, id string, now time.Time) (Question, error)
	// KeepReport adds a complaint to the report of a question or, with a responseID, of an answer,
	// unless the reporter has one there or there are [MaxReporters].
	KeepReport(ctx context.Context, questionID, responseID, reporter string, complaint Complaint) error
}

// PersonReportStore is what [PersonReports] need.
type PersonReportStore interface {
	ReportStore
	// Stats reads a person's stats.
	Stats(ctx context.Context, personHash string) (Stats, error)
}

// AgentReportStore is what [AgentReports] need.
type AgentReportStore interface {
	ReportStore
	// Responses reads all answers to a question.
	Responses(ctx context.Context, questionID string) ([]Response, error)
}

// Reported is the answer to a report.
type Reported struct {
	ReportID string `json:"report_id" format:"uuid" doc:"What was reported: the id of the answer, or else of the question."`
	Status   string `json:"status" enum:"open" doc:"Operators will look at it."`
}

// PersonReports take the reports of people.
type PersonReports struct {
	// Store keeps the reports.
	Store PersonReportStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Report keeps what a person reported. A person reports a question once; a repeat changes nothing. It
// returns an [*validate.Error], [ErrQuestionNotFound] or [ErrBlocked].
func (r *PersonReports) Report(ctx context.Context, personHash string, report QuestionReport) (Reported, error) {
	var p problems
	if personHash == "" {
		p.Add("X-Fingerprint", validate.RuleRequired, "is missing; send the device's fingerprint in this header, so that one person reports a question once")
	}
	p.Form(report)
	if err := p.Err(); err != nil {
		return Reported{}, err
	}
	if !isID(report.QuestionID) {
		return Reported{}, ErrQuestionNotFound
	}
	now := clock(r.Now)
	var stats Stats
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := r.Store.Question(reading, report.QuestionID, now)
		return wrap(err, "read question "+report.QuestionID)
	})
	group.Go(func() (err error) {
		stats, err = r.Store.Stats(reading, personHash)
		return wrap(err, "read the person's stats")
	})
	if err := group.Wait(); err != nil {
		return Reported{}, err
	}
	if !stats.BlockedAt.IsZero() {
		return Reported{}, ErrBlocked
	}
	return keepReport(ctx, r.Store, report, "", "person", personHash, now)
}

// AgentReports take the reports of agents.
type AgentReports struct {
	// Store keeps the reports.
	Store AgentReportStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Report keeps what an agent reported: an answer to one of its own questions. A repeat changes nothing.
// It returns an [*validate.Error], [ErrQuestionNotFound] or [ErrResponseNotFound].
func (r *AgentReports) Report(ctx context.Context, agentID string, report ResponseReport) (Reported, error) {
	var p problems
	p.Form(report)
	if err := p.Err(); err != nil {
		return Reported{}, err
	}
	if !isID(report.QuestionID) {
		return Reported{}, ErrQuestionNotFound
	}
	now := clock(r.Now)
	var responses []Response
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() error {
		question, err := r.Store.Question(reading, report.QuestionID, now)
		if err == nil && question.AgentID != agentID {
			err = ErrQuestionNotFound
		}
		return wrap(err, "read question "+report.QuestionID)
	})
	group.Go(func() (err error) {
		responses, err = r.Store.Responses(reading, report.QuestionID)
		return wrap(err, "read the answers to question "+report.QuestionID)
	})
	if err := group.Wait(); err != nil {
		return Reported{}, err
	}
	if !slices.ContainsFunc(responses, func(response Response) bool { return response.ID == report.ResponseID }) {
		return Reported{}, ErrResponseNotFound
	}
	return keepReport(ctx, r.Store, report.QuestionReport, report.ResponseID, "agent", agentID, now)
}

func keepReport(ctx context.Context, store ReportStore, report QuestionReport, responseID, by, reporter string, now time.Time) (Reported, error) {
	complaint := Complaint{Reason: report.Reason, By: by, At: now}
	if report.Comment != nil {
		complaint.Comment = *report.Comment
	}
	if err := store.KeepReport(ctx, report.QuestionID, responseID, by+"\x00"+reporter, complaint); err != nil {
		return Reported{}, wrap(err, "keep the report")
	}
	return Reported{ReportID: reportID(report.QuestionID, responseID), Status: string(ReportOpen)}, nil
}

func reportID(questionID, responseID string) string {
	if responseID != "" {
		return responseID
	}
	return questionID
}

// ModerationStore is the storage that [Operators] needs.
type ModerationStore interface {
	// Question reads one question as it is now. It returns [ErrQuestionNotFound].
	Question(ctx context.Context, id string, now time.Time) (Question, error)
	// Reports reads up to limit reports of a state with what they are about, newest first, after a
	// position. more says whether there may be further ones; next is where they begin.
	Reports(ctx context.Context, state ReportState, limit int, after Position, now time.Time) (reports []Case, next Position, more bool, err error)
	// DecideReport changes the state of a report. It returns [ErrReportNotFound].
	DecideReport(ctx context.Context, id string, state ReportState, decision Decision) error
	// OpenOfAgent reads the questions of an agent that take answers at now, newest first, up to limit.
	OpenOfAgent(ctx context.Context, agentID string, limit int, now time.Time) (OfAgent, error)
	// HideQuestion hides a question that was read, and ends it if it is open or partial; or it shows
	// it again. It returns [retry.ErrStale] if the question has changed since.
	HideQuestion(ctx context.Context, question Question, hidden bool, decision Decision) error
	// HideResponse hides an answer, or shows it again. It returns [ErrResponseNotFound].
	HideResponse(ctx context.Context, questionID, responseID string, hidden bool, decision Decision) error
	// BlockPerson makes a person who has answered unable to answer and to report, or able again. It
	// returns [ErrPersonNotFound].
	BlockPerson(ctx context.Context, personHash string, blocked bool, now time.Time) error
	// BlockAgent makes an agent unable to ask, or able again.
	BlockAgent(ctx context.Context, agentID string, blocked bool, now time.Time) error
}

// OfAgent are the questions of an agent that take answers.
type OfAgent struct {
	// Blocked says that an operator has blocked the agent.
	Blocked bool
	// Questions are the newest first.
	Questions []Question
	// More says that there may be further ones.
	More bool
}

// Operators moderate: they see what was reported, hide it, and block those who write it. Every method
// may be repeated.
type Operators struct {
	// Store keeps reports and contents.
	Store ModerationStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
}

// Reports reads a page of the reports of a state, newest first; empty is ReportOpen. limit and cursor
// are as in [Agents.List]. It returns an [*validate.Error].
func (o *Operators) Reports(ctx context.Context, state ReportState, limit int, cursor string) (reports []Case, next string, err error) {
	var p problems
	if state == "" {
		state = ReportOpen
	}
	if !slices.Contains(ReportStates(), state) {
		validate.OneOf(&p.Problems, "state", state, ReportStates())
	}
	limit = p.limit(limit, DefaultListLimit, MaxListLimit)
	after := p.cursor(cursor)
	if err := p.Err(); err != nil {
		return nil, "", err
	}
	reports, position, more, err := o.Store.Reports(ctx, state, limit, after, clock(o.Now))
	if err != nil {
		return nil, "", fmt.Errorf("list reports: %w", err)
	}
	if more {
		next = formatCursor(position)
	}
	return reports, next, nil
}

// Dismiss says that nothing is wrong with what was reported, or opens the report again. It returns
// [ErrReportNotFound].
func (o *Operators) Dismiss(ctx context.Context, operator, reportID string, dismissed bool) error {
	if !isID(reportID) {
		return ErrReportNotFound
	}
	state := ReportOpen
	if dismissed {
		state = ReportDismissed
	}
	return wrap(o.Store.DecideReport(ctx, reportID, state, o.decision(operator)), "decide report "+reportID)
}

// HideQuestion hides a question from people, and closes it, or shows it to its agent again as one that
// is not hidden; it stays closed. It returns [ErrQuestionNotFound].
func (o *Operators) HideQuestion(ctx context.Context, operator, questionID string, hidden bool) error {
	if !isID(questionID) {
		return ErrQuestionNotFound
	}
	return retry.Do(ctx, func() error {
		decision := o.decision(operator)
		question, err := o.Store.Question(ctx, questionID, decision.At)
		if err != nil {
			return wrap(err, "read question "+questionID)
		}
		return wrap(o.Store.HideQuestion(ctx, question, hidden, decision), "hide question "+questionID)
	})
}

// OpenQuestions reads the questions of an agent that take answers, newest first, [MaxOpenShown] at most.
func (o *Operators) OpenQuestions(ctx context.Context, agentID string) (OfAgent, error) {
	open, err := o.Store.OpenOfAgent(ctx, agentID, MaxOpenShown, clock(o.Now))
	return open, wrap(err, "read an agent's open questions")
}

// HideOpenQuestions hides the questions of an agent that take answers, [MaxOpenShown] at most, or as many as
// the context leaves time for. more says whether there may be further ones: then a repeat goes on. Block
// the agent first, for else it may ask meanwhile. With an error, hidden are those before it.
func (o *Operators) HideOpenQuestions(ctx context.Context, operator, agentID string) (hidden int, more bool, err error) {
	open, err := o.OpenQuestions(ctx, agentID)
	if err != nil {
		return 0, false, err
	}
	// One after the other: each write changes the list of the agent's open questions.
	for _, question := range open.Questions {
		if endsBefore(ctx, lastLook) {
			return hidden, true, nil
		}
		if err := o.HideQuestion(ctx, operator, question.ID, true); err != nil && !errors.Is(err, ErrQuestionNotFound) {
			return hidden, true, err
		}
		hidden++
	}
	return hidden, open.More, nil
}

// HideResponse hides an answer from its agent, or shows it again. It returns [ErrResponseNotFound].
func (o *Operators) HideResponse(ctx context.Context, operator, questionID, responseID string, hidden bool) error {
	if !isID(questionID) || !isID(responseID) {
		return ErrResponseNotFound
	}
	return wrap(o.Store.HideResponse(ctx, questionID, responseID, hidden, o.decision(operator)), "hide answer "+responseID)
}

// BlockPerson blocks a person, or lifts the block. It returns [ErrPersonNotFound].
func (o *Operators) BlockPerson(ctx context.Context, personHash string, blocked bool) error {
	return wrap(o.Store.BlockPerson(ctx, personHash, blocked, clock(o.Now)), "block a person")
}

// BlockAgent blocks an agent, or lifts the block. What the agent has asked stays.
func (o *Operators) BlockAgent(ctx context.Context, agentID string, blocked bool) error {
	return wrap(o.Store.BlockAgent(ctx, agentID, blocked, clock(o.Now)), "block an agent")
}

func (o *Operators) decision(operator string) Decision {
	return Decision{Operator: operator, At: clock(o.Now)}
}
