package platform

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
)

// Load loads the platform's initial data into a target that no test has loaded it into, and lets the functions behind
// streams handle it: an export that begins half-way through the load has only part of it. Several tests at once may do
// so.
func (s *Suite) Load(t testing.TB, on *Target) {
	t.Helper()
	load, _ := s.loaded.LoadOrStore(on.Target, sync.OnceValue(func() error {
		err := s.Seed(t, on)
		if err == nil && on.Run != nil {
			on.Flush(t)
		}
		return err
	}))
	must.OK(t, load.(func() error)())
}

// Seed loads the platform's initial data into the target, as `onesynth seed` does. What is there stays.
func (s *Suite) Seed(t testing.TB, on *Target) error {
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
