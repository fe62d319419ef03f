package dynamodb

import (
	"context"
	"slices"
	"strconv"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

var _ clarity.ScenarioStore = (*Store)(nil)

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

// Scenario implements [clarity.ScenarioStore].
func (s *Store) Scenario(ctx context.Context, id string) (clarity.Scenario, error) {
	var item scenarioItem
	found, err := s.db.Get(ctx, "GetScenario", &item, id)
	if err == nil && !found {
		err = clarity.ErrScenarioNotFound
	}
	return item.read(), err
}

// Scenarios implements [clarity.ScenarioStore].
func (s *Store) Scenarios(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error) {
	pattern, values := "ListActiveScenarios", []any{"true"}
	if difficulty != "" {
		pattern, values = "ListScenariosByDifficulty", append(values, string(difficulty))
	}
	var scenarios []clarity.Scenario
	for item, err := range dynamo.Read[scenarioItem](ctx, s.db, pattern, dynamo.Query{Values: values}) {
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, item.read())
	}
	return scenarios, nil
}

// AddScenario stores a scenario and reports true, or leaves the scenario unchanged that has its id
// and reports false. After a lost answer it may report false for the scenario that it has stored.
func (s *Store) AddScenario(ctx context.Context, scenario clarity.Scenario) (added bool, err error) {
	item := scenarioItem{Scenario: scenario, Active: strconv.FormatBool(scenario.Active), SchemaVersion: clarity.SchemaVersion}
	if len(item.Tags) == 0 {
		item.Tags = nil // an empty list that is not nil would become the value NULL
	}
	return dynamo.Held(s.db.Put(ctx, "AddScenario", item, dynamo.Absent("scenarioId")))
}
