package askahuman

import (
	"net/http"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// PageParams are the parameters of a list.
type PageParams struct {
	Limit int `query:"limit" minimum:"1" default:"20" doc:"How many to return at most, 1 to 50; a higher number is 50."`
	CursorParams
}

// CursorParams say which page of a list is meant.
type CursorParams struct {
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

// AskParams may have the idempotency key of an ask.
type AskParams struct {
	IdempotencyKey string `header:"X-Idempotency-Key" minLength:"1" maxLength:"255" doc:"The same as idempotency_key in the body."`
}

// QuestionParams name a question.
type QuestionParams struct {
	ID string `path:"question_id" strict:"uuid" doc:"The question's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
}

// NewsParams name a question, and say how long to wait for news of it.
type NewsParams struct {
	QuestionParams
	Wait int  `query:"wait" minimum:"0" maximum:"20" doc:"For how many seconds the answer may wait for news: until the question has ended, or has more answers than were seen. Without news, it is the question as it is then. A call counts once, however long it waits." example:"20"`
	Seen *int `query:"seen" minimum:"0" maximum:"50" doc:"With wait: how many answers are no news, such as the current_responses of the read before. By default, those that there are when the wait begins." example:"2"`
}

// AgentListParams narrow the list of an agent's questions.
type AgentListParams struct {
	Status string `query:"status" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" doc:"Only questions of this status."`
	PageParams
}

// FeedParams narrow the questions for people.
type FeedParams struct {
	PageParams
	Audience []string `query:"audience,explode" strict:"distinct,each=one=technical|product|ethics|creative|general" doc:"Only questions for one of these audiences (technical, product, ethics, creative, general): repeat the parameter, or separate them by commas." example:"[\"technical\"]"`
}

// ZoneParams say when a person's days are.
type ZoneParams struct {
	Timezone string `header:"X-Timezone" strict:"timezone" maxLength:"64" doc:"IANA name of the person's time zone, which says when their days and nights are; UTC by default. It may differ from one request to the next." example:"Europe/Berlin"`
}

// SubscriptionParams name a subscription.
type SubscriptionParams struct {
	ID string `path:"subscription_id" strict:"uuid" doc:"The subscription's id."`
}

// LeaderboardParams say which leaderboard is meant.
type LeaderboardParams struct {
	BoardParams
	Limit int `query:"limit" minimum:"1" default:"10" doc:"How many entries to return at most, 1 to 100; a higher number is 100."`
}

// BoardParams say which period a leaderboard is of.
type BoardParams struct {
	Period string `query:"period" enum:"daily,weekly,all_time" default:"all_time" doc:"The UTC day, the week from Monday UTC, or all time."`
}

// PersonParams name a person to an operator: in a header, because paths are logged.
type PersonParams struct {
	Fingerprint string `header:"X-Fingerprint" required:"true" minLength:"1" maxLength:"512" doc:"The person's id, as they tell it: the page shows it in its settings." example:"c1b9e0c5a2"`
}

// DataParams name a person and a page of what is kept of them.
type DataParams struct {
	PersonParams
	CursorParams
}

// ReportListParams narrow the list of reports.
type ReportListParams struct {
	State string `query:"state" enum:"open,dismissed,hidden" default:"open" doc:"Only what is in this state: open until an operator decides."`
	PageParams
}

// ReportParams name a report.
type ReportParams struct {
	ID string `path:"report_id" strict:"uuid" doc:"The report's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
}

// AgentParams name an agent.
type AgentParams struct {
	AgentID string `query:"agent_id" required:"true" minLength:"1" maxLength:"255" doc:"The agent, as reports name it." example:"my-agent"`
}

// ResponseParams name an answer.
type ResponseParams struct {
	QuestionParams
	ResponseID string `path:"response_id" strict:"uuid" doc:"The answer's id." example:"0b7d2f0e-52a1-8a0d-b6f5-0d9a4c2f7e11"`
}

const (
	// asks and quota are what the document says of an ask, with the number of open questions between them.
	asks  = "Stores a question and shows it to people. At most "
	quota = " questions of one agent are open or partial at a time; one whose deadline has passed does not count. " +
		"Repeated with the same idempotency key it answers as it did the first time; while the first request is " +
		"running, a repeat waits for it for 2 seconds."

	// callbackPattern is the form of a callback_url with a name as its host, as webhook.Addresses.CheckURL takes it.
	// What ends in a number is no name. A local run takes http:// of its own machine, too, so that nothing checks it.
	callbackPattern = `pattern=^[Hh][Tt][Tt][Pp][Ss]://([0-9A-Za-z_-]{1,63}\.)+` +
		`([0-9]*[A-WYZa-wyz_-][0-9A-Za-z_-]*|([1-9][0-9]*|0[0-9]+)?[Xx][0-9A-Za-z_-]*|` +
		`0[Xx][0-9A-Fa-f]*[G-Zg-z_-][0-9A-Za-z_-]*)\.?` +
		`(:(0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?` +
		`(/([^\x00-\x1f\x7f#%?]|%[0-9A-Fa-f]{2})*)?(\?[^\x00-\x1f\x7f#]*)?#?$`

	// tokenPattern is the form of a device's token: without white space, with a visible character.
	tokenPattern = `pattern=^[^\s\u0085]*[^\u0000-\u0020\u007f-\u00a0\u00ad][^\s\u0085]*$`

	// exports and deletes are what the document says of what is kept of a person.
	exports = "Returns all that the tables keep of the person, by pages: stats and the last notification, then " +
		"answers, then subscriptions. A token has a digest in its place. Counts of requests, which end with their " +
		"window, reports, which do not name who reported, and which operator decided are not there. An answer of a " +
		"moment ago may be missing."
	deletes = "Deletes what is kept of the person: points, badges, streak, name, places on leaderboards, " +
		"subscriptions and the last notification. Answers stay for their agents, and nothing in them " +
		"tells whose they are. A block and the reset of a name stay. One request deletes 100 answers and " +
		"subscriptions: send it again while the answer has more. It may be repeated at any time."
)

// errDecided is an example of the error of a decision on what has changed.
var errDecided = &DecidedError{LastDecision: LastDecision{Version: 1, What: Decided(ReportHidden), By: "olga",
	At: wire.Time(time.Date(2026, 2, 2, 9, 45, 0, 0, time.UTC))}}

// The operations of agents on their questions.
var (
	// AskQuestion is the ask of a platform with the default rules. [AskUnder] is that of others.
	AskQuestion = schema.Operation[AskParams, Ask, Submission]{
		ID: "askQuestion", Route: "POST /agent/questions", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "create",
		Summary:   "Ask a question",
		Detail:    asks + "100" + quota,
		Status:    http.StatusCreated, Key: schema.KeyOwn, CountsAlong: true,
		Strict: map[string]string{"body.callback_url": callbackPattern},
		Variants: []schema.Variant{
			{Strict: map[string]string{"type": "one=" + string(TypeText), "options": "empty"}},
			{Required: []string{"options"},
				Strict: map[string]string{"type": "one=" + string(TypeMultipleChoice), "options": "atleast=2"}},
		},
		Errors: []error{ErrQuotaExceeded, ErrBlocked},
	}
	ListQuestions = schema.Operation[AgentListParams, schema.None, AgentQuestionList]{
		ID: "listQuestions", Route: "GET /agent/questions", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "List the agent's own questions",
		Detail: "Returns a page of the agent's own questions, newest first. With a status, a page may have fewer " +
			"questions than its limit, even none, and still a next_cursor.",
	}
	// ReadQuestion is the read of a platform whose agents can wait, and ReadQuestionAtOnce that of the others.
	ReadQuestion = schema.Operation[NewsParams, schema.None, QuestionWithResponses]{
		ID: "readQuestion", Route: "GET /agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "Read a question and its answers",
		Detail:    returns, NoWorkTime: true,
		Errors: []error{ErrQuestionNotFound},
	}
	ReadQuestionAtOnce = schema.Operation[QuestionParams, schema.None, QuestionWithResponses]{
		ID: "readQuestion", Route: "GET /agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "Read a question and its answers",
		Detail:    returns,
		Errors:    []error{ErrQuestionNotFound},
	}
	CloseQuestion = schema.Operation[QuestionParams, schema.None, schema.None]{
		ID: "closeQuestion", Route: "DELETE /agent/questions/{question_id}", Function: "agentapi",
		Caller: CallerAgent, RateLimit: "poll",
		Summary: "Close a question early",
		Detail: "Closes one of the agent's own questions before its deadline. Its answers stay readable. One that " +
			"has ended already stays as it is.",
		Errors: []error{ErrQuestionNotFound},
	}
	ReadDocument = schema.DocumentOperation("GET /openapi.json", "agentapi",
		"Returns the description of all routes, those of people included.")
)

// returns describes the read of a question in the document.
const returns = "Returns one of the agent's own questions with the answers it has so far. Questions are kept for 7 " +
	"days after they close and for 24 hours after they expire; another agent's is not found."

// AskUnder is [AskQuestion] of a platform with these parts and rules.
func AskUnder(parts Parts, rules Rules) schema.Operation[AskParams, Ask, Submission] {
	ask := AskQuestion
	ask.Detail = asks + strconv.Itoa(rules.OpenQuestions) + quota
	if parts.WithoutWebhooks {
		ask.Strict = map[string]string{"body.callback_url": "null=This environment sends no webhooks."}
	}
	return ask
}

// The operations of agents on webhooks and reports.
var (
	ReadWebhookSecrets = schema.Operation[schema.None, schema.None, WebhookSecretList]{
		ID: "readWebhookSecrets", Route: "GET /agent/webhook-secrets", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "Read the secrets that sign the agent's webhooks",
		Detail: "Returns the secrets with which the agent's webhooks are signed, as Standard Webhooks 1.0.0 says. " +
			"Each agent has secrets of its own.",
		Errors: []error{ErrBlocked},
	}
	RotateWebhookSecret = schema.Operation[schema.None, schema.None, WebhookSecretList]{
		ID: "rotateWebhookSecret", Route: "POST /agent/webhook-secrets", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "Rotate the secret that signs the agent's webhooks",
		Detail: "Makes another secret the present one. The former one is valid for 24 hours more: until then " +
			"webhooks have a signature by each. At most six former ones are valid.",
		Errors: []error{ErrBlocked},
	}
	TestWebhook = schema.Operation[schema.None, WebhookTest, WebhookTestSent]{
		ID: "testWebhook", Route: "POST /agent/webhook-tests", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "create",
		Summary:   "Send a webhook to try an endpoint",
		Detail: "Sends a webhook of the type webhook.test to an endpoint, signed as any other. It is sent once, " +
			"whatever the endpoint answers.",
		Status: http.StatusAccepted,
		Strict: map[string]string{"body.callback_url": callbackPattern},
		Errors: []error{ErrBlocked},
	}
	ReportAnswer = schema.Operation[schema.None, ResponseReport, Reported]{
		ID: "reportResponse", Route: "POST /agent/reports", Function: "agentapi", Caller: CallerAgent,
		RateLimit: "poll",
		Summary:   "Report an answer",
		Detail: "Reports an answer to one of the agent's own questions to the platform's operators. A repeat changes " +
			"nothing.",
		Status: http.StatusCreated,
		Errors: []error{ErrQuestionNotFound, ErrResponseNotFound, ErrBlocked},
	}
)

// The operations of people on questions and answers.
var (
	ListOpenQuestions = schema.Operation[FeedParams, schema.None, HumanQuestionList]{
		ID: "listOpenQuestions", Route: "GET /human/questions", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "read",
		Summary:   "List questions that want answers",
		Detail: "Returns a page of questions that still want answers, newest first, without those that the person " +
			"has answered. A page may have fewer questions than its limit, even none, and still a next_cursor: one " +
			"request looks at 120 questions. One that the person answered a moment ago may still be there.",
	}
	ReadOpenQuestion = schema.Operation[QuestionParams, schema.None, AnswerableQuestion]{
		ID: "readOpenQuestion", Route: "GET /human/questions/{question_id}", Function: "humanapi",
		Caller: CallerPerson, RateLimit: "read",
		Summary: "Read a question that wants answers",
		Detail: "Returns a question that still wants answers, and whether this person can give one. This hands the " +
			"question to the person.",
		Errors: []error{ErrQuestionNotFound, ErrQuestionClosed},
	}
	AnswerQuestion = schema.Operation[ZoneParams, Answer, Receipt]{
		ID: "answerQuestion", Route: "POST /human/responses", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "answer",
		Summary:   "Answer a question",
		Detail: "Stores a person's answer to a question and gives points for it. One person answers a question once, " +
			"and is told ALREADY_ANSWERED also when the question has ended since. A text of more than 100 " +
			"characters, without the white space around it, earns more; so do confidence, an answer within 5 minutes " +
			"of the person's last notification if that was of this question, and an answer to a question that has " +
			"less than half of its answers. Points stop at the most of a UTC day; the answer, its day in a row and " +
			"its badges still count. A question that ended at most 60 seconds ago still gives its points, once, to a " +
			"person to whom it was handed before it ended, by the answer's handed; the receipt is then late.",
		Status: http.StatusCreated, NeedsCaller: true,
		Variants: []schema.Variant{
			{Required: []string{"answer"}, Strict: map[string]string{"selected_option": "null"}},
			{Required: []string{"selected_option"}, Strict: map[string]string{"answer": "null"}},
		},
		Errors: []error{ErrQuestionNotFound, ErrAlreadyAnswered, ErrQuestionClosed, ErrBlocked},
	}
	ListAnswers = schema.Operation[PageParams, schema.None, OwnAnswerList]{
		ID: "listAnswers", Route: "GET /human/responses", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "read",
		Summary:   "List one's own answers",
		Detail: "Returns a page of the person's own answers of the last 30 days, newest first, with what became of " +
			"their questions. An answer of a moment ago may not be there yet.",
		NeedsCaller: true,
	}
	ReportQuestion = schema.Operation[schema.None, PersonReport, Reported]{
		ID: "reportQuestion", Route: "POST /human/reports", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "subscribe",
		Summary:   "Report a question",
		Detail: "Reports a question, or a name on a leaderboard, to the platform's operators. One person reports " +
			"each once: a repeat changes nothing. Of each, 50 reports are kept.",
		Status: http.StatusCreated, NeedsCaller: true,
		Variants: []schema.Variant{
			{Required: []string{"question_id"}, Strict: map[string]string{"handle": "null"}},
			{Required: []string{"handle"}, Strict: map[string]string{"question_id": "null"}},
		},
		Errors: []error{ErrQuestionNotFound, ErrHandleNotFound, ErrBlocked},
	}
)

// The operations of people on notifications.
var (
	Subscribe = schema.Operation[schema.None, NewSubscription, Subscribed]{
		ID: "subscribe", Route: "POST /human/push/subscribe", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "subscribe",
		Summary:   "Subscribe to push notifications",
		Detail: "Subscribes a device to notifications of new questions. A token that is subscribed already keeps its " +
			"subscription, with the new interval, and the person of this request if X-Fingerprint names one. Without " +
			"X-Fingerprint a new subscription is an unknown person's, who earns nothing more for an answer to a " +
			"notification.",
		Status: http.StatusCreated,
		Strict: map[string]string{"body.fcm_token": tokenPattern},
	}
	RenewSubscription = schema.Operation[schema.None, SubscriptionRenewal, Subscribed]{
		ID: "renewSubscription", Route: "PUT /human/push/subscribe", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "subscribe",
		Summary:   "Renew a device's token",
		Detail: "Gives a device's subscription its new token, for apps that do not keep the subscription's id. It is " +
			"the one that has the old token, or else the one that has the new token already, or else the last one " +
			"that the person made.",
		Strict: map[string]string{"body.fcm_token": tokenPattern, "body.old_fcm_token": tokenPattern},
		Errors: []error{ErrSubscriptionNotFound},
	}
	ChangeSubscription = schema.Operation[SubscriptionParams, SubscriptionChange, Subscribed]{
		ID: "changeSubscription", Route: "PUT /human/push/subscribe/{subscription_id}", Function: "humanapi",
		Caller: CallerPerson, RateLimit: "subscribe",
		Summary: "Change a subscription",
		Detail: "Gives a subscription a new token, a new interval, or both, and makes it active again. A token of " +
			"another subscription moves here, and that one ends.",
		Strict: map[string]string{"body.fcm_token": tokenPattern},
		Variants: []schema.Variant{
			{Required: []string{"fcm_token"}},
			{Required: []string{"min_interval_minutes"}, Strict: map[string]string{"fcm_token": "null"}},
		},
		Errors: []error{ErrSubscriptionNotFound},
	}
	Unsubscribe = schema.Operation[SubscriptionParams, schema.None, schema.None]{
		ID: "unsubscribe", Route: "DELETE /human/push/subscribe/{subscription_id}", Function: "humanapi",
		Caller:  CallerPerson,
		Summary: "End a subscription",
		Detail:  "Ends a subscription.",
		Errors:  []error{ErrSubscriptionNotFound},
	}
)

// The operations of people on points, names and what is kept of them.
var (
	ReadStats = schema.Operation[ZoneParams, schema.None, Standing]{
		ID: "readStats", Route: "GET /human/stats", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
		Summary: "Read one's own points, streak and badges",
		Detail:  "Returns the person's own points, streak and badges.", NeedsCaller: true,
	}
	ChooseHandle = schema.Operation[schema.None, Handle, Handle]{
		ID: "chooseHandle", Route: "PUT /human/handle", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "subscribe",
		Summary:   "Choose one's name on leaderboards",
		Detail: "Keeps the name that the person chose for leaderboards, and returns it as it is kept: composed " +
			"(NFC), with single spaces. Others see it within a minute. A name is refused that promises an operator " +
			"or no one, insults, can be a phone number, or can be taken for that of someone else on the leaderboards.",
		NeedsCaller: true,
		Errors: []error{ErrHandleReserved, ErrHandleOffensive, ErrHandleNumber, ErrHandleTaken, ErrNeverAnswered,
			ErrHandleReset},
	}
	DropHandle = schema.Operation[schema.None, schema.None, Handle]{
		ID: "dropHandle", Route: "DELETE /human/handle", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "subscribe",
		Summary:   "Go back to the name that is made for one",
		Detail:    "Gives the person the name back that is made for them, and returns it.", NeedsCaller: true,
		Errors: []error{ErrNeverAnswered, ErrHandleReset},
	}
	ReadLeaderboard = schema.Operation[LeaderboardParams, schema.None, Leaderboard]{
		ID: "readLeaderboard", Route: "GET /human/leaderboard", Function: "humanapi", Caller: CallerPerson,
		RateLimit: "read",
		Summary:   "Read the leaderboard",
		Detail:    "Returns the people with the most points, and where the person stands among them.",
	}
	ExportData = schema.Operation[CursorParams, schema.None, PersonData]{
		ID: "exportData", Route: "GET /human/data", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
		Summary: "Export what is kept of oneself",
		Detail:  exports, NeedsCaller: true,
	}
	DeleteData = schema.Operation[schema.None, schema.None, Deleted]{
		ID: "deleteData", Route: "DELETE /human/data", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
		Summary: "Delete what is kept of oneself",
		Detail:  deletes, NeedsCaller: true,
	}
)

// The operations of operators.
var (
	ListReports = schema.Operation[ReportListParams, schema.None, ReportList]{
		ID: "listReports", Route: "GET /operator/reports", Function: "moderationapi", Caller: CallerOperator,
		Summary: "List what was reported",
		Detail: "Returns a page of the questions and answers that were reported, with their texts. Reports are kept " +
			"for 90 days after the last report or decision.",
	}
	DecideReport = schema.Operation[ReportParams, Dismissal, schema.None]{
		ID: "decideReport", Route: "PUT /operator/reports/{report_id}", Function: "moderationapi",
		Caller:  CallerOperator,
		Summary: "Dismiss a report, or open it again",
		Detail: "Dismisses a report, so that it is open no more, or opens it again. It hides and shows nothing: a " +
			"report of what is hidden is decided by showing that again.",
		Errors: []error{ErrReportNotFound, errDecided},
	}
	ListOpenOfAgent = schema.Operation[AgentParams, schema.None, OfAgent]{
		ID: "listOpenOfAgent", Route: "GET /operator/questions", Function: "moderationapi", Caller: CallerOperator,
		Summary: "List an agent's questions that take answers",
		Detail:  "Returns the questions of an agent that take answers, with their texts.",
	}
	HideOpenOfAgent = schema.Operation[schema.None, AllHidden, HiddenQuestions]{
		ID: "hideOpenOfAgent", Route: "PUT /operator/questions", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Hide all of an agent's questions that take answers",
		Detail: "Hides the questions of an agent that take answers, 100 at most, each as hideQuestion does. Block " +
			"the agent first, so that it asks no more meanwhile.",
		Errors: []error{errDecided},
	}
	HideQuestion = schema.Operation[QuestionParams, Visibility, schema.None]{
		ID: "hideQuestion", Route: "PUT /operator/questions/{question_id}", Function: "moderationapi",
		Caller:  CallerOperator,
		Summary: "Hide a question, or show it again",
		Detail: "Hides a question: people no longer find it, it takes no more answers, and its agent sees that it is " +
			"closed and hidden. Its answers stay readable. Shown again, it stays closed.",
		Errors: []error{ErrQuestionNotFound, errDecided},
	}
	HideResponse = schema.Operation[ResponseParams, Visibility, schema.None]{
		ID: "hideResponse", Route: "PUT /operator/questions/{question_id}/responses/{response_id}",
		Function: "moderationapi", Caller: CallerOperator,
		Summary: "Hide an answer, or show it again",
		Detail: "Hides an answer from the agent that asked, or shows it again. It still counts towards the answers " +
			"that the question wanted.",
		Errors: []error{ErrResponseNotFound, errDecided},
	}
	ReadBoard = schema.Operation[BoardParams, schema.None, OperatorBoard]{
		ID: "readBoard", Route: "GET /operator/leaderboard", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Read a leaderboard with the people on it",
		Detail:  "Returns the first 100 of a leaderboard with the people, to reset a name or to block someone by.",
	}
	ResetHandle = schema.Operation[schema.None, HandleReset, schema.None]{
		ID: "resetHandle", Route: "PUT /operator/handles", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Reset a person's name on leaderboards, or let them choose again",
		Detail: "Takes the name that a person chose for leaderboards: they have the one that is made for them, and " +
			"cannot choose another; or lets them choose again.",
		Errors: []error{ErrPersonNotFound, errDecided},
	}
	DecideBlock = schema.Operation[schema.None, Block, schema.None]{
		ID: "block", Route: "PUT /operator/blocks", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Block a person or an agent, or lift the block",
		Detail: "Blocks a person, who then can neither answer nor report, or an agent, which then can neither ask, " +
			"nor report, nor have webhooks sent; or lifts the block. What they wrote before stays, until it is " +
			"hidden. A block also stops what is under way.",
		Variants: []schema.Variant{
			{Required: []string{"person"}, Strict: map[string]string{"agent_id": "null"}},
			{Required: []string{"agent_id"}, Strict: map[string]string{"person": "null"}},
		},
		Errors: []error{ErrPersonNotFound, errDecided},
	}
	ExportDataOf = schema.Operation[DataParams, schema.None, PersonData]{
		ID: "exportDataOf", Route: "GET /operator/data", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Export what is kept of a person",
		Detail:  exports,
	}
	DeleteDataOf = schema.Operation[PersonParams, schema.None, Deleted]{
		ID: "deleteDataOf", Route: "DELETE /operator/data", Function: "moderationapi", Caller: CallerOperator,
		Summary: "Delete what is kept of a person",
		Detail:  deletes,
	}
)
