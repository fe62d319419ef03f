package askahuman

import (
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// The environment variables of Ask-a-Human's webhooks.
const (
	// WebhookSecretVariable has the ARN of the secret that the agents' own secrets are derived from.
	WebhookSecretVariable = "WEBHOOK_SECRET_ARN"
	// WebhookQueueVariable has the address of the queue of webhooks.
	WebhookQueueVariable = "WEBHOOK_QUEUE_URL"
)

// WebhookRetries returns the delays between the attempts at a webhook. The last attempt is about a day after the
// question ended ("Deliverability and reliability", Standard Webhooks).
func WebhookRetries() []time.Duration {
	return []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 6 * time.Hour}
}

// withWebhooks adds the webhooks: from the stream of questions through a queue to the endpoints of agents. moderated
// says that operators can block an agent, whose webhooks are not sent then.
func withWebhooks(p *schema.Platform, moderated bool) {
	if moderated {
		*p = p.Join(schema.Own{AccessPatterns: schema.UsedBy("webhooksender", schema.Existing("GetOpenQuestionIDs"))})
	}
	ended := []any{map[string]any{"prefix": "CLOSED"}, map[string]any{"prefix": "EXPIRED"}}
	there := []any{map[string]any{"exists": true}}
	table(p, "Questions").Stream = schema.StreamNewAndOldImages
	describe(p, "Questions", schema.String.Attribute("callback_url",
		"Where a webhook goes when the question ends, if its agent wants one: an https URL of up to 2048 characters"))
	describe(p, "Guards", attributesOf(SecretVersion{}, Delivery{})...)
	p.Database.AccessPatterns = append(p.Database.AccessPatterns,
		schema.UpdateItem.Pattern("NoteDelivery", "Guards",
			"Note how an attempt at a webhook ended, unless the webhook was delivered before.").UsedBy("webhooksender"),
		schema.GetItem.Pattern("GetDelivery", "Guards", "How far the webhook of an ended question is.").Eventually().
			Returning("delivery", "attempts", "attempted_at", "next_attempt_at").UsedBy("agentapi", "webhooksender"),
		schema.GetItem.Pattern("GetWebhookSecret", "Guards",
			"Which secrets sign the webhooks of an agent. Consistent, so that a webhook after a rotation has the "+
				"new signature, too.").Returning("secret_version", "rotated_at").UsedBy("agentapi", "webhooksender"),
		schema.UpdateItem.Pattern("RotateWebhookSecret", "Guards",
			"Make another secret the present one of an agent, if no other rotation came between.").UsedBy("agentapi"),
	)
	agents := function(p, "agentapi")
	// Test events go to the queue: only the sender reaches the endpoints of strangers.
	agents.Sends = append(agents.Sends, "webhooksender")
	agents.Secrets = append(agents.Secrets, "WebhookSecret")
	p.Secrets = append(p.Secrets, schema.Secret{
		Name: "WebhookSecret", Variable: WebhookSecretVariable,
		Description: "Key from which the secrets that sign the webhooks of agents are derived",
	})
	p.Functions = append(p.Functions,
		schema.Function{
			Name: "webhookqueuer", ID: "WebhookQueuer",
			Description: "Puts a webhook into the queue when a question has ended whose agent wants one",
			Sends:       []string{"webhooksender"},
			Trigger: schema.OnStream{
				ID: "WebhookStream", Table: "Questions", ReportItemFailures: true, Changes: "questions that have ended",
				Filters: []map[string]any{{
					"eventName": []any{"MODIFY"},
					"dynamodb": map[string]any{"NewImage": map[string]any{"status": map[string]any{"S": ended},
						"callback_url": map[string]any{"S": there}}},
				}},
				Failures: schema.Failures{ID: "WebhookStreamDeadLetters",
					Description: "ended questions whose webhooks could not be queued"},
			},
		},
		schema.Function{
			Name: "webhooksender", ID: "WebhookSender",
			Description: "Sends webhooks to the endpoints of agents",
			Secrets:     []string{"WebhookSecret"},
			// An attempt takes 5 seconds at most, and all of a batch are made at once.
			Timeout: 15 * time.Second,
			Trigger: schema.OnQueue{
				ID: "Webhooks", Variable: WebhookQueueVariable, Retries: WebhookRetries(), MaximumConcurrency: 20,
				Messages: "webhooks",
				Failures: schema.Failures{ID: "WebhookDeadLetters",
					Description: "webhooks that no endpoint took within a day"},
			},
		})
	p.Metrics = append(p.Metrics,
		count("webhookqueuer", "WebhooksQueued", "webhooks put into the queue"),
		count("webhooksender", "WebhooksSent", "webhooks that an endpoint took"),
		schema.Metric{Name: "TimeToWebhook", Function: "webhooksender", Unit: schema.Milliseconds,
			Description: "from the end of a question until an endpoint has taken its webhook"},
		count("webhooksender", "WebhooksUnwanted", "webhooks that an endpoint refused for good, with 410"),
		count("webhooksender", "WebhookFailures", "attempts at a webhook that failed"),
		count("webhooksender", "WebhooksGivenUp", "webhooks whose last attempt failed"),
	)
	p.Routes = slices.Insert(p.Routes, slices.IndexFunc(p.Routes, func(r schema.Route) bool {
		return r.Function == "humanapi"
	}), schema.Routes(ReadWebhookSecrets, RotateWebhookSecret, TestWebhook)...)
}

// SecretVersion is the version of an agent's webhook secret, with the times at which former secrets were replaced. The
// zero value is the first secret.
type SecretVersion struct {
	// Number counts rotations.
	Number int `dynamodbav:"secret_version" attribute:"WEBHOOKS#: how often the agent has rotated the secret of its webhooks"`
	// Rotated are the times of the latest rotations, newest first: the first one ended secret Number-1.
	Rotated []time.Time `dynamodbav:"rotated_at" attribute:"WEBHOOKS#: when the former secrets that may still be valid were replaced, the last one first: {time}"`
}

// WebhookTest is an endpoint to try.
type WebhookTest struct {
	CallbackURL string `json:"callback_url" minLength:"1" maxLength:"2048" doc:"The endpoint, as an ask names it." example:"https://agent.example.com/webhooks"`
}

// WebhookTestSent is a webhook that tries an endpoint.
type WebhookTestSent struct {
	WebhookID string `json:"webhook_id" doc:"The webhook-id that the endpoint gets." example:"msg_2f1c0d9a8b7e4f6aa1b2c3d4e5f60718"`
}

// WebhookSecretList are the secrets of an agent.
type WebhookSecretList struct {
	Secrets []string `json:"secrets" nullable:"false" minItems:"1" doc:"The secrets whose signatures webhooks have: the present one, and former ones that are still valid. A receiver accepts a webhook with a signature by any of them." example:"[\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"]"`
}
