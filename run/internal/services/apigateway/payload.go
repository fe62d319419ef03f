package apigateway

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// event is a request in payload format 2.0 ("Create AWS Lambda proxy integrations for HTTP APIs").
type event struct {
	request
	Body            *string `json:"body,omitempty"`
	IsBase64Encoded bool    `json:"isBase64Encoded"`
}

// request is what authorizers see of it, too.
type request struct {
	Version               string            `json:"version"`
	RouteKey              string            `json:"routeKey"`
	RawPath               string            `json:"rawPath"`
	RawQueryString        string            `json:"rawQueryString"`
	Cookies               []string          `json:"cookies,omitempty"`
	Headers               map[string]string `json:"headers"`
	QueryStringParameters map[string]string `json:"queryStringParameters,omitempty"`
	RequestContext        eventContext      `json:"requestContext"`
	PathParameters        map[string]string `json:"pathParameters,omitempty"`
}

type eventContext struct {
	AccountID    string           `json:"accountId"`
	APIID        string           `json:"apiId"`
	Authorizer   *eventAuthorizer `json:"authorizer,omitempty"`
	DomainName   string           `json:"domainName"`
	DomainPrefix string           `json:"domainPrefix"`
	HTTP         eventHTTP        `json:"http"`
	RequestID    string           `json:"requestId"`
	RouteKey     string           `json:"routeKey"`
	Stage        string           `json:"stage"`
	Time         string           `json:"time"`
	TimeEpoch    int64            `json:"timeEpoch"`
}

// eventAuthorizer is what the authorizer of the route has found out.
type eventAuthorizer struct {
	JWT *eventJWT `json:"jwt,omitempty"`
	// Lambda is the context of a function's answer, null without one.
	Lambda *map[string]any `json:"lambda,omitempty"`
	IAM    *eventIAM       `json:"iam,omitempty"`
}

type eventJWT struct {
	Claims map[string]string `json:"claims"`
	Scopes []string          `json:"scopes"`
}

type eventHTTP struct {
	Method    string `json:"method"`
	Path      string `json:"path"`
	Protocol  string `json:"protocol"`
	SourceIP  string `json:"sourceIp"`
	UserAgent string `json:"userAgent"`
}

const commonLogTime = "02/Jan/2006:15:04:05 -0700"

func (g *Gateway) event(r *http.Request, c *call) []byte {
	e := event{request: g.request(r, c)}
	e.RequestContext.Authorizer = c.authorizer
	if body := c.body; len(body) > 0 {
		text := string(body)
		if !textual(r.Header.Get("Content-Type")) || !utf8.Valid(body) {
			text, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
		}
		e.Body = &text
	}
	return encode(e)
}

func (g *Gateway) request(r *http.Request, c *call) request {
	host, port := r.Host, "80"
	if name, number, ok := strings.Cut(r.Host, ":"); ok {
		host, port = name, number
	}
	prefix, _, _ := strings.Cut(host, ".")
	e := request{
		Version: "2.0", RouteKey: c.route.Key, RawPath: c.path, RawQueryString: r.URL.RawQuery,
		Headers: headers(r, c, port), QueryStringParameters: query(r.URL.RawQuery), PathParameters: c.parameters,
		RequestContext: eventContext{
			AccountID: g.api.Account, APIID: g.api.ID, DomainName: host, DomainPrefix: prefix, RequestID: c.requestID,
			RouteKey: c.route.Key, Stage: g.api.Stage, Time: c.began.UTC().Format(commonLogTime),
			TimeEpoch: c.began.UnixMilli(),
			HTTP: eventHTTP{Method: r.Method, Path: c.path, Protocol: r.Proto, SourceIP: c.sourceIP,
				UserAgent: r.UserAgent()},
		},
	}
	for _, line := range r.Header["Cookie"] {
		for cookie := range strings.SplitSeq(line, ";") {
			if cookie = strings.TrimSpace(cookie); cookie != "" {
				e.Cookies = append(e.Cookies, cookie)
			}
		}
	}
	return e
}

func encode(e any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		// Strings, integers, and maps of them and of what was JSON always encode.
		panic(err)
	}
	return buffer.Bytes()
}

// headers are lower-cased, repeated ones joined with commas, without cookies. API Gateway adds the headers of a proxy.
func headers(r *http.Request, c *call, port string) map[string]string {
	h := make(map[string]string, len(r.Header)+6)
	for name, values := range r.Header {
		if name == "Cookie" || name == "Connection" || name == "Transfer-Encoding" {
			continue
		}
		h[strings.ToLower(name)] = strings.Join(values, ",")
	}
	h["host"] = r.Host
	if r.ContentLength >= 0 {
		h["content-length"] = strconv.FormatInt(r.ContentLength, 10)
	}
	if given := h["x-forwarded-for"]; given != "" {
		h["x-forwarded-for"] = given + ", " + c.sourceIP
	} else {
		h["x-forwarded-for"] = c.sourceIP
	}
	h["x-forwarded-port"] = port
	h["x-forwarded-proto"] = "http"
	if h["x-amzn-trace-id"] == "" {
		id := strings.ReplaceAll(c.requestID, "-", "")
		h["x-amzn-trace-id"] = fmt.Sprintf("Root=1-%08x-%.24s", uint32(c.began.Unix()), id+"000000000000000000000000")
	}
	return h
}

// query decodes parameters; repeated ones are joined with commas, and those without "=" are empty.
func query(raw string) map[string]string {
	if raw == "" {
		return nil
	}
	parameters := map[string]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescape(name), unescape(value)
		if before, ok := parameters[name]; ok {
			value = before + "," + value
		}
		parameters[name] = value
	}
	return parameters
}

// unescape returns a text that is not valid percent-encoding as it came: the function refuses bad input.
func unescape(text string) string {
	decoded, err := url.QueryUnescape(text)
	if err != nil {
		return text
	}
	return decoded
}

// textual says whether a body of this content type reaches the function as text; all others are Base64.
func textual(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return false
	}
	switch media {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}

type response struct {
	status  int
	headers map[string]string
	cookies []string
	body    []byte
}

// parseResponse reads a function's answer in format 2.0. JSON without a statusCode is a whole body with
// status 200. Anything that API Gateway cannot read is an error.
func parseResponse(payload []byte) (response, error) {
	var answer struct {
		StatusCode      *json.Number
		Headers         map[string]any
		Cookies         []string
		Body            *string
		IsBase64Encoded bool
	}
	trimmed := bytes.TrimSpace(payload)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return inferred(trimmed)
	}
	var probe struct{ StatusCode json.RawMessage }
	if err := json.Unmarshal(trimmed, &probe); err != nil {
		return response{}, fmt.Errorf("the function's response is not JSON: %w", err)
	}
	if probe.StatusCode == nil {
		return inferred(trimmed)
	}
	if err := json.Unmarshal(trimmed, &answer); err != nil {
		return response{}, fmt.Errorf("the function's response is not payload format 2.0: %w", err)
	}
	status := 0
	if answer.StatusCode != nil {
		status, _ = strconv.Atoi(answer.StatusCode.String())
	}
	if status < 100 || status > 599 {
		return response{}, fmt.Errorf("the function's response has statusCode %s; it must be 100 to 599",
			probe.StatusCode)
	}
	result := response{status: status, cookies: answer.Cookies, headers: make(map[string]string, len(answer.Headers))}
	for name, value := range answer.Headers {
		switch v := value.(type) {
		case string:
			result.headers[name] = v
		case float64, bool:
			result.headers[name] = fmt.Sprint(v)
		default:
			return response{}, fmt.Errorf("the function's response header %q is %T; it must be a string", name, value)
		}
	}
	for name, value := range result.headers {
		if !validHeader(name, value) {
			return response{}, fmt.Errorf("the function's response header %q is not a valid header", name)
		}
	}
	if slices.ContainsFunc(result.cookies, func(cookie string) bool { return !validHeader("Set-Cookie", cookie) }) {
		return response{}, errors.New("a cookie of the function's response holds a control character")
	}
	if answer.Body != nil {
		result.body = []byte(*answer.Body)
		if answer.IsBase64Encoded {
			decoded, err := base64.StdEncoding.DecodeString(*answer.Body)
			if err != nil {
				return response{}, fmt.Errorf("the function's response body is not Base64: %w", err)
			}
			result.body = decoded
		}
	}
	return result, nil
}

func validHeader(name, value string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}) {
		return false
	}
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func inferred(payload []byte) (response, error) {
	if !json.Valid(payload) {
		return response{}, errors.New("the function's response is not JSON")
	}
	var text string
	if json.Unmarshal(payload, &text) == nil && payload[0] == '"' {
		payload = []byte(text)
	}
	return response{status: http.StatusOK, headers: map[string]string{"Content-Type": "application/json"},
		body: payload}, nil
}

// newRequestID has the shape of API Gateway's extended request ids.
func newRequestID() string {
	var b [11]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:]) + "="
}
