// Package scenarios has the scenarios that Clarity begins with, each in a file with its id as name.
// Further files here are loaded by the next `onesynth seed clarity`. A changed file does not change
// a scenario that is there: give it another id, and the old one the attribute active "false".
package scenarios

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

//go:embed *.json
var files embed.FS

// Initial returns the scenarios, by id. They are valid ([clarity.Scenario.Check]).
func Initial() ([]clarity.Scenario, error) {
	read, err := read(files)
	if err != nil {
		return nil, err
	}
	scenarios := make([]clarity.Scenario, len(read))
	for i, s := range read {
		scenarios[i] = s.Scenario
	}
	return scenarios, nil
}

// marked is a scenario with its marking, as a file has them.
type marked struct {
	clarity.Scenario
	Marking Marking `json:"marking"`
}

// read reads the scenarios of a folder.
func read(folder fs.FS) ([]marked, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, err
	}
	var scenarios []marked
	for _, name := range names {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		var scenario marked
		err = seed.Decode(data, &scenario)
		if err == nil {
			err = scenario.Check()
		}
		if err == nil && scenario.ID+".json" != name {
			err = fmt.Errorf("scenarioId: got %.40q, want the name of the file", scenario.ID)
		}
		if err == nil {
			err = scenario.Marking.check(scenario.Questions)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		scenarios = append(scenarios, scenario)
	}
	return scenarios, nil
}
