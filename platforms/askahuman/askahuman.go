// Package askahuman describes Ask-a-Human: AI agents ask questions, people answer them anonymously, agents read the
// answers. Constructs and handlers read it; it knows neither.
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
	// CallerAgent is an AI agent: the subject of a JWT, the agent that an issued key names, or, on an open platform,
	// whatever its X-Agent-Id header says.
	CallerAgent = schema.Caller{Name: "agent", Token: schema.TokenOfProgram, Header: AgentHeader}
	// CallerPerson is an anonymous person, identified by the X-Fingerprint header.
	CallerPerson = schema.Caller{Name: "person", Header: FingerprintHeader}
)

// The identities by which the rate limits of Ask-a-Human count calls, beside [schema.PerAddress].
const (
	PerAgent  schema.Identity = "agent"
	PerPerson schema.Identity = "person"
)

// api is the platform's API and its notifier: the four tables of the origin (ADR-02), the
// indexes and attributes that its requirements force in addition, and a fifth table for items that
// only guard the other four. docs/project/deviations.md gives the reason for each addition.
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
		Functions: functions(),
		Events:    questionEvents(),
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
		ResponseHeaders: []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After",
			"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		Metrics: metrics(),
		Routes: schema.Routes(AskQuestion, ListQuestions, ReadQuestionAtOnce, CloseQuestion, ListOpenQuestions,
			ReadOpenQuestion, AnswerQuestion, ListAnswers, Subscribe, RenewSubscription, ChangeSubscription,
			Unsubscribe, ReadStats, ChooseHandle, DropHandle, ReadLeaderboard, ReadDocument, ExportData, DeleteData),
		Records: []schema.Record{
			{Name: "Question", Table: "Questions", Form: Question{},
				Forms:  []string{"AgentQuestion", "AgentQuestionWithResponses"},
				Beside: []string{"responses", "hidden_responses", "webhook", "summary"}},
			{Name: "Response", Table: "Responses", Form: Response{}, Forms: []string{"AgentResponse"}},
			{Name: "Subscription", Table: "Subscriptions"},
			{Name: "Stats", Table: "UserStats"},
		},
	}
}

func functions() []schema.Function {
	return []schema.Function{
		{
			Name:        "agentapi",
			ID:          "AgentAPI",
			Description: "Serves the routes that AI agents call",
		},
		{
			Name:        "humanapi",
			ID:          "HumanAPI",
			Description: "Serves the routes that people call",
			Secrets:     []string{"FingerprintSecret"},
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
		},
	}
}

func metrics() []schema.Metric {
	return []schema.Metric{
		count("agentapi", "Asked", "questions asked; a repeat with the same idempotency key is none"),
		count("agentapi", "ClosedByAgent", "questions that their agent closed before they had all answers"),
		count("agentapi", "Expired", "overdue questions that a request of their agent marked expired"),
		count("humanapi", "Answered", "answers given"),
		count("humanapi", "Closed", "questions that got the last answer they wanted"),
		{Name: "TimeToFirstAnswer", Function: "humanapi", Unit: schema.Milliseconds,
			Description: "from a question to its first answer"},
		count("humanapi", "Subscribed", "subscriptions to notifications, made or renewed"),
		count("notifier", "Expired", "overdue questions that a run marked expired"),
		count("notifier", "Notified", "notifications sent"),
		count("notifier", "SubscriptionsDeactivated", "subscriptions whose token the push service knows no more"),
		count("notifier", "NotificationsReleased",
			"notifications that could not be sent, to people who may be notified again at once"),
		count("notifier", "NotifierFailures", "what a run could not do, and left to the next"),
	}
}

func count(function, name, description string) schema.Metric {
	return schema.Metric{Function: function, Name: name, Unit: schema.Count, Description: description}
}
