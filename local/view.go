package local

// What the console shows of a run.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
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
	buckets   *buckets.Store
	lakes     []catalog.Lake
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
