package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/backgroundservice"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// patience is the longest that a tab waits for what it is told to.
const patience = 30 * time.Second

// Tab is a page of the browser. A test fails if its page throws, opens a dialog, breaks its content security policy, or
// writes an error to the console.
type Tab struct {
	t       testing.TB
	ctx     context.Context
	mutex   sync.Mutex
	wrong   []string
	excused []string
	worker  *serviceworker.Registration
	pushed  int                          // push messages that the worker has handled
	asked   map[network.RequestID]string // addresses
	answers []*network.EventResponseReceivedExtraInfo
}

// Answer is what a server answered to a request of the page, also where the browser kept it from the page.
type Answer struct {
	URL    string
	Status int64
}

// Options of a tab. The zero value is a light page of a laptop.
type Options struct {
	// Width and Height are the page's. Default: 1280 by 800.
	Width, Height int64
	// Dark asks for dark colours.
	Dark bool
	// Before is a script that runs before those of each document of the tab.
	Before string
	// Answers keeps what servers answer, for Tab.Answers.
	Answers bool
	// Slow gives the page a network of 800 ms until an answer begins, and 20 kB a second.
	Slow bool
	// Notifications allows notifications, and opens the tab in the browser's own profile, which all such tabs share.
	// Other tabs have each a private profile, which has none.
	Notifications bool
	// Beside is a tab of the same person, whose profile this one shares. Default: none.
	Beside *Tab
}

// Open opens an address in a new tab, which closes with the test.
func (b *Browser) Open(t testing.TB, address string, options Options) *Tab {
	t.Helper()
	if options.Width == 0 {
		options.Width, options.Height = 1280, 800
	}
	profile := []chromedp.ContextOption{chromedp.WithNewBrowserContext()}
	if options.Notifications {
		profile = nil
	}
	within := b.ctx
	if options.Beside != nil {
		within, profile = options.Beside.ctx, nil
	}
	ctx, cancel := chromedp.NewContext(within, profile...)
	tab := &Tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		tab.mutex.Lock()
		defer tab.mutex.Unlock()
		for _, problem := range tab.wrong {
			t.Errorf("in the page: %s", problem)
		}
	})
	must.OK(t, chromedp.Listen(ctx, tab.hear))
	if options.Answers {
		tab.asked = map[network.RequestID]string{}
		tab.do(command(network.Enable, network.EnableParams{}))
	}
	if options.Slow {
		tab.do(command(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{
				{Latency: 800, DownloadThroughput: 20_000, UploadThroughput: 20_000}},
		}))
	}
	scheme := "light"
	if options.Dark {
		scheme = "dark"
	}
	if options.Notifications {
		tab.do(command(cdpbrowser.SetPermission,
			cdpbrowser.SetPermissionParams{Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"},
				Setting: cdpbrowser.PermissionSettingGranted}))
	}
	tab.do(
		command(log.Enable, cdp.Empty{}),
		command(page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: options.Before}),
		chromedp.EmulateViewport(options.Width, options.Height),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
		chromedp.Navigate(address),
	)
	return tab
}

// command is a command of the browser's protocol as a step.
func command[P, R any](one cdp.Command[P, R], parameters P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, one, parameters)
		return err
	})
}

// hear collects what must not happen.
func (tab *Tab) hear(event any) {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	wrong := ""
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		wrong = "exception: " + event.ExceptionDetails.Text
		if event.ExceptionDetails.Exception != nil {
			wrong += " " + event.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if event.Type == "error" || event.Type == "assert" {
			wrong = fmt.Sprintf("console.%s", event.Type)
			for _, argument := range event.Args {
				wrong += fmt.Sprintf(" %s%s", argument.Value, argument.Description)
			}
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == "error" || event.Entry.Source == "security" {
			wrong = fmt.Sprintf("%s %s: %s %s", event.Entry.Source, event.Entry.Level, event.Entry.Text,
				event.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if tab.asked != nil {
			tab.asked[event.RequestID] = event.Request.URL
		}
	case *network.EventResponseReceivedExtraInfo:
		tab.answers = append(tab.answers, event)
	case *serviceworker.EventWorkerRegistrationUpdated:
		for _, registration := range event.Registrations {
			tab.worker = registration
		}
	case *backgroundservice.EventBackgroundServiceEventReceived:
		if event.BackgroundServiceEvent.EventName == "Push event completed" {
			tab.pushed++
		}
	case *page.EventJavascriptDialogOpening:
		wrong = "dialog: " + event.Message
	}
	excused := func(text string) bool { return strings.Contains(wrong, text) }
	if wrong != "" && !slices.ContainsFunc(tab.excused, excused) {
		tab.wrong = append(tab.wrong, wrong)
	}
}

// Excuse expects errors with the text, such as that of a request which has to fail.
func (tab *Tab) Excuse(text string) {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	tab.excused = append(tab.excused, text)
}

// Answers returns the answers so far, if the options ask for them.
func (tab *Tab) Answers() (all []Answer) {
	tab.mutex.Lock()
	defer tab.mutex.Unlock()
	for _, answer := range tab.answers {
		// The browser may tell of an answer before it tells of the request.
		if address, known := tab.asked[answer.RequestID]; known {
			all = append(all, Answer{address, answer.StatusCode})
		}
	}
	return all
}

// Go opens another address in the tab.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.do(chromedp.Navigate(address))
}

func (tab *Tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	must.OK(tab.t, chromedp.Do(ctx, steps...))
}

// Evaluate returns the value of a JavaScript expression, which may be a promise.
func Evaluate[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	value, err := evaluate[T](tab, expression)
	if err != nil {
		tab.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func evaluate[T any](tab *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// quote writes a text as one of JavaScript.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text always encodes
	}
	return string(quoted)
}

// Until waits until a JavaScript expression, which may be a promise, is true. An expression of a page that is left is
// not.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	wait.Until(tab.t, expression, func() (any, bool) {
		// No promise where there need be none: a page that is left keeps none.
		satisfied, err := evaluate[bool](tab, "(() => { const value = ("+expression+
			"); return value instanceof Promise ? value.then(Boolean) : Boolean(value); })()")
		if err != nil && !strings.Contains(err.Error(), "navigated") {
			tab.t.Fatalf("%s: %v", expression, err)
		}
		return satisfied, satisfied
	}, wait.On(tab))
}

// Ended returns why the tab or its browser has ended, or nil before its end.
func (tab *Tab) Ended() error { return context.Cause(tab.ctx) }

// Printed returns what the page shows, for a wait that fails.
func (tab *Tab) Printed() string {
	text, err := evaluate[string](tab, "document.body?.innerText ?? ''")
	if err != nil {
		return err.Error()
	}
	return text
}

// Text returns the text of the first element of a selector.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return Evaluate[string](tab, "document.querySelector("+quote(selector)+")?.innerText ?? ''")
}

// See waits until the page shows the text.
func (tab *Tab) See(text string) {
	tab.t.Helper()
	tab.Until("document.body.innerText.includes(" + quote(text) + ")")
}

// Click clicks the first button, link or summary with the text or accessible name, in an open dialog if there is one.
func (tab *Tab) Click(name string) {
	tab.t.Helper()
	// The element may come with the next drawing.
	tab.Until(`(() => {
		const within = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
		const wanted = ` + quote(name) + `;
		const found = [...within.querySelectorAll('button, a, summary, input[type=checkbox]')].find((one) => (one.innerText ?? '').trim() === wanted || one.getAttribute('aria-label') === wanted || one.closest('label')?.innerText.trim() === wanted);
		if (!found || found.disabled) return false;
		found.click();
		return true;
	})()`)
}

// Fill writes into the control with the label.
func (tab *Tab) Fill(label, value string) {
	tab.t.Helper()
	tab.Until(`(() => {
		const within = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
		const wanted = ` + quote(label) + `;
		const control = [...within.querySelectorAll('input, textarea, select')].find((one) =>
			one.getAttribute('aria-label') === wanted || (one.closest('label')?.firstChild?.textContent ?? '').trim() === wanted);
		if (!control) return false;
		control.focus();
		control.value = ` + quote(value) + `;
		control.dispatchEvent(new Event('input', {bubbles: true}));
		control.dispatchEvent(new Event('change', {bubbles: true}));
		return true;
	})()`)
}

// Point moves the pointer to the middle of the first element of a selector, which has to be within the window.
func (tab *Tab) Point(selector string) {
	tab.t.Helper()
	middle := Evaluate[[]float64](tab, "(({x, y, width, height}) => [x + width / 2, y + height / 2])("+
		"document.querySelector("+quote(selector)+").getBoundingClientRect())")
	tab.do(chromedp.MouseEvent(chromedp.MouseMoved, middle[0], middle[1]))
}

// Press presses keys, such as those of package kb.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do(chromedp.KeyEvent(keys))
}

// Key presses a key that has a character, as a keyboard does: a page that prevents its default prevents the character,
// too.
func (tab *Tab) Key(key string) {
	tab.t.Helper()
	for _, event := range []input.DispatchKeyEventParams{
		{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key},
		{Type: input.DispatchKeyEventTypeKeyUp, Key: key},
	} {
		tab.do(command(input.DispatchKeyEvent, event))
	}
}

// Resize makes the page as large.
func (tab *Tab) Resize(width, height int64) {
	tab.t.Helper()
	tab.do(chromedp.EmulateViewport(width, height))
}

// Offline takes the network away from the page and its service worker, or gives it back.
func (tab *Tab) Offline(offline bool) {
	tab.t.Helper()
	worker := true
	rules := network.EmulateNetworkConditionsByRuleParams{EmulateOfflineServiceWorker: &worker,
		MatchedNetworkConditions: []*network.Conditions{}}
	if offline {
		rules.MatchedNetworkConditions = append(rules.MatchedNetworkConditions,
			&network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	}
	tab.do(command(network.EmulateNetworkConditionsByRule, rules),
		command(network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: offline,
			DownloadThroughput: -1, UploadThroughput: -1}))
}

// Push delivers a message to the service worker of the page, as the browser's push service does, and returns when the
// worker has handled it. Chromium drops a notification whose list is asked for while it is about to be shown.
func (tab *Tab) Push(message string) {
	tab.t.Helper()
	const service = backgroundservice.ServiceNamePushMessaging
	tab.do(command(serviceworker.Enable, cdp.Empty{}),
		command(backgroundservice.StartObserving, backgroundservice.StartObservingParams{Service: service}),
		command(backgroundservice.SetRecording, backgroundservice.SetRecordingParams{Service: service,
			ShouldRecord: true}))
	heard := func() (worker *serviceworker.Registration, pushed int) {
		tab.mutex.Lock()
		defer tab.mutex.Unlock()
		return tab.worker, tab.pushed
	}
	worker, before := heard()
	wait.Until(tab.t, "the page has a service worker", func() (any, bool) {
		worker, _ = heard()
		return worker != nil, worker != nil
	}, wait.On(tab))
	origin := Evaluate[string](tab, "location.origin")
	tab.do(command(serviceworker.DeliverPushMessage,
		serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: worker.RegistrationID, Data: message}))
	wait.Until(tab.t, "the service worker handles the message", func() (any, bool) {
		_, now := heard()
		return now, now > before
	}, wait.On(tab))
}

// InWorker evaluates a JavaScript expression, which may be a promise, in the service worker of the page.
func InWorker[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	origin := Evaluate[string](tab, "location.origin")
	targets := must.Get(chromedp.Targets(tab.ctx))(tab.t)
	// Each profile has a worker of its own.
	own := slices.IndexFunc(targets, func(one *target.Info) bool {
		return one.TargetID == chromedp.FromContext(tab.ctx).Target.TargetID
	})
	for _, one := range targets {
		if one.Type != "service_worker" || !strings.HasPrefix(one.URL, origin) || own < 0 ||
			one.BrowserContextID != targets[own].BrowserContextID {
			continue
		}
		ctx, cancel := chromedp.NewContext(tab.ctx, chromedp.WithTargetID(one.TargetID), chromedp.WithDetachOnCancel())
		defer cancel()
		value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err != nil {
			tab.t.Fatalf("%s: %v", expression, err)
		}
		return value
	}
	tab.t.Fatal("the page has no service worker that runs")
	panic("unreachable")
}

// largestPicture is in bytes: pictures are in the repository, and readers load them.
const largestPicture = 60 << 10

// Picture writes what the page looks like into a file, as WebP of a quality from 0 to 100.
func (tab *Tab) Picture(path string, quality int64) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	picture := must.Get(chromedp.Call(ctx, page.CaptureScreenshot,
		page.CaptureScreenshotParams{Format: "webp", Quality: &quality}))(tab.t)
	if len(picture.Data) > largestPicture {
		tab.t.Errorf("%s: the picture has %d bytes, want %d at the most", path, len(picture.Data), largestPicture)
	}
	must.OK(tab.t, os.WriteFile(path, picture.Data, 0o644))
}
