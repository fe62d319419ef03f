package main

import (
	"fmt"
	"strings"

	"github.com/onesynth-cdk/onesynth/bench/routes"
	"github.com/onesynth-cdk/onesynth/platforms"
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
func writeUnits(r routes.Route, u units) float64 {
	t := r.Transaction
	if t.Items == 0 {
		return u.write + r.Refused
	}
	return r.Refused + u.write - u.transactTable - u.transactIndexes + max(2*t.Items, u.transactTable) + max(t.Indexed, 1)*u.transactIndexes
}

// inSeed is the seed's cost of a route's access patterns.
func (p platform) inSeed(r routes.Route) string {
	var costs []string
	for _, name := range r.Patterns {
		if pattern, ok := p.Schema.Database.AccessPattern(name); ok && pattern.SeedCost != "" {
			costs = append(costs, pattern.SeedCost)
		}
	}
	return strings.Join(costs, " + ")
}
