package console_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// record is a recorder with three requests and their lines.
func record(t *testing.T) *trace.Recorder {
	t.Helper()
	r := trace.New(trace.Options{})
	for n := range 3 {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		f := r.Invoke(t.Context(), id, "links-API", "linksapi", 0)
		r.Line("links-API", "linksapi", id, fmt.Sprint("line ", n))
		f.End("")
	}
	return r
}

func TestTraces(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(console.New(console.Parts{Trace: record(t)}))
	t.Cleanup(server.Close)
	second := "00000001-0000-4000-8000-000000000000"
	for path, test := range map[string]struct {
		status int
		says   string
	}{
		"/requests?limit=2":                 {200, `"next": 4`},
		"/requests?before=4":                {200, `"id": "00000000-`},
		"/requests?search=nothing":          {200, `"requests": []`},
		"/requests?limit=-1":                {400, `limit: got \"-1\": write a number from 1 to 500`},
		"/requests?before=x":                {400, `before: got \"x\"`},
		"/requests?search=200":              {200, `"requests": []`},
		"/requests?only=failed":             {200, `"requests": []`},
		"/requests?only=bad":                {400, `only: got \"bad\": write one of [\"failed\" \"4xx\"`},
		"/requests?stack=none":              {200, `"requests": []`},
		"/lines?level=loud":                 {400, `level: got \"loud\"`},
		"/lines?level=warn":                 {200, `[]`},
		"/lines?search=LINE&limit=1":        {200, `"line 2"`},
		"/lines?search=nothing":             {200, `[]`},
		"/lines?limit=0":                    {400, `limit: got \"0\"`},
		"/requests/" + second:               {200, `"text": "line 1"`},
		"/requests/none":                    {404, `no request \"none\": the run keeps the newest 10000`},
		"/requests/" + "a%2Fb":              {404, `no request \"a/b\"`},
		"/lines?request=" + second:          {200, `"line 1"`},
		"/lines?function=linksapi":          {200, `"line 2"`},
		"/lines?function=none":              {200, `[]`},
		"/lines?after=x":                    {400, `after: got \"x\"`},
		"/events?after=x":                   {400, `after: got \"x\"`},
		"/lines?function=links-API&after=1": {200, `"line 0"`},
	} {
		t.Run(url.PathEscape(path), func(t *testing.T) {
			t.Parallel()
			response := must.Get(http.Get(server.URL + path))(t)
			defer response.Body.Close()
			var text strings.Builder
			if _, err := bufio.NewReader(response.Body).WriteTo(&text); err != nil ||
				response.StatusCode != test.status || !strings.Contains(text.String(), test.says) {
				t.Errorf("got %d %s", response.StatusCode, text.String())
			}
		})
	}
}

// TestEvents follows a run: each event is one of its kinds, in the form of server-sent events.
func TestEvents(t *testing.T) {
	t.Parallel()
	recorder := record(t)
	recorder.Changed(trace.Change{What: "build", State: "failed", Text: "links.go:1:1: a\nb"})
	server := httptest.NewServer(console.New(console.Parts{Trace: recorder}))
	t.Cleanup(server.Close)
	listen := func(query string) *bufio.Scanner {
		response := must.Get(http.Get(server.URL + "/events" + query))(t)
		t.Cleanup(func() { response.Body.Close() })
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" || response.StatusCode != 200 {
			t.Fatalf("got %d %s", response.StatusCode, kind)
		}
		return bufio.NewScanner(response.Body)
	}
	next := func(from *bufio.Scanner) (kind, data string) {
		for from.Scan() {
			if name, ok := strings.CutPrefix(from.Text(), "event: "); ok {
				kind = name
			}
			if text, ok := strings.CutPrefix(from.Text(), "data: "); ok {
				return kind, text
			}
		}
		t.Fatal("the stream ended")
		return "", ""
	}
	all, lines := listen(""), listen("?type=line&function=linksapi")
	if kind, data := next(all); kind != "change" || !strings.Contains(data, `a\nb`) {
		t.Errorf("got %s %s", kind, data)
	}
	id := "00000009-0000-4000-8000-000000000000"
	f := recorder.Invoke(t.Context(), id, "links-API", "linksapi", 0)
	recorder.Line("other", "other", "", "of another")
	recorder.Line("links-API", "linksapi", id, "heard\r\n\n")
	f.End("Unhandled: no")
	for _, want := range []string{`request "running":true`, `line of another`, `line heard`, `request Unhandled: no`} {
		kind, data := next(all)
		if name, part, _ := strings.Cut(want, " "); kind != name || !strings.Contains(data, part) ||
			!json.Valid([]byte(data)) {
			t.Errorf("got %s %s, want %s", kind, data, want)
		}
	}
	if kind, data := next(lines); kind != "line" || !strings.Contains(data, "heard") {
		t.Errorf("got %s %s", kind, data)
	}
}
