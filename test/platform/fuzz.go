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

	"github.com/onesynth-cdk/onesynth/internal/must"
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
	header              http.Header
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
	for name, values := range r.header {
		fmt.Fprintf(&text, "%s: %s\r\n", name, line(values[0]))
	}
	text.WriteString("\r\n")
	text.Write(r.body)
	_, err := w.Write(text.Bytes())
	return err
}

// Odd is what the fuzzer also tries: bodies, and texts for any place.
type Odd struct{ Bodies, Texts []string }

// usual is a request of an operation as a client makes it that is ready to do so.
type usual struct {
	routes.Request
	operation schema.Description
	path      string
	// queries are the names of the operation's query parameters.
	queries []string
}

// fuzzed is a run that gets requests of any kind.
type fuzzed struct {
	*Target
	suite *Suite
	host  string
	odd   Odd
	// values are those that parameters of the operations may have, as the contract says.
	values []string
	// outside match the method and path of requests that no operation of the API answers, but a page.
	outside []*regexp.Regexp
	// answered counts the replies by status and by who made them.
	answered [600]atomic.Int32
	byHTTP   atomic.Int32
	// addresses counts the loopback addresses that requests have come from.
	addresses atomic.Uint32
}

func (s *Suite) newFuzzed(t testing.TB, odd Odd) *fuzzed {
	t.Helper()
	target := s.OwnRun(t, run.Options{})
	address := must.Get(url.Parse(target.URL))(t)
	f := &fuzzed{Target: target, suite: s, host: address.Host, odd: odd}
	for _, route := range s.Platform.Routes {
		if route.OutsideAPI {
			f.outside = append(f.outside, regexp.MustCompile("^"+route.Method+" "+
				pathParameter.ReplaceAllLiteralString(route.Path, "[^/]+")+"$"))
		}
		d, ok := route.Operation()
		if !ok {
			continue
		}
		for _, p := range d.Parameters() {
			f.values = append(f.values, strings.Split(p.Field.Tag.Get("enum"), ",")...)
			f.values = append(f.values, p.Field.Tag.Get("example"))
		}
	}
	f.values = slices.Clip(f.values)
	return f
}

// usual are requests of all operations, each by a client of its own.
func (f *fuzzed) usual(t testing.TB) (all []usual, err error) {
	measured, runner := f.suite.measured(t, f.Target)
	for _, route := range f.suite.Platform.Operations() {
		request, ok, err := requestOf(t.Context(), measured, runner, route.Key())
		if err != nil {
			return nil, err
		}
		u := usual{Request: request}
		if u.operation, _ = route.Operation(); !ok { // anyone may make it, without anything
			u.Method, u.Path, u.Header = route.Method, route.Path, http.Header{}
		}
		u.path, _, _ = strings.Cut(u.Path, "?")
		for _, p := range u.operation.Parameters() {
			if p.Place == "query" {
				u.queries = append(u.queries, p.Name)
			}
		}
		all = append(all, u)
	}
	return all, nil
}

// header has the headers of a usual request, and of the others that the platform reads what they usually are.
func (f *fuzzed) header(u usual) http.Header {
	header, key := u.Header.Clone(), onesynthtest.Unique("key")
	header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"If-Match": "*", "X-Timezone": "Europe/Berlin", "Idempotency-Key": key,
		"X-Idempotency-Key": key} {
		if slices.Contains(f.suite.Platform.RequestHeaders, name) {
			header.Set(name, value)
		}
	}
	return header
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
func (s *Suite) checkAnyRequest(t *testing.T, odd Odd, statuses ...int) {
	t.Helper()
	f := s.newFuzzed(t, odd)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const requests, workers = 2400, 2
	if err := onesynthtest.Together(workers, func(worker int) error {
		all, err := f.usual(t)
		if err != nil {
			return err
		}
		return onesynthtest.Together(workers, func(helper int) error {
			random := newGenerator(f, seed+uint64(workers*worker+helper))
			for range requests / workers / workers {
				if err := f.check(random.request(all)); err != nil {
					return err
				}
			}
			return nil
		})
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
func (s *Suite) checkLargeBodies(t *testing.T, odd Odd, own map[string][]byte) {
	t.Helper()
	f := s.newFuzzed(t, odd)
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
	send := func(u usual, name, contentType string) {
		header := f.header(u)
		header.Set("Content-Type", contentType)
		_, path := onesynthtest.Split(pathParameter.ReplaceAllLiteralString(u.operation.Route, "x"))
		if err := f.check(rawRequest{u.Method, path, "", header, bodies[name]}); err != nil {
			t.Errorf("%s as %q: %v", name, contentType, err)
		}
	}
	all := must.Get(f.usual(t))(t)
	// Every route refuses a body of another type before it looks at the content, so it
	// gets one of each such type. The contents take turns.
	sent := 0
	for _, u := range all {
		if u.operation.Body() == nil || u.Method == http.MethodDelete {
			continue
		}
		for _, name := range names {
			send(u, name, "application/json")
		}
		for _, contentType := range []string{"application/octet-stream", "multipart/form-data; boundary=x", ""} {
			send(u, names[sent%len(names)], contentType)
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
func (s *Suite) Fuzz(f *testing.F, odd Odd) {
	f.Helper()
	target := s.newFuzzed(f, odd)
	random := newGenerator(target, 1)
	all := must.Get(target.usual(f))(f)
	for i, u := range all {
		r := random.requestOf(u, all)
		f.Add(i, r.path, r.query, "X-Timezone", "Europe/Berlin", "application/json", r.body)
		f.Add(i, r.path, "limit=%zz&cursor=\xff", "X-Timezone", "Local", "text/plain; charset=\xff",
			[]byte{0xff, 0xfe, 0})
	}
	f.Fuzz(func(t *testing.T, route int, path, query, name, value, contentType string, body []byte) {
		if len(body) > 1<<20 {
			t.Skip("larger than is asked for")
		}
		u := all[uint(route)%uint(len(all))]
		header := target.header(u)
		header.Set("Content-Type", contentType)
		if validHeaderName(name) {
			header[name] = []string{value}
		}
		r := rawRequest{u.Method, "/" + strings.TrimPrefix(path, "/"), query, header, body}
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

func (g *generator) request(all []usual) rawRequest {
	u := pick(g, all...)
	// Every third is as a client makes it, so that there is something which the others meet.
	if g.IntN(3) == 0 {
		body, _ := u.Body.([]byte)
		_, query, _ := strings.Cut(u.Path, "?")
		return rawRequest{u.Method, u.path, query, g.header(u), body}
	}
	r := g.requestOf(u, all)
	if g.IntN(20) == 0 {
		r.method = pick(g, "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW")
	}
	if g.IntN(20) == 0 {
		r.path += pick(g, "/", "//", "/..", "/%2e%2e", "/%00", "/%zz", ";a=b", "/"+g.text())
	}
	return r
}

func (g *generator) requestOf(u usual, all []usual) rawRequest {
	r := rawRequest{method: u.Method, path: u.path, header: http.Header{}}
	_, r.query, _ = strings.Cut(u.Path, "?")
	if _, path := onesynthtest.Split(u.operation.Route); strings.Contains(path, "{") && g.IntN(5) == 0 {
		r.path = pathParameter.ReplaceAllStringFunc(path, func(string) string {
			return pick(g, "00000000-0000-4000-8000-000000000000", url.PathEscape(g.text()), g.text())
		})
	}
	values := append(g.values, "1", "50", "-1", "99999999999999999999", "2026-02-14", "true", "%zz", "%", "&&==")
	for _, name := range u.queries {
		if g.IntN(2*len(u.queries)) == 0 {
			r.query += "&" + name + "=" + pick(g, pick(g, values...), pick(g, values...), url.QueryEscape(g.text()),
				g.text())
		}
	}
	r.query = strings.TrimPrefix(r.query, "&")
	header := g.header(u)
	if other := pick(g, all...).Header["Authorization"]; other != nil && g.IntN(4) == 0 {
		header["Authorization"] = other
	}
	for name, values := range header {
		switch g.IntN(12) {
		case 0:
		case 1:
			r.header[name] = []string{g.text()}
		default:
			r.header[name] = values
		}
	}
	if u.operation.Body() != nil || g.IntN(20) == 0 {
		r.body = g.madeBody(u)
	}
	return r
}

// madeBody is a body for the operation with none or some of its parts wrong.
func (g *generator) madeBody(u usual) []byte {
	object := map[string]any{}
	if g.IntN(2) == 0 {
		object = routes.Optional(u.operation)
	}
	if body, ok := u.Body.([]byte); ok {
		_ = json.Unmarshal(body, &object) // a client has made it
	}
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
		bodies := append(g.odd.Bodies, "\xef\xbb\xbf{}", `{}{}`, `[{}]`, `null`, `"text"`, `-0`,
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
	texts := append(g.odd.Texts, "", " ", "\x00", "null", "undefined", "true", "-1", "NaN", "é", "日本語", "🦀👩‍👩‍👧",
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
