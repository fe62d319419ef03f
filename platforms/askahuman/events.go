package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// The names of the events.
const (
	QuestionAsked    = "QuestionAsked"
	QuestionAnswered = "QuestionAnswered"
	QuestionClosed   = "QuestionClosed"
	QuestionExpired  = "QuestionExpired"
	ContentReported  = "ContentReported"
)

// QuestionAskedEvent is the detail of [QuestionAsked].
type QuestionAskedEvent struct {
	QuestionID        string       `json:"question_id" dynamodbav:"question_id" format:"uuid" doc:"The question."`
	AgentID           string       `json:"agent_id" dynamodbav:"agent_id" maxLength:"128" doc:"The agent that asked."`
	Prompt            string       `json:"prompt" dynamodbav:"prompt" maxLength:"2000" personal:"true" doc:"As the agent wrote it."`
	Type              QuestionType `json:"type" dynamodbav:"type" enum:"text,multiple_choice" doc:"How it is answered."`
	Options           []string     `json:"options,omitempty" dynamodbav:"options" nullable:"false" maxItems:"10" maxLength:"200" personal:"true" doc:"Of a multiple choice question, as the agent wrote them."`
	Audience          []string     `json:"audience" dynamodbav:"audience" nullable:"false" maxItems:"5" enum:"technical,product,ethics,creative,general" doc:"Whom it is for."`
	RequiredResponses int          `json:"required_responses" dynamodbav:"required_responses" minimum:"1" maximum:"50" doc:"How many answers are wanted."`
	CreatedAt         string       `json:"created_at" dynamodbav:"created_at" format:"date-time" doc:"When it was asked."`
	Deadline          string       `json:"expires_at" dynamodbav:"deadline" format:"date-time" doc:"When answers stop being taken."`
}

// QuestionProgressEvent is the detail of [QuestionAnswered], [QuestionClosed] and [QuestionExpired].
type QuestionProgressEvent struct {
	QuestionID        string `json:"question_id" dynamodbav:"question_id" format:"uuid" doc:"The question."`
	AgentID           string `json:"agent_id" dynamodbav:"agent_id" maxLength:"128" doc:"The agent that asked."`
	Status            Status `json:"status" dynamodbav:"-" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" doc:"Its status after the change."`
	RequiredResponses int    `json:"required_responses" dynamodbav:"required_responses" minimum:"1" maximum:"50" doc:"How many answers are wanted."`
	CurrentResponses  int    `json:"current_responses" dynamodbav:"current_responses" minimum:"0" maximum:"50" doc:"How many there are."`
	Deadline          string `json:"expires_at" dynamodbav:"deadline" format:"date-time" doc:"When answers stop being taken."`
	Hidden            bool   `json:"hidden" dynamodbav:"-" doc:"Whether an operator has hidden it."`
}

// ContentReportedEvent is the detail of [ContentReported]. It has neither the comment nor who reported.
type ContentReportedEvent struct {
	ReportID   string `json:"report_id" dynamodbav:"report_id" format:"uuid" doc:"What was reported: the id of the answer, or else of the question."`
	QuestionID string `json:"question_id" dynamodbav:"question_id" format:"uuid" doc:"The question, or that of the answer."`
	ResponseID string `json:"response_id,omitempty" dynamodbav:"response_id" format:"uuid" doc:"The answer; absent for a question."`
	Reason     string `json:"reason" dynamodbav:"-" enum:"spam,abuse,personal_data,illegal,other" doc:"What is wrong with it."`
	By         string `json:"by" dynamodbav:"-" enum:"person,agent" doc:"Who reported it."`
	Reports    int    `json:"reports" dynamodbav:"-" minimum:"1" maximum:"50" doc:"How often it has been reported."`
}

// questionEvents are the events of questions. They have no answers: read these by the API, which leaves out what
// operators hid.
func questionEvents() []schema.Event {
	changes := []map[string]any{{"eventName": []any{"INSERT", "MODIFY"}}}
	event := func(name, description string, detail any) schema.Event {
		return schema.Event{Name: name, Version: 1, Description: description, Table: "Questions", Changes: changes,
			Before: true, Detail: detail}
	}
	return []schema.Event{
		event(QuestionAsked, "An agent asked a question.", QuestionAskedEvent{}),
		event(QuestionAnswered, "A person answered a question. The answer itself is not in it.",
			QuestionProgressEvent{}),
		event(QuestionClosed, "A question got the last answer that it wanted, or its agent closed it, or an operator "+
			"hid it.", QuestionProgressEvent{}),
		event(QuestionExpired, "The deadline of a question passed. It comes when the notifier, or a request of the "+
			"agent, has marked it.", QuestionProgressEvent{}),
	}
}

// reportEvents are the events of reports.
func reportEvents() []schema.Event {
	return []schema.Event{{Name: ContentReported, Version: 1, Table: "Reports",
		Description: "A person reported a question, or an agent an answer.",
		Changes:     []map[string]any{{"eventName": []any{"INSERT", "MODIFY"}}}, Before: true,
		Detail: ContentReportedEvent{}}}
}
