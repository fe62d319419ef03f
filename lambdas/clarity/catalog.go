package clarity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

const (
	// scenarioAge is how long a [Catalog] answers without reading again.
	scenarioAge = time.Minute
	// scenarioRest is how long it does after a read that DynamoDB refused or did not answer.
	scenarioRest = 5 * time.Second
	// scenarioRead is how long one read may take, also if its callers have less time.
	scenarioRead = 5 * time.Second
	// maxCatalogued is how many scenarios it keeps.
	maxCatalogued = 200
)

var _ ScenarioStore = (*Catalog)(nil)

// Catalog is a [ScenarioStore] that answers from memory for a minute, since scenarios rarely change
// and their table has few read units. Concurrent calls for the same share one read. While DynamoDB
// refuses reads or does not answer them, a catalog answers with what it read last, however old.
// Without that it returns the error of the read, which is ErrBusy or ErrUnanswered of package retry.
//
// It keeps the latest 200 scenarios that it read, and nothing for an unknown id. It is safe for
// concurrent use.
type Catalog struct {
	Store ScenarioStore
	// Now is the clock; nil is [time.Now].
	Now func() time.Time

	reads singleflight.Group
	mu    sync.Mutex
	kept  map[string]*entry
}

// entry is what was read for a key, until a moment without question.
type entry struct {
	scenarios []Scenario
	until     time.Time
}

// Scenario implements [ScenarioStore]. The caller must not change the scenario's lists.
func (c *Catalog) Scenario(ctx context.Context, id string) (Scenario, error) {
	if id == "" || len(id) > maxScenarioID {
		return Scenario{}, ErrScenarioNotFound
	}
	found, err := c.scenarios(ctx, "id "+id, func(ctx context.Context) ([]Scenario, error) {
		scenario, err := c.Store.Scenario(ctx, id)
		return []Scenario{scenario}, err
	})
	if err != nil {
		return Scenario{}, err
	}
	return found[0], nil
}

// Scenarios implements [ScenarioStore]: the easiest first, and by id. The caller must not change
// the list.
func (c *Catalog) Scenarios(ctx context.Context, difficulty Difficulty) ([]Scenario, error) {
	if difficulty != "" && !slices.Contains(Difficulties(), difficulty) {
		return nil, fmt.Errorf("difficulty: got %.40q, allowed are %v", difficulty, Difficulties())
	}
	return c.scenarios(ctx, "list "+string(difficulty), func(ctx context.Context) ([]Scenario, error) {
		list, err := c.Store.Scenarios(ctx, difficulty)
		slices.SortFunc(list, func(a, b Scenario) int {
			byDifficulty := cmp.Compare(slices.Index(Difficulties(), a.Difficulty), slices.Index(Difficulties(), b.Difficulty))
			return cmp.Or(byDifficulty, cmp.Compare(a.ID, b.ID))
		})
		return list, err
	})
}

// scenarios returns what is kept for a key, or what read returns.
func (c *Catalog) scenarios(ctx context.Context, key string, read func(context.Context) ([]Scenario, error)) ([]Scenario, error) {
	if kept, ok := c.fresh(key); ok {
		return kept, nil
	}
	// The read serves all who wait for it, so it does not end with the request of the first.
	result := c.reads.DoChan(key, func() (any, error) {
		if kept, ok := c.fresh(key); ok {
			return kept, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), scenarioRead)
		defer cancel()
		found, err := read(ctx)
		return c.settle(key, found, err)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.([]Scenario), nil
	}
}

func (c *Catalog) fresh(key string) ([]Scenario, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[key]
	if !ok || !c.now().Before(kept.until) {
		return nil, false
	}
	return kept.scenarios, true
}

// settle keeps what a read returned, and answers with it or with what was kept before.
func (c *Catalog) settle(key string, found []Scenario, err error) ([]Scenario, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.kept[key]
	switch {
	case err == nil:
		c.keep(key, &entry{found, c.now().Add(scenarioAge)})
		return found, nil
	case known && (errors.Is(err, retry.ErrBusy) || errors.Is(err, retry.ErrUnanswered) || errors.Is(err, context.DeadlineExceeded)):
		before.until = c.now().Add(scenarioRest)
		return before.scenarios, nil
	case errors.Is(err, ErrScenarioNotFound):
		delete(c.kept, key)
	}
	return nil, err
}

func (c *Catalog) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// keep stores an entry in place of the oldest if there are too many.
func (c *Catalog) keep(key string, e *entry) {
	if c.kept == nil {
		c.kept = map[string]*entry{}
	}
	if _, known := c.kept[key]; !known && len(c.kept) >= maxCatalogued {
		oldest := key
		for k, kept := range c.kept {
			if oldest == key || kept.until.Before(c.kept[oldest].until) {
				oldest = k
			}
		}
		delete(c.kept, oldest)
	}
	c.kept[key] = e
}
