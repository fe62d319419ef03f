package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/fcm"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

const (
	image  = `<img src=x onerror=alert(1)>`
	script = `<script>alert(2)</script>`
)

// What strangers stored is text, in every view.
func TestStrangersTexts(t *testing.T) {
	runner, _ := suite.Start(t)
	table := quietTables(t, runner)[0]
	put(t, runner, table, item(table, image, map[string]string{"note": script, image: "name"}))
	on := runtest.Of(runner)
	queue := on.Queues()[0]
	must.OK(t, errors.Join(on.Purge(queue), on.Send(queue, `{"text": "`+image+script+`"}`, nil)))
	pushes := must.Get(fcm.New([]byte(must.Get(on.ServiceAccount())(t)), on.PushURL(), nil))(t)
	must.OK(t, pushes.Send(t.Context(), askahuman.PushMessage{Token: "device-" + script, Title: image, Body: script}))
	bucket := on.Buckets()[0]
	for key, content := range map[string]string{"strangers/" + image +
		".html": "<!doctype html><script>alert(3)</script>", "strangers/" + strings.Repeat("long", 60): "text"} {
		must.OK(t, on.PutObject(bucket, key, "text/html", []byte(content)))
	}
	api := on.APIs()[0].URL
	must.Get(call(t, http.MethodGet, api+"/"+url.PathEscape(image+script), "", ""))(t)
	_, tab := open(t, "", browser.Options{})
	tab.Excuse("404") // an address that names nothing
	for _, one := range []struct{ view, sees string }{
		{tableView(table, "&partition="+url.QueryEscape(image)), image},
		{"#/queues/" + url.PathEscape(queue), image},
		{"#/push", image},
		{"#/buckets/" + url.PathEscape(bucket) + "?prefix=" + url.QueryEscape("strangers/"), image},
		{"#/requests", "onerror"},
		{"#/requests/" + newest(runner, "onerror").ID, "onerror"},
		{"#/requests?search=" + url.QueryEscape(image), ""},
		{"#/map?stack=" + url.QueryEscape(image), image},
		{"#/" + url.PathEscape(script), ""},
		{"#/tables/" + url.PathEscape(image), image},
		{itemView(t, table, image), image},
		{"#/user-pools", ""},
		{"#/parameters", ""},
		{"#/schedules/" + url.PathEscape(image), ""},
	} {
		goTo(tab, one.view)
		if one.sees != "" {
			tab.See(one.sees)
		}
		if made := browser.Evaluate[int](tab,
			"document.querySelectorAll('body script, img[src=\"x\"], main b').length"); made != 0 {
			t.Errorf("%s: %d elements were made of texts", one.view, made)
		}
	}
	goTo(tab, tableView(table, "&partition="+url.QueryEscape(image)))
	// A heading has the same name.
	browser.Evaluate[bool](tab, "document.querySelector('main tbody button').click(), true")
	tab.Until("document.querySelector('dialog[open]')")
	tab.Click("Close")
	goTo(tab, "#/buckets/"+url.PathEscape(bucket)+"?prefix="+url.QueryEscape("strangers/"))
	tab.Click(image + ".html")
	tab.See("alert(3)")
	tab.Click("Close")

	// An object is never a page at the console's origin.
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet,
		runner.ConsoleURL()+"/buckets/"+bucket+"/objects/"+url.PathEscape("strangers/"+image+".html"), nil))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	if _ = response.Body.Close(); response.StatusCode != 200 ||
		response.Header.Get("Content-Type") != "application/octet-stream" ||
		response.Header.Get("Content-Disposition") != "attachment" {
		t.Errorf("got %s %v", response.Status, response.Header)
	}
}
