package runtest

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Function is a function of the run, with its figures since the start of the run.
type Function struct {
	// Name is the function's name, and Label what people call it.
	Name, Label string
	// Errors, Deaths and TimeOuts count invocations that failed, processes that ended by themselves, and invocations
	// that took too long.
	Errors, Deaths, TimeOuts int64
	// Instances are its live processes.
	Instances []Instance
}

// Instance is a process of a function.
type Instance struct {
	// PID is its process id.
	PID int
	// Ready says that it takes invocations, and Busy that it has one.
	Ready, Busy bool
}

// Functions returns all functions, in the order of the assembly.
func (r Run) Functions() (all []Function) {
	for _, f := range r.parts().Functions.Functions() {
		function := Function{Name: f.Name, Label: f.Label, Errors: f.Errors, Deaths: f.Deaths, TimeOuts: f.Timeouts}
		for _, i := range f.Instances {
			function.Instances = append(function.Instances, Instance{PID: i.PID, Ready: i.Ready, Busy: i.Busy})
		}
		all = append(all, function)
	}
	return all
}

// Warm starts an instance of a function that has none. It fails if there is no such function.
func (r Run) Warm(function string) error { return r.parts().Functions.Warm(function) }

// Delivery has the progress of a delivery: of a stream or a queue to a function.
type Delivery struct {
	// Function is the function's name. Table or Queue is the name of the source.
	Function, Table, Queue string
	// Waiting are records that were read and are neither done nor given up.
	Waiting int
	// Invocations counts those of the function, and Failures those that failed as a whole.
	Invocations, Failures int
	// Done counts the records that the function handled, and Returned those that it did not, at each attempt.
	Done, Returned int
	// Redelivered counts batches of a stream that were delivered again although they were done.
	Redelivered int
}

// Deliveries returns the deliveries of all streams and then of all queues.
func (r Run) Deliveries() (all []Delivery) {
	mappings := r.parts().Mappings
	for _, d := range slices.Concat(mappings.Streams(), mappings.Queues()) {
		all = append(all, Delivery{Function: d.Function, Table: d.Table, Queue: d.Queue, Waiting: d.Waiting,
			Invocations: d.Invocations, Failures: d.Failures, Done: d.Done, Returned: d.Returned,
			Redelivered: d.Redelivered})
	}
	return all
}

// Schedule is a schedule, with its figures since the start of the run.
type Schedule struct {
	// Name is the schedule's name, and Target the ARN of what it invokes.
	Name, Target string
	// Next is when it runs next; the zero time: it does not.
	Next time.Time
	// Fired counts its runs. LastError is why the last one failed, or empty.
	Fired     int
	LastError string
}

// Schedules returns all schedules, in the order of the assembly.
func (r Run) Schedules() (all []Schedule) {
	for _, s := range r.parts().Schedules.Schedules() {
		schedule := Schedule{Name: s.Name, Target: s.Target, Fired: s.Fired, LastError: s.LastError}
		if s.Next != nil {
			schedule.Next = *s.Next
		}
		all = append(all, schedule)
	}
	return all
}

// NextRun returns when a schedule runs next, or the zero time if it does not. It fails if there is no such schedule.
func (r Run) NextRun(schedule string) (time.Time, error) {
	all := r.Schedules()
	names := make([]string, len(all))
	for i, s := range all {
		if names[i] = s.Name; s.Name == schedule {
			return s.Next, nil
		}
	}
	return time.Time{}, fmt.Errorf("the run has no schedule %q: it has %v", schedule, names)
}

// API is an HTTP API of the run.
type API struct {
	// Stack is the name of its stack, and URL where it answers. OpenAPI is where it serves its document, or empty.
	Stack, URL, OpenAPI string
	// Issuers are the issuers of the tokens that its routes take, the first authorizer's first.
	Issuers []string
	// Pages are the addresses of its pages for people, by their names.
	Pages []Page
}

// Page is a page for people.
type Page struct{ Name, URL string }

// APIs returns the HTTP APIs, in the order of the assembly.
func (r Run) APIs() (all []API) {
	for _, a := range r.parts().APIs {
		api := API{Stack: a.Stack, URL: a.URL, OpenAPI: a.OpenAPI}
		if a.Issuer != "" {
			api.Issuers = []string{a.Issuer}
		}
		for _, other := range a.Others {
			api.Issuers = append(api.Issuers, other.Issuer)
		}
		for _, page := range a.Pages {
			api.Pages = append(api.Pages, Page(page))
		}
		all = append(all, api)
	}
	return all
}

// Outputs returns the outputs of the first stack, by name.
func (r Run) Outputs() map[string]string {
	outputs := map[string]string{}
	for name, output := range r.parts().Assembly.Stacks[0].Outputs {
		outputs[name] = fmt.Sprint(output.Value)
	}
	return outputs
}

// Table is a table of the run.
type Table struct {
	// Name and Stack identify the table.
	Name, Stack string
	// Keys are the attributes of its key, the partition key first.
	Keys []Key
	// Streamed says that it has a stream. TimeToLive is the attribute by which items expire, or empty.
	Streamed   bool
	TimeToLive string
	// Items is how many items it has.
	Items int64
}

// Key is an attribute of a key. Its type is S, N or B.
type Key struct{ Attribute, Type string }

// Tables returns the tables of all stacks. It fails if DynamoDB does not answer.
func (r Run) Tables(ctx context.Context) (all []Table, err error) {
	tables, err := r.parts().Databases.Tables(ctx)
	for _, t := range tables {
		table := Table{Name: t.Name, Stack: t.Stack, Streamed: t.Stream != "", TimeToLive: t.TimeToLive, Items: t.Items}
		for _, key := range t.Keys {
			table.Keys = append(table.Keys, Key{key.Attribute, key.Type})
		}
		all = append(all, table)
	}
	return all, err
}
