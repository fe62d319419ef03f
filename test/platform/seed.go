package platform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
)

// Load loads the platform's initial data into a target that no test has loaded it into, and lets the functions behind
// streams handle it: an export that begins half-way through the load has only part of it. Several tests at once may do
// so.
func (s *Suite) Load(t testing.TB, on *Target) {
	t.Helper()
	load, _ := s.loaded.LoadOrStore(on.Target, sync.OnceValue(func() error {
		err := s.loadAll(t, on)
		if err == nil && on.Run != nil {
			on.Flush(t)
		}
		return err
	}))
	must.OK(t, load.(func() error)())
}

// loadSome loads the first items of the platform's initial data into a run, enough for each of its requests: all of
// Lingible's 4,700 terms take 20 s. What is there stays.
func (s *Suite) loadSome(t testing.TB, on *Target) error {
	t.Helper()
	const enough = 300
	seeder, _ := s.Platform.Seeder()
	for p := (seed.Progress{Total: enough}); p.Next < min(p.Total, enough); {
		event, err := json.Marshal(seed.Request{Next: p.Next})
		if err != nil {
			return err
		}
		result, err := on.Run.Invoke(t.Context(), on.Function(t, seeder.ConstructID()), event)
		if err == nil && result.FunctionError != "" {
			err = errors.New(result.FunctionError)
		}
		if err = cmp.Or(err, json.Unmarshal(result.Payload, &p)); err != nil {
			return fmt.Errorf("%s: %w: %s", seeder.Name, err, result.Payload)
		}
	}
	return nil
}

// loadAll loads the platform's initial data into the target, as `onesynth seed` does. What is there stays.
func (s *Suite) loadAll(t testing.TB, on *Target) error {
	t.Helper()
	if on.Run == nil {
		command := exec.CommandContext(t.Context(), commandtest.Path(t), "seed", s.Platform.Name, "--stack",
			s.stack(environmentOnAWS()))
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("onesynth seed: %w\n%s", err, output)
		}
		return nil
	}
	return on.Run.LoadInitialData(t.Context())
}
