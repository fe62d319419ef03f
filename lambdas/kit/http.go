package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// API serves a platform's HTTP routes. It is an [http.Handler]; [NewHTTPHandler] puts it behind API Gateway. Around the
// routes it limits and reads the body, and turns a panic into an error. It writes one log line for each request, which
// quotes neither request nor answer.
type API struct {
	// Routes are the operations, registered with method and path. A request that matches none is a [*validate.Error].
	Routes *http.ServeMux
	// Protected are the patterns of Routes that only callers whom API Gateway knows, by a verified token or otherwise,
	// may call. Others get [problem.ErrNoToken]. Default: none.
	Protected []string
	// NotAllowed are routes to the function that it answers with 405, as a protocol demands. In a local run, a function
	// does not start if it has any other route that it does not serve. Default: none.
	NotAllowed []string
	// Error returns the status and the body of the answer to an error. The body is written as JSON. The error is a
	// [*validate.Error] or, if a handler panicked, any other, which the body must not reveal. The Status of a
	// [*validate.Error] is 400 for a request that cannot be read, 401 for one that lacks a required token, 404 or 405
	// for one that matches no route, 413 for one that is too large.
	Error func(context.Context, error) (status int, body any)
	// MaxBodyBytes is the largest body. Zero: [problem.DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// Binary says that answers may be other than text, such as compressed: each body then goes to API Gateway in
	// Base64, which API Gateway decodes. Default: bodies are text.
	Binary bool
	// Log receives the lines. Nil: [slog.Default].
	Log *slog.Logger
}

// ServeHTTP serves one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	ctx := r.Context()
	invocation, ok := ctx.Value(invocationKey{}).(*Invocation)
	if !ok {
		invocation = &Invocation{SourceAddress: r.RemoteAddr}
		ctx = context.WithValue(ctx, invocationKey{}, invocation)
	}
	r = r.WithContext(ctx)
	recorder := &statusRecorder{ResponseWriter: w}
	always(recorder.Header().Set)
	defer func() {
		if reason := recover(); reason != nil {
			err := Panicked(ctx, a.log(), reason)
			if recorder.status == 0 {
				a.writeError(ctx, recorder, err)
			}
		}
		a.logAccess(ctx, recorder.status, began)
	}()

	_, pattern := a.Routes.Handler(r)
	if err := a.match(r, pattern); err != nil {
		if err.Status == http.StatusMethodNotAllowed {
			recorder.Header().Set("Allow", strings.Join(a.allowed(r), ", "))
		}
		a.writeError(ctx, recorder, err)
		return
	}
	invocation.Route = pattern
	if slices.Contains(a.Protected, pattern) && invocation.Subject() == "" {
		recorder.Header().Set("WWW-Authenticate", "Bearer")
		a.writeError(ctx, recorder, problem.ErrNoToken)
		return
	}
	if err := a.readBody(r); err != nil {
		a.writeError(ctx, recorder, err)
		return
	}
	a.Routes.ServeHTTP(recorder, r)
	recorder.status = cmp.Or(recorder.status, http.StatusOK)
}

// always sets the headers of every answer. Answers contain texts of strangers: no browser may render one as a page, and
// no cache may keep one for another caller.
func always(set func(name, value string)) {
	set("X-Content-Type-Options", "nosniff")
	set("Cache-Control", "no-store")
}

// match returns why no route serves the request. It matches a route by its own method only, and
// takes the path as it is: where the mux would answer HEAD with GET, or redirect to a cleaned path,
// API Gateway has no route.
func (a *API) match(r *http.Request, pattern string) *validate.Error {
	if strings.HasPrefix(pattern, r.Method+" ") && isClean(r.URL.EscapedPath()) {
		return nil
	}
	if allowed := a.allowed(r); len(allowed) > 0 {
		return validate.Refused(http.StatusMethodNotAllowed, "method",
			validate.Constraint{Rule: validate.RuleEnum, Allowed: allowed, Got: r.Method},
			fmt.Sprintf("%.20q is not allowed on this path: use %s", r.Method, strings.Join(allowed, ", ")))
	}
	return validate.Refused(http.StatusNotFound, "path", validate.Constraint{},
		"there is no such route: check the path for typing errors, a slash at the end or a missing id")
}

// allowed lists the methods that the path has.
func (a *API) allowed(r *http.Request) []string {
	if !isClean(r.URL.EscapedPath()) {
		return nil
	}
	var methods []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost,
		http.MethodPut} {
		other := *r
		other.Method = method
		if _, pattern := a.Routes.Handler(&other); strings.HasPrefix(pattern, method+" ") {
			methods = append(methods, method)
		}
	}
	return methods
}

func isClean(p string) bool { return path.Clean(p) == p && strings.HasPrefix(p, "/") }

// readBody reads the body, so that a body that is too large, or not valid base64, is refused before
// any operation.
func (a *API) readBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	limit := cmp.Or(a.MaxBodyBytes, problem.DefaultMaxBodyBytes)
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return validate.Refused(http.StatusBadRequest, "body", validate.Constraint{Rule: validate.RuleFormat},
			"the body cannot be read: "+err.Error())
	}
	if int64(len(body)) > limit {
		return problem.TooLarge(limit)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return nil
}

func (a *API) writeError(ctx context.Context, w http.ResponseWriter, err error) {
	status, body := a.errorResponse(ctx, err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (a *API) errorResponse(ctx context.Context, err error) (int, []byte) {
	status, value := a.Error(ctx, err)
	body, marshalErr := json.Marshal(value)
	if marshalErr != nil {
		a.log().ErrorContext(ctx, "an error could not be written", "error", marshalErr.Error())
		return http.StatusInternalServerError, []byte("{}")
	}
	return status, append(body, '\n')
}

func (a *API) logAccess(ctx context.Context, status int, began time.Time) {
	a.log().InfoContext(ctx, "request", "status", status, "ms", milliseconds(time.Since(began)))
}

func (a *API) log() *slog.Logger { return cmp.Or(a.Log, slog.Default()) }

// statusRecorder remembers the status that was written, but for informational ones.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.ResponseWriter.WriteHeader(status)
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

func (r *statusRecorder) Write(body []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	return r.ResponseWriter.Write(body)
}

// NewHTTPHandler returns the Lambda handler that serves the API's requests as API Gateway sends them (HTTP API, payload
// format 2.0). The event's route key and path variables say which route a request is for: neither a base path of a
// domain name nor the name of a stage is part of it. The handler answers 400 to an event of another form, such as a
// method that HTTP does not allow. An event in another format fails the invocation.
func NewHTTPHandler(api *API) lambda.Handler { return &httpHandler{api: api} }

type httpHandler struct {
	api         *API
	invocations invocations
}

func (h *httpHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := h.invocations.workContext(ctx, retry.ForCaller)
	defer cancel()
	began := time.Now()
	var event events.APIGatewayV2HTTPRequest
	err := json.Unmarshal(payload, &event)
	if event.Version != "2.0" {
		err = errors.Join(errors.New("the event is not an API Gateway request in payload format 2.0: set the "+
			"integration's payload format version to 2.0"), err)
		h.api.log().ErrorContext(ctx, "invocation failed", "error", err.Error())
		return nil, err
	}
	w := &answer{header: http.Header{}}
	r, unreadable := newRequest(ctx, event)
	if err = errors.Join(err, unreadable); err == nil {
		h.api.ServeHTTP(w, r)
		return json.Marshal(w.response(h.api.Binary))
	}
	// The errors quote the request, which the caller may see, but not a log.
	always(w.header.Set)
	h.api.writeError(ctx, w, validate.Refused(http.StatusBadRequest, "request",
		validate.Constraint{Rule: validate.RuleFormat},
		"this is not an HTTP request that can be read: check the method and the headers"))
	h.api.logAccess(ctx, w.status, began)
	return json.Marshal(w.response(h.api.Binary))
}
