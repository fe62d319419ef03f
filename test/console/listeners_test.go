package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// No web page of another origin gets anything from a port of a run but from APIs that allow every origin, and it leaves
// the run as it was. The ports are those that the processes of the run listen on. The checks of Local Network Access
// keep pages of the Internet away, where a browser has them; a run does not rely on that.
func TestForeignPagesReachNoListener(t *testing.T) {
	runner, _ := suite.Start(t)
	path := browser.Require(t)
	for _, function := range runtest.Of(runner).Functions() {
		must.OK(t, runtest.Of(runner).Warm(function.Name))
	}
	waits := func() (any, bool) {
		functions := runtest.Of(runner).Functions()
		return functions, !slices.ContainsFunc(functions, func(f runtest.Function) bool {
			return len(f.Instances) == 0 || slices.ContainsFunc(f.Instances, func(i runtest.Instance) bool {
				return !i.Ready || i.Busy
			})
		})
	}
	wait.Until(t, "every function waits", waits, wait.On(runtest.Of(runner)))
	ports := listeners(t)
	open := map[int]bool{}
	for _, api := range runtest.Of(runner).APIs() {
		open[portOf(t, api.URL)] = true
	}
	// The console, the push inbox, the endpoint of AWS and DynamoDB Local, and one for each instance.
	if least := len(open) + 4 + len(runtest.Of(runner).Functions()); len(ports) < least ||
		!slices.Contains(ports, portOf(t, runner.ConsoleURL())) {
		t.Fatalf("the run listens on %v; want %d ports at least, and that of the console", ports, least)
	}
	before := runtest.Of(runner).Newest("").Seq
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>another</title><link rel="icon" href="data:,">`))
	})
	near, far := httptest.NewServer(page), httptest.NewServer(page)
	defer near.Close()
	defer far.Close()
	const checks = "LocalNetworkAccessChecks"
	for name, flag := range map[string]chromedp.ExecAllocatorOption{"Checks": chromedp.Flag("enable-features", checks),
		"NoChecks": browser.WithoutFeatures(checks)} {
		t.Run(name, func(t *testing.T) {
			driven := must.Get(browser.Start(path, flag,
				chromedp.Flag("host-resolver-rules", "MAP rebound.example 127.0.0.1"),
				// A page of that port counts as one of the Internet.
				chromedp.Flag("ip-address-space-overrides", far.Listener.Addr().String()+"=public")))(t)
			t.Cleanup(driven.Close)
			for _, from := range []*httptest.Server{near, far} {
				tab := driven.Open(t, from.URL, browser.Options{Answers: true})
				excuse(tab)
				for _, outcome := range browser.Evaluate[[]outcome](tab, attack(`"http://127.0.0.1:"`, ports)) {
					// What is opaque has no content for the page.
					if !open[outcome.Port] && outcome.Got != "refused" && outcome.Got != "opaque" {
						t.Errorf("from another port: port %d, %s: %s", outcome.Port, outcome.What, outcome.Got)
					}
				}
				if from == near || name == "NoChecks" {
					wait.Until(t, "a request reaches each port", func() (any, bool) {
						reached := map[int]bool{}
						for _, answer := range tab.Answers() {
							reached[portOf(t, answer.URL)] = true
						}
						return reached, !slices.ContainsFunc(ports, func(port int) bool { return !reached[port] })
					}, wait.On(runtest.Of(runner)))
				}
				t.Logf("a page of %s caused %d answers of %d ports",
					map[bool]string{true: "this machine", false: "the Internet"}[from == near], len(tab.Answers()),
					len(ports))
				for _, answer := range tab.Answers() {
					if port := portOf(t, answer.URL); slices.Contains(ports, port) && !open[port] &&
						answer.Status != http.StatusForbidden {
						t.Errorf("from another port: %s answered %d, want 403", answer.URL, answer.Status)
					}
				}
			}
			// A name of the page that leads to this machine after a while makes it a page of that port.
			tab := driven.Open(t, near.URL, browser.Options{Answers: true})
			excuse(tab)
			for _, port := range ports {
				tab.Go(fmt.Sprintf("http://rebound.example:%d/", port))
				for _, outcome := range browser.Evaluate[[]outcome](tab,
					attack(`"http://rebound.example:"`, []int{port})) {
					if outcome.Got != "403" {
						t.Errorf("by another name: port %d, %s: %s", outcome.Port, outcome.What, outcome.Got)
					}
				}
			}
			for _, answer := range tab.Answers() {
				if strings.Contains(answer.URL, "rebound.example") && answer.Status != http.StatusForbidden {
					t.Errorf("by another name: %s answered %d, want 403", answer.URL, answer.Status)
				}
			}
		})
	}
	wait.Until(t, "every function still waits", waits, wait.On(runtest.Of(runner)))
	// A function that serves a page to everyone serves it to other pages, too. No other function has work by them.
	for _, one := range runtest.Of(runner).Requests("", 0) {
		if one.Seq > before && len(one.Functions) > 0 &&
			(one.Kind != runtest.KindHTTP || one.Method != http.MethodGet) {
			t.Errorf("pages have caused %s %s %s, which %q handled", one.Kind, one.Method, one.Path, one.Functions)
		}
	}
}

// outcome is what a request of a page came to: "refused", "opaque", "hung" or a status.
type outcome struct {
	Port      int
	What, Got string
}

// attack is a script that sends what could harm to ports: it takes the work of an instance, and it reads tables, with a
// key that is known.
func attack(address string, ports []int) string {
	list, err := json.Marshal(ports)
	if err != nil {
		panic(err) // numbers always encode
	}
	return fmt.Sprintf(`Promise.all(%s.flatMap((port) => Object.entries({
		'next': ['/2018-06-01/runtime/invocation/next', {mode: 'no-cors'}],
		'next with CORS': ['/2018-06-01/runtime/invocation/next', {}],
		'simple post': ['/faults', {method: 'POST', mode: 'no-cors', body: '{"throttle":1}'}],
		'tables': ['/', {method: 'POST', body: '{}', headers: {
			'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.ListTables', 'Onesynth-Console': '1',
			Authorization: 'AWS4-HMAC-SHA256 Credential=onesynth/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0'}}],
	}).map(([what, [path, options]]) => fetch(%s + port + path, {...options, signal: AbortSignal.timeout(10000)}).then(
		(response) => ({port, what, got: response.type === 'opaque' ? 'opaque' : String(response.status)}),
		(error) => ({port, what, got: error.name === 'TimeoutError' ? 'hung' : 'refused'})))))`, list, address)
}

// excuse expects what the browser tells of requests that are refused.
func excuse(tab *browser.Tab) {
	for _, text := range []string{"CORS", "403", "404", "Failed to load resource", "ERR_FAILED", "ERR_BLOCKED",
		"Fetch API"} {
		tab.Excuse(text)
	}
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	parsed := must.Get(url.Parse(address))(t)
	port, _ := strconv.Atoi(parsed.Port()) // 0 is no port of a run
	return port
}

// listeners are the TCP ports on which this process and its descendants listen, but for browsers.
func listeners(t *testing.T) (ports []int) {
	t.Helper()
	for all := []*process.Process{must.Get(process.NewProcess(int32(os.Getpid())))(t)}; len(all) > 0; all = all[1:] {
		// What fails is of a process that has ended.
		if command, _ := all[0].Cmdline(); strings.Contains(command, "--remote-debugging-") {
			continue
		}
		children, _ := all[0].Children()
		all = append(all, children...)
		connections, _ := all[0].Connections()
		for _, one := range connections {
			if one.Status == "LISTEN" {
				ports = append(ports, int(one.Laddr.Port))
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
