package platform

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// rawRequest is a request that may be wrong in every part. It leaves out what would end it early,
// such as a line break in a header, which would make it another request instead of a wrong one.
type rawRequest struct {
	method, path, query string
	header              []string // name, value, name, value, …
	body                []byte
}

func (r rawRequest) String() string {
	const most = 500
	return fmt.Sprintf("%s %q?%q, headers %q, body of %d bytes %.*q", r.method, r.path, r.query, r.header, len(r.body),
		most, r.body)
}

// target returns the path with the query, as in the first line.
func (r rawRequest) target() string {
	token := func(s string) string {
		return strings.Map(func(c rune) rune {
			if c <= ' ' || c == 0x7f {
				return -1
			}
			return c
		}, s)
	}
	if r.query == "" {
		return token(r.path)
	}
	return token(r.path) + "?" + token(r.query)
}

// write writes the request as it is.
func (r rawRequest) write(w io.Writer, host string) error {
	line := strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n", r.method,
		r.target(), host, len(r.body))
	for i := 0; i+1 < len(r.header); i += 2 {
		fmt.Fprintf(&text, "%s: %s\r\n", r.header[i], line(r.header[i+1]))
	}
	text.WriteString("\r\n")
	text.Write(r.body)
	_, err := w.Write(text.Bytes())
	return err
}

// Language describes a platform's usual requests.
type Language struct {
	// Headers returns the headers that the platform reads, as they usually are.
	Headers func() map[string]string
	// Queries are the names of query parameters, QueryValues what they may be.
	Queries, QueryValues []string
	// Parameters are what there is to find, by path parameter without its braces, and by member of bodies.
	Parameters map[string][]string
	// Body returns what a usual body of a route has besides what the OpenAPI document requires and has examples of, one
	// of several by chance. Routes without a body have none.
	Body func(random *rand.Rand, route schema.Route) map[string]any
	// Bodies are further bodies to try, Texts further texts.
	Bodies, Texts []string
}

// fuzzed is a run that gets requests of any kind.
type fuzzed struct {
	*Target
	suite    *Suite
	host     string
	routes   []schema.Route
	language Language
	// outside match the method and path of requests that no operation of the API answers, but a page.
	outside []*regexp.Regexp
	// answered counts the replies by status and by who made them.
	answered [600]atomic.Int32
	byHTTP   atomic.Int32
	// addresses counts the loopback addresses that requests have come from.
	addresses atomic.Uint32
}

func (s *Suite) newFuzzed(t testing.TB, learn func(testing.TB, *Target) Language) *fuzzed {
	t.Helper()
	target := s.OwnRun(t, run.Options{})
	address, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &fuzzed{Target: target, suite: s, host: address.Host, routes: s.Platform.Operations(),
		language: learn(t, target)}
	for _, route := range f.routes {
		if _, err := newGenerator(f, 1).usualBody(route); err != nil {
			t.Fatalf("%s: %v", route.Key(), err)
		}
	}
	for _, route := range s.Platform.Routes {
		if route.OutsideAPI {
			f.outside = append(f.outside, regexp.MustCompile("^"+route.Method+" "+
				pathParameter.ReplaceAllLiteralString(route.Path, "[^/]+")+"$"))
		}
	}
	return f
}

// check sends a request from its own address and checks every answer: it is no failure, and an
// error has the platform's form.
func (f *fuzzed) check(r rawRequest) error {
	n := f.addresses.Add(1)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 2, byte(n>>8), byte(n))}, Timeout: 10 * time.Second}
	connection, err := dialer.Dial("tcp", f.host)
	if err != nil {
		return err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	// A server may answer before it has read the whole request, and then reads no more.
	writing := make(chan error, 1)
	go func() { writing <- r.write(connection, f.host) }()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: r.method})
	if f.notHTTP(r, err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v: no answer: %w (written: %v)", r, err, <-writing)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if f.notHTTP(r, err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%v: read the answer: %w", r, err)
	}
	got := onesynthtest.Reply{Request: r.String(), Status: response.StatusCode, Header: response.Header, Body: body}
	if got.Status < 100 || got.Status >= 500 {
		return fmt.Errorf("got %v", got)
	}
	f.answered[got.Status].Add(1)
	switch {
	case got.Status == http.StatusNoContent || r.method == http.MethodHead:
		return nil
	case got.Status < 400:
		if !json.Valid(body) && !f.isOutside(r) {
			return fmt.Errorf("got %v, which is no JSON", got)
		}
		return nil
	}
	if _, err := f.suite.IsError(got); err == nil {
		return nil
	}
	// A request that never reaches a function is refused in API Gateway's form, and text
	// that is not HTTP in no form.
	var gateway struct{ Message string }
	if json.Unmarshal(body, &gateway) == nil && gateway.Message != "" {
		if slices.Contains([]int{400, 401, 404, 413, 414, 429, 431}, got.Status) {
			return nil
		}
	} else if slices.Contains([]int{400, 431}, got.Status) &&
		strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		f.byHTTP.Add(1)
		return nil
	}
	return fmt.Errorf("got %v, which has not the form of an error", got)
}

// isOutside reports whether a request that was answered is outside of the API.
func (f *fuzzed) isOutside(r rawRequest) bool {
	return slices.ContainsFunc(f.outside, func(route *regexp.Regexp) bool {
		return route.MatchString(r.method + " " + r.path)
	})
}

// notHTTP reports whether the connection was reset because the first line is not HTTP: a server
// need not read on then.
func (f *fuzzed) notHTTP(r rawRequest, err error) bool {
	if _, parsed := url.ParseRequestURI(r.target()); parsed == nil || !errors.Is(err, syscall.ECONNRESET) {
		return false
	}
	f.byHTTP.Add(1)
	return true
}

// alive checks that no process of a handler has died or failed.
func (f *fuzzed) alive(t testing.TB) {
	t.Helper()
	for _, function := range runtest.Of(f.Run).Functions() {
		if function.Deaths != 0 || function.Errors != 0 || function.TimeOuts != 0 {
			t.Errorf("function %s: got %d deaths, %d errors, %d timeouts; want none", function.Name, function.Deaths,
				function.Errors, function.TimeOuts)
		}
	}
}

// checkAnyRequest checks that requests of every kind, well-formed and not, are
// answered and never a failure.
func (s *Suite) checkAnyRequest(t *testing.T, learn func(testing.TB, *Target) Language, statuses ...int) {
	t.Helper()
	f := s.newFuzzed(t, learn)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const requests, workers = 2400, 8
	if err := onesynthtest.Together(workers, func(worker int) error {
		random := newGenerator(f, seed+uint64(worker))
		for range requests / workers {
			if err := f.check(random.request()); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	f.alive(t)
	counts := map[int]int32{}
	for status := range f.answered {
		if n := f.answered[status].Load(); n > 0 {
			counts[status] = n
		}
	}
	t.Logf("answers by status: %v; %d were no HTTP", counts, f.byHTTP.Load())
	// Otherwise the requests were too wrong to reach any handler.
	for _, status := range statuses {
		if counts[status] < 20 {
			t.Errorf("got %d answers of status %d; want at least 20", counts[status], status)
		}
	}
	if n := f.byHTTP.Load(); n > requests/5 {
		t.Errorf("%d of %d requests were no HTTP", n, requests)
	}
}

// checkLargeBodies checks that bodies of up to a megabyte are answered, with every
// content type and content: neither the platform's own bodies nor others are accepted.
func (s *Suite) checkLargeBodies(t *testing.T, learn func(testing.TB, *Target) Language, own map[string][]byte) {
	t.Helper()
	f := s.newFuzzed(t, learn)
	const megabyte = 1 << 20
	bodies := map[string][]byte{
		"Nesting": bytes.Repeat([]byte("["), megabyte),
		"Objects": bytes.Repeat([]byte(`{"a":`), megabyte/5),
		"Fields":  fmt.Appendf(nil, `{%s"b":1}`, strings.Repeat(`"a":1,`, 1<<16)),
		"Zeros":   make([]byte, megabyte),
		"Blanks":  bytes.Repeat([]byte(" "), megabyte),
		"Unicode": bytes.Repeat([]byte("\xf0\x9f\xa6\x80"), megabyte/4),
	}
	maps.Copy(bodies, own)
	names := slices.Sorted(maps.Keys(bodies))
	send := func(route schema.Route, name, contentType string) {
		r := rawRequest{method: route.Method, path: PathOf(route, "x"), body: bodies[name]}
		for header, value := range f.language.Headers() {
			if header != "Content-Type" {
				r.header = append(r.header, header, value)
			}
		}
		if contentType != "" {
			r.header = append(r.header, "Content-Type", contentType)
		}
		if err := f.check(r); err != nil {
			t.Errorf("%s as %q: %v", name, contentType, err)
		}
	}
	// Every route refuses a body of another type before it looks at the content, so it
	// gets one of each such type. The contents take turns.
	sent := 0
	for _, route := range f.routes {
		if route.Method != http.MethodPost && route.Method != http.MethodPut && route.Method != http.MethodPatch ||
			!takesBody(route) {
			continue
		}
		for _, name := range names {
			send(route, name, "application/json")
		}
		for _, contentType := range []string{"application/octet-stream", "multipart/form-data; boundary=x", ""} {
			send(route, names[sent%len(names)], contentType)
			sent++
		}
	}
	for _, status := range []int{200, 201} {
		if n := f.answered[status].Load(); n > 0 {
			t.Errorf("%d of the bodies were taken with %d", n, status)
		}
	}
	f.alive(t)
}

// Fuzz sends what the fuzzer makes up.
func (s *Suite) Fuzz(f *testing.F, learn func(testing.TB, *Target) Language) {
	f.Helper()
	target := s.newFuzzed(f, learn)
	random := newGenerator(target, 1)
	for i, route := range target.routes {
		r := random.requestOf(route)
		f.Add(i, r.path, r.query, "X-Timezone", "Europe/Berlin", "application/json", r.body)
		f.Add(i, r.path, "limit=%zz&cursor=\xff", "X-Timezone", "Local", "text/plain; charset=\xff",
			[]byte{0xff, 0xfe, 0})
	}
	usual := target.language.Headers()
	delete(usual, "Content-Type")
	f.Fuzz(func(t *testing.T, route int, path, query, header, value, contentType string, body []byte) {
		if len(body) > 1<<20 {
			t.Skip("larger than is asked for")
		}
		r := rawRequest{
			method: target.routes[uint(route)%uint(len(target.routes))].Method,
			path:   "/" + strings.TrimPrefix(path, "/"), query: query, body: body,
			header: []string{"Content-Type", contentType},
		}
		for name, value := range usual {
			r.header = append(r.header, name, value)
		}
		if validHeaderName(header) {
			r.header = append(r.header, header, value)
		}
		if err := target.check(r); err != nil {
			t.Error(err)
		}
		target.alive(t)
	})
}

// validHeaderName leaves out names that would change the request: names that are no token, and
// names of the request's framing.
func validHeaderName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&'*+-.^_`|~", c) &&
			(c > 'z' || !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c)) {
			return false
		}
	}
	return name != "" && !slices.ContainsFunc(
		[]string{"Content-Length", "Transfer-Encoding", "Host", "Expect", "Upgrade", "Connection", "Trailer"},
		func(frame string) bool {
			return strings.EqualFold(frame, name)
		})
}

// generator makes up requests that are right in most parts and wrong in some, so
// that they get further than noise would.
type generator struct {
	*rand.Rand
	*fuzzed
}

func newGenerator(f *fuzzed, seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, seed)), fuzzed: f}
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) request() rawRequest {
	r := g.requestOf(pick(g, g.routes...))
	if g.IntN(20) == 0 {
		r.method = pick(g, "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW")
	}
	if g.IntN(20) == 0 {
		r.path += pick(g, "/", "//", "/..", "/%2e%2e", "/%00", "/%zz", ";a=b", "/"+g.text())
	}
	return r
}

func (g *generator) requestOf(route schema.Route) rawRequest {
	r := rawRequest{method: route.Method, path: route.Path}
	r.path = pathParameter.ReplaceAllStringFunc(r.path, func(parameter string) string {
		known := append(g.language.Parameters[strings.Trim(parameter, "{}")], "00000000-0000-4000-8000-000000000000")
		return pick(g, pick(g, known...), pick(g, known...), known[0], url.PathEscape(g.text()), g.text())
	})
	values := append(g.language.QueryValues, "1", "50", "-1", "99999999999999999999", "%zz", "%", "&&==")
	names := g.language.Queries
	if route.Method != http.MethodGet && g.IntN(4) > 0 {
		names = nil
	}
	for _, name := range names {
		if g.IntN(2*len(names)) == 0 {
			r.query += "&" + name + "=" + pick(g, pick(g, values...), pick(g, values...), url.QueryEscape(g.text()),
				g.text())
		}
	}
	r.query = strings.TrimPrefix(r.query, "&")
	for name, usual := range g.language.Headers() {
		switch g.IntN(12) {
		case 0:
		case 1:
			r.header = append(r.header, name, g.text())
		default:
			r.header = append(r.header, name, usual)
		}
	}
	if route.Method == http.MethodPost || route.Method == http.MethodPut || route.Method == http.MethodPatch ||
		g.IntN(20) == 0 {
		r.body = g.madeBody(route)
	}
	return r
}

// takesBody reports whether requests of a route have a body.
func takesBody(route schema.Route) bool {
	d, ok := route.Operation()
	return ok && d.Body() != nil
}

// usualBody is a body for the route as the document describes it, about what there is to find.
func (g *generator) usualBody(route schema.Route) (map[string]any, error) {
	known := map[string]any{}
	for name, values := range g.language.Parameters {
		known[name] = pick(g, values...)
	}
	d, _ := route.Operation()
	return routes.Sample(d, g.language.Body(g.Rand, route), known)
}

// madeBody is a body for the route with none or some of its parts wrong.
func (g *generator) madeBody(route schema.Route) []byte {
	object := map[string]any{}
	usual, _ := g.usualBody(route) // checked before
	maps.Copy(object, usual)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if g.IntN(8) == 0 {
			object[name] = g.value(3)
		}
	}
	if g.IntN(10) == 0 {
		object[g.text()] = g.value(3)
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	switch g.IntN(12) {
	case 0: // cut off
		return encoded[:g.IntN(len(encoded)+1)]
	case 1: // a byte changed
		if len(encoded) > 0 {
			encoded[g.IntN(len(encoded))] = byte(g.IntN(256))
		}
	case 2:
		return []byte(g.text())
	case 3: // what JSON in Go cannot write
		bodies := append(g.language.Bodies, "\xef\xbb\xbf{}", `{}{}`, `[{}]`, `null`, `"text"`, `-0`,
			strings.Repeat("[", 20000))
		return []byte(pick(g, bodies...))
	case 4: // any bytes
		noise := make([]byte, g.IntN(300))
		for i := range noise {
			noise[i] = byte(g.IntN(256))
		}
		return noise
	}
	return encoded
}

// text is a text that programs trip over.
func (g *generator) text() string {
	texts := append(g.language.Texts, "", " ", "\x00", "null", "undefined", "true", "-1", "NaN", "é", "日本語", "🦀👩‍👩‍👧",
		"\u202e\u200b\ufeff", "\xff\xfe", "\xc0\x80", "%00", "%", "#", "?", "../../etc/passwd", "' OR 1=1 --",
		"${jndi:x}", "<script>", strings.Repeat("x", 600), strings.Repeat("ü", 2100), strings.Repeat("9", 400), "a\tb",
		"a\r\nb: c", string(rune(g.IntN(0x10ffff))))
	return pick(g, texts...)
}

// value is any JSON value.
func (g *generator) value(depth int) any {
	switch g.IntN(9) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return pick[any](g, 0, -1, 1, 51, 1<<40, -1<<62, 0.5, 1e300, -1e-300)
	case 3, 4, 5:
		return g.text()
	case 6:
		return strings.Repeat(g.text(), g.IntN(50))
	case 7:
		list := make([]any, g.IntN(12))
		if depth > 0 {
			for i := range list {
				list[i] = g.value(depth - 1)
			}
		}
		return list
	default:
		object := map[string]any{}
		if depth > 0 {
			for range g.IntN(4) {
				object[g.text()] = g.value(depth - 1)
			}
		}
		return object
	}
}
