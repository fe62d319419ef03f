package clarity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Scenarios are those of the table. They rarely change and their table has few read units, so they are answered from
// memory for a minute, as [cache.Cache] does: the latest 200 scenarios or lists that were read, and nothing for an
// unknown id. It is safe for concurrent use. Callers must not change the lists of a scenario.
type Scenarios struct {
	db   *dynamo.DB
	kept cache.Cache[[]clarity.Scenario]
}

// NewScenarios returns the scenarios of the tables.
func NewScenarios(db *dynamo.DB, clock wire.Clock) *Scenarios {
	s := &Scenarios{db: db}
	s.kept.Age, s.kept.Max, s.kept.Gone, s.kept.Clock = time.Minute, 200, clarity.ErrScenarioNotFound, clock
	return s
}

// scenarioItem is the item of a scenario.
type scenarioItem struct {
	clarity.Scenario
	Active        string `dynamodbav:"active"`
	SchemaVersion string `dynamodbav:"schemaVersion"`
}

// read returns the scenario. A set has no order, and is left out when it is empty.
func (i scenarioItem) read() clarity.Scenario {
	i.Scenario.Active = i.Active == "true"
	i.Tags = append([]string{}, i.Tags...)
	slices.Sort(i.Tags)
	return i.Scenario
}

// Scenario returns a scenario, active or not, or [clarity.ErrScenarioNotFound].
func (s *Scenarios) Scenario(ctx context.Context, id string) (clarity.Scenario, error) {
	if id == "" || len(id) > clarity.MaxScenarioID {
		return clarity.Scenario{}, clarity.ErrScenarioNotFound
	}
	found, err := s.kept.Get(ctx, "id "+id, func(ctx context.Context) ([]clarity.Scenario, error) {
		var item scenarioItem
		found, err := s.db.Get(ctx, "GetScenario", &item, id)
		if err == nil && !found {
			err = clarity.ErrScenarioNotFound
		}
		return []clarity.Scenario{item.read()}, err
	})
	if err != nil {
		return clarity.Scenario{}, err
	}
	return found[0], nil
}

// Active returns the active scenarios of a difficulty, or of all for "": the easiest first, and by id.
func (s *Scenarios) Active(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error) {
	list, err := s.kept.Get(ctx, "list "+string(difficulty), func(ctx context.Context) ([]clarity.Scenario, error) {
		pattern, values := "ListActiveScenarios", []any{"true"}
		if difficulty != "" {
			pattern, values = "ListScenariosByDifficulty", append(values, string(difficulty))
		}
		var list []clarity.Scenario
		for item, err := range dynamo.Read[scenarioItem](ctx, s.db, pattern, dynamo.Query{Values: values}) {
			if err != nil {
				return nil, err
			}
			list = append(list, item.read())
		}
		if len(list) == 0 {
			return nil, clarity.ErrScenarioNotFound // which is not kept: the initial data may come at any time
		}
		slices.SortFunc(list, func(a, b clarity.Scenario) int {
			return cmp.Or(cmp.Compare(slices.Index(clarity.Difficulties(), a.Difficulty),
				slices.Index(clarity.Difficulties(), b.Difficulty)), cmp.Compare(a.ID, b.ID))
		})
		return list, nil
	})
	if errors.Is(err, clarity.ErrScenarioNotFound) {
		return nil, nil
	}
	return list, err
}

// Add stores a scenario and reports true, or leaves the scenario unchanged that has its id
// and reports false. After a lost answer it may report false for the scenario that it has stored.
func (s *Scenarios) Add(ctx context.Context, scenario clarity.Scenario) (added bool, err error) {
	item := scenarioItem{Scenario: scenario, Active: strconv.FormatBool(scenario.Active),
		SchemaVersion: clarity.SchemaVersion}
	if len(item.Tags) == 0 {
		item.Tags = nil // an empty list that is not nil would become the value NULL
	}
	return dynamo.Satisfied(s.db.Put(ctx, "AddScenario", item, dynamo.Absent("scenarioId")))
}
