// Package platform has what the end-to-end tests of any platform need beyond what package
// onesynthtest gives importers: the environments of cdk.json, AWS and its emulator as
// targets, and further checks that every platform passes.
//
//	go test -race -count=1 ./...                            on this machine
//	ONESYNTH_TEST_TARGET=aws go test -count=1 ./...         deploys the stacks, then the same checks
//
// Without -count=1, Go may take the result of an earlier run: it does not see that the
// handlers are another module's, which may have changed. It does see a change of the
// variable ONESYNTH_STACK_ with the platform's name, in which test/tier has the sum of the
// platform's template in dev.
//
// On this machine each package synthesises what it runs, and runs its platform's
// stack within the test process, against a DynamoDB Local of its own; nothing
// outside is needed but node_modules at the root of the repository.
// ONESYNTH_TEST_ASSEMBLIES names a folder that has the assemblies for this machine's
// processor already, each in a folder called as its environment: dev, prod and tokens.
//
// On AWS, ONESYNTH_TEST_ENVIRONMENT names the environment (default: dev), and
// ONESYNTH_TEST_DEPLOY=false takes its stacks as they are. What only a local run can
// do (faults, killing, the push inbox, addresses of one's own) is skipped there,
// with the reason. Users that tests need are made in the stack's user pool, and go with
// the test. The stacks stay: `make destroy` removes them.
//
// With AWS_ENDPOINT_URL, all of that happens on an emulator of AWS, which the CDK has
// bootstrapped. Functions are then built for this machine's processor.
// ONESYNTH_TEST_LACKS names a list of what the emulator lacks, such as
// emulator/ministack.json; `make test-emulator` does all of it.
//
// The tests use terratest's shell and http-helper, but not its package aws: it brings the clients
// of thirty services, which take three minutes to compile on two processors.
package platform

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/gruntwork-io/terratest/modules/logger"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Suite is the tests of one platform, which share what is slow to start.
type Suite struct {
	// Platform is the platform under test.
	Platform schema.Platform
	// Construct is the id of the platform's construct: names of outputs begin with it.
	Construct string
	// Errors has a value of each form that the platform's errors have.
	Errors []any
	// AtEnd is called when the tests have ended. Default: nothing.
	AtEnd func()

	mutex sync.Mutex
	// local are the suites on this machine, by environment of cdk.json.
	local map[string]*onesynthtest.Suite
	// loaded are the loads of targets: of *onesynthtest.Target to func() error.
	loaded sync.Map
	// scratch is a folder that is there until the tests have ended, and deployedAssembly what
	// they have deployed to AWS.
	scratch, deployedAssembly string

	deploying sync.Once
	onAWS     *Target
	err       error
}

// Main is the body of TestMain.
func (s *Suite) Main(m *testing.M) {
	flag.Parse()
	if err := onesynthtest.SetParallel(); err != nil {
		panic(err)
	}
	// Terratest's log lines belong to the test that causes them.
	logger.Default = logger.TestingT
	status := m.Run()
	if s.AtEnd != nil {
		s.AtEnd()
	}
	// What the tests started and share ends.
	failed := os.RemoveAll(s.scratch)
	for _, of := range s.local {
		failed = errors.Join(failed, of.Close())
	}
	if failed != nil {
		fmt.Fprintln(os.Stderr, failed)
	}
	os.Exit(status)
}

// OnAWS reports whether the tests run against AWS.
func OnAWS() bool { return os.Getenv("ONESYNTH_TEST_TARGET") == "aws" }

// Shared returns the target of all tests that leave no trace that others would notice.
func (s *Suite) Shared(t testing.TB) *Target {
	t.Helper()
	switch os.Getenv("ONESYNTH_TEST_TARGET") {
	case "", "local":
		return Local(s.of(t, "dev").Shared(t))
	case "aws":
		s.deploying.Do(func() {
			s.err = errors.New("the test that deploys has failed")
			s.onAWS, s.err = s.deployed(t), nil
		})
	default:
		s.err = errors.New(`ONESYNTH_TEST_TARGET: allowed are "local", the default, and "aws"`)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.onAWS
}

// Local returns the suite of an environment of cdk.json, on this machine.
func (s *Suite) Local(t testing.TB, environment string) *onesynthtest.Suite {
	t.Helper()
	if OnAWS() {
		t.Skip("skipped on AWS: it needs a local run of its own")
	}
	return s.of(t, environment)
}

func (s *Suite) of(t testing.TB, environment string) *onesynthtest.Suite {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if local := s.local[environment]; local != nil {
		return local
	}
	made := &onesynthtest.Suite{
		Platform: s.Platform, Construct: s.Construct, Stack: s.stack(environment),
		App: Root(t), Arguments: []string{"-c", "env=" + environment, "-c", "arch=" + OwnArchitecture()},
	}
	_ = os.Getenv("ONESYNTH_STACK_" + s.Platform.Name)
	if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLIES"); folder != "" {
		made.Synthesised = filepath.Join(folder, environment)
	}
	if s.local == nil {
		s.local = map[string]*onesynthtest.Suite{}
	}
	s.local[environment] = made
	return made
}

// OwnRun returns a local run of the environment dev that no other test uses, for tests that inject
// faults, kill handlers, or check everything. Its schedules run by name only.
func (s *Suite) OwnRun(t testing.TB, options run.Options) *Target {
	t.Helper()
	return s.OwnRunOf(t, "dev", options)
}

// OwnRunOf is OwnRun of another environment of cdk.json.
func (s *Suite) OwnRunOf(t testing.TB, environment string, options run.Options) *Target {
	t.Helper()
	return Local(s.Local(t, environment).OwnRun(t, options))
}

// OwnArchitecture is what this machine can run without building it once more, unless
// its system is another.
func OwnArchitecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return "arm64"
}

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	return must.Get(filepath.Abs(filepath.Join("..", "..")))(t)
}

// Modules is the folder of the packages of Node.js that tests need, as a folder of test locks them. "go test -short"
// skips the test.
func Modules(t testing.TB, folder string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs packages of its own: go test without -short has them")
	}
	modules := filepath.Join(Root(t), "test", folder, "node_modules")
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("%v: run make test/%s/node_modules at the root of the repository", err, folder)
	}
	return modules
}

// stack is the name of the platform's stack in an environment.
func (s *Suite) stack(environment string) string {
	return "onesynth-" + s.Platform.Name + "-" + environment
}
