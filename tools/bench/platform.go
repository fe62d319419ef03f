package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// platform is a platform, and what to measure of it.
type platform struct {
	*platforms.Platform
	routes.Measured
}

// stack is the platform's stack in the environment that is measured.
func (p platform) stack() string { return "onesynth-" + p.Name() + "-dev" }

// without returns whether a platform has another name.
func without(name string) func(platform) bool {
	return func(p platform) bool { return p.Name() != name }
}

// all returns the platforms of the list, with what to measure of each.
func all() ([]platform, error) {
	var all []platform
	for _, p := range platforms.All() {
		measured, err := routes.Of(p.ID)
		if err != nil {
			return nil, fmt.Errorf("platform %s: %w", p.Name(), err)
		}
		all = append(all, platform{p, measured})
	}
	return all, nil
}

// writeUnits converts DynamoDB Local's count to the units that AWS counts.
func writeUnits(r routes.Route, c routes.Cost) float64 {
	t := r.Transaction
	if t.Items == 0 {
		return c.Write + r.Refused
	}
	return r.Refused + c.Write - c.TransactTable - c.TransactIndexes + max(2*t.Items, c.TransactTable) + max(t.Indexed,
		1)*c.TransactIndexes
}

// inOrigin is the origin's cost of the access patterns that the newest request of a route has made.
func (p platform) inOrigin(ctx context.Context, l *local, r routes.Route) (string, error) {
	var found struct{ Requests []struct{ ID string } }
	search := url.QueryEscape(r.Operation.Route)
	if err := l.Get(ctx, "/requests?limit=1&search="+search, &found); err != nil || len(found.Requests) == 0 {
		return "", err
	}
	var newest struct {
		Invocations []struct {
			Calls []struct{ Patterns []string }
		}
	}
	if err := l.Get(ctx, "/requests/"+found.Requests[0].ID, &newest); err != nil {
		return "", err
	}
	var costs, made []string
	for _, invocation := range newest.Invocations {
		for _, call := range invocation.Calls {
			made = append(made, call.Patterns...)
		}
	}
	slices.Sort(made)
	for _, name := range slices.Compact(made) {
		if pattern, ok := p.Schema.Database.AccessPattern(name); ok && pattern.OriginCost != "" {
			costs = append(costs, pattern.OriginCost)
		}
	}
	return strings.Join(costs, " + "), nil
}
