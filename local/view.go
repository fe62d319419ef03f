package local

// What the console shows of a run.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/queue"
)

// database tells programs beside the run how to reach the tables.
func (c cloud) database(url string) console.Database {
	keys := c.databases.AccessKeys()
	all := console.Database{Endpoint: url, Region: engine.Region}
	for _, of := range c.assembly.Environments() {
		first := of.Stacks[0]
		all.Environments = append(all.Environments, console.EnvironmentDatabase{Account: first.Account, Region: first.Region, AccessKey: keys[first.Environment()]})
	}
	all.AccessKey = all.Environments[0].AccessKey
	return all
}

// cloud shows the run to the console.
type cloud struct {
	assembly  *assembly.Assembly
	aws       *awsapi.Server
	databases *engine.Databases
	queues    *queue.Mappings
	buckets   *buckets.Store
	lakes     []catalog.Lake
	functions *lambda.Service
}

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
func (c cloud) Buckets() any { return c.buckets.Buckets() }

func (c cloud) Streams() any                            { return c.databases.Deliveries() }
func (c cloud) FlushStreams(ctx context.Context) error  { return c.databases.Flush(ctx) }
func (c cloud) Tables(ctx context.Context) (any, error) { return c.databases.Tables(ctx) }
func (c cloud) Sweep(ctx context.Context) (int, error)  { return c.databases.Sweep(ctx) }

func (c cloud) Objects(bucket, prefix string) (any, error) {
	return c.buckets.Objects(bucket, prefix)
}

func (c cloud) OpenObject(bucket, key string) (buckets.Object, io.ReadCloser, error) {
	return c.buckets.Open(bucket, key)
}

// queueView is a queue on the console.
type queueView struct {
	Name     string `json:"name"`
	ARN      string `json:"arn"`
	URL      string `json:"url"`
	Messages int    `json:"messages"`
	// Functions are those that the messages are handed to.
	Functions []queue.Delivery `json:"functions,omitempty"`
	Content   []messageView    `json:"content,omitempty"`
}

// messageView is a message, with what can be done about it.
type messageView struct {
	awsapi.Message
	// Cut says that the body is longer.
	Cut bool `json:"cut,omitempty"`
	// Again is what doing it again would be, and Cannot why it cannot be done.
	Again  string `json:"again,omitempty"`
	Cannot string `json:"cannot,omitempty"`
}

// longestBody is how much of a body a list of messages shows.
const longestBody = 8 << 10

func (c cloud) view(queue *awsapi.Queue, message awsapi.Message) messageView {
	plan := c.planAgain(queue, message)
	if plan.why != "" {
		return messageView{Message: message, Cannot: plan.why}
	}
	return messageView{Message: message, Again: plan.String()}
}

func (c cloud) Queues() any {
	views := []queueView{}
	for _, queue := range c.aws.Queues() {
		views = append(views, queueView{Name: queue.Name, ARN: queue.ARN, URL: queue.URL, Messages: len(queue.Messages()), Functions: c.handed(queue.Name)})
	}
	return views
}

func (c cloud) Queue(name string, most int) (any, bool) {
	queue := c.aws.Queue(name)
	if queue == nil {
		return nil, false
	}
	messages := queue.Messages()
	view := queueView{Name: queue.Name, ARN: queue.ARN, URL: queue.URL, Messages: len(messages), Functions: c.handed(queue.Name)}
	if most > 0 {
		messages = messages[:min(most, len(messages))]
	}
	for _, message := range messages {
		one := c.view(queue, message)
		if most > 0 && len(one.Body) > longestBody {
			one.Body, one.Cut = strings.ToValidUTF8(one.Body[:longestBody], ""), true
		}
		view.Content = append(view.Content, one)
	}
	return view, true
}

// handed says to which functions the queue's messages are handed.
func (c cloud) handed(name string) (to []queue.Delivery) {
	for _, delivery := range c.queues.Deliveries() {
		if delivery.Queue == name {
			to = append(to, delivery)
		}
	}
	return to
}

func (c cloud) DueMessages(name string) (int, bool) {
	queue := c.aws.Queue(name)
	if queue == nil {
		return 0, false
	}
	return queue.Due(), true
}

func (c cloud) Message(name, id string) (any, bool) {
	queue := c.aws.Queue(name)
	if queue == nil {
		return nil, false
	}
	messages := queue.Messages()
	at := slices.IndexFunc(messages, func(message awsapi.Message) bool { return message.ID == id })
	if at < 0 {
		return nil, false
	}
	return c.view(queue, messages[at]), true
}

// permissionsView is what a function or schedule may do, and did.
type permissionsView struct {
	Function string           `json:"function"`
	Used     []permissionView `json:"used"`
	Unused   []permissionView `json:"unused"`
	Refused  []permissionView `json:"refused"`
}

type permissionView struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
	// Source is the policy with an unused grant, and Times how often a permission was refused.
	Source string `json:"source,omitempty"`
	Times  int    `json:"times,omitempty"`
}

func (c cloud) Permissions() any {
	views := map[string]*permissionsView{}
	for _, name := range c.aws.Callers() {
		view := &permissionsView{Function: name, Used: []permissionView{}, Unused: []permissionView{}, Refused: []permissionView{}}
		for _, grant := range c.aws.UnusedGrants(name) {
			view.Unused = append(view.Unused, permissionView{Action: grant.Action, Resource: grant.Resource, Source: grant.Source})
		}
		views[name] = view
	}
	for _, use := range c.aws.Used() {
		if view := views[use.Function]; view != nil {
			view.Used = append(view.Used, permissionView{Action: use.Action, Resource: use.Resource})
		}
	}
	for _, refusal := range c.aws.Refused() {
		if view := views[refusal.Function]; view != nil {
			view.Refused = append(view.Refused, permissionView{Action: refusal.Action, Resource: refusal.Resource, Times: refusal.Times})
		}
	}
	all := []permissionsView{}
	for _, name := range slices.Sorted(maps.Keys(views)) {
		all = append(all, *views[name])
	}
	return all
}

func (c cloud) Items(ctx context.Context, query engine.ItemsQuery) (engine.Items, error) {
	return c.databases.Items(ctx, query)
}

func (c cloud) ReplaceItem(ctx context.Context, table, stack string, was, item map[string]json.RawMessage) error {
	return c.databases.ReplaceItem(ctx, table, stack, was, item)
}

func (c cloud) Browse(bucket, prefix, after string, most int) (buckets.Page, error) {
	return c.buckets.Browse(bucket, prefix, after, most)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
