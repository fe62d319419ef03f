package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms"
)

// platform is a platform, and what to measure of it.
type platform struct {
	*platforms.Platform
	routes []route
	// change returns a client that makes one change, and returns the id of the changed item,
	// which is in lakeTable. It is nil without a lake.
	change    func(*local) func(context.Context) (id string, err error)
	lakeTable lakeTable
}

// lakeTable is a table of a lake, and its column of ids.
type lakeTable struct{ entity, column string }

// stack is the platform's stack in the environment that is measured.
func (p platform) stack() string { return "onesynth-" + p.Name() + "-dev" }

// described has a method for each platform, by the id of its construct, that returns what to
// measure of it. The file of a platform declares it.
type described struct{}

// all returns the platforms of the list, with what to measure of each.
func all() ([]platform, error) {
	var all []platform
	for _, p := range platforms.All() {
		method := reflect.ValueOf(described{}).MethodByName(p.ID)
		if !method.IsValid() {
			return nil, fmt.Errorf("platform %s: bench/%s.go has no method described.%s() platform: add one that says what to measure", p.Name(), p.Name(), p.ID)
		}
		describe, ok := method.Interface().(func() platform)
		if !ok {
			return nil, fmt.Errorf("platform %s: described.%s is %s: make it a func() platform", p.Name(), p.ID, method.Type())
		}
		measured := describe()
		measured.Platform = p
		all = append(all, measured)
	}
	return all, nil
}

// route is a route under load.
type route struct {
	name string
	// clients are the numbers of clients to measure it with.
	clients []int
	// patterns are the access patterns that a request makes.
	patterns []string
	// transaction describes the writes of a request's transactions to one table, if they
	// write several items there.
	transaction transaction
	// refused are the write units of failed conditions. AWS charges for them, and responses do
	// not include them ("Working with items: conditional writes").
	refused float64
	// inARow says that the part asks measures the route, too.
	inARow bool
	// client returns a new client.
	client newClient
}

// newClient returns a client. The bench calls prepare, which may be nil, before each request,
// and measures only the request.
type newClient func(*local) (prepare, request func(context.Context) error)

// client returns clients with a state of their own, which begin returns.
func client[C any](begin func(*local) C, prepare, request func(C, context.Context) error) newClient {
	return func(l *local) (func(context.Context) error, func(context.Context) error) {
		c := begin(l)
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

// transaction is how many items of up to 1 KB a transaction writes to a table, and how many
// of them its indexes hold. DynamoDB Local (3.3.1) counts items of the same cost once
// (amazon-dynamodb-local-samples, issue 31); AWS counts each.
type transaction struct{ items, indexed float64 }

// writeUnits converts DynamoDB Local's count to the units that AWS counts.
func (r route) writeUnits(u units) float64 {
	t := r.transaction
	if t.items == 0 {
		return u.write + r.refused
	}
	return r.refused + u.write - u.transactTable - u.transactIndexes + max(2*t.items, u.transactTable) + max(t.indexed, 1)*u.transactIndexes
}

// allClients are the usual numbers of clients.
var allClients = []int{1, 8, 32}
