package routes

import (
	"context"
	"fmt"
	"time"
)

// Growth is what the requests of a route cost with more and more items.
type Growth struct {
	Route Route
	// First are the costs of a new client's first request, one for each filling, and Second those of the next one.
	First, Second []Cost
}

// Grows reports whether the second request with the most items makes more calls or reads more than that with the
// fewest: more than a request in a hundred does for longer numbers.
func (g Growth) Grows() bool {
	fewest, most := g.Second[0], g.Second[len(g.Second)-1]
	return most.Calls > fewest.Calls || most.Read > 1.1*fewest.Read+0.5
}

// FullPages is a filling after which lists fill their pages: with more items an answer has no more of them. The longest
// is a leaderboard of 100 people, and about eight routes have each of their requests made by another person.
const FullPages = 15

// callers is after how many requests of a filling another client goes on: limits are for each caller.
const callers = 5

// Growth makes the requests of all routes, again and again, until each was made as often as fillings say, and measures
// every route after each filling. Routes that wait for another function, or send to one, are left out. The log gets a
// line for each filling.
func (m Measured) Growth(ctx context.Context, run *Run, fillings []int, log func(line string)) ([]Growth, error) {
	var all []Growth
	made := 0
	for _, filling := range fillings {
		began := time.Now()
		for _, r := range m.Routes {
			if r.Waits {
				continue
			}
			var prepare, request Step
			for n := made; n < filling; n++ {
				if request == nil || n%callers == 0 {
					prepare, request = r.Client(run)
				}
				err := prepare(ctx)
				if err == nil {
					err = request.patiently(ctx)
				}
				if err != nil {
					return nil, fmt.Errorf("%s: %w", r, err)
				}
			}
		}
		made = max(made, filling)
		if err := run.Post(ctx, "/streams/flush", nil, nil); err != nil {
			return nil, err
		}
		log(fmt.Sprintf("%d requests of each route were made in %s", made, time.Since(began).Round(time.Second)))
		at := 0
		for _, r := range m.Routes {
			if r.Waits || r.Sends {
				continue
			}
			if at == len(all) {
				all = append(all, Growth{Route: r})
			}
			prepare, request := r.Client(run)
			for _, costs := range []*[]Cost{&all[at].First, &all[at].Second} {
				if err := prepare(ctx); err != nil {
					return nil, fmt.Errorf("%s: %w", r, err)
				}
				// What the preparation has caused in streams is no cost of the request.
				if err := run.Post(ctx, "/streams/flush", nil, nil); err != nil {
					return nil, err
				}
				before, err := run.Cost(ctx)
				if err != nil {
					return nil, err
				}
				if err := request.patiently(ctx); err != nil {
					return nil, fmt.Errorf("%s: %w", r, err)
				}
				after, err := run.Cost(ctx)
				if err != nil {
					return nil, err
				}
				*costs = append(*costs, after.Minus(before))
			}
			at++
		}
	}
	return all, nil
}
