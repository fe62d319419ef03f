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
	"slices"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
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

	// platform is the contract. An operation without a route of its own gets one: [Measured.others].
	platform schema.Platform
	// load loads what a run has to have, and returns what is known of it: loads are the ids. Nil: nothing.
	load  func(context.Context, *caller) (known map[string]any, err error)
	loads []string
	// identify makes a client someone, unless it is. identity are the names that say who it is, limits how many
	// requests it makes as that one, and within what else it no longer knows as someone else.
	identify func(context.Context, *caller) error
	identity []string
	limits   map[string]int
	within   map[string][]string
	// makers are the operations that make what has an id, by the name of the id in their answers.
	makers map[string]schema.Described
	// usual are the ids that every request needs.
	usual []string
	// bodies are what requests of an operation say beside what the contract requires and has examples of, by its ID.
	bodies map[string]func(*caller) given
}

// body is what a request of an operation says.
func (m *Measured) body(c *caller, d schema.Description) given {
	if says := m.bodies[d.ID]; says != nil {
		return says(c)
	}
	return nil
}

// others returns a route for each operation that callers identify themselves for and that has none.
func (m *Measured) others() (routes []Route) {
	for _, r := range m.platform.Operations() {
		d, ok := r.Operation()
		if has := func(r Route) bool { return r.Of.Describe().ID == d.ID }; ok && d.Caller != schema.CallerAnyone &&
			!slices.ContainsFunc(m.Routes, has) {
			routes = append(routes, Route{Name: d.ID, Of: operation{d}})
		}
	}
	return routes
}

// operation is one whose forms are not known here.
type operation struct{ schema.Description }

// Describe implements [schema.Described].
func (o operation) Describe() schema.Description { return o.Description }

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
	measured.Routes = append(measured.Routes, measured.others()...)
	for i := range measured.Routes {
		r := &measured.Routes[i]
		if r.measured = &measured; r.Clients == nil {
			r.Clients = []int{1}
		}
		r.Method, r.Path = onesynthtest.Split(r.Of.Describe().Route)
	}
	return measured, nil
}

// Route is a request of a route under load.
type Route struct {
	// Name is a word for the request.
	Name string
	// Of is the operation. Method and Path are those of its route, as the schema has them: [Of] sets them.
	Of           schema.Described
	Method, Path string
	// Params are parameters of the request, of the operation's type. The client adds those that are required.
	Params any
	// Note is what people read after the path, such as "?status=, 20 of 60".
	Note string
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

	// Status is the HTTP status of the answer. Default: any status of success that the operation has.
	Status int

	measured *Measured
	// has are the ids that there have to be before a request, in this order, beside those that it names.
	has []string
	// fresh are the names that the client makes anew for each request.
	fresh []string
	// per is the number of requests after which the client is someone else. Zero: it stays who it is.
	per int
	// before is what else comes before each request, body what it says, and send what makes the request. Nil: nothing,
	// what the operation's requests say, and one request of the operation.
	before, send func(context.Context, *caller) error
	body         func(*caller) given
	// anonymous leaves out who the client is, keyed gives its requests idempotency keys where these are optional, and
	// same gives all requests one key.
	anonymous, keyed, same bool
}

// String is the name with the route, such as "index GET /tasks?status=, 20 of 60".
func (r Route) String() string { return r.Name + " " + r.Method + " " + r.Path + r.Note }

// Client returns a new client. prepare comes before each request, and is not measured.
func (r Route) Client(run *Run) (prepare, request Step) {
	c := newCaller(run, r.measured, r)
	if request = c.request; r.send != nil {
		request = func(ctx context.Context) error { return r.send(ctx, c) }
	}
	return Step(c.prepare).patiently, request
}

// Request is a request that a client is about to make.
type Request struct {
	// Path has the query, too.
	Method, Path string
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

// Transaction is how many items of up to 1 KB a transaction writes to a table, and how many
// of them its indexes hold. DynamoDB Local (3.3.1) counts items of the same cost once
// (amazon-dynamodb-local-samples, issue 31); AWS counts each.
type Transaction struct{ Items, Indexed float64 }

// allClients are the usual numbers of clients.
var allClients = []int{1, 8, 32}
