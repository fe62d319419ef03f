package runtest

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Request is a request that the run has recorded: one of HTTP, or another cause of invocations, such as a schedule.
type Request struct {
	// Seq orders requests by their beginning.
	Seq int64
	ID  string
	// Kind is http, or another one that the console shows.
	Kind string
	// Method and Path are those of an HTTP request; other kinds have the name of their cause as Path. Route is the key
	// of the route, or empty.
	Method, Path, Route string
	// Status is that of the answer.
	Status int
	// Functions are the labels of the functions that were invoked.
	Functions []string
	// Writes counts the calls of DynamoDB that write.
	Writes int
}

// KindHTTP is the kind of requests of HTTP.
const KindHTTP = string(trace.HTTP)

// Requests returns the recorded requests whose route, path or id contains a text, the newest first; limit 0 means all.
func (r Run) Requests(text string, limit int) (all []Request) {
	found, _ := r.parts().Trace.Requests(trace.Search{Limit: limit, Text: text})
	for _, s := range found {
		all = append(all, Request{Seq: s.Seq, ID: s.ID, Kind: string(s.Kind), Method: s.Method, Path: s.Path,
			Route: s.Route, Status: s.Status, Functions: s.Functions, Writes: s.Writes})
	}
	return all
}

// Newest returns the newest request whose route, path or id contains a text, or the zero value.
func (r Run) Newest(text string) (newest Request) {
	if found := r.Requests(text, 1); len(found) > 0 {
		newest = found[0]
	}
	return newest
}

// Sent returns the header and the body of the request with that id, as its client sent them.
func (r Run) Sent(id string) (http.Header, []byte) {
	_, sent, _ := r.parts().Trace.Sent(id)
	return sent.Header, sent.Body
}

// Made is a request that no client has sent. It is for tests of pages that show requests.
type Made struct {
	// Request has the id, which must be new, and what else is to be shown.
	Request Request
	// Function and Label are those of the function that it invokes.
	Function, Label string
	// Invocation is the id of the invocation. Default: the request's id.
	Invocation string
	// Calls are those that the function makes.
	Calls []Call
	// Lines are those that the function logs.
	Lines []string
	// Failed is why the invocation fails; empty: it does not.
	Failed string
}

// Make records requests as if clients had sent them.
func (r Run) Make(requests ...Made) {
	recorder := r.parts().Trace
	for _, made := range requests {
		q := made.Request
		ctx, request := recorder.Begin(context.Background(), q.ID, trace.Origin{Kind: trace.HTTP, Stack: made.Function,
			API: made.Function, Method: q.Method, Path: q.Path, Route: q.Route})
		id := made.Invocation
		if id == "" {
			id = q.ID
		}
		function := recorder.Invoke(ctx, id, made.Function, made.Label, trace.DefaultMemory)
		function.Begin(false)
		for _, call := range made.Calls {
			one := trace.Call{Service: call.Service, Operation: call.Operation, Table: call.Table, Began: time.Now(),
				Took: time.Millisecond, WriteUnits: call.WriteUnits, ReadUnits: call.ReadUnits,
				Write: call.WriteUnits > 0, Status: call.Status, Error: call.Error, Body: call.Body}
			if len(call.AccessPatterns) > 0 {
				one.Pattern = call.AccessPatterns[0]
			}
			recorder.Call(trace.TraceID(time.Now(), id), one)
		}
		for _, line := range made.Lines {
			recorder.Line(made.Function, made.Label, id, line)
		}
		function.End(made.Failed)
		request.End(q.Status, "")
	}
}

// Log writes a line as a function would that handles no request.
func (r Run) Log(function, label, line string) { r.parts().Trace.Line(function, label, "", line) }

// Build tells the console's page that a build of functions, by their labels, began, failed or is done. text is what the
// compiler says, and took how long it was.
func (r Run) Build(state, text string, took time.Duration, labels ...string) {
	r.parts().Trace.Changed(trace.Change{What: "build", State: state, Text: text, Functions: labels,
		Milliseconds: float64(took) / float64(time.Millisecond)})
}
