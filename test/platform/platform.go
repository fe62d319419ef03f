// Package platform has what the end-to-end tests of any platform need: the platform
// itself, running somewhere, a client, and the checks that every platform passes.
//
//	go test -race -count=1 ./...                            on this machine
//	ONESYNTH_TEST_TARGET=aws go test -count=1 ./...         deploys the stacks, then the same checks
//
// Without -count=1, Go takes the result of an earlier run: it does not see that the
// handlers are another module's, which may have changed.
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
// Of terratest, shell, retry and http-helper are used. Its package aws is not: it
// brings the clients of thirty services, which take three minutes to compile on two
// processors.
package platform

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gruntwork-io/terratest/modules/logger"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Suite is the tests of one platform. They share what takes long to start.
type Suite struct {
	// Platform is what the tests are about.
	Platform schema.Platform
	// Construct is the id of the platform's construct: names of outputs begin with it.
	Construct string

	assemblies assemblies
	// deployedAssembly is what the tests have deployed to AWS.
	deployedAssembly string

	starting sync.Mutex
	shared   struct {
		once sync.Once
		*Target
		err error
	}
}

// Main is the body of TestMain.
func (s *Suite) Main(m *testing.M) {
	flag.Parse()
	// A test waits now and then, so a few more of them run at once than there are
	// processors; many more, and requests would meet the time-outs of their functions.
	// A fuzzer, though, takes it for its number of processes.
	if flag.Lookup("test.fuzz").Value.String() == "" {
		if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	// Terratest's log lines belong to the test that causes them.
	logger.Default = logger.TestingT
	status := m.Run()
	if target := s.shared.Target; target != nil && status == 0 && flag.Lookup("test.run").Value.String() == "" {
		for _, check := range target.lacks.untried() {
			fmt.Fprintf(os.Stderr, "no test has the check %q: take it off the list of ONESYNTH_TEST_LACKS\n", check)
			status = 1
		}
	}
	if err := s.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// close ends what the tests started and share.
func (s *Suite) close() error {
	if s.shared.Target != nil && s.shared.Run != nil {
		s.shared.Run.Close()
	}
	return s.assemblies.close()
}

// OnAWS tells whether the checks are to go to AWS.
func OnAWS() bool { return os.Getenv("ONESYNTH_TEST_TARGET") == "aws" }

// Shared returns the target that all tests use that leave it in order for others.
func (s *Suite) Shared(t testing.TB) *Target {
	t.Helper()
	s.shared.once.Do(func() {
		switch os.Getenv("ONESYNTH_TEST_TARGET") {
		case "", "local":
			s.shared.Target, s.shared.err = s.start(t, "dev", local.Options{})
		case "aws":
			s.shared.Target, s.shared.err = s.deployed(t)
		default:
			s.shared.err = errors.New(`ONESYNTH_TEST_TARGET: allowed are "local", the default, and "aws"`)
		}
	})
	if s.shared.err != nil {
		t.Fatal(s.shared.err)
	}
	return s.shared.Target
}

// OwnRun returns a local run of the environment dev that no other test uses, for
// tests that inject faults, kill, or look at everything. Its schedules run by name
// only.
func (s *Suite) OwnRun(t testing.TB, options local.Options) *Target {
	t.Helper()
	return s.OwnRunOf(t, "dev", options)
}

// OwnRunOf is OwnRun of another environment of cdk.json.
func (s *Suite) OwnRunOf(t testing.TB, environment string, options local.Options) *Target {
	t.Helper()
	if OnAWS() {
		t.Skip("skipped on AWS: it needs a local run of its own")
	}
	options.NoSchedules = true
	target, err := s.start(t, environment, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Run.Close)
	return target
}

// start runs the platform's stack of an environment on this machine.
func (s *Suite) start(t testing.TB, environment string, options local.Options) (*Target, error) {
	folder, err := s.assemblies.of(t, environment)
	if err != nil {
		return nil, err
	}
	return s.run(t, environment, folder, options)
}

// run runs the platform's stack of an assembly on this machine.
func (s *Suite) run(t testing.TB, environment, folder string, options local.Options) (*Target, error) {
	options.Assembly, options.Stacks = folder, []string{s.stack(environment)}
	options.DynamoDB, options.AccessKey = enginetest.Engine(t).URL(), enginetest.AccessKey()
	// Many that start at once on few processors would take the database's time to
	// answer the others.
	s.starting.Lock()
	run, err := local.Start(context.Background(), options)
	s.starting.Unlock()
	if err != nil {
		return nil, err
	}
	outputs := map[string]string{}
	for name, output := range run.Assembly().Stacks[0].Outputs {
		outputs[name] = fmt.Sprint(output.Value)
	}
	target, err := s.target(outputs, run.DynamoDB())
	if err != nil {
		run.Close()
		return nil, err
	}
	target.Run = run
	return target, nil
}

// stack is the name of the platform's stack in an environment.
func (s *Suite) stack(environment string) string {
	return "onesynth-" + s.Platform.Name + "-" + environment
}

// Hurried is a run of the environment dev whose schedules come round within moments,
// and then every minute, and whose streams' records expire after two seconds, however
// long that would take.
func (s *Suite) Hurried(t testing.TB, options local.Options) *Target {
	t.Helper()
	return s.editedRun(t, "dev", options, func(template []byte) []byte {
		// The first time is a minute after the start date. A run that takes longer to start
		// misses it, and waits for the next.
		started := time.Now().UTC().Add(15*time.Second - time.Minute).Format(time.RFC3339)
		template = scheduleExpression.ReplaceAll(template, []byte(`"ScheduleExpression": "rate(1 minute)", "StartDate": "`+started+`"`))
		return maximumAge.ReplaceAll(template, []byte(`"MaximumRecordAgeInSeconds": 2`))
	})
}

// editedRun is a local run of an environment whose template has been changed.
func (s *Suite) editedRun(t testing.TB, environment string, options local.Options, edit func(template []byte) []byte) *Target {
	t.Helper()
	if OnAWS() {
		t.Skip("skipped on AWS: it needs a local run of its own")
	}
	made, err := s.assemblies.of(t, environment)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, s.stack(environment)+".template.json")
	template, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, edit(template), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := s.run(t, environment, folder, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Run.Close)
	return target
}

var (
	scheduleExpression = regexp.MustCompile(`"ScheduleExpression": "[^"]*"`)
	maximumAge         = regexp.MustCompile(`"MaximumRecordAgeInSeconds": \d+`)
)
