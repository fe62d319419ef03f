// Package apigateway is API Gateway's HTTP API on this machine: routes, CORS, JWT authorizers, throttling,
// payload format 2.0 and access logs as the "Amazon API Gateway developer guide" describes them for HTTP
// APIs, in front of any function invoker. Its answers are API Gateway's, word for word.
package apigateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"golang.org/x/time/rate"
)

// Limits of HTTP APIs ("Quotas for configuring and running an HTTP API").
const (
	// MaxBody is the largest request body, in bytes (10 MB).
	MaxBody = 10 << 20
	// MaxHeaders is the largest sum of request line and headers, in bytes.
	MaxHeaders = 10240
	// MaxTimeout is the longest that an integration may take.
	MaxTimeout = 30 * time.Second
)

// Invoker calls functions by name. It returns lambda's errors (ErrThrottled, ErrTooLarge, …).
type Invoker interface {
	// InvokeWithin fails if the function, once an instance has the call, takes longer than the limit. 0: no limit.
	InvokeWithin(ctx context.Context, limit time.Duration, function string, payload []byte) (lambda.Result, error)
}

// API is an AWS::ApiGatewayV2::Api of protocol HTTP with its stage and routes, every value resolved.
type API struct {
	// ID and Name are the API's own.
	ID, Name string
	// Region and Account build the ARNs that permissions name, and the event's context.
	Region, Account string
	// Stage is the stage's name; "" means $default, which adds nothing to paths.
	Stage string
	// BasePaths are the paths of domain names that lead to the stage, without slashes at their ends. Such a path takes
	// the place of the stage's name in addresses. OnlyMapped says that no other address leads to the API.
	BasePaths  []string
	OnlyMapped bool
	// CORS answers preflights and adds headers; nil leaves CORS to the functions.
	CORS *CORS
	// DefaultThrottle applies to each route that RouteThrottles does not name by its route key.
	DefaultThrottle Throttle
	RouteThrottles  map[string]Throttle
	// AccessLogFormat is the stage's format with $context variables; "" logs nothing.
	AccessLogFormat string
	// Routes in any order.
	Routes []Route
}

// Route is one route with its Lambda integration and authorizer.
type Route struct {
	// Key is "METHOD /path", "ANY /path" or "$default".
	Key string
	// Function is the name of the function behind it.
	Function string
	// Timeout is TimeoutInMillis; 0 means MaxTimeout.
	Timeout time.Duration
	// Authorizer says who may call it; nil admits every request.
	Authorizer Admission
	// Scopes are AuthorizationScopes: a token needs one of them. None asks for no scope.
	Scopes []string
	// Refused says why API Gateway may not invoke the function (no AWS::Lambda::Permission); "" if it may.
	Refused string
}

// Throttle is a token bucket. The zero value does not throttle.
type Throttle struct {
	// Rate is ThrottlingRateLimit, in requests a second.
	Rate float64
	// Burst is ThrottlingBurstLimit, in requests.
	Burst int
}

// Options of a Gateway.
type Options struct {
	Invoker Invoker
	// Stack is the name of the API's stack, for Trace.
	Stack string
	// Trace keeps what requests do; nil keeps nothing.
	Trace *trace.Recorder
	// AccessLog receives a line per request when the stage has a format; nil drops them.
	AccessLog func(line string)
	// Log receives the lines that API Gateway writes only to its execution log, such as a missing permission; nil drops
	// them.
	Log func(line string)
	// Principal returns the user or role of an access key, for routes that are [Signed].
	Principal func(accessKey string) (Principal, error)
	// Debugged reports whether a function runs under a debugger: its routes have no time-out. Default: none does.
	Debugged func(function string) bool
	// Front answers browsers at the API's root, if the API has no route there; nil: they get what everyone gets.
	Front *Front
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Gateway serves one API. It is an http.Handler.
type Gateway struct {
	api     API
	options Options
	table   *table
	format  []formatPart
	// page is the document of Options.Front, or nil.
	page []byte
	// limiters by route key; a route without throttle has none.
	limiters map[string]*rate.Limiter
	logged   sync.Map // route keys whose refusal has been logged
}

// New checks the API and returns its server. All problems of routes come back in one error.
func New(api API, options Options) (*Gateway, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = func(string) {}
	}
	if api.Stage == "" {
		api.Stage = "$default"
	}
	api.BasePaths = slices.Clone(api.BasePaths)
	slices.SortFunc(api.BasePaths, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	g := &Gateway{api: api, options: options, format: parseFormat(api.AccessLogFormat),
		limiters: map[string]*rate.Limiter{}}
	var problems []error
	table, err := newTable(api.Routes)
	problems = append(problems, err)
	g.table = table
	if options.Front != nil {
		g.page, err = options.Front.page()
		problems = append(problems, err)
	}
	for i := range api.Routes {
		route := &api.Routes[i]
		if route.Timeout <= 0 || route.Timeout > MaxTimeout {
			route.Timeout = MaxTimeout
		}
		throttle, ok := api.RouteThrottles[route.Key]
		if !ok {
			throttle = api.DefaultThrottle
		}
		if throttle.Rate > 0 || throttle.Burst > 0 {
			g.limiters[route.Key] = rate.NewLimiter(rate.Limit(throttle.Rate), throttle.Burst)
		}
	}
	for key := range api.RouteThrottles {
		if !table.has(key) {
			problems = append(problems, fmt.Errorf(
				"route settings name %q, which is not a route of API %s: API Gateway refuses the deployment", key,
				api.Name))
		}
	}
	return g, errors.Join(problems...)
}

// Base returns what the addresses of all routes begin with: "" or, with a slash before it, a base path or the stage.
func (a API) Base() string {
	switch {
	case len(a.BasePaths) > 0:
		return "/" + a.BasePaths[0]
	case a.Stage != "" && a.Stage != "$default":
		return "/" + a.Stage
	}
	return ""
}

// SourceARN is what API Gateway presents to Lambda when it invokes the function of a route.
func (a API) SourceARN(routeKey string) string {
	stage := a.Stage
	if stage == "" {
		stage = "$default"
	}
	method, path, _ := strings.Cut(routeKey, " ")
	if path == "" {
		path, method = "/"+method, ""
	} else {
		method = "/" + method
	}
	return "arn:aws:execute-api:" + a.Region + ":" + a.Account + ":" + a.ID + "/" + stage + method + path
}

// call is one request on its way through the gateway.
type call struct {
	requestID  string
	began      time.Time
	route      *Route
	parameters map[string]string
	path       string
	sourceIP   string
	// authorizer is what the route's authorizer knows of the caller. properties are the variables of the access log
	// that say so.
	authorizer  *eventAuthorizer
	properties  map[string]string
	body        []byte
	bodyError   error
	hasRead     bool
	status      int
	answer      []byte
	message     string
	integration time.Duration
	failed      string
}

// ServeHTTP answers as API Gateway would.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{requestID: newRequestID(), began: g.options.Now(), sourceIP: peer(r)}
	w.Header()["Apigw-Requestid"] = []string{c.requestID}
	if g.format != nil && g.options.AccessLog != nil {
		defer func() { g.options.AccessLog(g.accessLine(r, c)) }()
	}
	var path string
	if path, c.path = g.locate(r.URL.Path); path != "" {
		c.route, c.parameters = g.table.match(r.Method, path)
	}
	address := *r.URL
	if path != "" {
		base := strings.TrimSuffix(r.URL.Path, path)
		address.Path, address.RawPath = below(base, address.Path), below(base, address.RawPath)
	}
	origin := trace.Origin{Kind: trace.HTTP, Stack: g.options.Stack, API: g.api.Name, Method: r.Method,
		Path: address.RequestURI()}
	if c.route != nil {
		origin.Route = c.route.Key
	}
	ctx, traced := g.options.Trace.Begin(r.Context(), c.requestID, origin)
	if traced != nil && r.ContentLength > 0 && r.ContentLength <= trace.MaxBody {
		// The server drops what is unread when an answer begins, and the trace of a refused request has it, too.
		_, _ = c.read(r)
	}
	defer func() {
		unread := !c.hasRead && r.ContentLength != 0
		traced.Exchange(trace.Content{Header: r.Header, Body: c.body, Part: unread || c.bodyError != nil},
			trace.Content{Header: w.Header(), Body: c.answer})
		traced.End(c.status, cmp.Or(c.failed, c.message))
	}()
	if g.cors(w, r, c) {
		return
	}
	if headerSize(r) > MaxHeaders {
		g.refuse(w, c, http.StatusRequestHeaderFieldsTooLarge, "Request Header Fields Too Large")
		return
	}
	if c.route == nil {
		if g.front(w, r, c, path) {
			return
		}
		g.refuse(w, c, http.StatusNotFound, "Not Found")
		return
	}
	if limiter := g.limiters[c.route.Key]; limiter != nil && !limiter.AllowN(c.began, 1) {
		g.refuse(w, c, http.StatusTooManyRequests, "Too Many Requests")
		return
	}
	if c.route.Authorizer != nil && !c.route.Authorizer.admit(g, w, r.WithContext(ctx), c) {
		return
	}
	_, err := c.read(r)
	switch {
	case errors.Is(err, errBodyTooLarge):
		w.Header().Set("Connection", "close")
		g.refuse(w, c, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	case err != nil:
		c.failed = err.Error()
		g.refuse(w, c, http.StatusBadRequest, "Bad Request")
		return
	}
	if c.route.Refused != "" {
		if _, logged := g.logged.LoadOrStore(c.route.Key, true); !logged {
			g.options.Log(fmt.Sprintf("API %s, route %s: %s", g.api.Name, c.route.Key, c.route.Refused))
		}
		c.failed = c.route.Refused
		g.refuse(w, c, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	event := g.event(r, c)
	if len(event) > lambda.MaxPayload {
		g.refuse(w, c, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	}
	invoked := time.Now()
	result, err := g.options.Invoker.InvokeWithin(ctx, g.limit(c.route.Function, c.route.Timeout), c.route.Function,
		event)
	c.integration = time.Since(invoked)
	switch {
	case err != nil:
		c.failed = err.Error()
		status := http.StatusInternalServerError
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lambda.ErrThrottled) ||
			errors.Is(err, lambda.ErrClosed) {
			status = http.StatusServiceUnavailable
		}
		g.refuse(w, c, status, http.StatusText(status))
	case result.FunctionError != "":
		c.failed = string(result.Payload)
		g.refuse(w, c, http.StatusInternalServerError, "Internal Server Error")
	default:
		g.respond(w, r, c, result.Payload)
	}
}

// limit returns how long a function may take, 0 if a debugger has it.
func (g *Gateway) limit(function string, limit time.Duration) time.Duration {
	if g.options.Debugged != nil && g.options.Debugged(function) {
		return 0
	}
	return limit
}

// locate returns the path that routes match, "" for an address that is not the API's, and the rawPath of the event.
// That has the name of the stage, unless it is $default, and no base path ("Create AWS Lambda proxy integrations for
// HTTP APIs": rawPath does not provide the API mapping value).
func (g *Gateway) locate(path string) (routed, rawPath string) {
	stage := ""
	if g.api.Stage != "$default" {
		stage = "/" + g.api.Stage
	}
	for _, base := range g.api.BasePaths {
		if rest := below("/"+base, path); rest != path {
			return rest, stage + rest
		}
	}
	switch rest := below(stage, path); {
	case g.api.OnlyMapped || stage != "" && rest == path:
		return "", path
	default:
		return rest, path
	}
}

// below returns the path after base, from its slash on, or the path itself if it does not begin with base.
func below(base, path string) string {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || base == "" || rest != "" && rest[0] != '/' {
		return path
	}
	return cmp.Or(rest, "/")
}

// cors adds the headers of CORS, and reports whether it has answered a preflight. A route that takes OPTIONS gets
// preflights, too: one with that method or ANY, or $default, which "catches requests for all methods and routes that
// you haven't explicitly defined, including OPTIONS requests" ("Configure CORS for HTTP APIs").
func (g *Gateway) cors(w http.ResponseWriter, r *http.Request, c *call) bool {
	origin, method := r.Header.Get("Origin"), r.Header.Get("Access-Control-Request-Method")
	switch {
	case g.api.CORS == nil || origin == "":
		return false
	case r.Method != http.MethodOptions || method == "":
		g.api.CORS.actual(w.Header(), origin)
		return false
	}
	g.api.CORS.preflight(w.Header(), origin, method)
	if c.route != nil {
		return false
	}
	c.status = http.StatusNoContent
	w.WriteHeader(http.StatusNoContent)
	return true
}

// refuse answers in API Gateway's own shape.
func (g *Gateway) refuse(w http.ResponseWriter, c *call, status int, message string) {
	body := `{"message":"` + message + `"}`
	c.status, c.answer, c.message = status, []byte(body), message
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	io.WriteString(w, body)
}

var errBodyTooLarge = errors.New("request body is over 10 MB")

// read reads the body, once.
func (c *call) read(r *http.Request) ([]byte, error) {
	if !c.hasRead {
		c.body, c.bodyError = readBody(r)
		c.hasRead = true
	}
	return c.body, c.bodyError
}

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, errBodyTooLarge
	}
	if r.ContentLength >= 0 {
		body := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if len(body) > MaxBody {
		return nil, errBodyTooLarge
	}
	return body, err
}

func headerSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// peer is the TCP peer: X-Forwarded-For, which the client writes, is never its address.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// respond writes a function's answer ("Lambda function response for format 2.0").
func (g *Gateway) respond(w http.ResponseWriter, r *http.Request, c *call, payload []byte) {
	answer, err := parseResponse(payload)
	if err != nil {
		c.failed = err.Error()
		g.options.Log(fmt.Sprintf("API %s, route %s: %v", g.api.Name, c.route.Key, err))
		g.refuse(w, c, http.StatusInternalServerError, "Internal Server Error")
		return
	}
	h := w.Header()
	for name, value := range answer.headers {
		canonical := http.CanonicalHeaderKey(name)
		if hopHeaders[canonical] || g.api.CORS != nil && strings.HasPrefix(canonical, "Access-Control-") {
			continue
		}
		h[canonical] = []string{value}
	}
	for _, cookie := range answer.cookies {
		h.Add("Set-Cookie", cookie)
	}
	c.status, c.answer = answer.status, answer.body
	if answer.status == http.StatusNoContent || answer.status == http.StatusNotModified || answer.status < 200 {
		delete(h, "Content-Length")
		w.WriteHeader(answer.status)
		return
	}
	if len(h["Content-Type"]) == 0 && len(answer.body) > 0 {
		h["Content-Type"] = []string{"text/plain;charset=UTF-8"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(answer.body))}
	w.WriteHeader(answer.status)
	if r.Method != http.MethodHead {
		w.Write(answer.body)
	}
}

// hopHeaders belong to one connection; API Gateway sets its own.
var hopHeaders = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Transfer-Encoding": true, "Upgrade": true, "Te": true,
	"Trailer": true, "Content-Length": true, "Apigw-Requestid": true,
}
