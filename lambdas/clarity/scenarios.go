package clarity

import (
	"context"
	"slices"
	"strconv"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// ScenarioStore reads scenarios.
type ScenarioStore interface {
	// Scenario returns a scenario, active or not, or [clarity.ErrScenarioNotFound].
	Scenario(ctx context.Context, id string) (clarity.Scenario, error)
	// Scenarios returns the active scenarios of a difficulty, or of all for "", in any order.
	Scenarios(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error)
}

// ScenarioTable is the [ScenarioStore] of the tables.
type ScenarioTable struct{ DB *dynamo.DB }

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

// Scenario implements [ScenarioStore].
func (t ScenarioTable) Scenario(ctx context.Context, id string) (clarity.Scenario, error) {
	var item scenarioItem
	found, err := t.DB.Get(ctx, "GetScenario", &item, id)
	if err == nil && !found {
		err = clarity.ErrScenarioNotFound
	}
	return item.read(), err
}

// Scenarios implements [ScenarioStore].
func (t ScenarioTable) Scenarios(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error) {
	pattern, values := "ListActiveScenarios", []any{"true"}
	if difficulty != "" {
		pattern, values = "ListScenariosByDifficulty", append(values, string(difficulty))
	}
	var scenarios []clarity.Scenario
	for item, err := range dynamo.Read[scenarioItem](ctx, t.DB, pattern, dynamo.Query{Values: values}) {
		if err != nil {
			return nil, err
		}
		scenarios = append(scenarios, item.read())
	}
	return scenarios, nil
}

// Add stores a scenario and reports true, or leaves the scenario unchanged that has its id
// and reports false. After a lost answer it may report false for the scenario that it has stored.
func (t ScenarioTable) Add(ctx context.Context, scenario clarity.Scenario) (added bool, err error) {
	item := scenarioItem{Scenario: scenario, Active: strconv.FormatBool(scenario.Active),
		SchemaVersion: clarity.SchemaVersion}
	if len(item.Tags) == 0 {
		item.Tags = nil // an empty list that is not nil would become the value NULL
	}
	return dynamo.Satisfied(t.DB.Put(ctx, "AddScenario", item, dynamo.Absent("scenarioId")))
}
