package console_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// platform has one of everything that a map shows.
//
//go:embed testdata/map.json
var platform string

// mapped is the map that the console shows of the platform, as its programs read it.
func mapped(t *testing.T, recorder *trace.Recorder, a *assembly.Assembly) (c *console.Console, of console.Map) {
	t.Helper()
	endpoint := must.Get(services.New(services.Options{Assembly: a,
		DynamoDB: dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	mappings := must.Get(eventsource.Read(a, eventsource.Options{}))(t)
	lakes := must.Get(catalog.Read(a))(t)
	endpoint.Queue("jobs").Send("one", nil)
	c = console.New(console.Parts{Assembly: a, AWS: endpoint, Mappings: mappings, Lakes: lakes, Trace: recorder})
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest("GET", "/map?stack=Stack", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &of); err != nil || w.Code != 200 {
		t.Fatalf("got %d %s, %v", w.Code, w.Body, err)
	}
	return c, of
}

// The map has all that the assembly declares, and arrows for what it says, not for what names suggest.
func TestMap(t *testing.T) {
	t.Parallel()
	_, of := mapped(t, nil, assemblytest.Load(t, platform))
	var parts, arrows []string
	names := map[string]string{}
	for _, part := range of.Parts {
		text := fmt.Sprintf("%s %s", part.Kind, part.Name)
		names[part.ID] = text
		for _, route := range part.Routes {
			text += ", " + route.Key
		}
		if part.Messages > 0 {
			text += fmt.Sprintf(", %d messages", part.Messages)
		}
		if part.Stack == "" {
			text += ", of no stack"
		}
		parts = append(parts, text)
	}
	for _, arrow := range of.Arrows {
		text := fmt.Sprintf("%s -> %s: %s", names[arrow.From], names[arrow.To],
			strings.Join(append([]string{string(arrow.Carries)}, slices.Concat(arrow.Access, arrow.Rules)...), ", "))
		if arrow.DeadLetter {
			text += ", dead letters"
		}
		arrows = append(arrows, text)
	}
	slices.Sort(parts)
	slices.Sort(arrows)
	if difference := cmp.Diff([]string{
		"bucket files", "bucket quiet", "bus default, of no stack", "bus shop", "function guard", "function reader",
		"function writer", "lake shop", "queue failed", "queue jobs, 1 messages", "queue lost",
		"routes things, GET /things, GET /things/{id}", "schedule hourly", "schedule nightly", "stream things",
		"table things", "user pool Stack-Users",
	}, parts); difference != "" {
		t.Errorf("parts (-want +got):\n%s", difference)
	}
	if difference := cmp.Diff([]string{
		"bucket files -> bus default: events",
		"bucket files -> lake shop: objects",
		"bus default -> function writer: invocations, stored",
		"bus shop -> function writer: invocations, made, sold",
		"bus shop -> queue jobs: messages, made",
		"function reader -> bucket files: calls, reads",
		"function reader -> bucket quiet: calls, reads",
		"function reader -> bus shop: calls, sends",
		"function reader -> table things: calls, reads",
		"function writer -> bucket files: calls, writes",
		"function writer -> queue failed: calls, sends, dead letters",
		"function writer -> queue jobs: calls, sends",
		"function writer -> queue lost: messages, dead letters",
		"function writer -> table things: calls, reads, writes",
		"queue jobs -> function writer: invocations",
		"queue jobs -> queue lost: messages, dead letters",
		"routes things -> function guard: requests",
		"routes things -> function reader: requests",
		"schedule hourly -> function writer: invocations",
		"schedule hourly -> queue lost: messages, dead letters",
		"schedule nightly -> function writer: invocations",
		"stream things -> function writer: invocations",
		"table things -> stream things: records",
		"user pool Stack-Users -> function writer: invocations",
	}, arrows); difference != "" {
		t.Errorf("arrows (-want +got):\n%s", difference)
	}
}

// What went along an arrow is what the requests of the run did, whether or not they are still kept.
func TestMapCounts(t *testing.T) {
	t.Parallel()
	recorder := trace.New(trace.Options{})
	a := assemblytest.Load(t, platform)
	id := func(n int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", n) }
	arn := func(name string) string { return a.ByName(name).ARN }
	n := 0
	request := func(route string, status int, functions ...string) {
		n++
		ctx, begun := recorder.Begin(t.Context(), fmt.Sprint("r", n), trace.Origin{Kind: trace.HTTP, Stack: "Stack",
			API: "things", Method: "GET", Path: "/things/1", Route: route})
		for _, function := range functions {
			n++
			f := recorder.Invoke(ctx, id(n), function, function, 0)
			recorder.Call("Root=1-00000000-"+strings.ReplaceAll(id(n), "-", "")[:24],
				trace.Call{Targets: []string{arn("things")}, Status: status})
			f.End("")
		}
		begun.End(status, "")
	}
	caused := func(function, problem string, origin trace.Origin) {
		n++
		recorder.Invoke(trace.About(t.Context(), origin), id(n), function, function, 0).End(problem)
	}
	request("GET /things", 200, "reader", "reader")
	request("GET /things/{id}", 404, "guard", "reader")
	request("GET /things/{id}", 401)
	request("", 404)
	caused("writer", "", trace.Origin{Kind: trace.Schedule, Path: "hourly"})
	caused("writer", "Unhandled", trace.Origin{Kind: trace.Schedule, Path: "hourly"})
	caused("writer", "", trace.Origin{Kind: trace.Stream, Path: "things"})
	caused("writer", "", trace.Origin{Kind: trace.Bus, Path: "shop Made"})
	caused("writer", "", trace.Origin{Kind: trace.Objects, Path: "files/a/b.json"})
	for range trace.MaxRequests {
		caused("reader", "", trace.Origin{Kind: trace.Queue, Path: "elsewhere"})
	}
	_, of := mapped(t, recorder, a)
	var got []string
	label := map[string]string{}
	for _, part := range of.Parts {
		label[part.ID] = string(part.Kind) + " " + part.Name
		for _, route := range part.Routes {
			got = append(got, fmt.Sprintf("%s: %d, %d failed", route.Key, route.All, route.Failed))
		}
	}
	for _, arrow := range of.Arrows {
		if arrow.All > 0 {
			got = append(got, fmt.Sprintf("%s -> %s: %d, %d failed, by %q", label[arrow.From], label[arrow.To],
				arrow.All, arrow.Failed, arrow.Search))
		}
	}
	slices.Sort(got)
	if difference := cmp.Diff([]string{
		`GET /things/{id}: 2, 2 failed`,
		`GET /things: 1, 0 failed`,
		`bus default -> function writer: 1, 0 failed, by "default"`,
		`bus shop -> function writer: 1, 0 failed, by "shop"`,
		`function reader -> table things: 3, 1 failed, by "reader"`,
		`routes things -> function guard: 1, 1 failed, by "guard"`,
		`routes things -> function reader: 2, 1 failed, by "reader"`,
		`schedule hourly -> function writer: 2, 1 failed, by "hourly"`,
		`stream things -> function writer: 1, 0 failed, by "things"`,
	}, got); difference != "" {
		t.Errorf("counts (-want +got):\n%s", difference)
	}
}

func TestMapErr(t *testing.T) {
	t.Parallel()
	c, _ := mapped(t, nil, assemblytest.Load(t, platform))
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest("GET", "/map?stack=none", nil))
	if w.Code != 400 || !strings.Contains(w.Body.String(), `stack: got \"none\": write one of [\"Stack\"]`) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
