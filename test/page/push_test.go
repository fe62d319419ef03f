package page

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/page"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// pushService replaces the browser's part of push subscriptions: without a network, Chromium cannot make any. All else
// is the browser's own: permissions, the service worker, its push events and its notifications.
const pushService = `(() => {
	const key = 'test of push';
	const made = ({endpoint, server}) => ({
		endpoint, options: {userVisibleOnly: true, applicationServerKey: Uint8Array.from(server).buffer},
		toJSON: () => ({endpoint, expirationTime: null, keys: {p256dh: 'BPublicKeyOfTheBrowser', auth: 'SecretOfTheBrowser'}}),
		unsubscribe: async () => (localStorage.removeItem(key), true),
	});
	PushManager.prototype.getSubscription = async () => localStorage.getItem(key) && made(JSON.parse(localStorage.getItem(key)));
	PushManager.prototype.subscribe = async ({userVisibleOnly, applicationServerKey}) => {
		if (!userVisibleOnly || applicationServerKey.length !== 65) throw new DOMException('not as browsers take it', 'NotAllowedError');
		localStorage.setItem(key, JSON.stringify({endpoint: 'https://push.example/' + crypto.randomUUID(), server: [...applicationServerKey]}));
		return PushManager.prototype.getSubscription();
	};
})()`

// served is the page as a stack with the settings serves it, before the API of the run.
func served(t *testing.T, settings page.Settings) string {
	t.Helper()
	site := must.Get(page.New(settings))(t)
	site.Log = slog.New(slog.DiscardHandler)
	api := must.Get(url.Parse(suite.Target(t).URL))(t)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(api) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/human/") {
			proxy.ServeHTTP(w, r)
			return
		}
		site.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// subscribed waits until the platform has the number of subscriptions with tokens of the service, and returns the last
// one.
func (f *firebase) subscribed(t *testing.T, count int) (last struct {
	token    string
	interval float64
}) {
	t.Helper()
	wait.For(t, "the subscriptions of the platform", count, func() int {
		found := 0
		for _, item := range suite.Target(t).Items(t, "Subscriptions") {
			if token, ok := item["fcm_token"].(string); ok && strings.HasSuffix(token, ending) {
				found++
				last.token = token
				last.interval, _ = item["min_interval_minutes"].(float64)
			}
		}
		return found
	}, wait.On(suite.Target(t)))
	return last
}

// Without the prop there is no word of notifications.
func TestNoPush(t *testing.T) {
	_, driven := suite.Start(t)
	tab := driven.Open(t, served(t, page.Settings{})+"/settings", browser.Options{Notifications: true,
		Before: pushService})
	tab.See("Settings")
	if strings.Contains(tab.Text("main"), "otif") ||
		browser.Evaluate[bool](tab, "Boolean(document.querySelector('[data-push]'))") {
		t.Errorf("the settings have %q", tab.Text("main"))
	}
}

// A device subscribes, is notified of a question, gets another token, and ends its notifications.
func TestPush(t *testing.T) {
	suite.Start(t)
	service := startFirebase(t)
	address := served(t, page.Settings{Firebase: &service.settings})
	driven := must.Get(browser.Start(browser.Require(t), service.flags()...))(t)
	defer driven.Close()

	// Private tabs have no notifications.
	private := driven.Open(t, address+"/settings", browser.Options{})
	private.Click("Notify me")
	private.See("does not allow notifications")

	tab := driven.Open(t, address+"/settings", browser.Options{Notifications: true, Before: pushService})
	tab.Excuse("500")
	tab.Excuse("net::ERR")
	for _, status := range []int32{500, -1} {
		service.fails.Store(status)
		tab.Click("Notify me")
		tab.See("That did not work")
	}
	service.fails.Store(0)
	service.subscribed(t, 0)
	tab.Click("Notify me")
	tab.See("Notifications are on.")
	first := service.subscribed(t, 1)
	if tokens := service.tokens(); !slices.Equal(tokens, []string{first.token}) || first.interval != 30 {
		t.Errorf("the platform has %+v, the service %v", first, tokens)
	}
	tab.Until("(() => { const list = document.getElementById('interval'); list.value = '60'; list.dispatchEvent(new " +
		"Event('change', {bubbles: true})); return true; })()")
	tab.See("The interval is changed.")
	if got := service.subscribed(t, 1); got.interval != 60 || got.token != first.token {
		t.Errorf("the platform has %+v", got)
	}

	// What the platform sends is shown, and leads to its question in the page that is open.
	ask(t, unique("Do you hear me?"), 2)
	suite.Target(t).RunSchedule(t, "")
	message, id := delivered(t, first.token)
	shown := notification(tab)
	tab.Push(message)
	shown()
	tab.Until("navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => " +
		"all.some((one) => one.body.length > 0))")
	browser.InWorker[bool](tab, `registration.getNotifications().then(([notification]) => {
		dispatchEvent(new NotificationEvent('notificationclick', {notification}));
		return true;
	})`)
	tab.Until("location.pathname === '/q/" + id + "' && document.querySelector('main .question')")
	tab.Until("navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.length " +
		"=== 0)")

	// The browser gives the device another address: the next visit registers it.
	browser.Evaluate[bool](tab,
		`localStorage.setItem('test of push', localStorage.getItem('test of push').replace('push.example/', 'push.example/other-')), setTimeout(() => location.reload()), true`)
	second := first
	tab.Until("JSON.parse(localStorage.getItem('ask-a-human.push')).endpoint.includes('other-')")
	if second = service.subscribed(t, 1); second.token == first.token ||
		!slices.Equal(service.tokens(), []string{second.token}) || second.interval != 60 {
		t.Errorf("the platform has %+v, and before %+v", second, first)
	}
	// After a week the same address is registered once more, with a new token of the installation.
	browser.Evaluate[bool](tab, `(() => {
		const kept = JSON.parse(localStorage.getItem('ask-a-human.push'));
		localStorage.setItem('ask-a-human.push', JSON.stringify({...kept, registered: 1, installation: {...kept.installation, expires: 1}}));
		setTimeout(() => location.reload());
		return true;
	})()`)
	tab.Until("JSON.parse(localStorage.getItem('ask-a-human.push')).registered > 1")
	if got := service.subscribed(t, 1); got.token != second.token || service.renewed.Load() != 1 {
		t.Errorf("the platform has %+v, and before %+v; %d tokens were renewed", got, second, service.renewed.Load())
	}

	tab.Click("Settings")
	tab.Click("Notify me no more")
	tab.See("Notifications are off.")
	service.subscribed(t, 0)
	if browser.Evaluate[bool](tab, "localStorage.getItem('test of push') !== null") {
		t.Error("the browser is still subscribed")
	}

	// Who becomes someone else is notified no more, also where the server cannot be told.
	tab.Click("Notify me")
	tab.See("Notifications are on.")
	tab.Offline(true)
	tab.Click("Start over")
	tab.Until("document.querySelector('dialog[open]')")
	tab.Click("Start over")
	tab.Until("!document.querySelector('dialog[open]') && !localStorage.getItem('ask-a-human.push') && " +
		"!localStorage.getItem('test of push')")
}

// In a local run the page has its notifications from the run's inbox, with nothing of Firebase and of the browser's
// push service. Each visit listens for them.
func TestPushOfTheRun(t *testing.T) {
	runner, _ := suite.Start(t)
	driven := must.Get(browser.Start(browser.Require(t)))(t)
	defer driven.Close()
	tab := driven.Open(t, runner.URL("")+"/settings", browser.Options{Notifications: true})
	tab.Click("Notify me")
	tab.See("Notifications are on.")
	tab.Go(runner.URL("") + "/me")
	shown := notification(tab)
	ask(t, unique("Does this reach you?"), 2)
	suite.Target(t).RunSchedule(t, "")
	shown()
	_, id := delivered(t, browser.Evaluate[string](tab, "JSON.parse(localStorage.getItem('ask-a-human.push')).token"))
	tab.Until("navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => " +
		"all.some((one) => one.tag === '" + id + "' && one.body.length > 0))")
	browser.InWorker[bool](tab, `registration.getNotifications().then(([notification]) => {
		dispatchEvent(new NotificationEvent('notificationclick', {notification}));
		return true;
	})`)
	tab.Until("location.pathname === '/q/" + id + "' && document.querySelector('main .question')")

	tab.Click("Settings")
	tab.Click("Notify me no more")
	tab.See("Notifications are off.")
	items := suite.Target(t).Items(t, "Subscriptions")
	if len(items) > 0 && strings.Contains(fmt.Sprint(items), "page-") {
		t.Errorf("the platform has %v", items)
	}
}

// notification returns what waits until the worker has shown its next notification. Chromium forgets a notification that
// it is asked for while it is being shown: only then may a test look for it.
func notification(tab *browser.Tab) (shown func()) {
	// A worker that rests runs again.
	browser.Evaluate[bool](tab, "navigator.serviceWorker.ready.then(({active}) => (active.postMessage({}), true))")
	browser.InWorker[bool](tab, `(globalThis.shown = new Promise((done) => {
		const show = registration.showNotification.bind(registration);
		registration.showNotification = (...all) => show(...all).then(done);
	}), true)`)
	return func() { browser.InWorker[bool](tab, "shown.then(() => true)") }
}

// delivered is a message of the run's inbox in the form in which Firebase Cloud Messaging gives it to a browser, and
// its question's id.
func delivered(t *testing.T, token string) (content, question string) {
	t.Helper()
	runner, _ := suite.Start(t)
	for _, sent := range runtest.Of(runner).Pushes() {
		var message map[string]any
		must.OK(t, json.Unmarshal(sent.Message, &message))
		data, _ := message["data"].(map[string]any)
		if question, _ = data["question_id"].(string); sent.Token != token || question == "" {
			continue
		}
		content := must.Get(json.Marshal(map[string]any{
			"from": "123456789012", "fcmMessageId": "7b1f2c3d-0000-4000-8000-000000000000", "priority": "normal",
			"notification": message["notification"], "data": data,
		}))(t)
		return string(content), question
	}
	t.Fatal("the platform sent the device no notification of a question")
	return "", ""
}
