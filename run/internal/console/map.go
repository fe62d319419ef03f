package console

// The map: what a run consists of, what calls what, and how often that happened.

import (
	"net/http"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Map is what a platform consists of, and what calls what.
type Map struct {
	Parts  []Part  `json:"parts"`
	Arrows []Arrow `json:"arrows"`
}

// PartKind says what a part of a map is.
type PartKind string

// The kinds of parts.
const (
	// RoutesPart are all routes of an API to one function.
	RoutesPart   PartKind = "routes"
	SchedulePart PartKind = "schedule"
	UserPoolPart PartKind = "user pool"
	FunctionPart PartKind = "function"
	TablePart    PartKind = "table"
	// StreamPart is the stream of a table that functions read.
	StreamPart PartKind = "stream"
	QueuePart  PartKind = "queue"
	BusPart    PartKind = "bus"
	BucketPart PartKind = "bucket"
	LakePart   PartKind = "lake"
)

// Part is a part of a map.
type Part struct {
	// ID is what arrows call it.
	ID   string   `json:"id"`
	Kind PartKind `json:"kind"`
	// Name is what AWS calls it: of routes the API, of a stream the table.
	Name string `json:"name"`
	// Label is what people call a function.
	Label string `json:"label,omitempty"`
	// Stack declares it; empty for the bus that each account has.
	Stack string `json:"stack,omitempty"`
	// Routes are those of a part of routes.
	Routes []MappedRoute `json:"routes,omitempty"`
	// Messages is how many messages a queue has.
	Messages int `json:"messages,omitempty"`
}

// MappedRoute is a route of an API.
type MappedRoute struct {
	// Key is such as "GET /links/{id}".
	Key string `json:"key"`
	// All counts the requests of the route, and Failed those that failed, also those that reached no function.
	All    int `json:"all"`
	Failed int `json:"failed"`
}

// Carries says what goes along an arrow.
type Carries string

// What goes along arrows. The run counts the first four.
const (
	// CarriesRequests is from routes to their function.
	CarriesRequests Carries = "requests"
	// CarriesInvocations is from what else invokes a function.
	CarriesInvocations Carries = "invocations"
	// CarriesCalls is from a function to what its role lets it call.
	CarriesCalls Carries = "calls"
	// CarriesRecords is from a table to its stream.
	CarriesRecords Carries = "records"
	// CarriesMessages is to a queue, from another queue, a schedule, a bus, or AWS Lambda on behalf of a function.
	CarriesMessages Carries = "messages"
	// CarriesEvents is from a bucket to a bus.
	CarriesEvents Carries = "events"
	// CarriesObjects is from a bucket to the lake whose tables lie there.
	CarriesObjects Carries = "objects"
)

// Arrow is a way from a part to another.
type Arrow struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Carries Carries `json:"carries"`
	// DeadLetter says that the queue is for what failed.
	DeadLetter bool `json:"dead_letter,omitempty"`
	// Access is what the role of a function allows: "reads", "writes", "sends" or several of these.
	Access []string `json:"access,omitempty"`
	// Rules are the names of the rules of a bus that choose its events.
	Rules []string `json:"rules,omitempty"`
	// All is how much went this way since the start of the run, and Failed how much of it failed.
	All    int `json:"all"`
	Failed int `json:"failed"`
	// Search is the text by which GET /requests finds the requests that went this way or, of calls, those of the
	// function.
	Search string `json:"search,omitempty"`
}

// mapOf answers with the map of a stack, or of all.
func (c *Console) mapOf(r *http.Request) (Map, error) {
	var stacks []string
	for _, one := range c.parts.Assembly.Stacks {
		stacks = append(stacks, one.Name)
	}
	stack, err := choice(r, "stack", stacks)
	if err != nil {
		return Map{}, err
	}
	plan, err := c.plan()
	if err != nil {
		return Map{}, err
	}
	answer, near := Map{Parts: []Part{}, Arrows: []Arrow{}}, map[string]bool{}
	own := func(id string) bool { return stack == "" || plan.parts[plan.at[id]].Stack == stack }
	counts := c.parts.Trace.Ways()
	for _, one := range plan.arrows {
		if !own(one.From) && !own(one.To) {
			continue
		}
		near[one.From], near[one.To] = true, true
		arrow := one.Arrow
		arrow.All, arrow.Failed = sum(counts, one.ways)
		if one.Carries == CarriesRecords {
			arrow.All = c.recordsOf(one.From)
		}
		answer.Arrows = append(answer.Arrows, arrow)
	}
	for _, part := range plan.parts {
		if !own(part.ID) && !near[part.ID] {
			continue
		}
		part.Routes = slices.Clone(part.Routes)
		for i, route := range part.Routes {
			part.Routes[i].All, part.Routes[i].Failed = sum(counts, []trace.Way{{Kind: trace.HTTP, Stack: part.Stack,
				API: part.Name, From: route.Key}})
		}
		if queue := c.parts.AWS.Queue(part.ID); part.Kind == QueuePart && queue != nil {
			part.Messages = len(queue.Messages())
		}
		answer.Parts = append(answer.Parts, part)
	}
	return answer, nil
}

func sum(counts map[trace.Way]trace.Count, ways []trace.Way) (all, failed int) {
	for _, way := range ways {
		all, failed = all+counts[way].All, failed+counts[way].Failed
	}
	return all, failed
}

// recordsOf is how many records of the stream of the table have been read. Each function reads all of them.
func (c *Console) recordsOf(table string) (most int) {
	for _, delivery := range c.parts.Mappings.Streams() {
		if of, _, _ := strings.Cut(delivery.SourceARN, "/stream/"); of == table {
			most = max(most, delivery.Read)
		}
	}
	return most
}
