package kit

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// newRequest returns the request of an event in payload format 2.0 ("Create AWS Lambda proxy integrations for HTTP
// APIs", API Gateway developer guide), and writes its caller into the context's invocation. API Gateway has decoded the
// path and its variables, so nothing here decodes them again; the query is as the client sent it. An error means that
// HTTP does not allow the method.
func newRequest(ctx context.Context, event events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	var body io.Reader = strings.NewReader(event.Body)
	if event.IsBase64Encoded {
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	r, err := http.NewRequestWithContext(ctx, event.RequestContext.HTTP.Method, "/", body)
	if err != nil {
		return nil, err
	}
	for name, value := range event.Headers {
		r.Header.Set(name, value)
	}
	if len(event.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
	}
	r.Host, r.RemoteAddr = r.Header.Get("Host"), event.RequestContext.HTTP.SourceIP
	if invocation, ok := ctx.Value(invocationKey{}).(*Invocation); ok {
		invocation.SourceAddress = r.RemoteAddr
		invocation.authorised(event.RequestContext.Authorizer, r.Header.Values("Authorization"))
	}
	r.URL = addressOf(event)
	r.URL.RawQuery = event.RawQueryString
	r.RequestURI = r.URL.RequestURI()
	return r, nil
}

// addressOf returns the path of the event's route, with the variables as the event has them. An event of the route
// $default has its path in rawPath alone, after the name of the stage.
func addressOf(event events.APIGatewayV2HTTPRequest) *url.URL {
	if _, route, ok := strings.Cut(event.RouteKey, " "); ok && strings.HasPrefix(route, "/") {
		if address := filled(route, event.PathParameters); address != nil {
			return address
		}
	}
	path := event.RawPath
	if stage := event.RequestContext.Stage; stage != "" && stage != "$default" {
		if rest, ok := strings.CutPrefix(path, "/"+stage); ok && (rest == "" || rest[0] == '/') {
			path = "/" + strings.TrimPrefix(rest, "/")
		}
	}
	return &url.URL{Path: path}
}

// filled returns the path of a route with its variables filled in, or nil if one is missing. In RawPath, the text of a
// variable is one segment whatever it holds, "/" and ".." too; that of a greedy variable is as many as it has.
func filled(route string, variables map[string]string) *url.URL {
	var decoded, encoded strings.Builder
	for segment := range strings.SplitSeq(route[1:], "/") {
		parts := []string{segment}
		if name, variable := strings.CutSuffix(segment, "}"); variable && strings.HasPrefix(name, "{") {
			name, greedy := strings.CutSuffix(name[1:], "+")
			value, ok := variables[name]
			if !ok {
				return nil
			}
			parts = []string{value}
			if greedy {
				parts = strings.Split(value, "/")
			}
		}
		for _, part := range parts {
			decoded.WriteString("/" + part)
			encoded.WriteString("/" + encodeSegment(part))
		}
	}
	return &url.URL{Path: decoded.String(), RawPath: encoded.String()}
}

// encodeSegment encodes a segment of a path, so that no server takes a part of it for a separator, or it for a relative
// segment.
func encodeSegment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return strings.ReplaceAll((&url.URL{Path: "/" + text}).EscapedPath()[1:], "/", "%2F")
}

// answer keeps what a handler writes until all of it is there: API Gateway gets it at once.
type answer struct {
	header http.Header
	// status is 0 until the answer begins, and sent is the header of that moment.
	status int
	sent   http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. Like the server of net/http it panics for a number that is no status. An
// informational answer has no place in payload format 2.0.
func (a *answer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("got the status %d, which HTTP does not have: write one of three digits", status))
	}
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.sent = status, a.header.Clone()
	}
}

// Write implements http.ResponseWriter. If the handler has said neither a status nor the type of the body, it finds out
// the type, as the server of net/http does.
func (a *answer) Write(text []byte) (int, error) {
	if a.status == 0 {
		if _, typed := a.header["Content-Type"]; !typed {
			a.header.Set("Content-Type", http.DetectContentType(text))
		}
		a.WriteHeader(http.StatusOK)
	}
	if a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		return 0, http.ErrBodyNotAllowed
	}
	return a.body.Write(text)
}

// response returns the answer in payload format 2.0. A header with several values is one, but for cookies. Binary says
// that the body is in Base64.
func (a *answer) response(binary bool) events.APIGatewayV2HTTPResponse {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	response := events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: make(map[string]string, len(a.sent)),
		Cookies: a.sent["Set-Cookie"], Body: a.body.String()}
	for name, values := range a.sent {
		if name != "Set-Cookie" {
			response.Headers[name] = strings.Join(values, ",")
		}
	}
	if binary {
		response.Body, response.IsBase64Encoded = base64.StdEncoding.EncodeToString(a.body.Bytes()), true
	}
	return response
}
