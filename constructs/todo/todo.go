// Package todo declares To-Do: the platform on which users keep tasks, and whose
// changes fill a lake.
//
//	todo.New(stack, "Todo", todo.Props{})
//
// gives table, functions, HTTP API, user pool, secret and lake, with secure
// defaults.
package todo

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// module is the path of the module with the main packages of the functions.
const module = "github.com/onesynth-cdk/onesynth"

// Todo is the platform.
type Todo struct {
	constructs.Construct
	// Platform has table, API, user pool, lake, alarms and dashboard.
	platform.Platform
	// TodoAPI serves the routes. Eraser reads the table's stream and finishes the deletions of
	// users that their requests did not finish.
	TodoAPI, Eraser *gofunction.Function
	// TaskPage serves the page for people. It is nil without Props.Page.
	TaskPage *gofunction.Function
	// CursorSecret is the generated key that signs the cursors of lists. Another key makes earlier cursors invalid.
	CursorSecret awssecretsmanager.ISecret
	// Erasure hands deletions to the eraser; it is nil with Props.Events. DeadLetters receives the places in the stream
	// of deletions that the eraser could not finish.
	Erasure     *stream.Mapping
	DeadLetters awssqs.Queue
}

// Handlers returns the source of all functions that the platform and its lake can have, for [gofunction.Start].
func Handlers(architecture gofunction.Architecture) gofunction.Source {
	return platform.Handlers(module, todo.With(todo.Parts{Page: true}).Publishing(), architecture)
}

// New declares the platform. It ends the program, by props.Fatal, with the
// error of [Props.Validate], or of [gofunction.Build.Wait], before it declares
// anything.
func New(scope constructs.Construct, id string, p Props) *Todo {
	t := &Todo{}
	platform.Declare(t, scope, id, p.Described(), p.declaration())
	t.TodoAPI, t.Eraser = t.Functions["todoapi"], t.Functions["eraser"]
	t.TaskPage = t.Functions["taskpage"]
	t.CursorSecret = t.Secrets["CursorSecret"]
	t.Erasure, t.DeadLetters = t.Streams["eraser"], t.Platform.DeadLetters["eraser"]
	return t
}

// MetricDeadLetters is how many batches of unfinished deletions wait in the queue: a maximum over
// five minutes unless options say otherwise; options may be nil.
func (t *Todo) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return t.DeadLetters.MetricApproximateNumberOfMessagesVisible(options)
}
