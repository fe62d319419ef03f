package console_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

func TestTry(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Apigw-Requestid", "request-1")
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("X-Agent-Id"), " ", r.Header.Get("Origin"),
			string(body))
	}))
	t.Cleanup(api.Close)
	c := console.New(console.Parts{APIs: []console.API{{URL: api.URL}}})
	for name, test := range map[string]struct {
		try    console.Try
		status int
		says   string
		want   console.Tried
	}{
		"Sent": {
			try: console.Try{API: api.URL, Method: "PUT", Path: "/a%2Fb?c=d",
				Headers: map[string]string{"X-Agent-Id": "me"}, Body: "{}"},
			status: 200, want: console.Tried{Status: http.StatusTeapot, Body: "PUT /a%2Fb?c=d me {}",
				Request: "request-1"},
		},
		"NoRedirect": {try: console.Try{API: api.URL, Path: "/old"}, status: 200, want: console.Tried{
			Status: http.StatusFound, Body: "<a href=\"/new\">Found</a>.\n\n", Request: "request-1",
		}},
		"Elsewhere": {try: console.Try{API: "http://127.0.0.1:1", Path: "/"}, status: 400, says: "an API of the run"},
		"Longer":    {try: console.Try{API: api.URL + "@b.example", Path: "/"}, status: 400, says: "an API of the run"},
		"NoPath":    {try: console.Try{API: api.URL, Path: "@b.example/"}, status: 400, says: "begins with /"},
		"NoMethod":  {try: console.Try{API: api.URL, Path: "/", Method: "A B"}, status: 400, says: "method"},
		"NoHeader": {try: console.Try{API: api.URL, Path: "/", Headers: map[string]string{"a b": "c"}}, status: 502,
			says: "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := must.Get(json.Marshal(test.try))(t)
			w := httptest.NewRecorder()
			c.ServeHTTP(w, post("/try", string(body)))
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
				t.Fatalf("got %d %s", w.Code, w.Body)
			}
			var got console.Tried
			must.OK(t, json.Unmarshal(w.Body.Bytes(), &got))
			if got.Status != test.want.Status || got.Body != test.want.Body || got.Request != test.want.Request {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A request goes once more as it came, with its secrets, and with another idempotency key if one is given.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got, body = r, string(text)
		w.Header().Set("Apigw-Requestid", "request-2")
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	recorder := trace.New(trace.Options{})
	_, request := recorder.Begin(t.Context(), "request-1",
		trace.Origin{Kind: trace.HTTP, Stack: "links", API: "Links", Method: "PUT", Path: "/a%2Fb?c=d"})
	request.Exchange(trace.Content{Body: []byte("\xff{}"), Header: http.Header{"Authorization": {"Bearer of-alice"},
		"Cookie": {"a=1", "b=2"}, "Idempotency-Key": {"first"}, "Accept-Encoding": {"br"}}}, trace.Content{})
	_, large := recorder.Begin(t.Context(), "large", trace.Origin{Kind: trace.HTTP, Stack: "links", API: "Links"})
	large.Exchange(trace.Content{Body: make([]byte, trace.MaxBody+1)}, trace.Content{})
	_, foreign := recorder.Begin(t.Context(), "foreign", trace.Origin{Kind: trace.HTTP, Stack: "links", API: "Gone"})
	foreign.Exchange(trace.Content{}, trace.Content{})
	c := console.New(console.Parts{Trace: recorder,
		APIs: []console.API{{URL: server.URL, Stack: "links", Name: "Links"}}})
	for _, test := range []struct{ body, key string }{{"{}", "first"}, {`{"idempotency_key":"second"}`, "second"}} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, post("/requests/request-1/again", test.body))
		var tried console.Tried
		must.OK(t, json.Unmarshal(w.Body.Bytes(), &tried))
		if w.Code != 200 || tried.Status != http.StatusCreated || tried.Request != "request-2" {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		if h := got.Header; got.Method != http.MethodPut || got.URL.RequestURI() != "/a%2Fb?c=d" || body != "\xff{}" ||
			h.Get("Authorization") != "Bearer of-alice" || len(h["Cookie"]) != 2 ||
			h.Get("Idempotency-Key") != test.key || h.Get("Accept-Encoding") == "br" {
			t.Errorf("got %s %s %q %v", got.Method, got.URL, body, h)
		}
	}
	for _, id := range []string{"large", "foreign", "none"} {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, post("/requests/"+id+"/again", "{}"))
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "cannot be sent again") {
			t.Errorf("%s: got %d %s", id, w.Code, w.Body)
		}
	}
}
