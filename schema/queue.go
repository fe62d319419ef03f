package schema

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// OnQueue invokes a function with the messages of a queue of Amazon SQS. Functions that name it in their Sends fill the
// queue. A message that the function fails to handle is delivered again after each of Retries (lambdas/kit/trigger),
// and then moved to the queue of [Failures], from where it can be sent again. Each message is delivered at least once,
// in no order.
type OnQueue struct {
	// ID is the construct id of the queue. The alarm on late messages is <ID>AgeAlarm.
	// Default: the function's ID and "Queue".
	ID string
	// Variable is the environment variable in which the function, and those that send to it, find the
	// address of the queue, such as "WEBHOOK_QUEUE_URL". Required.
	Variable string
	// Retries are the delays between attempts, beginning with the one after the first failed attempt. Each is whole
	// seconds, up to 11 hours. Default: a message is tried once.
	Retries []time.Duration
	// Delay is how long a message waits before its first attempt: whole seconds up to 15 minutes. Default: none.
	Delay time.Duration `min:"0s" max:"15m" step:"1s" default:"none"`
	// After names a function whose time-out is added to Delay, so that its requests have ended when their messages are
	// handled. Default: none.
	After string
	// BatchSize limits the messages of one invocation: 1 to 10. Default: 10.
	BatchSize int `min:"1" max:"10" default:"10"`
	// MaximumConcurrency limits the invocations that run at once: 2 to 1,000. Default: as many as the account and the
	// function allow.
	MaximumConcurrency int `min:"2" max:"1000" default:"no limit"`
	// Messages describes the messages to people, such as "webhooks". Default: "messages of the" and the function's
	// name.
	Messages string
	// Failures describe the queue of the messages that the function gave up.
	Failures Failures
}

// Limits of Amazon SQS ("Amazon SQS visibility timeout": 12 hours, to which a receiver may add what lets
// messages not all come at once) and of AWS Lambda ("Using Lambda with Amazon SQS").
const (
	longestRetry = 11 * time.Hour
	maxMessages  = 10
	maxReceives  = 1000
)

// WithDefaults returns the trigger of a function with its defaults filled in.
func (q OnQueue) WithDefaults(of Function) OnQueue {
	q.ID = cmp.Or(q.ID, of.ConstructID()+"Queue")
	q.BatchSize = cmp.Or(q.BatchSize, maxMessages)
	q.Messages = cmp.Or(q.Messages, "messages of the "+of.Name)
	q.Failures = q.Failures.withDefaults(q.ID, q.Messages+" that could not be handled")
	return q
}

// Attempts returns how often a message is tried.
func (q OnQueue) Attempts() int { return len(q.Retries) + 1 }

// QueuesOf returns the functions whose queues the function uses: its own, and those that it sends to.
func (p Platform) QueuesOf(f Function) []Function {
	return slices.DeleteFunc(slices.Clone(p.Functions), func(other Function) bool {
		_, ok := other.Trigger.(OnQueue)
		return !ok || other.Name != f.Name && !slices.Contains(f.Sends, other.Name)
	})
}

// Check adds a finding for each limit of Amazon SQS and AWS Lambda that the trigger breaks. Their paths begin with
// path.
func (q OnQueue) Check(f *finding.List, path string) {
	f.Limits(path, q)
	for i, wait := range q.Retries {
		if wait <= 0 || wait > longestRetry || wait%time.Second != 0 {
			f.Add(fmt.Sprintf("%s.Retries[%d]", path, i), wait, "1s to "+longestRetry.String()+" in whole seconds",
				"write one of these")
		}
	}
	if q.Attempts() > maxReceives {
		f.Add(path+".Retries", len(q.Retries), fmt.Sprintf("at most %d", maxReceives-1),
			"a queue counts no further: retry less often")
	}
}

func (q OnQueue) validate(f *findings, path string, p Platform, fn Function) {
	at := path + ".Trigger"
	q.Check(&f.list, at)
	if !slices.ContainsFunc(p.Functions, func(other Function) bool { return slices.Contains(other.Sends, fn.Name) }) {
		f.add(at, "OnQueue", "name the function in the Sends of another: no function fills its queue")
	}
	if _, ok := p.Function(q.After); q.After != "" && (!ok || q.After == fn.Name) {
		f.add(at+".After", quoted(q.After), "name another declared function, or none")
	}
}

// validateSends checks the queues that a function sends to.
func (p Platform) validateSends(f *findings, path string, fn Function) {
	for i, name := range fn.Sends {
		at := fmt.Sprintf("%s.Sends[%d]", path, i)
		to, ok := p.Function(name)
		if _, queue := to.Trigger.(OnQueue); !ok || !queue {
			f.add(at, quoted(name), "name a function whose Trigger is OnQueue")
		}
	}
	unique(f, path+".Sends", fn.Sends, itself)
}
