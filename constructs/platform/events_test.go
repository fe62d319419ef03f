package platform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// telling is a platform that publishes what happens to its things.
func telling() schema.Platform {
	described := own()
	described.Events = []schema.Event{{Name: "ThingMade", Version: 1, Description: "A thing was made.", Table: "Things",
		Changes: []map[string]any{{"eventName": []any{"INSERT"}}},
		Detail: struct {
			ID string `json:"id" maxLength:"10" doc:"Which."`
		}{}}}
	described.Functions = append(described.Functions, schema.Function{Name: "report", Description: "reads changes",
		Trigger: schema.OnStream{Table: "Things", BatchWindow: 3e9, After: "hello", Changes: "reports",
			Filters: []map[string]any{{"eventName": []any{"REMOVE"}}}}})
	return described
}

// declareTelling declares it with a function and a queue as targets, encrypted with a key of the app. The publisher
// reads the stream in place of the function report, and passes changes on to it by a queue, which waits as long as the
// stream did. A rule lets nothing but the platform's events in, and nothing but the rule may invoke its target.
func declareTelling(app awscdk.App, source gofunction.Source) {
	source.Packages = platform.Handlers("", telling().Publishing(), source.Architecture).Packages
	stack := awscdk.NewStack(app, jsii.String("telling"), nil)
	o := &others{}
	platform.Declare(o, stack, "Own", telling(), platform.Declaration{Props: platform.Props{Events: true,
		Build: gofunction.Start(context.Background(), source), Key: awskms.NewKey(stack, jsii.String("Key"), nil)}})
	o.On("ThingMade", eventbus.Target{Function: o.Functions["hello"], Detail: map[string]any{"id": []any{"a"}}})
	o.On("ThingMade", eventbus.Target{ID: "Again", Function: o.Functions["hello"]})
	o.On("ThingMade", eventbus.Target{ID: "Queued", Queue: deadletter.NewQueue(stack, "Told", deadletter.Props{})})
}

func TestOnErr(t *testing.T) {
	t.Parallel()
	publishing := &platform.Platform{Schema: telling(), Events: &eventbus.Bus{}}
	for name, test := range map[string]struct {
		platform *platform.Platform
		event    string
		detail   map[string]any
		want     string
	}{
		"NoEvents": {&platform.Platform{Schema: telling()}, "ThingMade", nil,
			"publishes no events: set Events of its props"},
		"Unknown": {publishing, "ThingLost", nil, `got "ThingLost", allowed are the events of own: ThingMade`},
		"UnknownField": {publishing, "ThingMade", map[string]any{"name": []any{"a"}},
			`Target.Detail.name: got "name", allowed is one of event_id, event_version, item_version, id`},
		"NoTarget": {publishing, "ThingMade", nil, "Target: got "},
	} {
		err := synthtest.PanicOf(func() { test.platform.On(test.event, eventbus.Target{Detail: test.detail}) })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
