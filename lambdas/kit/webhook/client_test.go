package webhook_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

// dials are the addresses that a client was about to connect to.
type dials struct {
	mutex   sync.Mutex
	made    []netip.AddrPort
	refused []netip.AddrPort
}

func (d *dials) note(address netip.AddrPort, refused error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if refused != nil {
		d.refused = append(d.refused, address)
	} else {
		d.made = append(d.made, address)
	}
}

// endpoint is a server with a certificate, and a client that trusts it and may reach loopback.
func endpoint(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *webhook.Client, *dials) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	d := &dials{}
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig
	return server, &webhook.Client{Addresses: webhook.Addresses{Local: []string{server.URL}}, TLS: trust,
		Connecting: d.note}, d
}

func TestPost(t *testing.T) {
	t.Parallel()
	server, client, _ := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"a":1}` || r.Header.Get("Webhook-Id") != "msg_1" ||
			r.Header.Get("Content-Type") != "application/json" || r.Method != http.MethodPost || r.ContentLength != 7 {
			t.Errorf("got %s %q %v", r.Method, body, r.Header)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	answer, err := client.Post(t.Context(), server.URL+"/hooks",
		http.Header{"Webhook-Id": {"msg_1"}, "Content-Type": {"application/json"}}, []byte(`{"a":1}`))
	if err != nil || !answer.OK() || answer.Gone() || answer.Status != http.StatusAccepted {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestPostAnswers(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	tests := map[string]struct {
		status     int
		retryAfter string
		ok, gone   bool
		least      time.Duration
	}{
		"OK": {status: 200, ok: true}, "NoContent": {status: 204, ok: true}, "Redirect": {status: 302},
		"NotModified": {status: 304}, "Refused": {status: 400}, "Gone": {status: 410, gone: true},
		"Failed": {status: 500, retryAfter: "60"}, "Busy": {status: 503, retryAfter: "60", least: time.Minute},
		"Many": {status: 429, retryAfter: later, least: 59 * time.Minute},
		"Past": {status: 503, retryAfter: "Mon, 02 Jan 2006 15:04:05 GMT"}, "Negative": {status: 503, retryAfter: "-1"},
		"Nonsense": {status: 503, retryAfter: "soon"},
		"Never":    {status: 503, retryAfter: "9223372036854775807", least: 24 * time.Hour},
		"Longer":   {status: 503, retryAfter: strings.Repeat("9", 400), least: 24 * time.Hour},
		"Signed":   {status: 503, retryAfter: "+60"},
		"Zeros":    {status: 503, retryAfter: strings.Repeat("0", 40) + "60", least: time.Minute},
		"LastYear": {status: 429, retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT", least: 24 * time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			elsewhere := 0
			server, client, _ := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					elsewhere++
				}
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Retry-After", test.retryAfter)
				w.WriteHeader(test.status)
			})
			got, err := client.Post(t.Context(), server.URL, http.Header{}, nil)
			if err != nil || got.OK() != test.ok || got.Gone() != test.gone || got.RetryAfter < test.least ||
				got.RetryAfter > test.least+time.Minute || elsewhere > 0 {
				t.Errorf("got %+v, %v, %d redirects followed", got, err, elsewhere)
			}
		})
	}
}

// An endpoint cannot hold a client, and cannot fill its memory.
func TestPostBounds(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	server, client, _ := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		// Only a server that has read the request notices that its client has gone.
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/hangs", "/drips":
			if r.URL.Path == "/drips" {
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush()
			}
			select {
			case <-released:
			case <-r.Context().Done():
			}
		case "/headers":
			for i := range 200 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("a", 1024))
			}
		case "/endless":
			for n := 0; r.Context().Err() == nil; n++ {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
				if n > 16384 {
					t.Error("the client has read 64 MB")
					return
				}
			}
		}
	})
	t.Cleanup(func() { close(released) })
	client.Timeout = 500 * time.Millisecond
	for path, wantErr := range map[string]bool{"/hangs": true, "/drips": false, "/headers": true, "/endless": false} {
		answer, err := client.Post(t.Context(), server.URL+path, http.Header{}, []byte("{}"))
		if (err != nil) != wantErr || err == nil && !answer.OK() {
			t.Errorf("%s: got %+v, %v", path, answer, err)
		}
	}
	if _, err := client.Post(t.Context(), server.URL, http.Header{}, make([]byte, webhook.LargestBody+1)); err == nil {
		t.Error("a webhook over 64 kB is sent")
	}
}

// names is a DNS server that answers each question for an IPv4 address with the next of its answers.
func names(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	server := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { server.Close() })
	go func() {
		query := make([]byte, 1500)
		for asked := 0; ; {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			// The question is one name, which begins after the header of 12 bytes, and its type and class.
			end := 12
			for end < n && query[end] != 0 {
				end += int(query[end]) + 1
			}
			end += 5
			answer := append([]byte{}, query[:end]...)
			copy(answer[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
			if binary.BigEndian.Uint16(query[end-4:]) == 1 {
				address := netip.MustParseAddr(answers[min(asked, len(answers)-1)]).As4()
				asked++
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, address[:]...)
			}
			_, _ = server.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// What a name leads to is checked at each connection: a name may be public at first.
func TestPostForbidden(t *testing.T) {
	t.Parallel()
	server, client, made := endpoint(t, func(http.ResponseWriter, *http.Request) {})
	client.Resolver = names(t, "127.0.0.1", "169.254.169.254", "10.0.0.1", "192.168.1.1")
	client.TLS.InsecureSkipVerify = true
	url := "https://endpoint.example" + server.URL[strings.LastIndex(server.URL, ":"):]
	if answer, err := client.Post(t.Context(), url, http.Header{}, nil); err != nil || !answer.OK() {
		t.Fatalf("got %+v, %v", answer, err)
	}
	for range 3 {
		var forbidden *webhook.ForbiddenError
		if _, err := client.Post(t.Context(), url, http.Header{}, nil); !errors.As(err, &forbidden) {
			t.Errorf("got %v, want a ForbiddenError", err)
		}
	}
	if len(made.made) != 1 || len(made.refused) != 3 {
		t.Errorf("connected to %v, refused %v", made.made, made.refused)
	}
	client.Resolver = names(t, "127.0.0.1")
	if _, err := client.Post(t.Context(), "https://endpoint.example:1/", http.Header{}, nil); err == nil ||
		len(made.refused) != 4 {
		t.Errorf("got %v, refused %v: want that another port of this machine is refused", err, made.refused)
	}
	strict := &webhook.Client{Connecting: made.note}
	for _, url := range []string{server.URL, "https://169.254.169.254/", "http://127.0.0.1/",
		"https://[::ffff:127.0.0.1]/"} {
		if _, err := strict.Post(t.Context(), url, http.Header{}, nil); err == nil {
			t.Errorf("%s is reached", url)
		}
	}
	if len(made.made) != 1 {
		t.Errorf("connected to %v", made.made)
	}
}

// A proxy would connect in the client's place, and check no address.
func TestPostUsesNoProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	server, client, _ := endpoint(t, func(http.ResponseWriter, *http.Request) {})
	if answer, err := client.Post(t.Context(), server.URL, http.Header{}, nil); err != nil || !answer.OK() {
		t.Errorf("got %+v, %v", answer, err)
	}
}
