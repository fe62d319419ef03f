// Package routes has a request of every route of every platform, with what has to be there before.
// Package bench measures them. The end-to-end tests trace their calls of DynamoDB, make them while DynamoDB throttles,
// and take grants away from the functions that serve them.
package routes

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Measured is what to measure of a platform.
type Measured struct {
	Routes []Route
	// Change is an operation whose answer has the id of an item that goes to LakeTable. Nil: there is no lake.
	Change    schema.Described
	LakeTable LakeTable
	// Webhook is the operation after which the platform sends a webhook. WebhookField is the field of an earlier
	// request that has the webhook's address. Nil: there are no webhooks.
	Webhook      schema.Described
	WebhookField string

	// platform is the contract. An operation without a route of its own gets one: [Measured.others].
	platform schema.Platform
	// identify makes a client someone, unless it is. limits are the names that say who it is, with how many requests it
	// makes as that one (0: any number), and within says what it no longer knows as someone else, if it has made it.
	// Default: a user with a token.
	identify func(context.Context, *caller) error
	limits   map[string]int
	within   map[string][]string
	// makers are the operations that make what has an id, by the name of the id in their answers.
	makers map[string]schema.Described
	// usual are the ids that every request needs.
	usual []string
	// bodies are what requests of an operation say beside what the contract requires and has examples of, by its ID.
	// n counts the client's requests of the operation, from 1.
	bodies map[string]func(c *caller, n int) given
}

// Client returns a client that makes requests of an operation, and of those that it needs. Each time it first gets to
// know what said has, and returns all that it knows, by name.
func (m *Measured) Client(run *Run, of schema.Described) func(_ context.Context, said given) (given, error) {
	c := newCaller(run, m, Route{})
	return func(ctx context.Context, said given) (given, error) {
		maps.Copy(c.known, said)
		return c.known, c.call(ctx, of)
	}
}

// others returns a route for each operation that callers identify themselves for and that has none.
func (m *Measured) others() (routes []Route) {
	for _, r := range m.platform.Operations() {
		d, ok := r.Operation()
		if has := func(r Route) bool { return r.Of.Describe().ID == d.ID }; ok && d.Caller != schema.CallerAnyone &&
			!slices.ContainsFunc(m.Routes, has) {
			routes = append(routes, Route{Name: d.ID, Operation: d})
		}
	}
	return routes
}

// LakeTable is a table of a lake, and ID its column of ids, which answers of the API have by the same name.
type LakeTable struct{ Entity, ID string }

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
	m := method.Interface().(func() Measured)()
	if m.identify == nil {
		m.identify, m.limits = asUser, map[string]int{"sub": 0}
		m.within = map[string][]string{"sub": slices.Collect(maps.Keys(m.makers))}
	}
	m.Routes = append(m.Routes, m.others()...)
	for i := range m.Routes {
		r := &m.Routes[i]
		if r.Of != nil {
			r.Operation = r.Of.Describe()
		}
		if r.measured = &m; r.Clients == nil {
			r.Clients = []int{1}
		}
	}
	return m, nil
}

// Route is a request of a route under load.
type Route struct {
	// Name is a word for the request.
	Name string
	// Of is the operation, and Operation its description: [Of] sets it.
	Of        schema.Described
	Operation schema.Description
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
	// Status is the status of the refusal of a client that does not say who it is. Zero: it does, and succeeds.
	Status int

	measured *Measured
	// has are the ids that there have to be before a request, in this order, beside those that it names.
	has []string
	// fresh are the names that the client makes anew for each request.
	fresh []string
	// per is the number of requests after which the client is someone else, those that prepare others included.
	// Default: the platform's limits.
	per int
	// before is what else comes before each request, body what it says, and then what comes after its answer, as a part
	// of the request. Nil: nothing, and what the operation's requests say.
	before func(context.Context, *caller) error
	body   func(c *caller, n int) given
	then   func(context.Context, *caller, client.Reply) error
	// keyed gives the requests idempotency keys where these are optional, and same gives all of them one key.
	keyed, same bool
}

// String is the name with the route, such as "index GET /tasks?status=, 20 of 60".
func (r Route) String() string { return r.Name + " " + r.Operation.Route + r.Note }

// Client returns a new client. prepare comes before each request, and is not measured.
func (r Route) Client(run *Run) (prepare, request Step) {
	c := newCaller(run, r.measured, r)
	return Step(c.prepare).patiently, func(ctx context.Context) error { return c.do(ctx, r) }
}

// Request is a request that a client is about to make. Its header says who the client is.
type Request struct {
	client.Request
	// Send makes the request, each time the same one. Any goroutine may call it.
	Send func(context.Context) (client.Reply, error)
}

// Prepare has a new client do what comes before a request of the route, and returns that request.
func (r Route) Prepare(ctx context.Context, run *Run) (Request, error) {
	c := newCaller(run, r.measured, r)
	if err := Step(c.prepare).patiently(ctx); err != nil {
		return Request{}, fmt.Errorf("%s: before the request: %w", r, err)
	}
	request, err := c.request(ctx, r)
	by := client.Client{URL: run.API, HTTP: c.http}
	return Request{request, func(ctx context.Context) (client.Reply, error) { return request.Send(ctx, &by) }}, err
}

// Transaction is how many items of up to 1 KB a transaction writes to a table, and how many
// of them its indexes hold. DynamoDB Local (3.3.1) counts items of the same cost once
// (amazon-dynamodb-local-samples, issue 31); AWS counts each.
type Transaction struct{ Items, Indexed float64 }

// allClients are the usual numbers of clients.
var allClients = []int{1, 8, 32}
