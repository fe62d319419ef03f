// Package todo declares To-Do: the platform on which users keep tasks, and whose
// changes fill a lake.
//
//	todo.New(stack, "Todo", todo.Props{})
//
// gives table, functions, HTTP API, user pool, secret and lake, with secure
// defaults.
package todo

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The functions, as schema.Todo names them.
const (
	todoAPI = "todoapi"
	eraser  = "eraser"
)

const (
	// apiTimeout ends a request; a deletion that needs longer goes on in the eraser.
	apiTimeout = 10 * time.Second
	// eraserTimeout is enough to erase some 20,000 items in one go.
	eraserTimeout = 5 * time.Minute
	// eraserDelay is how long after the end of a request's time the eraser looks: the
	// request itself erases first.
	eraserDelay = 5 * time.Second
	// eraserBatch is how many deletions are finished in one invocation.
	eraserBatch = 10
)

// Todo is the platform.
type Todo struct {
	constructs.Construct
	// Database is the table.
	Database *table.Database
	// TodoAPI serves the routes. Eraser finishes the deletions of users whose
	// requests could not, from the table's stream.
	TodoAPI, Eraser *gofunction.Function
	// API is the HTTP API.
	API *httpapi.API
	// Users issues the users' tokens. It is nil with a JWTIssuer.
	Users *identity.Users
	// CursorSecret is the generated key that signs the cursors of lists. With
	// another key, cursors that were handed out are refused.
	CursorSecret awssecretsmanager.Secret
	// Erasure hands deletions to the eraser, and DeadLetters receives where in the
	// stream those are that it could not finish.
	Erasure     *stream.Mapping
	DeadLetters awssqs.Queue
	// Lake is what the table's changes become.
	Lake *lake.Lake
	// Alarms watch the platform. There are none with Props.NoAlarms.
	Alarms []awscloudwatch.Alarm
	// Dashboard shows the platform. It is nil with Props.NoDashboard.
	Dashboard awscloudwatch.Dashboard

	platform *platform.Platform
}

// Handlers are the functions of the platform and of its lake as
// [gofunction.Start] builds them.
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(schema.Todo(), architecture, lake.Packages()...)
}

// New declares the platform. It ends the program, by [props.Refuse], with the
// error of [Props.Validate], or of [gofunction.Build.Wait], before it declares
// anything.
func New(scope constructs.Construct, id string, p Props) *Todo {
	p.Build = platform.Ready(scope, "todo", id, p.validate, p.Build, Handlers(p.Architecture))
	p = p.withDefaults()

	t := &Todo{}
	constructs.NewConstruct_Override(t, scope, &id)
	t.platform = platform.New(t, schema.Todo(), p.Props)
	t.Database = t.platform.Database
	t.addFunctions()
	t.addAPI(p)
	t.addErasure(p)
	t.addLake(p)
	t.addOperations()
	t.addOutputs(scope, id)
	return t
}

func (t *Todo) addFunctions() {
	t.CursorSecret = t.platform.RandomSecret("CursorSecret", "Key that signs the cursors of lists")
	t.TodoAPI = t.platform.Function("TodoAPI", todoAPI, apiTimeout, map[string]string{
		"CURSOR_SECRET_ARN": *t.CursorSecret.SecretArn(),
	})
	platform.AllowRead(t.TodoAPI, t.CursorSecret)
	t.Eraser = t.platform.Function("Eraser", eraser, eraserTimeout, nil)
}

func (t *Todo) addAPI(p Props) {
	var jwt httpapi.JWT
	switch {
	case p.UserPool != nil:
		jwt.Issuer = identity.Issuer(t, p.UserPool)
		for _, client := range p.UserPoolClients {
			jwt.Audience = append(jwt.Audience, *client.UserPoolClientId())
		}
	case p.JWTIssuer == "":
		t.Users = identity.NewUsers(t, "Users", identity.UsersProps{
			Name:               t.platform.Schema.Name,
			InviteOnly:         p.InviteOnly,
			RequireMFA:         p.RequireMFA,
			CallbackURLs:       p.CallbackURLs,
			LogoutURLs:         p.LogoutURLs,
			Triggers:           p.UserPoolTriggers,
			Email:              p.Email,
			RemoveWithStack:    p.RemoveWithStack,
			DeletionProtection: p.DeletionProtection,
		})
		jwt = httpapi.JWT{Issuer: t.Users.Issuer, Audience: []string{t.Users.ClientID()}}
	}
	t.API = t.platform.API(httpapi.Props{
		Description:    "Users keep tasks",
		Functions:      map[string]*gofunction.Function{todoAPI: t.TodoAPI},
		JWT:            jwt,
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Timezone"},
		ExposedHeaders: []string{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
	})
}

// addErasure hands every deletion that begins to the eraser.
func (t *Todo) addErasure(p Props) {
	t.DeadLetters = deadletter.NewQueue(t, "DeadLetters", deadletter.Props{Key: p.Key})
	deletion := map[string]any{"deletion": map[string]any{"S": []any{map[string]any{"exists": true}}}}
	t.Erasure = stream.New(t, "Erasure", stream.Props{
		Table:              t.Database.Tables[0],
		Function:           t.Eraser,
		OnFailure:          t.DeadLetters,
		Filters:            []map[string]any{{"dynamodb": map[string]any{"NewImage": deletion}}},
		BatchSize:          eraserBatch,
		BatchWindow:        gofunction.Sizes{TimeoutSeconds: p.TimeoutSeconds}.Timeout(todoAPI, apiTimeout) + eraserDelay,
		Bisect:             true,
		ReportItemFailures: true,
	})
}

func (t *Todo) addLake(p Props) {
	t.Lake = t.platform.Lake(p.LakeProps)
}

func (t *Todo) addOperations() {
	t.Alarms, t.Dashboard = t.platform.Operate(platform.Operations{
		API:              t.API,
		ServerErrorAlarm: "ServerErrorAlarm",
		Streams:          []platform.HandledStream{{ID: "Erasure", Mapping: t.Erasure, Changes: "deletions of users", Handler: "the eraser"}},
		Queues:           []platform.FailureQueue{{Alarm: "DeadLettersAlarm", Queue: t.DeadLetters, Holds: "deletions of users that could not be finished"}},
		Lake:             t.Lake,
	})
}

// addOutputs names what a caller has to know.
func (t *Todo) addOutputs(scope constructs.Construct, id string) {
	o := t.platform.Outputs(scope, id, t.API)
	o.Add("DeadLetterQueueUrl", "Address of the queue of deletions that could not be finished", t.DeadLetters.QueueUrl())
	o.Add("LakeBucketName", "Bucket of the lake", t.Lake.Bucket.BucketName())
	o.Add("LakeDatabaseName", "Name of the lake's database in the AWS Glue catalog", t.Lake.Catalog.Ref())
	o.Add("LakeWorkGroupName", "Name of the Amazon Athena workgroup to query the lake in", t.Lake.WorkGroup.Ref())
	o.Add("LakeFailureQueueUrl", "Address of the queue of records that cannot become rows", t.Lake.Failures.QueueUrl())
	o.Add("LakeDeadLetterQueueUrl", "Address of the queue of failed runs of the compactor", t.Lake.Schedule.DeadLetters.QueueUrl())
	if t.Users == nil {
		return
	}
	o.Add("UserPoolId", "User pool in which people sign up", t.Users.Resource.UserPoolId())
	o.Add("UserPoolClientId", "Client id for apps that sign people in", t.Users.Client.UserPoolClientId())
	o.Add("TokenIssuer", "Issuer of the users' tokens", &t.Users.Issuer)
	if pages := t.Users.SignInURL(); pages != "" {
		o.Add("SignInUrl", "Where the sign-in pages are", &pages)
	}
}

// GrantAccessPatterns lets the grantee use the table in exactly the ways that the
// access patterns of schema.Todo describe, such as "GetTask". It ends the
// program, by [props.Refuse], if there is no pattern of a name.
func (t *Todo) GrantAccessPatterns(grantee awsiam.IGrantable, patterns ...string) {
	t.platform.GrantAccessPatterns(grantee, patterns...)
}

// MetricDeadLetters is how many batches of deletions wait that could not be
// finished: a maximum over five minutes unless options say otherwise; options may
// be nil.
func (t *Todo) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return t.DeadLetters.MetricApproximateNumberOfMessagesVisible(options)
}

// MetricServerErrors counts the API's responses from 500 up: a sum over five
// minutes unless options say otherwise; options may be nil.
func (t *Todo) MetricServerErrors(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return t.API.MetricServerErrors(options)
}
