// Package events is Amazon EventBridge on this machine, for the events of buckets: a rule of the default bus whose
// pattern is on aws.s3 invokes its functions when an object is created. Other rules fire nothing.
package events

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/internal/cloud/pattern"
	"github.com/onesynth-cdk/onesynth/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/internal/trace"
)

// service is the name that resource-based policies know Amazon EventBridge by.
const service = "events.amazonaws.com"

// Functions takes events without waiting for what becomes of them (lambda.Service).
type Functions interface {
	InvokeAsync(ctx context.Context, name string, payload []byte) (requestID string, err error)
}

// Rules are the rules on events of buckets that invoke functions. They do not change.
type Rules []rule

type rule struct {
	name            string
	account, region string
	filter          pattern.Filter
	targets         []string
}

// properties are those of AWS::Events::Rule that a local run reads.
type properties struct {
	EventBusName, State string
	EventPattern        map[string]any
	Targets             []target
}

type target struct {
	Arn, Input, InputPath string
	InputTransformer      map[string]any
	DeadLetterConfig      struct{ Arn string }
}

// Read reads the rules on events of buckets that invoke functions of the assembly. Its error names a rule that cannot
// be run, or that AWS would let invoke nothing.
func Read(a *assembly.Assembly) (Rules, error) {
	var rules Rules
	for _, resource := range a.Resources("AWS::Events::Rule") {
		var declared properties
		if err := resource.Decode(&declared); err != nil {
			return nil, err
		}
		if !onBuckets(declared) || !slices.ContainsFunc(declared.Targets, func(t target) bool {
			return a.Function(t.Arn) != nil
		}) {
			continue
		}
		read, err := readRule(a, resource, declared)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", resource, err)
		}
		rules = append(rules, read)
	}
	return rules, nil
}

// onBuckets reports whether the rule is on events of buckets alone.
func onBuckets(declared properties) bool {
	sources, _ := declared.EventPattern["source"].([]any)
	return len(sources) == 1 && sources[0] == "aws.s3" && declared.State != "DISABLED" &&
		(declared.EventBusName == "" || declared.EventBusName == "default")
}

func readRule(a *assembly.Assembly, resource *assembly.Resource, declared properties) (rule, error) {
	read := rule{name: resource.Name, account: resource.Stack.Account, region: resource.Stack.Region}
	text, err := json.Marshal(declared.EventPattern)
	if err != nil {
		return read, fmt.Errorf("pattern: %w", err)
	}
	if read.filter, err = pattern.New(string(text)); err != nil {
		return read, err
	}
	for _, target := range declared.Targets {
		function := a.Function(target.Arn)
		switch {
		case function == nil:
			return read, fmt.Errorf("target %s: functions of the assembly are run locally", target.Arn)
		case target.Input+target.InputPath != "" || len(target.InputTransformer) > 0:
			return read, fmt.Errorf("target %s: a local run hands over the event as it is: leave Input, InputPath "+
				"and InputTransformer out", target.Arn)
		case !policy.MayInvoke(a, service, target.Arn, resource.ARN):
			return read, fmt.Errorf("no AWS::Lambda::Permission lets %s invoke %s from %s: AWS would deliver no event",
				service, function.Name, resource.ARN)
		case target.DeadLetterConfig.Arn != "" && !a.IsQueue(target.DeadLetterConfig.Arn):
			return read, fmt.Errorf("dead-letter queue %s is not in the assembly", target.DeadLetterConfig.Arn)
		}
		read.targets = append(read.targets, function.Name)
	}
	slices.Sort(read.targets)
	read.targets = slices.Compact(read.targets)
	return read, nil
}

// event is "Object Created" ("EventBridge event message structure", Amazon S3 user guide), without reason and
// requester.
type event struct {
	Version    string    `json:"version"`
	ID         string    `json:"id"`
	DetailType string    `json:"detail-type"`
	Source     string    `json:"source"`
	Account    string    `json:"account"`
	Time       time.Time `json:"time"`
	Region     string    `json:"region"`
	Resources  []string  `json:"resources"`
	Detail     detail    `json:"detail"`
}

type detail struct {
	Version string `json:"version"`
	Bucket  struct {
		Name string `json:"name"`
	} `json:"bucket"`
	Object struct {
		Key       string `json:"key"`
		Size      int64  `json:"size"`
		ETag      string `json:"etag"`
		Sequencer string `json:"sequencer"`
	} `json:"object"`
	RequestID string `json:"request-id"`
}

// Deliver delivers the event of a new object to the targets of all rules that let it through, which are of functions.
// It logs what a function does not take.
func (rules Rules) Deliver(created s3.Created, functions Functions, log func(line string)) {
	e := event{
		Version: "0", ID: rand.Text(), DetailType: "Object Created", Source: "aws.s3", Account: created.Account,
		Region: created.Region,
		Time:   created.Object.LastModified, Resources: []string{created.ARN},
		Detail: detail{Version: "0", RequestID: rand.Text()},
	}
	e.Detail.Bucket.Name = created.Bucket
	e.Detail.Object.Key, e.Detail.Object.Size, e.Detail.Object.ETag = created.Object.Key, created.Object.Size,
		created.Object.ETag
	e.Detail.Object.Sequencer = fmt.Sprintf("%016X", created.Sequence)
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts, numbers and a time of this century always encode
	}
	ctx := trace.About(context.Background(),
		trace.Origin{Kind: trace.Objects, Path: created.Bucket + "/" + created.Object.Key})
	for _, r := range rules {
		if r.account != created.Account || r.region != created.Region {
			continue
		}
		if passes, err := r.filter.Passes(text); err != nil || !passes {
			continue
		}
		for _, function := range r.targets {
			if _, err := functions.InvokeAsync(ctx, function, text); err != nil {
				log(fmt.Sprintf("rule %s: the event of %s in bucket %s did not reach %s: %v", r.name,
					created.Object.Key, created.Bucket, function, err))
			}
		}
	}
}
