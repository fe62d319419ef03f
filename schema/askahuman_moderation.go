package schema

import "slices"

// OperatorsGroup is the group of the user pool whose members moderate Ask-a-Human.
const OperatorsGroup = "operators"

// CallerOperator moderates: a person who has signed in, and is in the group of operators.
var CallerOperator = Caller{Name: "operator", Token: TokenOfUser, Group: OperatorsGroup}

// withModeration adds what strangers' texts need: reports of people and agents, and operators who hide
// questions and answers, and block people and agents.
func withModeration(p *Platform) {
	p.Database.Tables = append(p.Database.Tables, reportsTable())
	p.Database.add("Questions", Attribute{"hidden_at", String, "When an operator hid it; absent otherwise: " + timestampFormat})
	p.Database.add("Responses", Attribute{"hidden_at", String, "When an operator hid it; absent otherwise: " + timestampFormat})
	p.Database.add("UserStats", Attribute{"blocked_at", String, "When an operator blocked the person; absent otherwise: " + timestampFormat})
	p.Database.add("Guards", Attribute{"blocked_at", String, "OPEN#: when an operator blocked the agent; absent otherwise: " + timestampFormat})
	listed := p.Database.pattern("ListResponses")
	listed.Attributes = append(slices.Clone(listed.Attributes), "hidden_at")
	p.Database.AccessPatterns = append(p.Database.AccessPatterns, moderationPatterns()...)
	for _, name := range []string{"agentapi", "humanapi"} {
		f := p.function(name)
		f.AccessPatterns = append(f.AccessPatterns, "KeepReport")
		p.Metrics = append(p.Metrics, Metric{Name: "Reported", Function: name, Unit: Count, Description: "reports of questions and answers"})
	}
	p.Functions = append(p.Functions, Function{
		Name:           "moderationapi",
		ID:             "ModerationAPI",
		Description:    "Serves the routes that operators call",
		AccessPatterns: []string{"ListReports", "GetReportedQuestions", "GetReportedResponses", "GetOpenQuestionIDs", "GetOpenQuestions", "GetQuestion", "HideQuestion", "HideResponse", "DecideReport", "BlockPerson", "BlockAgent"},
	})
	p.Metrics = append(p.Metrics,
		Metric{Name: "Hidden", Function: "moderationapi", Unit: Count, Description: "questions and answers that operators hid"},
		Metric{Name: "Blocked", Function: "moderationapi", Unit: Count, Description: "people and agents that operators blocked"})
	p.Routes = append(p.Routes,
		Route{Method: "POST", Path: "/human/reports", Function: "humanapi", Caller: CallerPerson, RateLimit: "subscribe", Summary: "Report a question"},
		Route{Method: "POST", Path: "/agent/reports", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "Report an answer"},
		Route{Method: "GET", Path: "/operator/reports", Function: "moderationapi", Caller: CallerOperator, Summary: "List what was reported"},
		Route{Method: "PUT", Path: "/operator/reports/{report_id}", Function: "moderationapi", Caller: CallerOperator, Summary: "Dismiss a report, or open it again"},
		Route{Method: "GET", Path: "/operator/questions", Function: "moderationapi", Caller: CallerOperator, Summary: "List an agent's questions that take answers"},
		Route{Method: "PUT", Path: "/operator/questions", Function: "moderationapi", Caller: CallerOperator, Summary: "Hide all of an agent's questions that take answers"},
		Route{Method: "PUT", Path: "/operator/questions/{question_id}", Function: "moderationapi", Caller: CallerOperator, Summary: "Hide a question, or show it again"},
		Route{Method: "PUT", Path: "/operator/questions/{question_id}/responses/{response_id}", Function: "moderationapi", Caller: CallerOperator, Summary: "Hide an answer, or show it again"},
		Route{Method: "PUT", Path: "/operator/blocks", Function: "moderationapi", Caller: CallerOperator, Summary: "Block a person or an agent, or lift the block"},
	)
}

// add adds an attribute to the table of that name.
func (d *Database) add(table string, attribute Attribute) {
	i := slices.IndexFunc(d.Tables, func(t Table) bool { return t.Name == table })
	d.Tables[i].Attributes = append(d.Tables[i].Attributes, attribute)
}

// pattern returns the access pattern of that name, to change.
func (d *Database) pattern(name string) *AccessPattern {
	return &d.AccessPatterns[slices.IndexFunc(d.AccessPatterns, func(p AccessPattern) bool { return p.Name == name })]
}

// reportsTable has one item for each question or answer that was reported or hidden, however many
// report it.
func reportsTable() Table {
	return Table{
		Name:         "Reports",
		PhysicalName: "reports",
		Description:  "Questions and answers that people or agents reported, or that operators hid.",
		Key:          Key{Partition: "report_id"},
		TimeToLive:   "expires_at",
		Attributes: []Attribute{
			{"report_id", String, "The question_id, or the response_id of an answer: partition key"},
			{"question_id", String, "The question, or that of the answer"},
			{"response_id", String, "The answer; absent for a question"},
			{"state", String, "open until an operator decides; then dismissed or hidden"},
			{"reported_at", String, "When it was last reported, or else hidden: " + timestampFormat},
			{"reporters", StringSet, "Digests of those who reported it: each counts once, and the first 50 alone"},
			{"reports", List, "What they said, oldest first: reason, comment, by (person or agent) and at"},
			{"decided_at", String, "When an operator last decided: " + timestampFormat},
			{"decided_by", String, "The subject of that operator's token"},
			{"expires_at", Number, "End of retention in Unix seconds (TTL attribute): 90 days after the last report or decision"},
		},
		Indexes: []Index{
			{Name: "ByState", Key: Key{"state", "reported_at"}, Description: "What operators have to decide, and what they decided, newest first."},
		},
	}
}

func moderationPatterns() []AccessPattern {
	decided := Write{Table: "Reports", Operation: UpdateItem, Description: "the decision, also if no one reported it"}
	return []AccessPattern{
		{
			Name:        "KeepReport",
			Description: "Keep what someone reported, unless they did before.",
			Operation:   UpdateItem, Table: "Reports",
		},
		{
			Name:        "ListReports",
			Description: "What was reported, of one state, newest first.",
			Operation:   Query, Table: "Reports", Index: "ByState", Descending: true,
			KeyConditions: []KeyCondition{{"state", Equal}},
			Filter:        []string{"expires_at"},
		},
		{
			Name:        "GetReportedQuestions",
			Description: "The questions of a page of reports.",
			Operation:   BatchGetItem, Table: "Questions",
			Attributes: []string{"question_id", "prompt", "options", "agent_id", "hidden_at"},
		},
		{
			Name:        "GetReportedResponses",
			Description: "The answers of a page of reports.",
			Operation:   BatchGetItem, Table: "Responses",
			Attributes: []string{"question_id", "response_id", "answer", "selected_option", "fingerprint_hash", "hidden_at"},
		},
		{
			Name:        "GetOpenQuestions",
			Description: "The questions of an agent that take answers.",
			Operation:   BatchGetItem, Table: "Questions", Consistent: true,
		},
		{
			Name:        "HideQuestion",
			Description: "Hide a question, which closes it, or show it again.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Questions", Operation: UpdateItem, Description: "hidden_at; status, end and retention, if it was open or partial"},
				decided,
				{Table: "Guards", Operation: UpdateItem, Optional: true, Description: "its place among the agent's open questions, if it was open or partial"},
			},
		},
		{
			Name:        "HideResponse",
			Description: "Hide an answer, or show it again.",
			Operation:   TransactWriteItems,
			Writes:      []Write{{Table: "Responses", Operation: UpdateItem, Description: "hidden_at, if there is such an answer"}, decided},
		},
		{
			Name:        "DecideReport",
			Description: "Dismiss a report, or open it again.",
			Operation:   UpdateItem, Table: "Reports",
		},
		{
			Name:        "BlockPerson",
			Description: "Block a person who has answered, or lift the block. It counts the version up, so no answer that is under way can be stored.",
			Operation:   UpdateItem, Table: "UserStats",
		},
		{
			Name:        "BlockAgent",
			Description: "Block an agent, or lift the block: the item is the one that every ask writes.",
			Operation:   UpdateItem, Table: "Guards",
		},
	}
}
