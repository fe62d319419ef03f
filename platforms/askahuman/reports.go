package askahuman

import (
	"time"
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
	ID         string      `dynamodbav:"report_id" attribute:"The question_id, or the response_id of an answer: partition key"`
	QuestionID string      `dynamodbav:"question_id" attribute:"The question, or that of the answer"`
	ResponseID string      `dynamodbav:"response_id,omitempty" attribute:"The answer; absent for a question"`
	State      ReportState `dynamodbav:"state" attribute:"open until an operator decides; then dismissed or hidden"`
	ReportedAt time.Time   `dynamodbav:"reported_at" attribute:"When it was last reported, or else hidden: {time}"`
	Complaints []Complaint `dynamodbav:"reports" attribute:"What they said, oldest first: reason, comment, by (person or agent) and at"`
	DecidedAt  time.Time   `dynamodbav:"decided_at,omitempty" attribute:"When an operator last decided: {time}"`
	DecidedBy  string      `dynamodbav:"decided_by,omitempty" attribute:"The subject of that operator's token"`
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

// Reported is the answer to a report.
type Reported struct {
	ReportID string `json:"report_id" format:"uuid" doc:"What was reported: the id of the answer, or else of the question."`
	Status   string `json:"status" enum:"open" doc:"Operators will look at it."`
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
