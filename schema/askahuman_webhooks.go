package schema

import (
	"slices"
	"time"
)

// The variables of Ask-a-Human's webhooks.
const (
	// WebhookSecretVariable has the ARN of the secret from which the secrets of agents are derived.
	WebhookSecretVariable = "WEBHOOK_SECRET_ARN"
	// WebhookQueueVariable has the address of the queue of webhooks.
	WebhookQueueVariable = "WEBHOOK_QUEUE_URL"
)

// WebhookRetries is the plan of a webhook: how long after a failed attempt the next one follows. The last one is about a day after the
// question ended ("Deliverability and reliability", Standard Webhooks).
func WebhookRetries() []time.Duration {
	return []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 6 * time.Hour}
}

// withWebhooks adds the webhooks: from the stream of questions through a queue to the endpoints of agents.
func withWebhooks(p *Platform) {
	ended := []any{map[string]any{"prefix": "CLOSED"}, map[string]any{"prefix": "EXPIRED"}}
	there := []any{map[string]any{"exists": true}}
	questions := slices.IndexFunc(p.Database.Tables, func(t Table) bool { return t.Name == "Questions" })
	p.Database.Tables[questions].Stream = StreamNewAndOldImages
	p.Database.add("Questions", Attribute{"callback_url", String, "Where a webhook goes when the question ends, if its agent wants one: an https URL of up to 2048 characters"})
	p.Database.add("Guards", Attribute{"secret_version", Number, "WEBHOOKS#: how often the agent has rotated the secret of its webhooks"})
	p.Database.add("Guards", Attribute{"rotated_at", List, "WEBHOOKS#: when the former secrets that may still be valid were replaced, the last one first: " + timestampFormat})
	p.Database.add("Guards", Attribute{"delivery", String, "DELIVERY#: how far the webhook of the question is: waiting, delivered or given_up"})
	p.Database.add("Guards", Attribute{"attempts", Number, "DELIVERY#: attempts at the webhook"})
	p.Database.add("Guards", Attribute{"attempted_at", String, "DELIVERY#: when the last one was made: " + timestampFormat})
	p.Database.add("Guards", Attribute{"next_attempt_at", String, "DELIVERY#: when the next one follows; absent if none does: " + timestampFormat})
	p.Database.AccessPatterns = append(p.Database.AccessPatterns,
		AccessPattern{
			Name:        "NoteDelivery",
			Description: "Note how an attempt at a webhook ended, unless the webhook was delivered before.",
			Operation:   UpdateItem, Table: "Guards",
		},
		AccessPattern{
			Name:        "GetDelivery",
			Description: "How far the webhook of an ended question is.",
			Operation:   GetItem, Table: "Guards",
			Attributes: []string{"delivery", "attempts", "attempted_at", "next_attempt_at"},
		},
		AccessPattern{
			Name:        "GetWebhookSecret",
			Description: "Which secrets sign the webhooks of an agent. Consistent, so that a webhook after a rotation has the new signature, too.",
			Operation:   GetItem, Table: "Guards", Consistent: true,
			Attributes: []string{"secret_version", "rotated_at"},
		},
		AccessPattern{
			Name:        "RotateWebhookSecret",
			Description: "Make another secret the present one of an agent, if no other rotation came between.",
			Operation:   UpdateItem, Table: "Guards",
		})
	agents := p.function("agentapi")
	agents.AccessPatterns = append(agents.AccessPatterns, "GetDelivery", "GetWebhookSecret", "RotateWebhookSecret")
	// Test events go to the queue: only the sender reaches the endpoints of strangers.
	agents.Sends = append(agents.Sends, "webhooksender")
	agents.Secrets = append(agents.Secrets, "WebhookSecret")
	p.Secrets = append(p.Secrets, Secret{
		Name: "WebhookSecret", Variable: WebhookSecretVariable, Description: "Key from which the secrets that sign the webhooks of agents are derived",
	})
	p.Functions = append(p.Functions,
		Function{
			Name: "webhookqueuer", ID: "WebhookQueuer",
			Description: "Puts a webhook into the queue when a question has ended whose agent wants one",
			Sends:       []string{"webhooksender"},
			Trigger: OnStream{
				ID: "WebhookStream", Table: "Questions", ReportItemFailures: true, Changes: "questions that have ended",
				Filters: []map[string]any{{
					"eventName": []any{"MODIFY"},
					"dynamodb":  map[string]any{"NewImage": map[string]any{"status": map[string]any{"S": ended}, "callback_url": map[string]any{"S": there}}},
				}},
				Failures: Failures{ID: "WebhookStreamDeadLetters", Description: "ended questions whose webhooks could not be queued"},
			},
		},
		Function{
			Name: "webhooksender", ID: "WebhookSender",
			Description:    "Sends webhooks to the endpoints of agents",
			AccessPatterns: []string{"GetWebhookSecret", "NoteDelivery"},
			Secrets:        []string{"WebhookSecret"},
			// An attempt takes 5 seconds at most, and all of a batch are made at once.
			Timeout: 15 * time.Second,
			Trigger: OnQueue{
				ID: "Webhooks", Variable: WebhookQueueVariable, Retries: WebhookRetries(), MaximumConcurrency: 20, Messages: "webhooks",
				Failures: Failures{ID: "WebhookDeadLetters", Description: "webhooks that no endpoint took within a day"},
			},
		})
	p.Metrics = append(p.Metrics,
		Metric{Name: "WebhooksQueued", Function: "webhookqueuer", Unit: Count, Description: "webhooks put into the queue"},
		Metric{Name: "WebhooksSent", Function: "webhooksender", Unit: Count, Description: "webhooks that an endpoint took"},
		Metric{Name: "TimeToWebhook", Function: "webhooksender", Unit: Milliseconds, Description: "from the end of a question until an endpoint has taken its webhook"},
		Metric{Name: "WebhooksUnwanted", Function: "webhooksender", Unit: Count, Description: "webhooks that an endpoint refused for good, with 410"},
		Metric{Name: "WebhookFailures", Function: "webhooksender", Unit: Count, Description: "attempts at a webhook that failed"},
		Metric{Name: "WebhooksGivenUp", Function: "webhooksender", Unit: Count, Description: "webhooks whose last attempt failed"},
	)
	p.Routes = slices.Insert(p.Routes, slices.IndexFunc(p.Routes, func(r Route) bool { return r.Function == "humanapi" }),
		Route{Method: "GET", Path: "/agent/webhook-secrets", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "Read the secrets that sign the agent's webhooks"},
		Route{Method: "POST", Path: "/agent/webhook-secrets", Function: "agentapi", Caller: CallerAgent, RateLimit: "poll", Summary: "Rotate the secret that signs the agent's webhooks"},
		Route{Method: "POST", Path: "/agent/webhook-tests", Function: "agentapi", Caller: CallerAgent, RateLimit: "create", Summary: "Send a webhook to try an endpoint"})
}
