// Package askahuman says what Ask-a-Human is: AI agents ask questions, people answer them anonymously, agents
// read the answers. Constructs and handlers read it; it knows neither.
package askahuman

import (
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// The headers that name callers of Ask-a-Human.
const (
	AgentHeader       = "X-Agent-Id"
	FingerprintHeader = "X-Fingerprint"
)

// The callers of Ask-a-Human, beside [schema.CallerAnyone].
var (
	// CallerAgent is an AI agent: the subject of a JWT, or the one that an issued key
	// names, or, on an open platform, what its X-Agent-Id header says.
	CallerAgent = schema.Caller{Name: "agent", Token: schema.TokenOfProgram, Header: AgentHeader}
	// CallerPerson is an anonymous person, identified by the X-Fingerprint header.
	CallerPerson = schema.Caller{Name: "person", Header: FingerprintHeader}
)

// What the rate limits of Ask-a-Human count calls by, beside [schema.PerAddress].
const (
	PerAgent  schema.Identity = "agent"
	PerPerson schema.Identity = "person"
)

// api is the platform's API and its notifier: the four tables of the seed (ADR-02), the
// indexes and attributes that its requirements force in addition, and a fifth table for items that
// only guard the other four. docs/DEVIATIONS.md gives the reason for each addition.
func api() schema.Platform {
	return schema.Platform{
		Name:        "askahuman",
		Title:       "Ask-a-Human",
		Description: "AI agents ask, people answer",
		Database: schema.Database{
			Prefix:         "aah",
			Tables:         tables(),
			AccessPatterns: accessPatterns(),
		},
		RateLimits: DefaultRules().RateLimits,
		Functions: []schema.Function{
			{
				Name:        "agentapi",
				ID:          "AgentAPI",
				Description: "Serves the routes that AI agents call",
				AccessPatterns: []string{
					schema.CountRequest, schema.ClaimIdempotencyKey, "TakePlace", "StoreQuestion", "CreateQuestion",
					"FreePlaces", schema.SettleIdempotencyKey, "GetQuestion",
					"ListResponses", "ListAgentQuestions", "GetOpenQuestionIDs", "GetAgentQuestions", "EndQuestion",
				},
			},
			{
				Name:        "humanapi",
				ID:          "HumanAPI",
				Description: "Serves the routes that people call",
				Secrets:     []string{"FingerprintSecret"},
				AccessPatterns: []string{
					schema.CountRequest, "ListOpenQuestions", "GetQuestion", "GetOwnResponse",
					"ListRecentAnswers", "GetAnswerState", "GetUserStats", "SubmitResponse",
					"ListTopTotal", "ListTopDaily", "ListTopWeekly",
					"GetSubscription", "CreateSubscription", "ChangeSubscription", "UpdateSubscription",
					"DeleteSubscription",
				},
			},
			{
				Name:        "notifier",
				Description: "Notifies people of questions short of answers, and marks overdue ones expired",
				// A run ends before the next one begins by default.
				Timeout: 55 * time.Second,
				Trigger: schema.OnSchedule{
					ID: "Schedule", Every: time.Minute,
					Failures: schema.Failures{ID: "DeadLetters", Description: "runs of the notifier"},
				},
				Secrets: []string{"FCMCredentials"},
				AccessPatterns: []string{
					"ListDueQuestions", "GetQuestion", "EndQuestion", "ClaimQuestion",
					"ListDueSubscriptions", "GetOwnResponse", "ClaimPerson", "ClaimSubscription", "DeferSubscription",
					"MarkNotified",
					"ReleaseSubscription", "ReleasePerson", "DeactivateSubscription",
				},
			},
		},
		Secrets: []schema.Secret{
			{Name: "FingerprintSecret", Variable: "FINGERPRINT_SECRET_ARN",
				Description: "Key under which fingerprints and addresses of people are hashed"},
			{
				Name: "FCMCredentials", Variable: "FCM_CREDENTIALS_SECRET_ARN",
				Description: "Service account key for Firebase Cloud Messaging: replace it with the JSON file that " +
					"the Firebase console gives",
				// A service account key with everything but a private key. It authenticates no one.
				Template:  `{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token"}`,
				Generated: "private_key",
			},
		},
		RequestHeaders: []string{"Authorization", "Content-Type", AgentHeader, FingerprintHeader, "X-Idempotency-Key",
			"X-Timezone"},
		ResponseHeaders: []string{"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: []schema.Metric{
			{Name: "Asked", Function: "agentapi", Unit: schema.Count,
				Description: "questions asked; a repeat with the same idempotency key is none"},
			{Name: "ClosedByAgent", Function: "agentapi", Unit: schema.Count,
				Description: "questions that their agent closed before they had all answers"},
			{Name: "Expired", Function: "agentapi", Unit: schema.Count,
				Description: "overdue questions that a request of their agent marked expired"},
			{Name: "Answered", Function: "humanapi", Unit: schema.Count, Description: "answers given"},
			{Name: "Closed", Function: "humanapi", Unit: schema.Count,
				Description: "questions that got the last answer they wanted"},
			{Name: "TimeToFirstAnswer", Function: "humanapi", Unit: schema.Milliseconds,
				Description: "from a question to its first answer"},
			{Name: "Subscribed", Function: "humanapi", Unit: schema.Count,
				Description: "subscriptions to notifications, made or renewed"},
			{Name: "Expired", Function: "notifier", Unit: schema.Count,
				Description: "overdue questions that a run marked expired"},
			{Name: "Notified", Function: "notifier", Unit: schema.Count, Description: "notifications sent"},
			{Name: "SubscriptionsDeactivated", Function: "notifier", Unit: schema.Count,
				Description: "subscriptions whose token the push service knows no more"},
			{Name: "NotificationsReleased", Function: "notifier", Unit: schema.Count,
				Description: "notifications that could not be sent, to people who may be notified again at once"},
			{Name: "NotifierFailures", Function: "notifier", Unit: schema.Count,
				Description: "what a run could not do, and left to the next"},
		},
		Routes: []schema.Route{
			{ID: "askQuestion", Method: "POST", Path: "/agent/questions", Function: "agentapi", Caller: CallerAgent, RateLimit: "create",
				Summary: "Ask a question"},
			{ID: "listQuestions", Method: "GET", Path: "/agent/questions", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll",
				Summary: "List the agent's own questions"},
			{ID: "readQuestion", Method: "GET", Path: "/agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent,
				RateLimit: "poll", Summary: "Read a question and its answers"},
			{ID: "closeQuestion", Method: "DELETE", Path: "/agent/questions/{question_id}", Function: "agentapi", Caller: CallerAgent,
				RateLimit: "poll", Summary: "Close a question early"},
			{ID: "listOpenQuestions", Method: "GET", Path: "/human/questions", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
				Summary: "List questions that want answers"},
			{ID: "readOpenQuestion", Method: "GET", Path: "/human/questions/{question_id}", Function: "humanapi", Caller: CallerPerson,
				RateLimit: "read", Summary: "Read a question that wants answers"},
			{ID: "answerQuestion", Method: "POST", Path: "/human/responses", Function: "humanapi", Caller: CallerPerson, RateLimit: "answer",
				Summary: "Answer a question"},
			{ID: "subscribe", Method: "POST", Path: "/human/push/subscribe", Function: "humanapi", Caller: CallerPerson,
				RateLimit: "subscribe", Summary: "Subscribe to push notifications"},
			{ID: "renewSubscription", Method: "PUT", Path: "/human/push/subscribe", Function: "humanapi", Caller: CallerPerson,
				RateLimit: "subscribe", Summary: "Renew a device's token"},
			{ID: "changeSubscription", Method: "PUT", Path: "/human/push/subscribe/{subscription_id}", Function: "humanapi", Caller: CallerPerson,
				RateLimit: "subscribe", Summary: "Change a subscription"},
			{ID: "unsubscribe", Method: "DELETE", Path: "/human/push/subscribe/{subscription_id}", Function: "humanapi",
				Caller: CallerPerson, Summary: "End a subscription"},
			{ID: "readStats", Method: "GET", Path: "/human/stats", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
				Summary: "Read one's own points, streak and badges"},
			{ID: "readLeaderboard", Method: "GET", Path: "/human/leaderboard", Function: "humanapi", Caller: CallerPerson, RateLimit: "read",
				Summary: "Read the leaderboard"},
			{ID: "readDocument", Method: "GET", Path: "/openapi.json", Function: "agentapi", Caller: schema.CallerAnyone,
				Summary: "Read this API's OpenAPI document"},
		},
	}
}
