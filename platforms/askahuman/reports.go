package askahuman

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// The limits of reports.
const (
	// MaxReporters is how many reports of one question or answer the table keeps. Further ones change nothing.
	MaxReporters = 50
	// MaxOpenShown is how many questions of one agent operators see, or hide, in one call.
	MaxOpenShown = 100
	// KeepReports is how long the table keeps a report after the last report or decision.
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

// QuestionReport is a report of a question, on the wire, too. The tags are its limits.
type QuestionReport struct {
	QuestionID string  `json:"question_id" maxLength:"64" doc:"The question." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Reason     string  `json:"reason" enum:"spam,abuse,personal_data,illegal,other" doc:"What is wrong with it." example:"abuse"`
	Comment    *string `json:"comment,omitempty" nullable:"true" maxLength:"500" doc:"What operators should know."`
}

// PersonReport is a report by a person, of a question or of a name on a leaderboard, on the wire, too. The tags are its
// limits.
type PersonReport struct {
	QuestionID *string `json:"question_id,omitempty" nullable:"true" maxLength:"64" doc:"The question." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	Handle     *string `json:"handle,omitempty" nullable:"true" minLength:"1" maxLength:"40" doc:"In place of a question: someone's name, as a leaderboard shows it." example:"Quiet Otter 482"`
	Reason     string  `json:"reason" enum:"spam,abuse,personal_data,illegal,other" doc:"What is wrong with it." example:"abuse"`
	Comment    *string `json:"comment,omitempty" nullable:"true" maxLength:"500" doc:"What operators should know."`
}

// Check adds a problem unless the report is either about a question or about a name.
func (r PersonReport) Check(p *validate.Problems, _ string) {
	switch {
	case r.QuestionID == nil && r.Handle == nil:
		p.Add("question_id", validate.RuleRequired, "is missing; send it for a question, or handle for a name")
	case r.QuestionID != nil && r.Handle != nil:
		p.Add("question_id", validate.RuleConflict, "was sent together with handle; send one of the two")
	}
}

// ResponseReport is a report of an answer, by the agent that asked.
type ResponseReport struct {
	QuestionReport
	ResponseID string `json:"response_id" maxLength:"64" doc:"The answer, as the question's answers name it." example:"0b7d2f0e-52a1-8a0d-b6f5-0d9a4c2f7e11"`
}

// ComplaintEntry is one person's or agent's complaint about a question or answer, on the wire, too.
type ComplaintEntry struct {
	Reason  string    `json:"reason" dynamodbav:"reason" enum:"spam,abuse,personal_data,illegal,other"`
	Comment string    `json:"comment,omitempty" dynamodbav:"comment,omitempty"`
	By      string    `json:"by" dynamodbav:"by" enum:"person,agent"`
	At      wire.Time `json:"at" dynamodbav:"at" format:"date-time" example:"2026-02-02T09:30:00.000Z"`
}

// OperatorReport is a reported or hidden question or answer: as operators see it on the wire, and as the table has it.
type OperatorReport struct {
	ID          string      `json:"report_id" dynamodbav:"report_id" format:"uuid" attribute:"The question_id, the response_id of an answer, or an id that is derived from a person's hash: partition key"`
	State       ReportState `json:"state" dynamodbav:"state" attribute:"-" enum:"open,dismissed,hidden"`
	QuestionID  string      `json:"question_id,omitempty" dynamodbav:"question_id,omitempty" format:"uuid" doc:"The question, or that of the answer; absent for a name." attribute:"The question, or that of the answer; absent for a name"`
	ResponseID  string      `json:"response_id,omitempty" dynamodbav:"response_id,omitempty" format:"uuid" doc:"The answer; without it the question was reported." attribute:"The answer; absent for a question"`
	NamedPerson string      `json:"-" dynamodbav:"person,omitempty" attribute:"Whose name was reported, a keyed hash; absent for a question or an answer"`
	Handle      string      `json:"handle,omitempty" dynamodbav:"handle,omitempty" doc:"The name that was reported." example:"Quiet Otter 482" attribute:"The name that was reported; absent for a question or an answer"`
	// Prompt to Hidden are read from the tables of questions and answers. They are zero if the item has been deleted
	// since.
	Prompt         string           `json:"prompt,omitempty" dynamodbav:"-" doc:"The question's text, as a stranger wrote it; absent once it has been deleted."`
	Options        []string         `json:"options,omitempty" dynamodbav:"-" nullable:"false"`
	AgentID        string           `json:"agent_id,omitempty" dynamodbav:"-" doc:"Who asked."`
	Answer         *string          `json:"answer,omitempty" dynamodbav:"-" doc:"The answer's text, as a stranger wrote it."`
	SelectedOption *int             `json:"selected_option,omitempty" dynamodbav:"-" doc:"The index of the option that was chosen, from 0."`
	Person         string           `json:"person,omitempty" dynamodbav:"-" doc:"Who answered, or has the name: a keyed hash, to block the person or to reset the name by."`
	CurrentHandle  string           `json:"current_handle,omitempty" dynamodbav:"-" doc:"The name that the person has now, if a name was reported." example:"Quiet Otter 482"`
	NameReset      bool             `json:"name_reset,omitempty" dynamodbav:"-" doc:"true: an operator has taken the name."`
	Hidden         bool             `json:"hidden" dynamodbav:"-"`
	Complaints     []ComplaintEntry `json:"complaints" dynamodbav:"reports" attribute:"-" nullable:"false" doc:"What people and agents said, oldest first; empty if an operator hid it unreported."`
	ReportedAt     wire.Time        `json:"reported_at" dynamodbav:"reported_at" format:"date-time" example:"2026-02-02T09:30:00.000Z" attributetype:"String" attribute:"When it was last reported, or else hidden: {time}"`
	DecidedAt      wire.Time        `json:"decided_at,omitzero" dynamodbav:"decided_at,omitempty" format:"date-time" example:"2026-02-02T09:45:00.000Z" attributetype:"String" attribute:"When an operator last decided: {time}"`
	DecidedBy      string           `json:"decided_by,omitempty" dynamodbav:"decided_by,omitempty" doc:"The operator: the subject of the token." attribute:"The subject of that operator's token"`
	Version        int              `json:"version" dynamodbav:"version,omitempty" doc:"How many decisions there were. Send it with the next one." example:"1" attribute:"How many decisions there were; absent before the first"`
	// PersonBlocked and PersonVersion are what operators decided about the person. Zero: they decided nothing.
	PersonBlocked bool `json:"person_blocked,omitempty" dynamodbav:"-" doc:"true: the person is blocked."`
	PersonVersion int  `json:"person_version,omitempty" dynamodbav:"-" doc:"How many decisions about the person there were, if there were any. Send it with the next one."`
}

// Decision is an operator's decision.
type Decision struct {
	Operator string
	// Seen is the number of decisions about the same thing that the operator had seen. Nil: the decision is made
	// whatever was decided before.
	Seen *int
	At   time.Time
}

// Decided is the outcome of an operator's decision.
type Decided string

// The outcomes of decisions about people and agents. A decision about a report has a [ReportState] instead.
const (
	DecidedBlocked   Decided = "blocked"
	DecidedUnblocked Decided = "unblocked"
	DecidedReset     Decided = "name_reset"
	DecidedFree      Decided = "name_free"
)

// LastDecision is the last decision of an operator, on the wire, too. In the tables it is about a person or an agent.
// The zero value: there is none.
type LastDecision struct {
	// Version counts the decisions.
	Version int       `json:"version" dynamodbav:"decisions,omitempty" attribute:"-" doc:"How many decisions there were." example:"1"`
	What    Decided   `json:"decision" dynamodbav:"decision,omitempty" attribute:"-" enum:"open,dismissed,hidden,blocked,unblocked,name_reset,name_free" doc:"What was decided last." example:"hidden"`
	By      string    `json:"decided_by" dynamodbav:"decided_by,omitempty" attribute:"-" doc:"The operator: the subject of the token."`
	At      wire.Time `json:"decided_at" dynamodbav:"decided_at,omitempty" attribute:"-" format:"date-time" example:"2026-02-02T09:45:00.000Z"`
}

// Last returns the last decision about what was reported.
func (r OperatorReport) Last() LastDecision {
	return LastDecision{Version: r.Version, What: Decided(r.State), By: r.DecidedBy, At: r.DecidedAt}
}

// Reported is the answer to a report.
type Reported struct {
	ReportID string `json:"report_id" format:"uuid" doc:"What was reported: the id of the answer, or else of the question."`
	Status   string `json:"status" enum:"open" doc:"Operators will look at it."`
}

// OfAgent are the questions of an agent that take answers, on the wire, too.
type OfAgent struct {
	Blocked   bool       `json:"blocked" doc:"true: an operator has blocked the agent."`
	Questions []Question `json:"questions" nullable:"false" doc:"Newest first, 100 at most."`
	More      bool       `json:"more,omitempty" doc:"true: there may be further ones."`
	Version   int        `json:"version" doc:"How many decisions about the agent there were. Send it with the next one." example:"1"`
	// Last is the last decision about the agent.
	Last LastDecision `json:"-"`
}

// ReportList is a page of what was reported or hidden.
type ReportList struct {
	Reports    []OperatorReport `json:"reports" nullable:"false" doc:"The last reported first."`
	NextCursor string           `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// Seen is on what an operator decides.
type Seen struct {
	Version *int `json:"version,omitempty" nullable:"true" minimum:"0" doc:"The version that you saw of what you decide about: 409 says who has decided what since. Without it, you decide whatever was decided before."`
}

// By is the decision of an operator who has seen that.
func (s Seen) By(operator string) Decision { return Decision{Operator: operator, Seen: s.Version} }

// Dismissal says whether a report is dismissed.
type Dismissal struct {
	Dismissed bool `json:"dismissed" doc:"true: nothing is wrong with it; false: it is open again."`
	Seen
}

// AllHidden hides all of an agent's questions that take answers.
type AllHidden struct {
	AgentID string `json:"agent_id" minLength:"1" maxLength:"255" doc:"The agent, as reports name it." example:"my-agent"`
	Hidden  bool   `json:"hidden" enum:"true" doc:"Hidden questions are shown again one by one."`
	Seen
}

// HiddenQuestions says how many questions were hidden.
type HiddenQuestions struct {
	Hidden int  `json:"hidden" example:"12"`
	More   bool `json:"more,omitempty" doc:"true: there may be further ones; send the same again."`
}

// Visibility says whether a question or an answer is hidden.
type Visibility struct {
	Hidden bool `json:"hidden" doc:"true: it is hidden; false: it is shown again."`
	Seen
}

// OperatorBoard is a leaderboard as operators see it.
type OperatorBoard struct {
	Entries []OperatorEntry `json:"entries" nullable:"false" doc:"The most points first, 100 at most."`
}

// HandleReset says whether a person's name is reset.
type HandleReset struct {
	Person string `json:"person" minLength:"64" maxLength:"64" doc:"The person, as the operators' leaderboard names them." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Reset  bool   `json:"reset" doc:"true: the name is taken; false: the person can choose again."`
	Seen
}

// Block says whether a person or an agent is blocked.
type Block struct {
	Person  *string `json:"person,omitempty" nullable:"true" minLength:"64" maxLength:"64" doc:"The person of a reported answer, who then cannot answer or report."`
	AgentID *string `json:"agent_id,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"The agent of a reported question, which then can neither ask nor report, and gets no webhooks."`
	Blocked bool    `json:"blocked" doc:"true: blocked; false: the block is lifted."`
	Seen
}
