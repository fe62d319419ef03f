// Package askahuman declares Ask-a-Human: the platform on which AI agents ask and
// people answer.
//
//	askahuman.New(stack, "AskAHuman", askahuman.Props{})
//
// gives tables, functions, HTTP API, schedule, secrets and the agents' identity,
// with secure defaults.
package askahuman

import (
	"cmp"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// module is the path of the module with the main packages of the functions.
const module = "github.com/onesynth-cdk/onesynth"

// fcmEndpoint is where Firebase Cloud Messaging takes messages ("Send a Message
// using FCM HTTP v1 API").
const fcmEndpoint = "https://fcm.googleapis.com"

// AskAHuman is the platform.
type AskAHuman struct {
	constructs.Construct
	// Platform has tables, API, alarms and dashboard. Its Agents issue the agents' tokens;
	// they are nil with OpenAgents, AgentKeys or a JWTIssuer. Its Users issue the operators' tokens; they
	// are nil with WithoutModeration, an existing user pool or a JWTIssuer.
	platform.Platform
	// AgentAPI serves the routes of agents, HumanAPI the routes of people, and Notifier runs on
	// Schedule.
	AgentAPI, HumanAPI, Notifier *gofunction.Function
	// ModerationAPI serves the routes of operators. It is nil with WithoutModeration.
	ModerationAPI *gofunction.Function
	// WebPage serves the page for people. It is nil with Props.WithoutPage.
	WebPage *gofunction.Function
	// OperatorPage serves the page for operators. It is nil without Props.OperatorPage.
	OperatorPage *gofunction.Function
	// MCPAPI serves the Model Context Protocol. It is nil with WithoutMCP.
	MCPAPI *gofunction.Function
	// Schedule runs the notifier; its dead-letter queue receives the runs that could
	// not be started or that failed.
	Schedule *schedule.Schedule
	// WebhookQueuer puts a webhook into the queue Webhooks when a question has ended, and WebhookSender sends it.
	// They are nil with WithoutWebhooks.
	WebhookQueuer, WebhookSender *gofunction.Function
	Webhooks                     *queue.Queue
	// FingerprintSecret is the generated key that hashes people's fingerprints and addresses. It is not rotated:
	// another key would turn every person into a new one.
	FingerprintSecret awssecretsmanager.ISecret
	// FCMCredentials is the service account key for Firebase Cloud Messaging, a JSON object as the Firebase console
	// gives it. The construct makes it with a key that authenticates no one: put the real one in to send notifications.
	// With Props.FCMCredentials it is that secret.
	FCMCredentials awssecretsmanager.ISecret
}

// Handlers returns the source of all functions that the platform can have, for [gofunction.Start].
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(module, askahuman.With(askahuman.Parts{OperatorPage: true}).Publishing(), architecture)
}

// New declares the platform. It ends the program, by [props.Fatal], with the
// error of [Props.Validate], or of [gofunction.Build.Wait], before it declares
// anything.
func New(scope constructs.Construct, id string, p Props) *AskAHuman {
	a := &AskAHuman{}
	platform.Declare(a, scope, id, p.Described(), p.declaration())
	a.AgentAPI, a.HumanAPI, a.Notifier = a.Functions["agentapi"], a.Functions["humanapi"], a.Functions["notifier"]
	a.ModerationAPI = a.Functions["moderationapi"]
	a.WebPage, a.OperatorPage = a.Functions["webpage"], a.Functions["operatorpage"]
	a.WebhookQueuer, a.WebhookSender = a.Functions["webhookqueuer"], a.Functions["webhooksender"]
	a.Webhooks = a.Queues["webhooksender"]
	a.MCPAPI = a.Functions["mcpapi"]
	a.setIssuer(p)
	a.Schedule = a.Schedules["notifier"]
	a.FingerprintSecret, a.FCMCredentials = a.Secrets["FingerprintSecret"], a.Secrets["FCMCredentials"]
	a.Outputs.Add("FcmCredentialsSecretArn", "Secret to put the service account key for Firebase Cloud Messaging into",
		a.FCMCredentials.SecretArn())
	return a
}

// declaration is what the platform is declared with, with the defaults that are its own.
func (p Props) declaration() platform.Declaration {
	check := p.check // of the props as they are given
	if len(p.Agents) == 0 {
		p.Agents = []string{"agent"}
	}
	p.Shards = cmp.Or(p.Shards, 1)
	p.ReadShards = cmp.Or(p.ReadShards, p.Shards)
	p.LocalPort = cmp.Or(p.LocalPort, 8080)
	p.Operators.InviteOnly = p.Operators.InviteOnly || p.Operators.UserPool == nil && p.JWTIssuer == ""
	var open []string
	if p.OpenAgents || p.AgentKeys {
		// The function itself checks keys: docs/operate/security.md says why.
		open = p.Described().RoutesOf(askahuman.CallerAgent)
	}
	return platform.Declaration{
		Module:      module,
		Check:       check,
		Props:       p.Props,
		Accepted:    p.Accepted(),
		Whole:       askahuman.With(askahuman.Parts{AgentKeys: true, ShareOptions: true, OperatorPage: true}),
		UserProps:   p.Operators,
		UserPath:    "Props.Operators",
		Agents:      p.Agents,
		OpenRoutes:  open,
		Environment: p.environment(),
		Secrets:     map[string]awssecretsmanager.ISecret{"FCMCredentials": p.FCMCredentials},
		// People subscribe rarely, and each call costs a transaction.
		Throttles:        map[string]httpapi.Throttle{"subscribe": {RequestsPerSecond: 100, Burst: 200}},
		ServerErrorAlarm: "APIAlarm",
	}
}

// environment is what functions read beside tables and secrets, by function.
func (p Props) environment() map[string]map[string]string {
	shards, readShards, rules, leftOut := strconv.Itoa(p.Shards), strconv.Itoa(p.ReadShards), p.rules().Encode(),
		p.parts().LeftOut()
	variables := map[string]map[string]string{
		"agentapi": {"SHARDS": shards, "READ_SHARDS": readShards, "RULES": rules,
			"OPEN_AGENTS": strconv.FormatBool(p.OpenAgents)},
		"mcpapi": {"SHARDS": shards, "READ_SHARDS": readShards, "RULES": rules,
			"OPEN_AGENTS": strconv.FormatBool(p.OpenAgents)},
		"humanapi":      {"SHARDS": shards, "READ_SHARDS": readShards, "RULES": rules},
		"moderationapi": {"SHARDS": shards, "READ_SHARDS": readShards},
		"webhooksender": {},
		"notifier": {"SHARDS": shards, "READ_SHARDS": readShards, "FCM_ENDPOINT": fcmEndpoint,
			"QUESTION_URL": p.QuestionURL},
	}
	if p.ShareOptions {
		variables["humanapi"][askahuman.ShareOptionsVariable] = strconv.FormatBool(true)
	}
	if leftOut != "" {
		for _, of := range variables {
			of["LEFT_OUT"] = leftOut
		}
	}
	variables["webpage"] = map[string]string{askahuman.PageSettingsVariable: p.pageSettings()}
	return variables
}

// GrantRunNotifier lets the grantee run the notifier between its scheduled runs.
func (a *AskAHuman) GrantRunNotifier(grantee awsiam.IGrantable) awsiam.Grant {
	return a.Notifier.GrantInvoke(grantee)
}

// MetricDeadLetters is how many failed runs of the notifier wait in the queue: a
// maximum over five minutes unless options say otherwise; options may be nil.
func (a *AskAHuman) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.Schedule.MetricDeadLetters(options)
}
