package schema

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The headers that name callers of Ask-a-Human.
const (
	AgentHeader       = "X-Agent-Id"
	FingerprintHeader = "X-Fingerprint"
)

// The callers of Ask-a-Human, beside [CallerAnyone].
var (
	// CallerAgent is an AI agent: the subject of a JWT, or the one that an issued key
	// names, or, on an open platform, what its X-Agent-Id header says.
	CallerAgent = Caller{Name: "agent", Token: TokenOfProgram, Header: AgentHeader}
	// CallerPerson is an anonymous person, identified by the X-Fingerprint header.
	CallerPerson = Caller{Name: "person", Header: FingerprintHeader}
)

// What the rate limits of Ask-a-Human count calls by, beside [PerAddress].
const (
	PerAgent  Identity = "agent"
	PerPerson Identity = "person"
)

// AskAHumanParts are the parts of Ask-a-Human that a stack can have or leave out. Each is described in
// a file of its own, schema/askahuman_<part>.go.
type AskAHumanParts struct {
	// AgentKeys adds the table of issued keys.
	AgentKeys bool
	// WithoutWaiting leaves out reads of agents that wait for news of a question.
	WithoutWaiting bool
	// WithoutMCP leaves out the server of the Model Context Protocol.
	WithoutMCP bool
	// WithoutWebhooks leaves out the stream of questions, and the queue and the functions that send webhooks.
	WithoutWebhooks bool
	// WithoutModeration leaves out reports, and operators who hide and block.
	WithoutModeration bool
	// WithoutPage leaves the page for people out.
	WithoutPage bool
}

// LeftOut names the parts that a function finds missing, separated by commas, such as "moderation". The
// function finds it in its environment.
func (p AskAHumanParts) LeftOut() string {
	var names []string
	for name, out := range p.leftOut() {
		if *out {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// ParseAskAHumanParts reads what [AskAHumanParts.LeftOut] wrote. AgentKeys is not part of it: a function
// knows it by the table's name.
func ParseAskAHumanParts(leftOut string) (AskAHumanParts, error) {
	var p AskAHumanParts
	known := p.leftOut()
	for name := range strings.SplitSeq(leftOut, ",") {
		if name == "" {
			continue
		}
		out := known[name]
		if out == nil {
			return AskAHumanParts{}, fmt.Errorf("reading the parts that are left out: %q is none: write what AskAHumanParts.LeftOut gives", name)
		}
		*out = true
	}
	return p, nil
}

func (p *AskAHumanParts) leftOut() map[string]*bool {
	return map[string]*bool{"moderation": &p.WithoutModeration, "waiting": &p.WithoutWaiting, "webhooks": &p.WithoutWebhooks}
}

// AskAHuman is the platform on which AI agents ask and people answer, with every part that a stack has
// by default.
func AskAHuman() Platform { return AskAHumanWith(AskAHumanParts{}) }

// AskAHumanWith is the platform with these parts.
func AskAHumanWith(parts AskAHumanParts) Platform {
	p := askAHumanAPI()
	if !parts.WithoutModeration {
		withModeration(&p)
	}
	if parts.AgentKeys {
		withAgentKeys(&p)
	}
	if !parts.WithoutWaiting {
		withWaiting(&p)
	}
	if !parts.WithoutPage {
		withPage(&p)
	}
	if !parts.WithoutWebhooks {
		withWebhooks(&p)
	}
	// It takes over what the parts above give to agentapi.
	if !parts.WithoutMCP {
		withMCP(&p)
	}
	return p
}

// askAHumanAPI is the platform's API and its notifier: the four tables of the seed (ADR-02), the
// indexes and attributes that its requirements force in addition, and a fifth table for items that
// only guard the other four. docs/DEVIATIONS.md gives the reason for each addition.
func askAHumanAPI() Platform {
	return Platform{
		Name:        "askahuman",
		Title:       "Ask-a-Human",
		Description: "AI agents ask, people answer",
		Database: Database{
			Prefix:         "aah",
			Tables:         askAHumanTables(),
			AccessPatterns: askAHumanAccessPatterns(),
		},
		RateLimits: DefaultAskAHumanRules().RateLimits,
		Functions: []Function{
			{
				Name:        "agentapi",
				ID:          "AgentAPI",
				Description: "Serves the routes that AI agents call",
				AccessPatterns: []string{
					CountRequest, ClaimIdempotencyKey, "TakePlace", "StoreQuestion", "CreateQuestion", "FreePlaces", SettleIdempotencyKey, "GetQuestion",
					"ListResponses", "ListAgentQuestions", "GetOpenQuestionIDs", "GetAgentQuestions", "EndQuestion",
				},
			},
			{
				Name:        "humanapi",
				ID:          "HumanAPI",
				Description: "Serves the routes that people call",
				Secrets:     []string{"FingerprintSecret"},
				AccessPatterns: []string{
					CountRequest, "ListOpenQuestions", "GetQuestion", "GetOwnResponse",
					"ListRecentAnswers", "GetAnswerState", "GetUserStats", "SubmitResponse",
					"ListTopTotal", "ListTopDaily", "ListTopWeekly",
					"GetSubscription", "CreateSubscription", "ChangeSubscription", "UpdateSubscription", "DeleteSubscription",
				},
			},
			{
				Name:        "notifier",
				Description: "Notifies people of questions short of answers, and marks overdue ones expired",
				// A run ends before the next one begins by default.
				Timeout: 55 * time.Second,
				Trigger: OnSchedule{
					ID: "Schedule", Every: time.Minute,
					Failures: Failures{ID: "DeadLetters", Description: "runs of the notifier"},
				},
				Secrets: []string{"FCMCredentials"},
				AccessPatterns: []string{
					"ListDueQuestions", "GetQuestion", "EndQuestion", "ClaimQuestion",
					"ListDueSubscriptions", "GetOwnResponse", "ClaimPerson", "ClaimSubscription", "DeferSubscription", "MarkNotified",
					"ReleaseSubscription", "ReleasePerson", "DeactivateSubscription",
				},
			},
		},
		Secrets: []Secret{
			{Name: "FingerprintSecret", Variable: "FINGERPRINT_SECRET_ARN", Description: "Key under which fingerprints and addresses of people are hashed"},
			{
				Name: "FCMCredentials", Variable: "FCM_CREDENTIALS_SECRET_ARN",
				Description: "Service account key for Firebase Cloud Messaging: replace it with the JSON file that the Firebase console gives",
				// A service account key with everything but a private key. It authenticates no one.
				Template: `{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token"}`, Generated: "private_key",
			},
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", AgentHeader, FingerprintHeader, "X-Idempotency-Key", "X-Timezone"},
		ResponseHeaders: []string{"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []Metric{
			{Name: "Asked", Function: "agentapi", Unit: Count, Description: "questions asked; a repeat with the same idempotency key is none"},
			{Name: "ClosedByAgent", Function: "agentapi", Unit: Count, Description: "questions that their agent closed before they had all answers"},
			{Name: "Expired", Function: "agentapi", Unit: Count, Description: "overdue questions that a request of their agent marked expired"},
			{Name: "Answered", Function: "humanapi", Unit: Count, Description: "answers given"},
			{Name: "Closed", Function: "humanapi", Unit: Count, Description: "questions that got the last answer they wanted"},
			{Name: "TimeToFirstAnswer", Function: "humanapi", Unit: Milliseconds, Description: "from a question to its first answer"},
			{Name: "Subscribed", Function: "humanapi", Unit: Count, Description: "subscriptions to notifications, made or renewed"},
			{Name: "Expired", Function: "notifier", Unit: Count, Description: "overdue questions that a run marked expired"},
			{Name: "Notified", Function: "notifier", Unit: Count, Description: "notifications sent"},
			{Name: "SubscriptionsDeactivated", Function: "notifier", Unit: Count, Description: "subscriptions whose token the push service knows no more"},
			{Name: "NotificationsReleased", Function: "notifier", Unit: Count, Description: "notifications that could not be sent, to people who may be notified again at once"},
			{Name: "NotifierFailures", Function: "notifier", Unit: Count, Description: "what a run could not do, and left to the next"},
		},
		Routes: []Route{
			{Method: "POST", Path: "/agent/questions", Function: "agentapi", Caller: CallerAgent, RateLimit: "create", Summary: "Ask a question"},
			{Method: "GET", Path: "/agent/questions", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "List the agent's own questions"},
			{Method: "GET", Path: "/agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "Read a question and its answers"},
			{Method: "DELETE", Path: "/agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "Close a question early"},
			{Method: "GET", Path: "/human/questions", Function: "humanapi", Caller: CallerPerson, RateLimit: "read", Summary: "List questions that want answers"},
			{Method: "GET", Path: "/human/questions/{question_id}", Function: "humanapi", Caller: CallerPerson, RateLimit: "read", Summary: "Read a question that wants answers"},
			{Method: "POST", Path: "/human/responses", Function: "humanapi", Caller: CallerPerson, RateLimit: "answer", Summary: "Answer a question"},
			{Method: "POST", Path: "/human/push/subscribe", Function: "humanapi", Caller: CallerPerson, RateLimit: "subscribe", Summary: "Subscribe to push notifications"},
			{Method: "PUT", Path: "/human/push/subscribe", Function: "humanapi", Caller: CallerPerson, RateLimit: "subscribe", Summary: "Renew a device's token"},
			{Method: "PUT", Path: "/human/push/subscribe/{subscription_id}", Function: "humanapi", Caller: CallerPerson, RateLimit: "subscribe", Summary: "Change a subscription"},
			{Method: "DELETE", Path: "/human/push/subscribe/{subscription_id}", Function: "humanapi", Caller: CallerPerson, Summary: "End a subscription"},
			{Method: "GET", Path: "/human/stats", Function: "humanapi", Caller: CallerPerson, RateLimit: "read", Summary: "Read one's own points, streak and badges"},
			{Method: "GET", Path: "/human/leaderboard", Function: "humanapi", Caller: CallerPerson, RateLimit: "read", Summary: "Read the leaderboard"},
			{Method: "GET", Path: "/openapi.json", Function: "agentapi", Caller: CallerAnyone, Summary: "Read this API's OpenAPI document"},
		},
	}
}

// timestamps are stored in one width, so that they sort by time as text, too.
const timestampFormat = "ISO 8601 in UTC with milliseconds, such as 2026-02-02T09:30:00.000Z"

func askAHumanTables() []Table {
	return []Table{
		{
			Name:         "Questions",
			PhysicalName: "questions",
			Description:  "Question metadata and status.",
			Key:          Key{Partition: "question_id"},
			TimeToLive:   "expires_at",
			Attributes: []Attribute{
				{"question_id", String, "UUID, partition key"},
				{"status", String, "OPEN, PARTIAL, CLOSED or EXPIRED; with more than one shard followed by # and the shard's number"},
				{"prompt", String, "The question text, 10 to 2000 characters"},
				{"type", String, "text or multiple_choice"},
				{"options", List, "The options of a multiple choice question, 2 to 10 strings"},
				{"audience", List, "Tags of technical, product, ethics, creative, general"},
				{"required_responses", Number, "Target number of responses, 1 to 50"},
				{"current_responses", Number, "Number of responses stored, only ever counted up by the transaction that stores one"},
				{"agent_id", String, "Identifier of the asking agent"},
				{"idempotency_key", String, "The agent's key for duplicate request prevention, if it sent one"},
				{"created_at", String, timestampFormat},
				{"deadline", String, "When answers stop being taken: " + timestampFormat},
				{"expires_at", Number, "End of retention in Unix seconds (TTL attribute): 24 hours after the deadline, or 7 days after closing"},
				{"closed_at", String, "When it was closed: " + timestampFormat},
				{"due", String, "DUE while the notifier has something left to do for the question, with the shard's number like status; absent after that"},
				{"due_at", String, "When the notifier has to look at the question next: " + timestampFormat},
				{"notified_at", String, "When people were last notified of it: " + timestampFormat},
			},
			Indexes: []Index{
				{Name: "ByStatus", Key: Key{"status", "created_at"}, Description: "Fetch open questions for humans."},
				{Name: "ByAgentId", Key: Key{"agent_id", "created_at"}, Description: "Agent fetches their questions."},
				{Name: "ByDue", Key: Key{"due", "due_at"}, Projection: ProjectKeysOnly, Description: "Questions that the notifier has to notify of or to expire. Sparse: only open and partial ones have due."},
			},
		},
		{
			Name:         "Responses",
			PhysicalName: "responses",
			Description:  "Individual human responses.",
			Key:          Key{"question_id", "response_id"},
			TimeToLive:   "expires_at",
			Attributes: []Attribute{
				{"question_id", String, "Links to Questions, partition key"},
				{"response_id", String, "UUID, sort key, derived from the question and the person: one person has one key per question"},
				{"answer", String, "The answer to a text question, 1 to 5000 characters"},
				{"selected_option", Number, "Index of the chosen option, from 0, if multiple choice"},
				{"confidence", Number, "Optional confidence, 1 to 5"},
				{"fingerprint_hash", String, "Anonymised person: HMAC-SHA-256 of the fingerprint, hexadecimal"},
				{"created_at", String, timestampFormat},
				{"response_time_ms", Number, "Milliseconds from page load to submission, as the client says"},
				{"points_earned", Number, "Points that the answer earned"},
				{"flags", List, "suspicious_timing, duplicate_content, pattern_match; absent when there are none"},
				{"content_digest", String, "SHA-256 of the normalised text answer, hexadecimal"},
				{"content_length", Number, "Length of the text answer in characters"},
				{"expires_at", Number, "End of retention in Unix seconds (TTL attribute): 30 days after the answer"},
			},
			Indexes: []Index{
				{Name: "ByFingerprint", Key: Key{"fingerprint_hash", "created_at"}, Projection: ProjectInclude, Include: []string{"content_digest", "content_length"}, Description: "A person's recent answers."},
			},
		},
		{
			Name:         "Subscriptions",
			PhysicalName: "subscriptions",
			Description:  "Push notification subscriptions, for each token in use an item TOKEN#digest that makes it unique, and for each known person an item PERSON#hash that names their last one.",
			Key:          Key{Partition: "subscription_id"},
			Attributes: []Attribute{
				{"subscription_id", String, "UUID, partition key; or TOKEN# and the SHA-256 of a token; or PERSON# and the fingerprint_hash"},
				{"fcm_token", String, "Firebase Cloud Messaging token"},
				{"min_interval_minutes", Number, "The person's preferred least time between notifications, 5 to 1440"},
				{"last_notified_at", String, "When the person was last notified, the Unix epoch if never: " + timestampFormat},
				{"next_notification_at", String, "From when the person may be notified again: " + timestampFormat},
				{"created_at", String, timestampFormat},
				{"updated_at", String, timestampFormat},
				{"claim", String, "Random token of the notifier's write that claimed it last"},
				{"active", String, "true while the subscription is active; absent otherwise"},
				{"fingerprint_hash", String, "Anonymised person, if the subscription was made with a fingerprint"},
				{"token_owner", String, "On a TOKEN# item: the subscription that has the token; on a PERSON# item: the person's last one"},
			},
			Indexes: []Index{
				{Name: "ByLastNotified", Key: Key{"active", "last_notified_at"}, Description: "Users by last notification. Sparse: only active subscriptions."},
				{Name: "ByNextNotification", Key: Key{"active", "next_notification_at"}, Projection: ProjectInclude, Include: []string{"fcm_token", "min_interval_minutes", "last_notified_at", "fingerprint_hash"}, Description: "Find users eligible for notification by their own interval. Sparse: only active subscriptions."},
			},
		},
		{
			Name:         "UserStats",
			PhysicalName: "user-stats",
			Description:  "Gamification data, anonymous, keyed by fingerprint.",
			Key:          Key{Partition: "fingerprint_hash"},
			Attributes: []Attribute{
				{"fingerprint_hash", String, "Anonymised person, partition key"},
				{"total_points", Number, "Cumulative points"},
				{"total_answers", Number, "Total answers submitted"},
				{"streak_days", Number, "Length of the answer streak that ended on streak_last_date"},
				{"streak_last_date", String, "Date of the last streak-counted answer in the person's time zone, YYYY-MM-DD"},
				{"badges", List, "Earned badge IDs"},
				{"badges_earned_at", Map, "When each badge was earned, by ID: " + timestampFormat},
				{"answers_by_category", Map, "Count per category (technical, …)"},
				{"night_answers", Number, "Answers from 00:00 to 06:00 in the person's time zone"},
				{"fast_answers", Number, "Answers given in under 30 seconds"},
				{"confident_answers", Number, "Answers with confidence 5"},
				{"created_at", String, timestampFormat},
				{"updated_at", String, timestampFormat},
				{"version", Number, "Counted up by every write: a write holds only on the version that it read"},
				{"_leaderboard", String, "The constant _leaderboard; with more than one shard followed by # and the shard's number"},
				{"daily_board", String, "UTC day of daily_points, YYYY-MM-DD, with the shard's number like _leaderboard"},
				{"daily_points", Number, "Points earned on that day"},
				{"daily_answers", Number, "Answers on that day"},
				{"weekly_board", String, "Monday of the UTC week of weekly_points, YYYY-MM-DD, with the shard's number like _leaderboard"},
				{"weekly_points", Number, "Points earned in that week"},
				{"weekly_answers", Number, "Answers in that week"},
			},
			Indexes: []Index{
				{Name: "ByTotalPoints", Key: Key{"_leaderboard", "total_points"}, Projection: ProjectInclude, Include: []string{"total_answers"}, Description: "All-time leaderboard queries."},
				{Name: "ByDailyPoints", Key: Key{"daily_board", "daily_points"}, Projection: ProjectInclude, Include: []string{"daily_answers"}, Description: "Leaderboard of one day."},
				{Name: "ByWeeklyPoints", Key: Key{"weekly_board", "weekly_points"}, Projection: ProjectInclude, Include: []string{"weekly_answers"}, Description: "Leaderboard of one week."},
			},
		},
		{
			Name:         "Guards",
			PhysicalName: "guards",
			Description:  "Short-lived items that guard the other tables: rate limit counters, agents' open questions, idempotency keys, people's last notifications. No index, so that counting throttles nothing else.",
			Key:          Key{Partition: "guard_key"},
			TimeToLive:   "expires_at",
			Attributes: slices.Concat([]Attribute{
				{"guard_key", String, "Partition key: RATE#limit#caller#window, OPEN#agent, IDEMPOTENCY#digest, NOTIFIED#person, WEBHOOKS#agent or DELIVERY#question"},
				{"open_question_ids", StringSet, "OPEN#: the agent's questions that are open or partial, each with a place of the agent's quota"},
				{"claimed_at", String, "NOTIFIED#: when a run last claimed the person, on any of their devices, and did not give the claim back: " + timestampFormat + "; claim is the random token of that write"},
				{"claimed_before", String, "NOTIFIED#: what claimed_at was before that claim, the Unix epoch if there was none: " + timestampFormat},
				{"notified_at", String, "NOTIFIED#: when the claim was made of the last notification that was sent to the person: " + timestampFormat},
				{"question_id", String, "NOTIFIED#: the question of that notification"},
				{"expires_at", Number, "End of use in Unix seconds (TTL attribute)"},
			}, RateLimitAttributes(), IdempotencyAttributes()),
		},
	}
}

func askAHumanAccessPatterns() []AccessPattern {
	return slices.Concat([]AccessPattern{
		{
			Name: "GetQuestion", Seed: "Get question by ID",
			Description: "A question as it is now.",
			Operation:   GetItem, Table: "Questions", Consistent: true,
		},
		{
			Name: "ListOpenQuestions", Seed: "List open questions",
			Description: "Questions of one status and shard, newest first; the feed merges OPEN and PARTIAL by creation.",
			Operation:   Query, Table: "Questions", Index: "ByStatus", Descending: true,
			KeyConditions: []KeyCondition{{"status", Equal}, {"created_at", LessOrEqual}},
			Filter:        []string{"deadline"},
			Attributes:    []string{"question_id", "prompt", "type", "options", "audience", "required_responses", "current_responses", "created_at"},
		},
		{
			Name: "ListAgentQuestions", Seed: "Agent's questions",
			Description: "An agent's own questions, newest first.",
			Operation:   Query, Table: "Questions", Index: "ByAgentId", Descending: true,
			KeyConditions: []KeyCondition{{"agent_id", Equal}},
			Filter:        []string{"status", "deadline", "expires_at"},
		},
		{
			Name:        "GetOpenQuestionIDs",
			Description: "Which questions of an agent take answers, and whether it is blocked.",
			Operation:   GetItem, Table: "Guards", Consistent: true,
		},
		{
			Name:        "GetAgentQuestions",
			Description: "An agent's own questions that take answers, by their ids.",
			Operation:   BatchGetItem, Table: "Questions",
		},
		{
			Name: "ListResponses", Seed: "Get responses for question",
			Description: "All answers to a question.",
			Operation:   Query, Table: "Responses", Consistent: true,
			KeyConditions: []KeyCondition{{"question_id", Equal}},
			Attributes:    []string{"response_id", "answer", "selected_option", "confidence", "created_at", "flags"},
		},
		{
			Name: "ListRecentAnswers", Seed: "User's recent answers",
			Description: "What a person answered since a moment, newest first: to leave it out of the feed and to flag repetition.",
			Operation:   Query, Table: "Responses", Index: "ByFingerprint", Descending: true,
			KeyConditions: []KeyCondition{{"fingerprint_hash", Equal}, {"created_at", GreaterOrEqual}},
			Attributes:    []string{"question_id", "content_digest", "content_length", "created_at"},
		},
		{
			Name: "GetOwnResponse", Seed: "Check duplicate answer",
			Description: "Whether a person answered a question: a read of the one key that their answer can have.",
			Operation:   GetItem, Table: "Responses", Consistent: true,
			Attributes: []string{"response_id"},
		},
		{
			Name: "ListByLastNotified", Seed: "Get eligible for notification", Offered: true,
			Description: "Active subscriptions last notified before a moment, longest ago first. The notifier reads ListDueSubscriptions instead, because the interval is each person's own.",
			Operation:   Query, Table: "Subscriptions", Index: "ByLastNotified",
			KeyConditions: []KeyCondition{{"active", Equal}, {"last_notified_at", Less}},
		},
		{
			Name: "GetUserStats", Seed: "Get user stats",
			Description: "A person's points, streak and badges.",
			Operation:   GetItem, Table: "UserStats", Consistent: true,
		},
		{
			Name: "ListTopTotal", Seed: "Leaderboard",
			Description: "The highest all-time points of one shard.",
			Operation:   Query, Table: "UserStats", Index: "ByTotalPoints", Descending: true,
			KeyConditions: []KeyCondition{{"_leaderboard", Equal}},
			Attributes:    []string{"fingerprint_hash", "total_points", "total_answers"},
		},
		{
			Name:        "ListTopDaily",
			Description: "The highest points of one day and shard.",
			Operation:   Query, Table: "UserStats", Index: "ByDailyPoints", Descending: true,
			KeyConditions: []KeyCondition{{"daily_board", Equal}},
			Attributes:    []string{"fingerprint_hash", "daily_points", "daily_answers"},
		},
		{
			Name:        "ListTopWeekly",
			Description: "The highest points of one week and shard.",
			Operation:   Query, Table: "UserStats", Index: "ByWeeklyPoints", Descending: true,
			KeyConditions: []KeyCondition{{"weekly_board", Equal}},
			Attributes:    []string{"fingerprint_hash", "weekly_points", "weekly_answers"},
		},
		{
			Name:        "TakePlace",
			Description: "Take a place for a new question among the agent's open questions, if under the quota.",
			Operation:   UpdateItem, Table: "Guards",
		},
		{
			Name:        "StoreQuestion",
			Description: "Store a question that has a place, unless its id exists.",
			Operation:   PutItem, Table: "Questions",
		},
		{
			Name:        "CreateQuestion",
			Description: "Store a question within the agent's quota, and its answer under an idempotency key.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Questions", Operation: PutItem, Description: "the question, unless its id exists"},
				{Table: "Guards", Operation: UpdateItem, Description: "a place for it among the agent's open questions, if under the quota"},
				KeepAnswer("Guards"),
			},
		},
		{
			Name:        "FreePlaces",
			Description: "Give the places back of an agent's questions that ended unmarked, when the quota is full.",
			Operation:   UpdateItem, Table: "Guards",
		},
		{
			Name:        "EndQuestion",
			Description: "Close a question early, or mark it expired.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Questions", Operation: UpdateItem, Description: "status, end and retention, if it is open or partial"},
				{Table: "Guards", Operation: UpdateItem, Description: "its place among the agent's open questions"},
			},
		},
		{
			Name:        "SubmitResponse",
			Description: "Store an answer, count it, and give its points, all or nothing.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Responses", Operation: PutItem, Description: "the answer, unless the person has answered"},
				{Table: "Questions", Operation: UpdateItem, Description: "one more response, if it is open or partial, in time and short of answers; the last one closes it"},
				{Table: "UserStats", Operation: PutItem, Description: "the person's new points, if they are still those that were read"},
				{Table: "Guards", Operation: UpdateItem, Optional: true, Description: "its place among the agent's open questions, when the answer closes it"},
			},
		},
		{
			Name:        "GetAnswerState",
			Description: "What an answer depends on: the question, the person's answer to it, the person's points, and the last notification.",
			Operation:   BatchGetItem, Tables: []string{"Questions", "Responses", "UserStats", "Guards"}, Consistent: true,
		},
		{
			Name:        "GetSubscription",
			Description: "A subscription, or the one that has a token, or that a person made last.",
			Operation:   GetItem, Table: "Subscriptions", Consistent: true,
		},
		{
			Name:        "CreateSubscription",
			Description: "Store a subscription for a token that no other one has.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Subscriptions", Operation: PutItem, Description: "the subscription, unless its id exists"},
				{Table: "Subscriptions", Operation: PutItem, Description: "the token's owner, unless it has one"},
				{Table: "Subscriptions", Operation: PutItem, Optional: true, Description: "the person's last subscription, if the person is known"},
			},
		},
		{
			Name:        "ChangeSubscription",
			Description: "Change a subscription's interval, and make it active, if it is as it was read or known.",
			Operation:   UpdateItem, Table: "Subscriptions",
		},
		{
			Name:        "UpdateSubscription",
			Description: "Change a subscription's token or person.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Subscriptions", Operation: UpdateItem, Description: "token, interval and activity, if it is as it was read or known"},
				{Table: "Subscriptions", Operation: PutItem, Optional: true, Description: "the person's last subscription, if a known person subscribes again"},
				{Table: "Subscriptions", Operation: PutItem, Optional: true, Description: "the new token's owner"},
				{Table: "Subscriptions", Operation: DeleteItem, Optional: true, Description: "the old token's owner"},
				{Table: "Subscriptions", Operation: DeleteItem, Optional: true, Description: "the subscription that had the new token"},
				{Table: "Subscriptions", Operation: DeleteItem, Optional: true, Description: "the item of a person whose last subscription this ends or takes over"},
				{Table: "Subscriptions", Operation: PutItem, Optional: true, Description: "the person's last subscription, if another one of theirs had the new token"},
			},
		},
		{
			Name:        "DeleteSubscription",
			Description: "End a subscription.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Subscriptions", Operation: DeleteItem, Description: "the subscription, if it is as it was read"},
				{Table: "Subscriptions", Operation: DeleteItem, Description: "the token's owner"},
				{Table: "Subscriptions", Operation: DeleteItem, Optional: true, Description: "the person's last subscription, if it is still this one"},
			},
		},
		{
			Name:        "ListDueQuestions",
			Description: "Questions of one shard that the notifier has to look at by now, longest due first.",
			Operation:   Query, Table: "Questions", Index: "ByDue",
			KeyConditions: []KeyCondition{{"due", Equal}, {"due_at", LessOrEqual}},
		},
		{
			Name:        "ClaimQuestion",
			Description: "Take a due question for this run of the notifier, unless another run has. A transaction, so that a run whose answer was lost recognises its own write.",
			Operation:   TransactWriteItems,
			Writes: []Write{
				{Table: "Questions", Operation: UpdateItem, Description: "when it was notified of and is next due, if it is due as read"},
			},
		},
		{
			Name:        "ListDueSubscriptions",
			Description: "Active subscriptions whose own interval has passed, longest ago first.",
			Operation:   Query, Table: "Subscriptions", Index: "ByNextNotification",
			KeyConditions: []KeyCondition{{"active", Equal}, {"next_notification_at", LessOrEqual}},
		},
		{
			Name:        "ClaimPerson",
			Description: "Take a person for one notification, unless one was sent or may be sent within the interval, on any device.",
			Operation:   UpdateItem, Table: "Guards",
		},
		{
			Name:        "ClaimSubscription",
			Description: "Take a subscription for one notification, if it is due as read: last and next notification. ClaimPerson comes first, if the person is known.",
			Operation:   UpdateItem, Table: "Subscriptions",
		},
		{
			Name:        "DeferSubscription",
			Description: "Make a subscription due when its interval since the person's last notification, on another device, has passed.",
			Operation:   UpdateItem, Table: "Subscriptions",
		},
		{
			Name:        "MarkNotified",
			Description: "Remember which question a person was notified of, once the notification is sent.",
			Operation:   UpdateItem, Table: "Guards",
		},
		{
			Name:        "ReleaseSubscription",
			Description: "Undo a claim on a subscription whose notification was not sent.",
			Operation:   UpdateItem, Table: "Subscriptions",
		},
		{
			Name:        "ReleasePerson",
			Description: "Undo a claim on a person whose notification was not sent.",
			Operation:   UpdateItem, Table: "Guards",
		},
		{
			Name:        "DeactivateSubscription",
			Description: "Take a subscription with a dead token out of use, if it still has that token.",
			Operation:   UpdateItem, Table: "Subscriptions",
		},
	}, RateLimitPatterns("Guards"), IdempotencyPatterns("Guards"))
}
