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
	describe(p, "Questions", text("hidden_at", "When an operator hid it; absent otherwise: "+timestampFormat))
	describe(p, "Responses", text("hidden_at", "When an operator hid it; absent otherwise: "+timestampFormat))
	describe(p, "UserStats", text("blocked_at",
		"When an operator blocked the person; absent otherwise: "+timestampFormat))
	describe(p, "Guards", text("blocked_at",
		"OPEN#: when an operator blocked the agent; absent otherwise: "+timestampFormat))
	listed := pattern(p, "ListResponses")
	listed.Attributes = append(slices.Clone(listed.Attributes), "hidden_at")
	p.Database.AccessPatterns = append(p.Database.AccessPatterns, moderationPatterns()...)
	for _, name := range []string{"agentapi", "humanapi"} {
		f := function(p, name)
		f.AccessPatterns = append(f.AccessPatterns, "KeepReport")
		p.Metrics = append(p.Metrics, schema.Metric{Name: "Reported", Function: name, Unit: schema.Count,
			Description: "reports of questions and answers"})
	}
	p.Functions = append(p.Functions, schema.Function{
		Name:        "moderationapi",
		ID:          "ModerationAPI",
		Description: "Serves the routes that operators call",
		AccessPatterns: []string{"ListReports", "GetReportedQuestions", "GetReportedResponses", "GetOpenQuestionIDs",
			"GetOpenQuestions", "GetQuestion", "HideQuestion", "HideResponse", "DecideReport", "BlockPerson",
			"BlockAgent"},
	})
	p.Metrics = append(p.Metrics,
		schema.Metric{Name: "Hidden", Function: "moderationapi", Unit: schema.Count,
			Description: "questions and answers that operators hid"},
		schema.Metric{Name: "Blocked", Function: "moderationapi", Unit: schema.Count,
			Description: "people and agents that operators blocked"})
	p.Routes = append(p.Routes,
		schema.Route{ID: "reportQuestion", Method: "POST", Path: "/human/reports", Function: "humanapi", Caller: CallerPerson,
			RateLimit: "subscribe", Summary: "Report a question"},
		schema.Route{ID: "reportResponse", Method: "POST", Path: "/agent/reports", Function: "agentapi", Caller: CallerAgent,
			RateLimit: "poll", Summary: "Report an answer"},
		schema.Route{ID: "listReports", Method: "GET", Path: "/operator/reports", Function: "moderationapi", Caller: CallerOperator,
			Summary: "List what was reported"},
		schema.Route{ID: "decideReport", Method: "PUT", Path: "/operator/reports/{report_id}", Function: "moderationapi",
			Caller: CallerOperator, Summary: "Dismiss a report, or open it again"},
		schema.Route{ID: "listOpenOfAgent", Method: "GET", Path: "/operator/questions", Function: "moderationapi", Caller: CallerOperator,
			Summary: "List an agent's questions that take answers"},
		schema.Route{ID: "hideOpenOfAgent", Method: "PUT", Path: "/operator/questions", Function: "moderationapi", Caller: CallerOperator,
			Summary: "Hide all of an agent's questions that take answers"},
		schema.Route{ID: "hideQuestion", Method: "PUT", Path: "/operator/questions/{question_id}", Function: "moderationapi",
			Caller: CallerOperator, Summary: "Hide a question, or show it again"},
		schema.Route{ID: "hideResponse", Method: "PUT", Path: "/operator/questions/{question_id}/responses/{response_id}",
			Function: "moderationapi", Caller: CallerOperator, Summary: "Hide an answer, or show it again"},
		schema.Route{ID: "block", Method: "PUT", Path: "/operator/blocks", Function: "moderationapi", Caller: CallerOperator,
			Summary: "Block a person or an agent, or lift the block"},
	)
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
		Attributes: append(schema.After(attributesOf(Case{}), "reported_at", schema.Attribute{
			Name: "reporters", Type: schema.StringSet,
			Description: "Digests of those who reported it: each counts once, and the first 50 alone",
		}), number("expires_at", "End of retention in Unix seconds (TTL attribute): 90 days after the last report or "+
			"decision")),
		Indexes: []schema.Index{
			{Name: "ByState", Key: schema.Key{Partition: "state", Sort: "reported_at"},
				Description: "What operators have to decide, and what they decided, newest first."},
		},
	}
}

func moderationPatterns() []schema.AccessPattern {
	decided := schema.Write{Table: "Reports", Operation: schema.UpdateItem,
		Description: "the decision, also if no one reported it"}
	return []schema.AccessPattern{
		schema.UpdateItem.Pattern("KeepReport", "Reports", "Keep what someone reported, unless they did before."),
		schema.Query.Pattern("ListReports", "Reports", "What was reported, of one state, newest first.").
			By("ByState", schema.Where("state", schema.Equal)).Downwards().Filtering("expires_at"),
		schema.BatchGetItem.Pattern("GetReportedQuestions", "Questions", "The questions of a page of reports.").
			Returning("question_id", "prompt", "options", "agent_id", "hidden_at"),
		schema.BatchGetItem.Pattern("GetReportedResponses", "Responses", "The answers of a page of reports.").
			Returning("question_id", "response_id", "answer", "selected_option", "fingerprint_hash", "hidden_at"),
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
		schema.UpdateItem.Pattern("DecideReport", "Reports", "Dismiss a report, or open it again."),
		schema.UpdateItem.Pattern("BlockPerson", "UserStats",
			"Block a person who has answered, or lift the block. It counts the version up, so no answer that is "+
				"under way can be stored."),
		schema.UpdateItem.Pattern("BlockAgent", "Guards",
			"Block an agent, or lift the block: the item is the one that every ask writes."),
	}
}
