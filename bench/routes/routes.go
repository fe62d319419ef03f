// Package routes has a request of every route of every platform, with what has to be there before.
// Package bench measures them, and the end-to-end tests trace their calls of DynamoDB.
package routes

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

// Measured is what to measure of a platform.
type Measured struct {
	Routes []Route
	// Change returns a client that makes one change, and returns the id of the changed item,
	// which is in LakeTable. It is nil without a lake.
	Change    func(*Run) func(context.Context) (id string, err error)
	LakeTable LakeTable
	// Webhook returns a client that makes one change. A webhook tells the endpoint of it. It is nil for a platform without webhooks.
	Webhook func(*Run) func(ctx context.Context, endpoint string) error
}

// LakeTable is a table of a lake, and its column of ids.
type LakeTable struct{ Entity, Column string }

// described has a method for each platform, by the id of its construct, that returns what to
// measure of it. The file of a platform declares it.
type described struct{}

// Of returns what to measure of the platform whose construct has the id.
func Of(id string) (Measured, error) {
	method := reflect.ValueOf(described{}).MethodByName(id)
	if !method.IsValid() {
		return Measured{}, fmt.Errorf("package routes has no method described.%s() Measured: add a file of the platform with one that says what to measure", id)
	}
	describe, ok := method.Interface().(func() Measured)
	if !ok {
		return Measured{}, fmt.Errorf("described.%s is %s: make it a func() Measured", id, method.Type())
	}
	return describe(), nil
}

// Route is a request of a route under load.
type Route struct {
	// Name begins with a word for the request, and with method and path as the schema has them, such as
	// "index   GET /tasks?status=, 20 of 60".
	Name string
	// Clients are the numbers of clients to measure it with.
	Clients []int
	// Patterns are the access patterns that a request makes.
	Patterns []string
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
	// InARow says that the part asks measures the route, too.
	InARow bool
	// Plain is the name of the route that does the same without a protocol on top. Empty: there is none.
	Plain string
	// Client returns a new client.
	Client NewClient
}

// NewClient returns a client. prepare, which may be nil, comes before each request, and is not
// measured. One that fails by [ErrThrottled] is repeated later.
type NewClient func(*Run) (prepare, request func(context.Context) error)

// client returns clients with a state of their own, which begin returns.
func client[C any](begin func(*Run) C, prepare, request func(C, context.Context) error) NewClient {
	return func(r *Run) (func(context.Context) error, func(context.Context) error) {
		c := begin(r)
		bind := func(f func(C, context.Context) error) func(context.Context) error {
			if f == nil {
				return nil
			}
			return func(ctx context.Context) error { return f(c, ctx) }
		}
		return bind(prepare), bind(request)
	}
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

// allClients are the usual numbers of clients, and single is that of routes that are rarely used.
var allClients, single = []int{1, 8, 32}, []int{1}
