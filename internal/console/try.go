package console

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
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

// Tried is the answer to POST /try. It has the answer of the API, of any status.
type Tried struct {
	Status       int         `json:"status"`
	Headers      http.Header `json:"headers"`
	Body         string      `json:"body"`
	Milliseconds float64     `json:"took_ms"`
	// Request is the id of the request (GET /requests/{id}).
	Request string `json:"request,omitempty"`
}

// trying follows no redirects: the page shows them.
var trying = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// try sends a request to an API of the run. The page may send none itself: its policy lets it reach the console alone,
// and an API takes requests of those pages that its CORS configuration names.
func (c *Console) try(r *http.Request, wanted Try) (Tried, error) {
	if !slices.ContainsFunc(c.rooms.APIs, func(api API) bool { return api.URL == wanted.API }) {
		return Tried{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("api: got %q: write the address of an API of the run (GET / lists them)", wanted.API)}
	}
	if !strings.HasPrefix(wanted.Path, "/") {
		return Tried{}, &Problem{http.StatusBadRequest,
			fmt.Sprintf("path: got %q: write one that begins with /", wanted.Path)}
	}
	method := cmp.Or(wanted.Method, http.MethodGet)
	request, err := http.NewRequestWithContext(r.Context(), method, wanted.API+wanted.Path,
		strings.NewReader(wanted.Body))
	if err != nil {
		return Tried{}, &Problem{http.StatusBadRequest, err.Error()}
	}
	for name, value := range wanted.Headers {
		request.Header.Set(name, value)
	}
	began := time.Now()
	response, err := trying.Do(request)
	if err != nil {
		return Tried{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Tried{}, err
	}
	return Tried{
		Status: response.StatusCode, Headers: response.Header, Body: string(body),
		Milliseconds: float64(time.Since(began).Microseconds()) / 1000, Request: response.Header.Get("Apigw-Requestid"),
	}, nil
}
