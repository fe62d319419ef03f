package browser

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Suite is tests that share a run of the environment dev, and a browser. Some of them inject faults, so they come one
// after the other.
type Suite struct {
	// Options are the run's. The suite adds the assembly, and lets schedules run by name only.
	Options run.Options
	// Construct is the platform's, for Target and Someone.
	Construct string
	// Prepare is called once, when the run has started. Default: nothing.
	Prepare func(*run.Runner) error

	platforms platform.Suite
	starting  sync.Once
	run       *run.Runner
	browser   *Browser
	err       error
}

// Main is the body of TestMain.
func (s *Suite) Main(m *testing.M) {
	s.platforms.AtEnd = func() {
		s.browser.Close()
		if s.run != nil {
			s.run.Close()
		}
	}
	s.platforms.Main(m)
}

// Start returns the run and the browser. It skips the test where there is none.
func (s *Suite) Start(t testing.TB) (*run.Runner, *Browser) {
	t.Helper()
	path, assembly := Require(t), s.platforms.Local(t, "dev").Assembly(t)
	s.starting.Do(func() {
		// The run has a DynamoDB of its own: a shared one would be slower for the tests that come next, by all that
		// these write.
		s.Options.Assembly, s.Options.NoSchedules = assembly, true
		if s.run, s.err = run.Start(t.Context(), s.Options); s.err == nil && s.Prepare != nil {
			s.err = s.Prepare(s.run)
		}
		if s.err == nil {
			s.browser, s.err = Start(path)
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.run, s.browser
}

// Target returns the run as tests without a browser have it: the platform.
func (s *Suite) Target(t testing.TB) *onesynthtest.Target {
	t.Helper()
	runner, _ := s.Start(t)
	target := must.Get(onesynthtest.NewTarget(s.Construct, runtest.Of(runner).Outputs(), runner.DynamoDB()))(t)
	target.Run = runner
	return target
}

// Person is someone who uses a page, also elsewhere than on it.
type Person struct {
	T *testing.T
	// Name is what they sign in with, and API sends requests as them.
	Name string
	API  *onesynthtest.Client

	suite *Suite
}

// Someone is a person whom the platform does not know yet.
func (s *Suite) Someone(t *testing.T) Person {
	t.Helper()
	name := onesynthtest.Unique("ann")
	return Person{T: t, Name: name, API: s.Target(t).As(t, name), suite: s}
}

// Open signs the person in on the page, and waits for what matches the selector.
func (p Person) Open(options Options, selector string) *Tab {
	p.T.Helper()
	runner, tabs := p.suite.Start(p.T)
	tab := tabs.Open(p.T, runner.URL("")+"/", options)
	tab.SignIn(p.Name, selector)
	return tab
}

// Do sends a request whose answer has the status, and returns the answer's body.
func (p Person) Do(method, path string, body any, status int) []byte {
	p.T.Helper()
	r := p.API.Try(p.T, method, path, body)
	if r.Status != status {
		p.T.Fatalf("got %v, want %d", r, status)
	}
	return r.Body
}

// Read is [Person.Do], and returns the answer's JSON.
func Read[A any](p Person, method, path string, body any, status int) (answer A) {
	p.T.Helper()
	must.OK(p.T, json.Unmarshal(p.Do(method, path, body, status), &answer))
	return answer
}
