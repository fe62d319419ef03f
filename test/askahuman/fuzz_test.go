package askahuman

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
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// rawRequest is a request that may be wrong in every part. What would end it early,
// such as a line break in a header, is taken out: then another request is sent, and
// not a wrong one.
type rawRequest struct {
	method, path, query string
	header              []string // name, value, name, value, …
	body                []byte
}

func (r rawRequest) String() string {
	const most = 500
	return fmt.Sprintf("%s %q?%q, headers %q, body of %d bytes %.*q", r.method, r.path, r.query, r.header, len(r.body), most, r.body)
}

// target is the path with the query, as it stands in the first line.
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
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n", r.method, r.target(), host, len(r.body))
	for i := 0; i+1 < len(r.header); i += 2 {
		fmt.Fprintf(&text, "%s: %s\r\n", r.header[i], line(r.header[i+1]))
	}
	text.WriteString("\r\n")
	text.Write(r.body)
	_, err := w.Write(text.Bytes())
	return err
}

// fuzzed is a run that requests of any kind are sent to.
type fuzzed struct {
	*target
	host string
	// answered counts the replies by status and by who made them.
	answered [600]atomic.Int32
	byHTTP   atomic.Int32
	// addresses counts the loopback addresses that requests have come from.
	addresses atomic.Uint32
}

func newFuzzed(t testing.TB) *fuzzed {
	t.Helper()
	target := ownRun(t, local.Options{})
	address, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &fuzzed{target: target, host: address.Host}
}

// check sends a request from an address of its own and checks what must hold for
// every answer: it is no failure, and an error is of the platform's form.
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
	// A server may answer before it has read all, and then takes no more.
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
	got := platform.Reply{Request: r.String(), Status: response.StatusCode, Header: response.Header, Body: body}
	if got.Status < 100 || got.Status >= 500 {
		return fmt.Errorf("got %v", got)
	}
	f.answered[got.Status].Add(1)
	switch {
	case got.Status == http.StatusNoContent || r.method == http.MethodHead:
		return nil
	case got.Status < 400:
		if !json.Valid(body) {
			return fmt.Errorf("got %v, which is no JSON", got)
		}
		return nil
	}
	if _, err := problemOf(got); err == nil {
		return nil
	}
	// What never reaches a function is refused in API Gateway's form, and what is no
	// HTTP in none.
	var gateway struct{ Message string }
	if json.Unmarshal(body, &gateway) == nil && gateway.Message != "" {
		if slices.Contains([]int{400, 404, 413, 414, 429, 431}, got.Status) {
			return nil
		}
	} else if slices.Contains([]int{400, 431}, got.Status) && strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		f.byHTTP.Add(1)
		return nil
	}
	return fmt.Errorf("got %v, which has not the form of an error", got)
}

// notHTTP tells whether the connection was reset because of a first line that is no
// HTTP: a server need not read on then.
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
	for _, function := range f.Run.Functions().Functions() {
		if function.Deaths != 0 || function.Errors != 0 || function.Timeouts != 0 {
			t.Errorf("function %s: got %d deaths, %d errors, %d timeouts; want none", function.Name, function.Deaths, function.Errors, function.Timeouts)
		}
	}
}

// Requests of every kind, well-formed and not, are answered and never a failure.
func TestAnyRequestIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFuzzed(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const requests, workers = 1600, 8
	if err := platform.Together(workers, func(worker int) error {
		random := newGenerator(t, f, seed+uint64(worker))
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
	// Else the requests were too wrong to get anywhere.
	for _, status := range []int{200, 201, 400, 404} {
		if counts[status] < 20 {
			t.Errorf("got %d answers of status %d; want at least 20", counts[status], status)
		}
	}
	if n := f.byHTTP.Load(); n > requests/5 {
		t.Errorf("%d of %d requests were no HTTP", n, requests)
	}
}

// Bodies of up to a megabyte are answered, whatever they are called and hold.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	f := newFuzzed(t)
	const megabyte = 1 << 20
	bodies := map[string][]byte{
		"Prompt":  fmt.Appendf(nil, `{"type":"text","prompt":"%s"}`, strings.Repeat("x", megabyte-32)),
		"Nesting": bytes.Repeat([]byte("["), megabyte),
		"Objects": bytes.Repeat([]byte(`{"a":`), megabyte/5),
		"Fields":  fmt.Appendf(nil, `{%s"b":1}`, strings.Repeat(`"a":1,`, 1<<16)),
		"Zeros":   make([]byte, megabyte),
		"Blanks":  bytes.Repeat([]byte(" "), megabyte),
		"Number":  fmt.Appendf(nil, `{"type":"text","prompt":"How many are these?","min_responses":%s}`, strings.Repeat("9", 200_000)),
		"Options": fmt.Appendf(nil, `{"type":"multiple_choice","prompt":"Which one is it?","options":["a"%s]}`, strings.Repeat(`,"a"`, 50_000)),
		"Unicode": bytes.Repeat([]byte("\xf0\x9f\xa6\x80"), megabyte/4),
	}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		for _, contentType := range []string{"application/json", "application/octet-stream", "multipart/form-data; boundary=x", ""} {
			for _, path := range []string{"/agent/questions", "/human/responses", "/human/push/subscribe"} {
				r := rawRequest{method: "POST", path: path, body: bodies[name], header: []string{"X-Agent-Id", platform.Unique("agent"), "X-Fingerprint", platform.Unique("person")}}
				if contentType != "" {
					r.header = append(r.header, "Content-Type", contentType)
				}
				if err := f.check(r); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	for _, status := range []int{200, 201} {
		if n := f.answered[status].Load(); n > 0 {
			t.Errorf("%d of the bodies were taken with %d", n, status)
		}
	}
	f.alive(t)
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) {
	target := newFuzzed(f)
	routes := schema.AskAHuman().Routes
	random := newGenerator(f, target, 1)
	for i := range routes {
		r := random.requestOf(routes[i])
		f.Add(i, r.path, r.query, "X-Fingerprint", "someone", "application/json", r.body)
		f.Add(i, r.path, "limit=%zz&cursor=\xff", "X-Timezone", "Local", "text/plain; charset=\xff", []byte{0xff, 0xfe, 0})
	}
	f.Fuzz(func(t *testing.T, route int, path, query, header, value, contentType string, body []byte) {
		if len(body) > 1<<20 {
			t.Skip("larger than is asked for")
		}
		r := rawRequest{
			method: routes[uint(route)%uint(len(routes))].Method, path: "/" + strings.TrimPrefix(path, "/"), query: query, body: body,
			header: []string{"X-Agent-Id", "fuzzer", "Content-Type", contentType},
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

// validHeaderName leaves out what would be another request: what is no token, and
// what says how the request is framed.
func validHeaderName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&'*+-.^_`|~", c) && (c > 'z' || !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c)) {
			return false
		}
	}
	return name != "" && !slices.ContainsFunc([]string{"Content-Length", "Transfer-Encoding", "Host", "Expect", "Upgrade", "Connection", "Trailer"}, func(frame string) bool {
		return strings.EqualFold(frame, name)
	})
}

// generator makes up requests that are right in most parts and wrong in some, so
// that they get further than noise would.
type generator struct {
	*rand.Rand
	questions, subscriptions []string
}

func newGenerator(t testing.TB, f *fuzzed, seed uint64) *generator {
	c := newClient(t, f.target)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, seed))}
	asker := c.newAgent()
	for range 4 {
		g.questions = append(g.questions, asker.ask(t, textQuestion(50)).QuestionID, asker.ask(t, choiceQuestion(50)).QuestionID)
	}
	g.subscriptions = append(g.subscriptions, c.newPerson().subscribe(t, subscribe{Token: platform.Unique("token")}).SubscriptionID)
	return g
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) request() rawRequest {
	r := g.requestOf(pick(g, schema.AskAHuman().Routes...))
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
	id := func(known []string) string {
		return pick(g, pick(g, known...), pick(g, known...), "00000000-0000-4000-8000-000000000000", url.PathEscape(g.text()), g.text())
	}
	r.path = strings.NewReplacer("{question_id}", id(g.questions), "{subscription_id}", id(g.subscriptions)).Replace(r.path)
	for _, name := range []string{"limit", "cursor", "status", "audience", "period"} {
		if g.IntN(3) == 0 {
			r.query += "&" + name + "=" + pick(g, "1", "50", "OPEN", "weekly", "general", "-1", "99999999999999999999", "%zz", "%", "&&==", url.QueryEscape(g.text()), g.text())
		}
	}
	r.query = strings.TrimPrefix(r.query, "&")
	for name, usual := range map[string]string{"X-Agent-Id": platform.Unique("agent"), "X-Fingerprint": platform.Unique("person"), "Content-Type": "application/json", "X-Timezone": "Europe/Berlin", "X-Idempotency-Key": platform.Unique("key")} {
		switch g.IntN(12) {
		case 0:
		case 1:
			r.header = append(r.header, name, g.text())
		default:
			r.header = append(r.header, name, usual)
		}
	}
	if route.Method == http.MethodPost || route.Method == http.MethodPut || g.IntN(20) == 0 {
		r.body = g.body(route.Path)
	}
	return r
}

// body is a body for the route with none or some of its parts wrong.
func (g *generator) body(path string) []byte {
	object := map[string]any{}
	switch path {
	case "/agent/questions":
		object = map[string]any{"prompt": "Which button label is clearer?", "type": "multiple_choice", "options": []any{"Submit", "Send"}, "audience": []any{"product"}, "min_responses": 3, "timeout_seconds": 600}
	case "/human/responses":
		object = map[string]any{"question_id": pick(g, g.questions...), "confidence": 3, "response_time_ms": 9000}
		object[pick(g, "answer", "selected_option")] = pick[any](g, "Only if it is our fault.", 1)
	case "/human/push/subscribe", "/human/push/subscribe/{subscription_id}":
		object = map[string]any{"fcm_token": platform.Unique("token"), "min_interval_minutes": 30}
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
		return []byte(pick(g, `{"prompt":"\ud800 alone and more","type":"text"}`, `{"prompt":1e400}`, `{"min_responses":1e-400}`, `{"type":"text","type":"text","type":null}`, "\xef\xbb\xbf{}", `{"prompt":"\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000","type":"text"}`, `{}{}`, `[{}]`, `null`, `"text"`, `-0`, `{"question_id":{"$ne":null}}`, strings.Repeat("[", 20000)))
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
	return pick(g, "", " ", "\x00", "null", "undefined", "true", "-1", "NaN", "é", "日本語", "🦀👩‍👩‍👧", "\u202e\u200b\ufeff", "\xff\xfe", "\xc0\x80", "%00", "%", "#", "?", "../../etc/passwd", "' OR 1=1 --", "${jndi:x}", "<script>", "TOKEN#x", "RATE#create#x", "OPEN", strings.Repeat("x", 600), strings.Repeat("ü", 2100), strings.Repeat("9", 400), "a\tb", "a\r\nb: c", string(rune(g.IntN(0x10ffff))))
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
