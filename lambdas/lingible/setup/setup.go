// Package setup wires what several functions of Lingible have.
package setup

import (
	"cmp"
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // provided.al2023 has no time zones of its own

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
)

// DefaultTimeZone is the zone of the days of limits, unless TIME_ZONE names another one.
const DefaultTimeZone = "America/Chicago"

// Calendar returns the calendar in the zone that the variable TIME_ZONE names, by its IANA name.
func Calendar(environment kit.Environment) (lingible.Calendar, error) {
	name := cmp.Or(environment.Getenv("TIME_ZONE"), DefaultTimeZone)
	zone, err := time.LoadLocation(name)
	if err != nil {
		return lingible.Calendar{}, fmt.Errorf("TIME_ZONE is %q: write the IANA name of a time zone, such as %s", name, DefaultTimeZone)
	}
	return lingible.Calendar{Zone: zone}, nil
}

// Users returns the users and the store of a function of schema.Lingible.
func Users(environment kit.Environment, function string) (*lingible.Users, *dynamodb.Store, error) {
	store, err := dynamodb.Open(environment, function)
	if err != nil {
		return nil, nil, err
	}
	calendar, err := Calendar(environment)
	return &lingible.Users{Store: store, Calendar: calendar}, store, err
}

// Count is the counter that emits metrics.
func Count(metrics *kit.Metrics) lingible.Counter {
	return func(ctx context.Context, metric string, n int) { metrics.Emit(ctx, kit.Count(metric, n)) }
}
