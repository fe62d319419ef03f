package askahuman

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

// OperatorsGroup is the group of the user pool whose members moderate Ask-a-Human.
const OperatorsGroup = "operators"

// CallerOperator moderates: a person who has signed in, and is in the group of operators.
var CallerOperator = schema.Caller{Name: "operator", Token: schema.TokenOfUser, Group: OperatorsGroup}

// withModeration adds what strangers' texts need: reports of people and agents, and operators who hide
// questions and answers, and block people and agents.
func withModeration(p *schema.Platform) {
	p.Database.Tables = append(p.Database.Tables, reportsTable())
	p.Events = append(p.Events, reportEvents()...)
	describe(p, "Questions", schema.String.Attribute("hidden_at",
		"When an operator hid it; absent otherwise: "+timestampFormat))
	describe(p, "Responses", schema.String.Attribute("hidden_at",
		"When an operator hid it; absent otherwise: "+timestampFormat))
	describe(p, "UserStats", decisionAttributes("")...)
	describe(p, "UserStats",
		schema.String.Attribute("blocked_at",
			"When an operator blocked the person; absent otherwise: "+timestampFormat),
		schema.String.Attribute("handle_reset_at",
			"When an operator reset the person's name, who cannot choose another since; absent "+
				"otherwise: "+timestampFormat))
	describe(p, "Guards", schema.String.Attribute("blocked_at",
		"OPEN#: when an operator blocked the agent; absent otherwise: "+timestampFormat))
	describe(p, "Guards", decisionAttributes("OPEN#: ")...)
	for _, name := range []string{"ListResponses", "GetAnsweredQuestions"} {
		read := pattern(p, name)
		read.Attributes = append(slices.Clone(read.Attributes), "hidden_at")
	}
	*p = p.Join(schema.Own{AccessPatterns: moderationPatterns()})
	for _, name := range []string{"agentapi", "humanapi"} {
		p.Metrics = append(p.Metrics, count(name, "Reported", "reports of questions and answers"))
	}
	p.Functions = append(p.Functions, schema.Function{
		Name:        "moderationapi",
		ID:          "ModerationAPI",
		Description: "Serves the routes that operators call",
	})
	p.Metrics = append(p.Metrics,
		count("moderationapi", "Hidden", "questions and answers that operators hid"),
		count("moderationapi", "Blocked", "people and agents that operators blocked"))
	p.Routes = append(p.Routes, schema.Routes(ReportQuestion, ReportAnswer, ListReports, DecideReport, ListOpenOfAgent,
		HideOpenOfAgent, HideQuestion, HideResponse, ReadBoard, ResetHandle, DecideBlock)...)
	withOperatedData(p)
}

// decisionAttributes describe a [LastDecision] in a table. of begins each description.
func decisionAttributes(of string) []schema.Attribute {
	return []schema.Attribute{
		schema.Number.Attribute("decisions", of+"how often operators have decided; absent before the first time"),
		schema.String.Attribute("decision", of+"what they decided last: blocked, unblocked, name_reset or name_free"),
		schema.String.Attribute("decided_by", of+"the subject of the token of that operator"),
		schema.String.Attribute("decided_at", of+"when that was: "+timestampFormat),
	}
}

// reportsTable has one item for each question or answer that was reported or hidden, however many
// report it.
func reportsTable() schema.Table {
	return schema.Table{
		Name:         "Reports",
		PhysicalName: "reports",
		Description:  "Questions and answers that people or agents reported, or that operators hid.",
		Key:          schema.Key{Partition: "report_id"},
		TimeToLive:   "expires_at",
		Attributes: append(schema.After(schema.After(attributesOf(OperatorReport{}), "response_id",
			schema.String.Attribute("state",
				"open until an operator decides; then dismissed or hidden")), "reported_at",
			schema.StringSet.Attribute("reporters",
				"Digests of those who reported it: each counts once, and the first 50 alone"),
			schema.List.Attribute("reports",
				"What they said, oldest first: reason, comment, by (person or agent) and at")),
			schema.Number.Attribute("expires_at",
				"End of retention in Unix seconds (TTL attribute): 90 days after the last report or "+
					"decision")),
		Indexes: []schema.Index{
			{Name: "ByState", Key: schema.Key{Partition: "state", Sort: "reported_at"},
				Description: "What operators have to decide, and what they decided, newest first."},
		},
	}
}

func moderationPatterns() []schema.AccessPattern {
	decided := schema.Write{Table: "Reports", Action: schema.UpdateItem,
		Description: "the decision, also if no one reported it"}
	return schema.UsedBy("moderationapi",
		schema.Existing("GetQuestion"), schema.Existing("GetOpenQuestionIDs"),
		schema.UpdateItem.Pattern("KeepReport", "Reports", "Keep what someone reported, unless they did before.").
			UsedBy("agentapi", "humanapi"),
		schema.Query.Pattern("ListReports", "Reports", "What was reported, of one state, newest first.").
			By("ByState", schema.Where("state", schema.Equal)).Downwards().Filtering("expires_at"),
		schema.BatchGetItem.Pattern("GetReportedQuestions", "Questions", "The questions of a page of reports.").
			Returning("question_id", "prompt", "options", "agent_id", "hidden_at"),
		schema.BatchGetItem.Pattern("GetReportedResponses", "Responses", "The answers of a page of reports.").
			Returning("question_id", "response_id", "answer", "selected_option", "fingerprint_hash", "hidden_at"),
		schema.BatchGetItem.Pattern("GetPeople", "UserStats",
			"The people of a page of reports or of a leaderboard, with what operators decided about them.").
			Returning("fingerprint_hash", "handle", "handle_reset_at", "blocked_at", "decisions"),
		schema.BatchGetItem.Pattern("GetOpenQuestions", "Questions", "The questions of an agent that take answers.").
			Consistently(),
		schema.Transaction("HideQuestion", "Hide a question, which closes it, or show it again.",
			schema.UpdateItem.On("Questions", "hidden_at; status, end and retention, if it was open or partial"),
			decided,
			schema.UpdateItem.On("Guards",
				"its place among the agent's open questions, if it was open or partial").IfNeeded()),
		schema.Transaction("HideResponse", "Hide an answer, or show it again.",
			schema.UpdateItem.On("Responses", "hidden_at, if there is such an answer"),
			decided),
		schema.UpdateItem.Pattern("DecideReport", "Reports",
			"Dismiss a report, or open it again, unless what it is about is hidden."),
		schema.Existing("ListTopTotal"), schema.Existing("ListTopDaily"), schema.Existing("ListTopWeekly"),
		schema.UpdateItem.Pattern("ResetHandle", "UserStats",
			"Take the name of a person who has answered, or let them choose again. It counts the version up, too."),
		schema.UpdateItem.Pattern("BlockPerson", "UserStats",
			"Block a person who has answered, or lift the block. It counts the version up, so no answer that is "+
				"under way can be stored."),
		schema.UpdateItem.Pattern("BlockAgent", "Guards",
			"Block an agent, or lift the block: the item is the one that every ask writes."),
	)
}
