// Package askahuman declares Ask-a-Human: the platform on which AI agents ask and
// people answer.
//
//	askahuman.New(stack, "AskAHuman", askahuman.Props{})
//
// gives tables, functions, HTTP API, schedule, secrets and the agents' identity,
// with secure defaults.
package askahuman

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The functions, as schema.AskAHuman names them.
const (
	agentAPI = "agentapi"
	humanAPI = "humanapi"
	notifier = "notifier"
)

const (
	// notifierTimeout ends a run before the next one begins by default.
	notifierTimeout = 55 * time.Second
	// fcmEndpoint is where Firebase Cloud Messaging takes messages ("Send a Message
	// using FCM HTTP v1 API").
	fcmEndpoint = "https://fcm.googleapis.com"
	// fcmCredentials is a service account key with everything but a private key,
	// which AWS Secrets Manager puts in. It authenticates no one.
	fcmCredentials = `{"type":"service_account","project_id":"unset","client_email":"unset","token_uri":"https://oauth2.googleapis.com/token"}`
)

// AskAHuman is the platform.
type AskAHuman struct {
	constructs.Construct
	// Database is the tables.
	Database *table.Database
	// AgentAPI serves the routes of agents, HumanAPI those of people, and Notifier
	// runs on Schedule.
	AgentAPI, HumanAPI, Notifier *gofunction.Function
	// API is the HTTP API.
	API *httpapi.API
	// Agents issues the agents' tokens. It is nil with OpenAgents, AgentKeys
	// or a JWTIssuer.
	Agents *identity.Machines
	// Schedule runs the notifier; its dead-letter queue receives the runs that could
	// not be started or that failed.
	Schedule *schedule.Schedule
	// FingerprintSecret is the generated key with which people's fingerprints and
	// addresses are hashed. It is not rotated: with another key every person would
	// be a new one.
	FingerprintSecret awssecretsmanager.Secret
	// FCMCredentials is the service account key for Firebase Cloud Messaging, a JSON
	// object as the Firebase console gives it. The construct makes it with a key that
	// authenticates no one: put the real one in before notifications can be sent. With
	// Props.FCMCredentials it is that one.
	FCMCredentials awssecretsmanager.ISecret
	// Alarms watch the platform. There are none with Props.NoAlarms.
	Alarms []awscloudwatch.Alarm
	// Dashboard shows the platform. It is nil with Props.NoDashboard.
	Dashboard awscloudwatch.Dashboard

	platform *platform.Platform
}

// Handlers are the platform's functions as [gofunction.Start] builds them.
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(schema.AskAHuman(), architecture)
}

// New declares the platform. It ends the program, by [props.Refuse], with the
// error of [Props.Validate], or of [gofunction.Build.Wait], before it declares
// anything.
func New(scope constructs.Construct, id string, p Props) *AskAHuman {
	p.Build = platform.Ready(scope, "askahuman", id, p.validate, p.Build, Handlers(p.Architecture))
	p = p.withDefaults()

	a := &AskAHuman{}
	constructs.NewConstruct_Override(a, scope, &id)
	a.platform = platform.New(a, p.described(), p.Props)
	a.Database = a.platform.Database
	a.addSecrets(p)
	a.addFunctions(p)
	a.addAPI(p)
	a.addSchedule(p)
	a.addOperations()
	a.addOutputs(scope, id)
	return a
}

func (a *AskAHuman) addSecrets(p Props) {
	a.FingerprintSecret = a.platform.RandomSecret("FingerprintSecret", "Key under which fingerprints and addresses of people are hashed")
	if p.FCMCredentials != nil {
		a.FCMCredentials = p.FCMCredentials
		return
	}
	a.FCMCredentials = a.platform.Secret("FCMCredentials",
		"Service account key for Firebase Cloud Messaging: replace it with the JSON file that the Firebase console gives",
		awssecretsmanager.SecretStringGenerator{
			SecretStringTemplate: jsii.String(fcmCredentials),
			GenerateStringKey:    jsii.String("private_key"),
		})
}

func (a *AskAHuman) addFunctions(p Props) {
	shards, readShards, rules := strconv.Itoa(p.Shards), strconv.Itoa(p.ReadShards), p.rules().Encode()
	a.AgentAPI = a.platform.Function("AgentAPI", agentAPI, 0, map[string]string{
		"SHARDS":      shards,
		"READ_SHARDS": readShards,
		"RULES":       rules,
		"OPEN_AGENTS": strconv.FormatBool(p.OpenAgents),
	})
	a.HumanAPI = a.platform.Function("HumanAPI", humanAPI, 0, map[string]string{
		"SHARDS":                 shards,
		"READ_SHARDS":            readShards,
		"RULES":                  rules,
		"FINGERPRINT_SECRET_ARN": *a.FingerprintSecret.SecretArn(),
	})
	a.Notifier = a.platform.Function("Notifier", notifier, notifierTimeout, map[string]string{
		"SHARDS":                     shards,
		"READ_SHARDS":                readShards,
		"FCM_CREDENTIALS_SECRET_ARN": *a.FCMCredentials.SecretArn(),
		"FCM_ENDPOINT":               fcmEndpoint,
		"QUESTION_URL":               p.QuestionURL,
	})
	platform.AllowRead(a.HumanAPI, a.FingerprintSecret)
	platform.AllowRead(a.Notifier, a.FCMCredentials)
}

func (a *AskAHuman) addAPI(p Props) {
	var jwt httpapi.JWT
	var open []string
	switch {
	case p.OpenAgents, p.AgentKeys:
		// The function itself checks keys: docs/SECURITY.md says why.
		open = a.platform.Schema.RoutesOf(schema.CallerAgent)
	case p.JWTIssuer == "":
		a.Agents = identity.NewMachines(a, "Agents", identity.MachinesProps{
			Name:               a.platform.Schema.Name,
			Clients:            p.Agents,
			RemoveWithStack:    p.RemoveWithStack,
			DeletionProtection: p.DeletionProtection,
		})
		jwt = httpapi.JWT{Issuer: a.Agents.Issuer, Audience: a.Agents.ClientIDs()}
	}
	a.API = a.platform.API(httpapi.Props{
		Description:    "AI agents ask, people answer",
		Functions:      map[string]*gofunction.Function{agentAPI: a.AgentAPI, humanAPI: a.HumanAPI},
		JWT:            jwt,
		OpenRoutes:     open,
		AllowedHeaders: []string{"Authorization", "Content-Type", "X-Agent-Id", "X-Fingerprint", "X-Idempotency-Key", "X-Timezone"},
		ExposedHeaders: []string{"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"},
		// People subscribe rarely, and each call costs a transaction.
		Throttles: map[string]httpapi.Throttle{"subscribe": {RequestsPerSecond: 100, Burst: 200}},
	})
}

func (a *AskAHuman) addSchedule(p Props) {
	a.Schedule = schedule.New(a, "Schedule", schedule.Props{
		Function:    a.Notifier,
		Every:       p.NotifyEvery,
		Description: a.platform.Schema.Title + ": runs the notifier",
		Key:         p.Key,
	})
}

func (a *AskAHuman) addOperations() {
	a.Alarms, a.Dashboard = a.platform.Operate(platform.Operations{
		API:              a.API,
		ServerErrorAlarm: "APIAlarm",
		Schedules:        []platform.ScheduledFunction{{ID: "Notifier", Schedule: a.Schedule}},
		Queues:           []platform.FailureQueue{{Alarm: "DeadLettersAlarm", Queue: a.Schedule.DeadLetters, Holds: "runs of the notifier"}},
	})
}

// addOutputs declares the outputs that callers need.
func (a *AskAHuman) addOutputs(scope constructs.Construct, id string) {
	o := a.platform.Outputs(scope, id, a.API)
	o.Add("DeadLetterQueueUrl", "Address of the queue of failed runs of the notifier", a.Schedule.DeadLetters.QueueUrl())
	o.Add("FcmCredentialsSecretArn", "Secret to put the service account key for Firebase Cloud Messaging into", a.FCMCredentials.SecretArn())
	if a.Agents == nil {
		return
	}
	o.Add("TokenIssuer", "Issuer of the agents' tokens", &a.Agents.Issuer)
	o.Add("TokenEndpoint", "Where agents get tokens by the client credentials grant", &a.Agents.TokenEndpoint)
	o.Add("TokenScope", "Scope to ask for", &a.Agents.Scope)
	for i, client := range a.Agents.Clients {
		o.Add(fmt.Sprintf("Agent%dClientId", i+1), "Client id of an agent", client.UserPoolClientId())
	}
}

// GrantAccessPatterns lets the grantee use the tables in exactly the ways that
// the access patterns of schema.AskAHuman describe, such as "GetQuestion". It
// panics if there is no pattern of a name.
func (a *AskAHuman) GrantAccessPatterns(grantee awsiam.IGrantable, patterns ...string) {
	a.platform.GrantAccessPatterns(grantee, patterns...)
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

// MetricServerErrors counts the API's responses from 500 up: a sum over five
// minutes unless options say otherwise; options may be nil.
func (a *AskAHuman) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return a.API.MetricServerErrors(options)
}
