// Package console checks the page of the local run's console in a real browser, over a run of all platforms.
//
// Each file has one concern. The tests share the run and the browser.
package console

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// The run keeps the functions of all platforms on few processors.
var suite = browser.Suite{Options: run.Options{MaxInstances: 2, RetryDelay: func(int) time.Duration {
	return time.Millisecond
}}}

// queries is how many queries of lakes run, and building says that the engine has to be built first.
var (
	queries  atomic.Int32
	building atomic.Bool
)

func TestMain(m *testing.M) {
	suite.Options.Lake = laketest.Engine(func(query func()) {
		queries.Add(1)
		defer queries.Add(-1)
		query()
	})
	suite.Options.Lake.Ready = func() bool { return !building.Load() }
	suite.Main(m)
}

// open opens a view.
func open(t *testing.T, view string, options browser.Options) (*run.Runner, *browser.Tab) {
	t.Helper()
	runner, browser := suite.Start(t)
	tab := browser.Open(t, runner.ConsoleURL()+"/"+view, options)
	shown(tab, view)
	return runner, tab
}

// shown waits until the page shows the view.
func shown(tab *browser.Tab, view string) {
	if view == "" {
		view = "#/"
	}
	tab.Until(fmt.Sprintf("document.getElementById('main').dataset.shown === %q && "+
		"!document.getElementById('main').hasAttribute('aria-busy')", view))
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
	header := http.Header{"Content-Type": {"application/json"}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	client := onesynthtest.Client{URL: address, HTTP: http.DefaultClient}
	r, err := client.Send(t.Context(), method, "", header, []byte(body))
	return r.Status, err
}

// openAPI is the address of an OpenAPI document that the run serves, for a request that every platform answers.
func openAPI(t *testing.T, runner *run.Runner) string {
	t.Helper()
	for _, api := range runtest.Of(runner).APIs() {
		if api.OpenAPI != "" {
			return api.OpenAPI
		}
	}
	t.Fatal(errors.New("no API of the run serves its OpenAPI document"))
	return ""
}
