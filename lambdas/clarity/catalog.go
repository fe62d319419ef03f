package clarity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

const (
	// scenarioAge is how long a [Catalog] answers without reading again.
	scenarioAge = time.Minute
	// maxCatalogued is how many scenarios it keeps.
	maxCatalogued = 200
)

var _ ScenarioStore = (*Catalog)(nil)

// Catalog is a [ScenarioStore] that answers from memory for a minute, since scenarios rarely change
// and their table has few read units. It does so as [cache.Cache] does, with the latest 200 scenarios
// or lists that it read, and nothing for an unknown id. It is safe for concurrent use.
type Catalog struct {
	Store ScenarioStore
	Clock wire.Clock

	begin sync.Once
	kept  *cache.Cache[[]clarity.Scenario]
}

// Scenario implements [ScenarioStore]. The caller must not change the scenario's lists.
func (c *Catalog) Scenario(ctx context.Context, id string) (clarity.Scenario, error) {
	if id == "" || len(id) > clarity.MaxScenarioID {
		return clarity.Scenario{}, clarity.ErrScenarioNotFound
	}
	found, err := c.scenarios().Get(ctx, "id "+id, func(ctx context.Context) ([]clarity.Scenario, error) {
		scenario, err := c.Store.Scenario(ctx, id)
		return []clarity.Scenario{scenario}, err
	})
	if err != nil {
		return clarity.Scenario{}, err
	}
	return found[0], nil
}

// Scenarios implements [ScenarioStore]: the easiest first, and by id. The caller must not change
// the list.
func (c *Catalog) Scenarios(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error) {
	if difficulty != "" && !slices.Contains(clarity.Difficulties(), difficulty) {
		return nil, fmt.Errorf("difficulty: got %.40q, allowed are %v", difficulty, clarity.Difficulties())
	}
	list, err := c.scenarios().Get(ctx, "list "+string(difficulty),
		func(ctx context.Context) ([]clarity.Scenario, error) {
			list, err := c.Store.Scenarios(ctx, difficulty)
			if err == nil && len(list) == 0 {
				return nil, clarity.ErrScenarioNotFound // which is not kept: the initial data may come at any time
			}
			slices.SortFunc(list, func(a, b clarity.Scenario) int {
				byDifficulty := cmp.Compare(slices.Index(clarity.Difficulties(), a.Difficulty),
					slices.Index(clarity.Difficulties(), b.Difficulty))
				return cmp.Or(byDifficulty, cmp.Compare(a.ID, b.ID))
			})
			return list, err
		})
	if errors.Is(err, clarity.ErrScenarioNotFound) {
		return nil, nil
	}
	return list, err
}

func (c *Catalog) scenarios() *cache.Cache[[]clarity.Scenario] {
	c.begin.Do(func() {
		c.kept = &cache.Cache[[]clarity.Scenario]{Age: scenarioAge, Most: maxCatalogued,
			Gone: clarity.ErrScenarioNotFound, Clock: c.Clock}
	})
	return c.kept
}
