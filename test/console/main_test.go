// Package console checks the page of the local run's console in a real browser, over a run of all platforms.
//
// main_test.go has the run and the browser; each other file has one concern. The tests share both, and come one after the other:
// some of them inject faults.
package console

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/lakequery"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// suite is what all tests share.
var suite shared

type shared struct {
	app onesynthtest.Suite

	starting sync.Once
	run      *local.Runner
	browser  *browser.Browser
	err      error
}

func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	suite.browser.Close()
	if suite.run != nil {
		suite.run.Close()
	}
	if err := suite.app.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// start returns the run and the browser. It skips the test where there is none.
func start(t *testing.T) (*local.Runner, *browser.Browser) {
	t.Helper()
	if platform.OnAWS() {
		t.Skip("skipped on AWS: the console is of a local run")
	}
	path := browser.Require(t)
	suite.starting.Do(func() {
		architecture := "arm64"
		if runtime.GOARCH == "amd64" {
			architecture = "x86_64"
		}
		suite.app.App, suite.app.Arguments = platform.Root(t), []string{"-c", "env=dev", "-c", "arch=" + architecture}
		if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLIES"); folder != "" {
			suite.app.Synthesised = filepath.Join(folder, "dev")
		}
		// The run has a DynamoDB of its own: a shared one would be slower for the tests that come next, by all that these write.
		suite.run, suite.err = local.Start(t.Context(), local.Options{
			Assembly: suite.app.Assembly(t), NoSchedules: true, QueryLake: lakequery.Ask, MaxInstances: 2,
			RetryDelay: func(int) time.Duration { return time.Millisecond },
		})
		if suite.err == nil {
			suite.browser, suite.err = browser.Start(path)
		}
	})
	if suite.err != nil {
		t.Fatal(suite.err)
	}
	return suite.run, suite.browser
}

// open opens a view.
func open(t *testing.T, view string, options browser.Options) (*local.Runner, *browser.Tab) {
	t.Helper()
	run, browser := start(t)
	tab := browser.Open(t, run.ConsoleURL()+"/"+view, options)
	shown(tab, view)
	return run, tab
}

// shown waits until the page shows the view.
func shown(tab *browser.Tab, view string) {
	if view == "" {
		view = "#/"
	}
	tab.Until(fmt.Sprintf("document.getElementById('main').dataset.shown === %q && !document.getElementById('main').hasAttribute('aria-busy')", view))
}

// goTo shows another view, and returns how many milliseconds that took.
func goTo(tab *browser.Tab, view string) float64 {
	return browser.Evaluate[float64](tab, fmt.Sprintf(`new Promise((done, fail) => {
		const began = performance.now(), main = document.getElementById('main'), view = %q;
		const look = () => {
			if (main.dataset.shown === view && !main.hasAttribute('aria-busy')) requestAnimationFrame(() => done(performance.now() - began));
			else if (performance.now() - began > 25000) fail(new Error('never shown: ' + view));
			else setTimeout(look, 2);
		};
		delete main.dataset.shown;
		if (location.hash === view) dispatchEvent(new HashChangeEvent('hashchange'));
		location.hash = view;
		look();
	})`, view))
}

// call sends a request to an API of the run, and returns its status.
func call(t *testing.T, method, address, token, body string) (int, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// openAPI is the address of an OpenAPI document that the run serves, for a request that every platform answers.
func openAPI(t *testing.T, run *local.Runner) string {
	t.Helper()
	for _, api := range run.APIs() {
		if api.OpenAPI != "" {
			return api.OpenAPI
		}
	}
	t.Fatal(errors.New("no API of the run serves its OpenAPI document"))
	return ""
}
