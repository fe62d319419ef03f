package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/inbox"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/schedule"
)

// Assembly is the assembly that runs, resolved.
func (r *Runner) Assembly() *assembly.Assembly { return r.assembly }

// APIs are the HTTP APIs with their addresses.
func (r *Runner) APIs() []console.API { return r.apis }

// URL is the address of the stack's HTTP API, or of the only one when stack is "". It is "" when there is none.
func (r *Runner) URL(stack string) string {
	for _, api := range r.apis {
		if api.Stack == stack || stack == "" {
			return api.URL
		}
	}
	return ""
}

// ConsoleURL is the console's address.
func (r *Runner) ConsoleURL() string { return r.consoleURL }

// AWS is the AWS endpoint that functions get: faults, capacity, queues, secrets, used and refused permissions.
func (r *Runner) AWS() *awsapi.Server { return r.aws }

// DynamoDB is a client on the tables of the run's first account and region, which most runs have one of. No role restricts it
// and no capacity is counted for it.
func (r *Runner) DynamoDB() *dynamodb.Client { return r.databases[0].client }

// Functions are the run's functions: figures, logs, Invoke, Kill.
func (r *Runner) Functions() *lambda.Service { return r.functions }

// Schedules are the run's schedules.
func (r *Runner) Schedules() *schedule.Scheduler { return r.schedules }

// Inbox is the push inbox.
func (r *Runner) Inbox() *inbox.Inbox { return r.inbox }

// Buckets are the run's buckets with their objects.
func (r *Runner) Buckets() *buckets.Store { return r.buckets }

// Lakes are the catalogs that the assembly declares.
func (r *Runner) Lakes() []catalog.Lake { return r.lakes }

// Streams tells how far the delivery of stream records to functions is.
func (r *Runner) Streams() []engine.Delivery {
	var all []engine.Delivery
	for _, d := range r.databases {
		all = append(all, d.streams.Deliveries()...)
	}
	return all
}

// FlushStreams delivers what was written before the call to functions now, and returns when they have taken it. Errors as
// engine.Streams.Flush.
func (r *Runner) FlushStreams(ctx context.Context) error {
	for _, d := range r.databases {
		if err := d.streams.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// EnginePID is DynamoDB Local's process id, or 0 when it was given by URL.
func (r *Runner) EnginePID() int { return r.engine.PID() }

// Invoke calls a function by name and waits for its answer. Errors as lambda.Service.Invoke.
func (r *Runner) Invoke(ctx context.Context, function string, payload []byte) (lambda.Result, error) {
	return r.functions.Invoke(ctx, function, payload)
}

// RunSchedule runs a schedule now and waits until its function has finished. Errors as schedule.Scheduler.Run.
func (r *Runner) RunSchedule(ctx context.Context, name string) error {
	return r.schedules.Run(ctx, name)
}

// Kill kills an instance of a function, a busy one if there is any. Errors as lambda.Service.Kill.
func (r *Runner) Kill(function string) (pid int, err error) { return r.functions.Kill(function) }

// Close ends the run and every process of it. It is safe to call more than once.
func (r *Runner) Close() {
	r.closing.Do(func() {
		r.stop()
		r.mu.Lock()
		servers := r.servers
		r.mu.Unlock()
		var wait sync.WaitGroup
		for _, server := range servers {
			wait.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), shutdownPeriod)
				defer cancel()
				if server.Shutdown(ctx) != nil {
					server.Close()
				}
			})
		}
		if r.schedules != nil {
			wait.Go(r.schedules.Close)
		}
		if r.functions != nil {
			wait.Go(r.functions.Close)
		}
		wait.Wait()
		for _, listener := range r.doors {
			listener.Close()
		}
		for _, listener := range r.listeners {
			listener.Close()
		}
		r.working.Wait()
		if r.engine != nil {
			r.engine.Close()
		}
		os.RemoveAll(r.folder)
	})
}

// announce prints what runs where; its last line is "ready".
func (r *Runner) announce() {
	var lines strings.Builder
	for _, api := range r.apis {
		fmt.Fprintf(&lines, "%-10s %s  (%s, stack %s)\n", "API", api.URL, api.Name, api.Stack)
	}
	fmt.Fprintf(&lines, "%-10s %s\n", "console", r.consoleURL)
	fmt.Fprintf(&lines, "%-10s %s\n", "DynamoDB", r.engine.URL())
	for _, table := range r.assembly.Tables() {
		if table.Existing {
			fmt.Fprintf(&lines, "%-10s %s  exists elsewhere; here as stack %s describes it\n", "table", table.Name, table.Stack.Name)
		}
	}
	for _, s := range r.schedules.Schedules() {
		when := "disabled"
		if s.Next != nil {
			when = "next " + s.Next.Local().Format(time.DateTime)
		}
		if r.options.NoSchedules {
			when = "runs by name only"
		}
		fmt.Fprintf(&lines, "%-10s %s  %s, %s\n", "schedule", s.Name, s.Expression, when)
	}
	lines.WriteString("ready\n")
	r.log.Write([]byte(lines.String()))
}

// announceEnd prints that the run ends, and what it breaks off.
func (r *Runner) announceEnd() {
	unfinished := 0
	for _, f := range r.functions.Functions() {
		unfinished += f.Queued
		for _, instance := range f.Instances {
			if instance.Busy {
				unfinished++
			}
		}
	}
	switch unfinished {
	case 0:
		r.log.printf("ending")
	case 1:
		r.log.printf("ending: 1 invocation is broken off")
	default:
		r.log.printf("ending: %d invocations are broken off", unfinished)
	}
}

// accessKey is random and alphanumeric: it tells the AWS endpoint who calls.
func accessKey() string { return "LOCAL" + rand.Text()[:15] }

// log serialises what the run and its functions print.
type log struct {
	mu     sync.Mutex
	writer io.Writer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer.Write(p)
}

func (l *log) printf(format string, arguments ...any) {
	fmt.Fprintf(l, format+"\n", arguments...)
}

func (l *log) function(name, line string) { l.printf("[%s] %s", name, line) }

// cloud shows the run to the console.
type cloud struct{ *Runner }

func (c cloud) Capacity() any           { return nonNil(c.aws.Capacity()) }
func (c cloud) EngineUse() any          { return c.aws.EngineUse() }
func (c cloud) ResetCapacity()          { c.aws.ResetCapacity() }
func (c cloud) UsedPermissions() any    { return nonNil(c.aws.Used()) }
func (c cloud) RefusedPermissions() any { return nonNil(c.aws.Refused()) }
func (c cloud) Faults() any             { return c.aws.Faults() }

func (c cloud) SetFaults(document []byte) error {
	var faults awsapi.Faults
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&faults); err != nil {
		return fmt.Errorf(`faults: %w: write {"throttle": 0.05, "transaction_conflict": 0.05, "drop_response": 0.01, "hang": 0.001, "redeliver": 0.1, "seed": 1}, each but the seed a probability from 0 to 1`, err)
	}
	return c.aws.SetFaults(faults)
}

func (c cloud) Outputs() []console.StackOutputs {
	all := []console.StackOutputs{}
	for _, stack := range c.assembly.Stacks {
		one := console.StackOutputs{Stack: stack.Name, Account: stack.Account, Region: stack.Region, Outputs: map[string]string{}}
		for name, output := range stack.Outputs {
			one.Outputs[name] = output.Value
		}
		all = append(all, one)
	}
	return all
}

func (c cloud) Lakes() any   { return c.lakes }
func (c cloud) Streams() any { return nonNil(c.Runner.Streams()) }
func (c cloud) Buckets() any { return c.buckets.Buckets() }

func (c cloud) Objects(bucket, prefix string) (any, error) {
	return c.buckets.Objects(bucket, prefix)
}

func (c cloud) OpenObject(bucket, key string) (buckets.Object, io.ReadCloser, error) {
	return c.buckets.Open(bucket, key)
}

// queueView is a queue on the console.
type queueView struct {
	Name     string           `json:"name"`
	ARN      string           `json:"arn"`
	URL      string           `json:"url"`
	Messages int              `json:"messages"`
	Content  []awsapi.Message `json:"content,omitempty"`
}

func (c cloud) Queues() any {
	views := []queueView{}
	for _, queue := range c.aws.Queues() {
		views = append(views, queueView{Name: queue.Name, ARN: queue.ARN, URL: queue.URL, Messages: len(queue.Messages())})
	}
	return views
}

func (c cloud) Queue(name string) (any, bool) {
	queue := c.aws.Queue(name)
	if queue == nil {
		return nil, false
	}
	messages := queue.Messages()
	return queueView{Name: queue.Name, ARN: queue.ARN, URL: queue.URL, Messages: len(messages), Content: messages}, true
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
