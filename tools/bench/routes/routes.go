// Package routes has a request of every route of every platform, with what has to be there before.
// Package bench measures them. The end-to-end tests trace their calls of DynamoDB, make them while DynamoDB throttles,
// and take grants away from the functions that serve them.
package routes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Measured is what to measure of a platform.
type Measured struct {
	Routes []Route
	// Change returns a client that makes one change, and returns the id of the changed item,
	// which is in LakeTable. It is nil without a lake.
	Change    func(*Run) func(context.Context) (id string, err error)
	LakeTable LakeTable
	// Webhook returns a client that makes one change. A webhook tells the endpoint of it. It is nil for a platform
	// without webhooks.
	Webhook func(*Run) func(ctx context.Context, endpoint string) error
}

// LakeTable is a table of a lake.
type LakeTable struct {
	Entity string
	// IDs returns those of the items in an object of the table.
	IDs func(object []byte) ([]string, error)
}

// described has a method for each platform, by the id of its construct, that returns what to
// measure of it. The file of a platform declares it.
type described struct{}

// Of returns what to measure of the platform whose construct has the id.
func Of(id string) (Measured, error) {
	method := reflect.ValueOf(described{}).MethodByName(id)
	if !method.IsValid() {
		return Measured{}, fmt.Errorf("package routes has no method described.%s() Measured: add a file of the "+
			"platform with one that says what to measure", id)
	}
	describe, ok := method.Interface().(func() Measured)
	if !ok {
		return Measured{}, fmt.Errorf("described.%s is %s: make it a func() Measured", id, method.Type())
	}
	measured := describe()
	for i := range measured.Routes {
		if r := &measured.Routes[i]; r.Clients == nil {
			r.Clients = []int{1}
		}
	}
	return measured, nil
}

// Route is a request of a route under load.
type Route struct {
	// Name is a word for the request.
	Name string
	// Method and Path are those of the route, as the schema has them.
	Method, Path string
	// Query is that of the request, and Note what people read after the path, such as "?status=, 20 of 60".
	Query, Note string
	// Clients are the numbers of clients to measure it with. Default: 1, for routes that are rarely used.
	Clients []int
	// Transaction describes the writes of a request's transactions to one table, if they
	// write several items there.
	Transaction Transaction
	// Refused are the write units of failed conditions. AWS charges for them, and responses do
	// not include them ("Working with items: conditional writes").
	Refused float64
	// Warm is the number of requests after which nearly every one finds in memory what it can. Default: 2.
	Warm int
	// Waits says that a request of the client waits for another function, by several requests to the API.
	Waits bool
	// Sends says that another function goes on with what a request sent, at a time that nobody waits for: what that
	// costs is part of no measurement of one request.
	Sends bool
	// InARow says that the part asks measures the route, too.
	InARow bool
	// Plain is the name of the route that does the same without a protocol on top. Empty: there is none.
	Plain string

	// Status is that of its answer. Default: the one that the OpenAPI document declares for success.
	Status int

	start starter
}

// String is the name with the route, such as "index GET /tasks?status=, 20 of 60".
func (r Route) String() string { return r.Name + " " + r.Method + " " + r.Path + r.Note }

// Client returns a new client. prepare comes before each request, and is not measured.
func (r Route) Client(run *Run) (prepare, request Step) {
	prepare, request = r.start(run, r)
	return prepare.patiently, request
}

// Request is a request that a client is about to make.
type Request struct {
	// Header has who the client is, Known what answers to it have said, by name, and Body what it says itself; nil:
	// nothing.
	Header      http.Header
	Known, Body map[string]any
	// Send makes the request, each time the same one. Any goroutine may call it.
	Send func(context.Context) (onesynthtest.Reply, error)
}

var errHeld = errors.New("the request is held back")

// Prepare has a new client do what comes before a request of the route, and returns that request.
func (r Route) Prepare(ctx context.Context, run *Run) (Request, error) {
	own := *run
	prepare, request := r.Client(&own)
	if err := prepare(ctx); err != nil {
		return Request{}, fmt.Errorf("%s: before the request: %w", r, err)
	}
	own.held = &Request{}
	if err := request(ctx); !errors.Is(err, errHeld) {
		return Request{}, fmt.Errorf("%s: its client has made no request: %w", r, err)
	}
	return *own.held, nil
}

// starter starts a client of a route.
type starter func(*Run, Route) (prepare, request Step)

// client is one client of a platform's API, which embeds a [caller].
type client interface{ on() *caller }

// steps returns clients with a state of their own, which begin returns. prepare may be nil. send makes the
// request; nil makes that of the route, with a body that is all derived.
func steps[C client](begin func(*Run) C, prepare, send func(C, context.Context) error) starter {
	return func(run *Run, r Route) (Step, Step) {
		c := begin(run)
		c.on().route = r
		before := func(ctx context.Context) error {
			if prepare == nil {
				return nil
			}
			return prepare(c, ctx)
		}
		return before, func(ctx context.Context) error {
			if send == nil {
				return c.on().request(ctx, nil)
			}
			return send(c, ctx)
		}
	}
}

// with makes the request of the route with what body gives.
func with[C client](body func(C) given) func(C, context.Context) error {
	return func(c C, ctx context.Context) error { return c.on().request(ctx, body(c)) }
}

// slowly keeps a client below the APIs' throttle of 1,000 requests a second.
func slowly[C any](C, context.Context) error {
	time.Sleep(time.Millisecond)
	return nil
}

// Transaction is how many items of up to 1 KB a transaction writes to a table, and how many
// of them its indexes hold. DynamoDB Local (3.3.1) counts items of the same cost once
// (amazon-dynamodb-local-samples, issue 31); AWS counts each.
type Transaction struct{ Items, Indexed float64 }

// allClients are the usual numbers of clients.
var allClients = []int{1, 8, 32}
