package schema_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

type made struct {
	ID   string `json:"id" maxLength:"10" doc:"Which." personal:"true"`
	Size int    `json:"size" doc:"How large."`
}

// telling is a platform with an event, and n functions that read the stream of its table.
func telling(readers int) schema.Platform {
	p := schema.Platform{
		Name: "own", Title: "Own",
		Database: schema.Database{Tables: []schema.Table{
			{Name: "Things", PhysicalName: "things", Stream: schema.StreamNewImage, Key: schema.Key{Partition: "id"},
				Attributes: []schema.Attribute{{Name: "id", Type: schema.String}}},
			{Name: "Others", PhysicalName: "others", Key: schema.Key{Partition: "id"},
				Attributes: []schema.Attribute{{Name: "id", Type: schema.String}}},
		}},
		Events: []schema.Event{
			{Name: "ThingMade", Version: 1, Description: "A thing was made.", Table: "Things", Detail: made{},
				Changes: []map[string]any{{"eventName": []any{"INSERT"}}}},
			{Name: "ThingSeen", Version: 1, Description: "A thing was seen.", Table: "Things", Detail: made{},
				Changes: []map[string]any{{"eventName": []any{"INSERT"}}}},
		},
	}
	for i := range readers {
		p.Functions = append(p.Functions, schema.Function{Name: string(rune('a'+i)) + "reader", Description: "reads",
			Trigger: schema.OnStream{Table: "Things", BatchSize: 5, BatchWindow: time.Second,
				Filters: []map[string]any{{"eventName": []any{"REMOVE"}}}}})
	}
	return p
}

// The publisher reads the stream as one of two. With two others, the first of these gets its changes by a queue.
func TestPublishing(t *testing.T) {
	t.Parallel()
	for readers, want := range [][]string{nil, nil, {"areader"}, {"areader", "breader"}} {
		p := telling(readers).Publishing()
		if err := p.Validate(); err != nil {
			t.Errorf("%d readers: %v", readers, err)
		}
		publisher, _ := p.Function(schema.EventPublisher)
		if !slices.Equal(publisher.Sends, want) {
			t.Errorf("%d readers: the publisher passes on to %v, want %v", readers, publisher.Sends, want)
		}
		streams := publisher.Streams()
		filters := 1
		if len(want) > 0 {
			filters = 2
		}
		if len(streams) != 1 || streams[0].Table != "Things" || len(streams[0].Filters) != filters ||
			streams[0].ID != "EventsThingsStream" || streams[0].Failures.ID != "EventDeadLetters" {
			t.Errorf("%d readers: the publisher reads %+v", readers, streams)
		}
		for _, name := range want {
			f, _ := p.Function(name)
			q, ok := f.Trigger.(schema.OnQueue)
			if !ok || q.BatchSize != 5 || q.Delay != time.Second || q.Variable != schema.PassedQueueVariable(name) ||
				q.Attempts() != 1000 {
				t.Errorf("%s: got %+v", name, f.Trigger)
			}
		}
		again := p.Publishing()
		if len(again.Functions) != len(p.Functions) || len(again.Metrics) != len(p.Metrics) {
			t.Errorf("%d readers: a second time adds something", readers)
		}
		if given := telling(readers); readers > 0 {
			given.Publishing()
			if _, ok := given.Functions[0].Trigger.(schema.OnStream); !ok {
				t.Error("the platform itself has changed")
			}
		}
	}
}

// Streams are there for what events need, and no more.
func TestPublishingStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schema.Platform)
		want   []schema.StreamView
	}{
		"AsItIs": {func(*schema.Platform) {}, []schema.StreamView{schema.StreamNewImage, schema.StreamNone}},
		"New": {func(p *schema.Platform) { p.Events[0].Table = "Others" },
			[]schema.StreamView{schema.StreamNewImage, schema.StreamNewImage}},
		"Before": {func(p *schema.Platform) { p.Events[1].Before = true },
			[]schema.StreamView{schema.StreamNewAndOldImages, schema.StreamNone}},
		"None": {func(p *schema.Platform) { p.Events = nil }, []schema.StreamView{schema.StreamNewImage,
			schema.StreamNone}},
	} {
		p := telling(0)
		test.change(&p)
		var got []schema.StreamView
		for _, table := range p.Publishing().Database.Tables {
			got = append(got, table.Stream)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

func TestValidateEvents(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*schema.Event)
		want   []string
	}{
		"OK":          {func(*schema.Event) {}, nil},
		"Name":        {func(e *schema.Event) { e.Name = "thing made" }, []string{"Events[thing made].Name"}},
		"Twice":       {func(e *schema.Event) { e.Name = "ThingSeen" }, []string{"Events[1]"}},
		"Version":     {func(e *schema.Event) { e.Version = 0 }, []string{"Events[ThingMade].Version"}},
		"Description": {func(e *schema.Event) { e.Description = "" }, []string{"Events[ThingMade].Description"}},
		"Table":       {func(e *schema.Event) { e.Table = "Lost" }, []string{"Events[ThingMade].Table"}},
		"Changes": {func(e *schema.Event) {
			e.Changes = []map[string]any{{"dynamodb": map[string]any{"Keys": map[string]any{"idd": []any{}}}}, {}}
		}, []string{"Events[ThingMade].Changes[0].dynamodb.Keys", "Events[ThingMade].Changes[1].Filters[0]"}},
		"NoDetail": {func(e *schema.Event) { e.Detail = nil }, []string{"Events[ThingMade].Detail"}},
		"NoStruct": {func(e *schema.Event) { e.Detail = 1 }, []string{"Events[ThingMade].Detail"}},
		"Unlimited": {detail(struct {
			A string `json:"a" doc:"A."`
		}{}), []string{"Events[ThingMade].Detail.a"}},
		"LongList": {detail(struct {
			A []int `json:"a" doc:"A."`
		}{}), []string{"Events[ThingMade].Detail.a"}},
		"Undescribed": {detail(struct {
			A int `json:"a"`
		}{}), []string{"Events[ThingMade].Detail.a"}},
		"Unnamed": {detail(struct {
			A int `doc:"A."`
		}{}), []string{"Events[ThingMade].Detail."}},
		"OfTheHead": {detail(struct {
			A int `json:"event_id" doc:"A."`
		}{}), []string{"Events[ThingMade].Detail[3]"}},
	} {
		p := telling(0)
		test.change(&p.Events[0])
		var got []string
		if err := p.Validate(); err != nil {
			for _, f := range err.(finding.List) {
				got = append(got, f.Path)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
	keysOnly := telling(0)
	keysOnly.Database.Tables[0].Stream = schema.StreamKeysOnly
	if err := keysOnly.Validate(); err == nil || !strings.Contains(err.Error(), "Events[ThingMade].Table") {
		t.Errorf("events of keys alone: got %v", err)
	}
}

func detail(of any) func(*schema.Event) { return func(e *schema.Event) { e.Detail = of } }

// A function of several streams names each table once, and its ids are its own. A queue waits for a function that there
// is.
func TestValidateStreams(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trigger schema.Trigger
		want    []string
	}{
		"OK":   {schema.OnStreams{Streams: []schema.OnStream{{Table: "Things"}}}, nil},
		"None": {schema.OnStreams{}, []string{"Functions[several].Trigger.Streams"}},
		"Twice": {schema.OnStreams{Streams: []schema.OnStream{{Table: "Things"}, {Table: "Things"}}},
			[]string{"Functions[several].Trigger.Streams[1]", "Functions[several].Trigger.Streams[Things]"}},
		"NoStream": {schema.OnStreams{Streams: []schema.OnStream{{Table: "Others"}}},
			[]string{"Functions[several].Trigger.Streams[0].Trigger.Table"}},
		"ID": {schema.OnStreams{ID: "several", Streams: []schema.OnStream{{Table: "Things"}}},
			[]string{"Functions[several].Trigger.ID"}},
		"After": {schema.OnQueue{Variable: "SEVERAL_QUEUE_URL", After: "lost"},
			[]string{"Functions[several].Trigger.After"}},
	} {
		p := telling(0)
		p.Functions = []schema.Function{{Name: "several", Description: "several", Trigger: test.trigger}}
		if _, ok := test.trigger.(schema.OnQueue); ok {
			p.Functions[0].Sends = []string{"several"}
		}
		var got []string
		if err := p.Validate(); err != nil {
			for _, f := range err.(finding.List) {
				got = append(got, f.Path)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: - want, + got:\n%s", name, diff)
		}
	}
}

// A pattern names fields that the detail has, at any depth.
func TestCheckPattern(t *testing.T) {
	t.Parallel()
	e := schema.Event{Detail: struct {
		ID    string `json:"id"`
		Parts []*struct {
			Size int `json:"size"`
		} `json:"parts"`
		Labels map[string]string `json:"labels"`
		At     time.Time         `json:"at"`
		hidden string
	}{}}
	any1 := []any{"x"}
	for name, test := range map[string]struct {
		detail map[string]any
		want   []string
	}{
		"None": {nil, nil},
		"Fields": {map[string]any{"id": any1, "event_version": any1, "at": any1,
			"labels": map[string]any{"a": any1}}, nil},
		"Deep":    {map[string]any{"parts": map[string]any{"size": any1}, "parts.size": any1}, nil},
		"Unknown": {map[string]any{"ID": any1, "hidden": any1}, []string{"D.ID", "D.hidden"}},
		"Below": {map[string]any{"parts": map[string]any{"weight": any1}, "parts.width": any1},
			[]string{"D.parts.weight", "D.parts.width"}},
		"Or": {map[string]any{"$or": []any{map[string]any{"id": any1}, map[string]any{"of": any1}}},
			[]string{"D.$or[1].of"}},
	} {
		var f finding.List
		e.CheckPattern(&f, "D", test.detail)
		var got []string
		for _, one := range f {
			got = append(got, one.Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got findings at %v, want %v", name, got, test.want)
		}
	}
}
