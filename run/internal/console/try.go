package console

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Try is the body of POST /try: a request to an API of the run.
type Try struct {
	// API is the address of the API, as GET / has it.
	API string `json:"api"`
	// Method is GET, POST and so on.
	Method string `json:"method"`
	// Path begins with a slash, and may have a query.
	Path string `json:"path"`
	// Headers are sent as they are.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is sent as it is.
	Body string `json:"body,omitempty"`
}

// Tried is the answer to POST /try and POST /requests/{id}/again. It has the answer of the API, of any status.
type Tried struct {
	Status       int         `json:"status"`
	Headers      http.Header `json:"headers"`
	Body         string      `json:"body"`
	Milliseconds float64     `json:"took_ms"`
	// Request is the id of the request (GET /requests/{id}).
	Request string `json:"request,omitempty"`
}

// trying follows no redirects: the page shows them. Each request has its own connection: net/http does not repeat a
// POST whose kept connection has ended.
var trying = &http.Client{Transport: &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// try sends a request to an API of the run. The page may send none itself: its policy lets it reach the console alone,
// and an API takes requests of those pages that its CORS configuration names.
func (c *Console) try(r *http.Request, wanted Try) (Tried, error) {
	if !slices.ContainsFunc(c.parts.APIs, func(api API) bool { return api.URL == wanted.API }) {
		return Tried{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("api: got %q: write the address of an API of the run (GET / lists them)", wanted.API)}
	}
	if !strings.HasPrefix(wanted.Path, "/") {
		return Tried{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("path: got %q: write one that begins with /", wanted.Path)}
	}
	header := http.Header{}
	for name, value := range wanted.Headers {
		header.Set(name, value)
	}
	return send(r.Context(), cmp.Or(wanted.Method, http.MethodGet), wanted.API+wanted.Path, header, []byte(wanted.Body))
}

// SendAgain is the body of POST /requests/{id}/again.
type SendAgain struct {
	// IdempotencyKey takes the place of the request's idempotency key, if it has one. Empty: the key stays.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// sendAgain sends a request once more, with the headers that its client sent, secrets included.
func (c *Console) sendAgain(r *http.Request, how SendAgain) (Tried, error) {
	id := r.PathValue("id")
	origin, sent, whole := c.parts.Trace.Sent(id)
	at := slices.IndexFunc(c.parts.APIs, func(api API) bool {
		return api.Stack == origin.Stack && api.Name == origin.API
	})
	if !whole || at < 0 {
		return Tried{}, &Problem{http.StatusConflict, fmt.Sprintf("request %q cannot be sent again: the run "+
			"lacks a part of it. It keeps bodies of the newest requests of APIs, up to %d bytes each: use POST /try",
			id, trace.MaxBody)}
	}
	for name := range sent.Header {
		switch {
		// They belong to the connection.
		case name == "Accept-Encoding" || name == "Connection" || name == "Expect":
			sent.Header.Del(name)
		case strings.HasSuffix(name, "Idempotency-Key") && how.IdempotencyKey != "":
			sent.Header.Set(name, how.IdempotencyKey)
		}
	}
	return send(r.Context(), origin.Method, c.parts.APIs[at].URL+origin.Path, sent.Header, sent.Body)
}

func send(ctx context.Context, method, url string, header http.Header, body []byte) (Tried, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return Tried{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	request.Header = header
	began := time.Now()
	response, err := trying.Do(request)
	if err != nil {
		return Tried{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return Tried{}, err
	}
	return Tried{
		Status: response.StatusCode, Headers: response.Header, Body: string(content),
		Milliseconds: float64(time.Since(began).Microseconds()) / 1000, Request: response.Header.Get("Apigw-Requestid"),
	}, nil
}
