package platform

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// checkOddRequests sends to each operation, and so to the database behind it, the request of a client with one part of
// it odd, or none. Each is answered, and never by a failure. The fuzzers of package httpapitest and of the run's
// gateway say the same of requests that are wrong as a whole.
func (s *Suite) checkOddRequests(t *testing.T, statuses ...int) {
	target := s.OwnRun(t, run.Options{})
	measured, runner := s.measured(t, target)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const requests, workers = 1600, 4
	var mutex sync.Mutex
	answered := map[int]int{}
	if err := onesynthtest.Together(workers, func(worker int) error {
		random := rand.New(rand.NewPCG(seed, uint64(worker)))
		operations := s.Platform.Operations()
		usual := make([]client.Request, len(operations))
		for i, route := range operations {
			request, err := requestOf(t.Context(), measured, runner, route.Key())
			if err != nil {
				return err
			}
			usual[i] = request.Request
		}
		for range requests / workers {
			i := random.IntN(len(usual))
			operation, _ := operations[i].Operation()
			request := s.odd(random, usual[i], operation)
			if of := usual[random.IntN(len(usual))].Header["Authorization"]; of != nil && random.IntN(8) == 0 {
				request.Header["Authorization"] = of
			}
			c := NewClient(t, target) // The platforms limit requests by address, which is the client's own.
			r, err := c.Send(t.Context(), request.Method, request.Path, request.Header, request.Body)
			c.HTTP.CloseIdleConnections()
			if err != nil {
				return err
			}
			if _, err := s.IsError(r); r.Status < 100 || r.Status >= 500 || r.Status >= 400 && err != nil &&
				onesynthtest.Field(r.Body, "message") == "" { // the gateway's own form
				return fmt.Errorf("header %q, body %.500v: got %v", request.Header, request.Body, r)
			}
			mutex.Lock()
			answered[r.Status]++
			mutex.Unlock()
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for _, f := range runtest.Of(target.Run).Functions() {
		if f.Deaths+f.Errors+f.TimeOuts > 0 {
			t.Errorf("%s: got %d deaths, %d errors, %d time-outs; want none", f.Name, f.Deaths, f.Errors, f.TimeOuts)
		}
	}
	// Otherwise the requests were too wrong to reach any handler.
	for _, status := range statuses {
		if answered[status] < leastOdd {
			t.Errorf("got the statuses %v; want at least %d times %d", answered, leastOdd, status)
		}
	}
}

// leastOdd is how often each status has to be answered. The rarest ones of a platform come about 20 times.
const leastOdd = 5

// odd returns the request with an odd value in its path, its query, a header or its body, or as it is.
func (s *Suite) odd(random *rand.Rand, r client.Request, operation schema.Description) client.Request {
	value := oddValues[random.IntN(len(oddValues))]
	text := fmt.Sprint(value)
	r.Header = r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if slices.Contains(s.Platform.RequestHeaders, schema.KeyHeader) {
		r.Header.Set(schema.KeyHeader, onesynthtest.Unique("key"))
	}
	switch random.IntN(5) {
	case 0:
		if _, path := onesynthtest.Split(operation.Route); strings.Contains(path, "{") {
			r.Path = pathParameter.ReplaceAllLiteralString(path, url.PathEscape(text))
		}
	case 1:
		query := url.Values{"cursor": {text}, "limit": {text}}
		for _, p := range operation.Parameters() {
			if p.Place == "query" && random.IntN(2) == 0 {
				query = url.Values{p.Name: {text}}
			}
		}
		path, _, _ := strings.Cut(r.Path, "?")
		r.Path = path + "?" + query.Encode()
	case 2:
		headers := append(s.Platform.RequestHeaders, "Content-Type")
		r.Header.Set(headers[random.IntN(len(headers))], strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f {
				return -1
			}
			return c
		}, text))
	case 3:
		var fields map[string]any
		if body, _ := r.Body.([]byte); json.Unmarshal(body, &fields) == nil {
			maps.Copy(fields, routes.Optional(operation))
			names := append(slices.Sorted(maps.Keys(fields)), text)
			fields[names[random.IntN(len(names))]] = value
			r.Body = fields
		}
	}
	return r
}

// oddValues are values that programs trip over.
var oddValues = []any{
	nil, true, -1, 0.5, 1 << 40, 1e300, []any{}, []any{nil, ""}, map[string]any{"": nil},
	"", " ", "\x00", "a\tb\r\nc: d", "null", "undefined", "NaN",
	"é", "日本語", "🦀👩‍👩‍👧", "ﷺ", "\u202e\u200b\ufeff", "\xff\xfe", "\xc0\x80",
	"%00", "%", "#", "?", "USER#x", "RATE#create#x", "../../etc/passwd", "' OR 1=1 --", "<script>",
	"2026-02-30", "9999-12-31", `"1"`, `W/"1", "2",, "a,b"`, "00000000-0000-4000-8000-000000000000",
	strings.Repeat("x", 600), strings.Repeat("ü", 2100), strings.Repeat("9", 400),
}
