package schema

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Event is a domain event: a change of an item that a platform publishes on a bus of Amazon EventBridge, if its props
// set Events. The function [EventPublisher] makes events from the table's stream. It publishes each at least once, and
// nothing that was rolled back.
type Event struct {
	// Name is the event's detail-type on the bus, in the past tense, such as "TaskCompleted".
	Name string
	// Version is the version of Detail. It begins with 1, and rises by 1 when a field is removed or changes its
	// meaning. A new field does not change it.
	Version int
	// Description says when it is published.
	Description string
	// Table is the logical name of the table whose changes it is made from.
	Table string
	// Changes are patterns ("Lambda event filtering") of the stream records that can make the event. AWS Lambda does
	// not invoke the publisher for a record that matches no event of the table. Default: every record of the table.
	Changes []map[string]any
	// Before gives the publisher the item before the change, too: the table's stream then carries both images. An event
	// about a removal needs it. Default: the item after the change alone.
	Before bool
	// Detail is the zero value of the struct with the event's fields, which follow those of [EventHead]. A field has
	// the tags of a form on the wire: json, doc, and limits such as maxLength. A text needs maxLength unless it has an
	// enum, a format or a pattern. The tag personal:"true" marks a field about a person.
	Detail any
}

// EventHead begins the detail of each event.
type EventHead struct {
	// ID follows from the change that the event was made from.
	ID string `json:"event_id" format:"uuid" doc:"The same for each repeat of the event: whoever has handled it once is done."`
	// Version is the [Event]'s.
	Version int `json:"event_version" minimum:"1" doc:"Version of the event's fields. A further field changes no version."`
	// ItemVersion puts the changes of one item in order.
	ItemVersion string `json:"item_version" pattern:"^[0-9]{40}$" doc:"Version of the item. Of two events about one item the later one has the text that sorts later, in whichever order they come."`
}

// EventField is a field of an event's detail.
type EventField struct {
	// Name is its name in the detail.
	Name string
	// Type says what its value is: text, number, flag, list or object.
	Type string
	// Description says what it means.
	Description string
	// Personal says that it is about a person.
	Personal bool

	tag reflect.StructTag
	of  reflect.Type
}

const (
	// EventPublisher is the name of the function that publishes a platform's events: its main package is
	// lambdas/PLATFORM/eventpublisher.
	EventPublisher = "eventpublisher"
	// EventBusVariable is the environment variable in which it finds the name of the bus.
	EventBusVariable = "EVENT_BUS_NAME"
	// streamReaders is how many functions may read a stream at once ("Using AWS Lambda with Amazon DynamoDB",
	// simultaneous readers).
	streamReaders = 2
	// passedAgain is how long a change that was passed on waits after an attempt that did not finish it.
	passedAgain = 10 * time.Second
)

// PassedQueueVariable returns the name of the publisher's environment variable that has the URL of a function's queue.
// The publisher passes changes on to the function by that queue. The variable is empty if the function reads the stream
// itself.
func PassedQueueVariable(function string) string { return strings.ToUpper(function) + "_QUEUE_URL" }

// Event returns the event of that name.
func (p Platform) Event(name string) (Event, bool) {
	return named(p.Events, name, func(x Event) string { return x.Name })
}

// Fields returns the fields of the event's detail after those of [EventHead].
func (e Event) Fields() []EventField { return eventFields(reflect.TypeOf(e.Detail)) }

func eventFields(detail reflect.Type) (fields []EventField) {
	if detail == nil || detail.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(detail) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		fields = append(fields, EventField{Name: name, Type: eventType(f.Type), Description: f.Tag.Get("doc"),
			Personal: f.Tag.Get("personal") == "true", tag: f.Tag, of: f.Type})
	}
	return fields
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// eventType says what a value is in JSON.
func eventType(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return "text"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return eventType(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "flag"
	case reflect.Slice, reflect.Array:
		return "list of " + eventType(t.Elem())
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return "number"
}

// CheckPattern adds a finding for each field that a pattern of the event's detail names and that the detail lacks: such
// a pattern lets no event through. Paths of findings begin with path. The keys of a map are not checked.
func (e Event) CheckPattern(f *finding.List, path string, detail map[string]any) {
	checkPattern(f, path, detail, []reflect.Type{reflect.TypeFor[EventHead](), reflect.TypeOf(e.Detail)})
}

// checkPattern checks the members of a pattern against the fields of structs.
func checkPattern(f *finding.List, path string, members map[string]any, structs []reflect.Type) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if branches, ok := members[name].([]any); ok && name == "$or" {
			for i, branch := range branches {
				below, _ := branch.(map[string]any)
				checkPattern(f, fmt.Sprintf("%s.$or[%d]", path, i), below, structs)
			}
			continue
		}
		// A dot leads to the members of an object.
		first, rest, nested := strings.Cut(name, ".")
		below, _ := members[name].(map[string]any)
		if nested {
			below = map[string]any{rest: members[name]}
		}
		var names []string
		for _, of := range structs {
			for _, field := range eventFields(of) {
				names = append(names, field.Name)
			}
		}
		field, ok := jsonField(structs, first)
		if !ok {
			f.Add(path+"."+first, first, "one of "+strings.Join(names, ", "),
				"respell it, or leave it out: no event would pass")
		} else if field != nil && below != nil {
			checkPattern(f, path+"."+first, below, []reflect.Type{field})
		}
	}
}

// jsonField returns the type of a field of the structs, by its name in JSON: the struct that it is or that its elements
// are, or nil for any other type. ok is false if there is no such field.
func jsonField(structs []reflect.Type, name string) (field reflect.Type, ok bool) {
	for _, of := range structs {
		for _, f := range eventFields(of) {
			if f.Name != name {
				continue
			}
			t := f.of
			for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
				t = t.Elem()
			}
			if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(textUnmarshaler) {
				return nil, true
			}
			return t, true
		}
	}
	return nil, false
}

// Publishing returns the platform with its events turned on: with the function [EventPublisher], and the streams that
// it reads. A stream has two readers at most. Where the publisher would be a third, it passes the changes on to the
// other functions by queues. A lake always reads the stream itself.
func (p Platform) Publishing() Platform {
	if _, on := p.Function(EventPublisher); on || len(p.Events) == 0 {
		return p
	}
	publisher := Function{
		Name: EventPublisher, ID: "EventPublisher", Description: "Publishes what happened to the bus of events",
		Timeout: 30 * time.Second,
	}
	trigger := OnStreams{ID: "Events", Failures: Failures{ID: "EventDeadLetters",
		Description: "changes whose events could not be published"}}
	p.Database.Tables, p.Functions = slices.Clone(p.Database.Tables), slices.Clone(p.Functions)
	for i, t := range p.Database.Tables {
		filters, published := p.eventFilters(t.Name)
		if !published {
			continue
		}
		p.Database.Tables[i].Stream = p.eventStream(t)
		for at, f := range p.Functions {
			read, reads := f.Trigger.(OnStream)
			if !reads || read.Table != t.Name || p.readers(t.Name) < streamReaders {
				continue
			}
			p.Functions[at].Trigger = queueTrigger(read.WithDefaults(f), f.Name)
			publisher.Sends = append(publisher.Sends, f.Name)
			if len(read.Filters) == 0 {
				filters = nil
			} else if filters != nil {
				filters = distinct(append(filters, read.Filters...))
			}
		}
		if len(filters) > maxFilters {
			filters = nil
		}
		trigger.Streams = append(trigger.Streams, OnStream{Table: t.Name, Filters: filters, ReportItemFailures: true})
	}
	publisher.Trigger = trigger
	p.Functions = append(p.Functions, publisher)
	p.Metrics = slices.Concat(p.Metrics, []Metric{
		{Name: "EventsPublished", Function: EventPublisher, Unit: Count,
			Description: "events that the bus took, repeats included"},
		{Name: "EventFailures", Function: EventPublisher, Unit: Count,
			Description: "changes whose events the bus did not take; they come again"},
	})
	return p
}

// eventStream is what the stream of a table has for events to be made of it.
func (p Platform) eventStream(t Table) StreamView {
	if slices.ContainsFunc(p.Events, func(e Event) bool { return e.Table == t.Name && e.Before }) {
		return StreamNewAndOldImages
	}
	return cmp.Or(t.Stream, StreamNewImage)
}

// readers is how many functions read the stream of a table, beside the publisher of events.
func (p Platform) readers(table string) int {
	readers := 0
	for _, f := range p.Functions {
		if read, ok := f.Trigger.(OnStream); ok && read.Table == table {
			readers++
		}
	}
	for _, l := range p.Lakes {
		if l.Table == table {
			readers++
		}
	}
	return readers
}

// queueTrigger is how a function gets the changes that it read from a stream when the publisher passes them on.
func queueTrigger(read OnStream, function string) OnQueue {
	return OnQueue{
		ID: read.ID + "Queue", Variable: PassedQueueVariable(function), Messages: read.Changes,
		Delay: read.BatchWindow, After: read.After,
		// lambdas/kit/trigger gives a change up long before.
		Retries:   slices.Repeat([]time.Duration{passedAgain}, maxReceives-1),
		BatchSize: min(read.BatchSize, maxMessages), Failures: read.Failures,
	}
}

// eventFilters are the patterns of a table's records that events are made from, nil for all, and whether there is such
// an event.
func (p Platform) eventFilters(table string) (filters []map[string]any, published bool) {
	whole := false
	for _, e := range p.Events {
		if e.Table == table {
			published = true
			whole = whole || len(e.Changes) == 0
			filters = append(filters, e.Changes...)
		}
	}
	if whole {
		return nil, published
	}
	return distinct(filters), published
}

// distinct leaves out patterns that are there already.
func distinct(patterns []map[string]any) (all []map[string]any) {
	seen := map[string]bool{}
	for _, pattern := range patterns {
		text, _ := json.Marshal(pattern) // validate refuses what cannot be written
		if !seen[string(text)] {
			seen[string(text)] = true
			all = append(all, pattern)
		}
	}
	return all
}

func (p Platform) validateEvents(f *findings) {
	unique(f, "Events", p.Events, func(e Event) string { return e.Name })
	for _, e := range p.Events {
		path := "Events[" + e.Name + "]"
		if !matches(logicalName, e.Name) {
			f.add(path+".Name", quoted(e.Name), `say in letters what happened, beginning with a capital, such as `+
				`"TaskCompleted"`)
		}
		if e.Version < 1 {
			f.add(path+".Version", fmt.Sprint(e.Version),
				"begin with 1, and add 1 when a field goes or means something else")
		}
		if e.Description == "" {
			f.add(path+".Description", "", "say when the event is published")
		}
		table, ok := p.Database.Table(e.Table)
		if !ok {
			f.add(path+".Table", quoted(e.Table), "name a declared table")
		} else if !e.Before && (table.Stream == StreamKeysOnly || table.Stream == StreamOldImage) {
			f.add(path+".Table", quoted(e.Table), "its stream is %q: an event is made from the item after the change, "+
				"so write NEW_IMAGE or NEW_AND_OLD_IMAGES", table.Stream)
		}
		for i, pattern := range e.Changes {
			at := fmt.Sprintf("%s.Changes[%d]", path, i)
			OnStream{Filters: []map[string]any{pattern}}.Check(&f.list, at)
			OnStream{}.validateFilter(f, at, pattern, table)
		}
		e.validateDetail(f, path+".Detail")
	}
}

func (e Event) validateDetail(f *findings, path string) {
	fields := e.Fields()
	if len(fields) == 0 {
		f.add(path, fmt.Sprintf("a %T", e.Detail), "write the zero value of a struct with the event's fields")
		return
	}
	head := eventFields(reflect.TypeFor[EventHead]())
	unique(f, path, append(head, fields...), func(field EventField) string { return field.Name })
	for _, field := range fields {
		at := path + "." + field.Name
		if field.Name == "" {
			f.add(at, "a field without a name", "name it by the tag json")
		}
		if field.Description == "" {
			f.add(at, "no description", "say what it means by the tag doc")
		}
		limited := slices.ContainsFunc([]string{"maxLength", "enum", "format", "pattern"}, func(limit string) bool {
			return field.tag.Get(limit) != ""
		})
		if strings.HasSuffix(field.Type, "text") && !limited {
			f.add(at, "a text of any length", "limit it by the tag maxLength, enum, format or pattern")
		}
		if strings.HasPrefix(field.Type, "list") && field.tag.Get("maxItems") == "" {
			f.add(at, "a list of any length", "limit it by the tag maxItems")
		}
	}
}
