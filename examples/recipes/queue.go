package recipes

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Queue hands each new task of To-Do to a function by a queue. It is for work that may fail for a while, such as an
// email: a message that fails comes again after a minute and after an hour, and then stays in a queue of failures.
//
// Change the event, the plan of retries (lambdas/todo/mailer has the same one), and what the function does. Another
// function may fill the queue instead: see [queue.Queue.AllowSend].
func Queue(stack awscdk.Stack, build *gofunction.Build) {
	p := todo.New(stack, "Todo", todo.Props{Props: platform.Props{Events: true, Build: build}})
	mails := queue.New(stack, "Mails", queue.Props{
		OnFailure: deadletter.NewQueue(stack, "UnsentMails", deadletter.Props{}),
		Timeout:   gofunction.DefaultTimeout,
		On:        schema.OnQueue{Retries: []time.Duration{time.Minute, time.Hour}},
	})
	p.On("TaskCreated", eventbus.Target{Queue: mails.Resource})
	mails.Invoke(gofunction.New(stack, "Mailer", gofunction.Props{
		Build: build, Name: "mailer", Environment: map[string]string{"MAILS_QUEUE_URL": *mails.Resource.QueueUrl()},
	}))
}
