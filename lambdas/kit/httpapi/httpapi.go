// Package httpapi serves the operations of a platform ([schema.Operation]): each is bound to a function of its request.
// Routing and checks follow from the operation's value. Package openapi describes the types, and judges requests by
// that description.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/internal/standin"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Config says how a platform speaks HTTP.
type Config struct {
	// Platform has the routes, and says how it speaks HTTP.
	Platform schema.Platform
	// Extra is what a team has added to the platform's records. The OpenAPI document has as much of it as the API
	// shows.
	Extra []schema.Extra
	// Identify say who calls, by the kind of callers that the routes name. API Gateway identifies the callers of a
	// kind with [schema.Caller.Verified] that is missing, and others are unknown. A caller with a token
	// ([schema.API.NeedsToken]) or IAM must have an ID; a Lambda authorizer may admit a caller without one.
	Identify map[schema.Caller]Identify
	// Admit runs before every operation and its validation, when the caller is known. It
	// returns the context of the operation, derived from the request's, or an error that
	// refuses the request. Nil admits everyone.
	Admit func(*Context) (context.Context, error)
	// Limiter counts the calls of routes with a rate limit. Required if a registered route has a limit.
	Limiter RateLimiter
	// CountWhileReading lets an operation begin, and claim its idempotency key, while the server counts its call
	// towards a rate limit, as a check of [Context.WhileReading]. Set it if operations have no effects but those that
	// wait for such checks.
	CountWhileReading bool
	// WorkTime is how long an operation may take. The function may have more time, for operations with NoWorkTime.
	// Zero: an operation has the time of the invocation.
	WorkTime time.Duration
	// Idempotency is for the operations of [schema.Description.Key].
	Idempotency Idempotency
	Clock       wire.Clock
	// Log receives the errors whose answers have status 500 and above. Nothing else logs them. Nil: [slog.Default].
	Log *slog.Logger
}

// Server serves the operations that are registered with it. It makes the form of an operation's input at the first
// request for it, so that a function starts fast.
type Server struct {
	config     Config
	api        schema.API
	mux        *http.ServeMux
	registered []registered
	// uncounted are the registered routes whose rate limit is not counted, and unclaimed those with an idempotency key
	// that their function may not claim.
	uncounted, unclaimed []string
}

// registered is an operation of a route.
type registered struct {
	operation
	route schema.Route
}

// operation is what the server does with the requests of a route.
type operation struct {
	schema.Description
	// read reads the headers of a request before its body.
	read func(*Context) error
}

// New returns a server without operations.
func New(config Config) *Server {
	config.Log = cmp.Or(config.Log, slog.Default())
	return &Server{config: config, api: config.Platform.API, mux: http.NewServeMux()}
}

// Document returns the OpenAPI 3.1 document of all operations of the platform, as JSON. The synth writes
// the same bytes.
func (s *Server) Document() ([]byte, error) {
	return openapi.Document(s.config.Platform.Extended(s.config.Extra...))
}

// register declares an operation: serve answers its requests, with what was read into an input.
func register[P, B any](s *Server, op operation,
	serve func(context.Context, *bound[P, B]) (idempotency.Response, error)) {
	s.register(op, reflect.TypeFor[bound[P, B]](), func(ctx *Context, form *inputForm) (idempotency.Response, error) {
		var input bound[P, B]
		if err := s.read(ctx, form, &input, input.check); err != nil {
			return idempotency.Response{}, err
		}
		return serve(ctx.Context(), &input)
	})
}

// register panics if the operation is no route of the platform, or has a parameter that the route's path lacks.
func (s *Server) register(op operation, input reflect.Type,
	serve func(*Context, *inputForm) (idempotency.Response, error)) {
	route, ok := s.route(op.ID)
	if !ok {
		panic(fmt.Sprintf("httpapi: no route of %s has the ID %q: add it to the Routes of the schema, or spell it as "+
			"there", s.config.Platform.Name, op.ID))
	}
	for _, p := range op.Parameters() {
		if p.Place == "path" && !strings.Contains(route.Path, "{"+p.Name+"}") &&
			!strings.Contains(route.Path, "{"+p.Name+"+}") {
			panic(fmt.Sprintf("httpapi: the parameters of %s have %s, which the path %s lacks: give both one name",
				op.ID, p.Name, route.Path))
		}
	}
	if _, limited := s.config.Platform.RateLimit(route.RateLimit); limited && s.config.Limiter == nil {
		s.uncounted = append(s.uncounted, route.Key())
	}
	claim, kept := s.config.Platform.Database.AccessPattern(schema.ClaimIdempotencyKey)
	if kept && op.read != nil && !slices.Contains(claim.Functions, route.Function) {
		s.unclaimed = append(s.unclaimed, route.Key())
	}
	s.registered = append(s.registered, registered{op, route})
	form := sync.OnceValue(func() *inputForm { return newInputForm(openapi.InputOf(op.Description, s.api), input) })
	s.mux.HandleFunc(route.Key(), func(w http.ResponseWriter, r *http.Request) {
		ctx := &Context{Request: r, Route: route, operation: op, writer: w}
		s.admit(ctx, func() (idempotency.Response, error) { return serve(ctx, form()) })
	})
}

// Handler returns the API, ready to serve. It panics for each promise that the server could not keep: the rate limit of
// a registered route that nothing counts, an operation with a key whose function the schema does not let claim
// idempotency keys, and a route without an operation in a function with operations, whose callers would get 405.
func (s *Server) Handler() *kit.API {
	if len(s.uncounted) > 0 {
		panic(fmt.Sprintf("httpapi: the rate limits of %s are not counted: set Config.Limiter, or take RateLimit "+
			"from these routes of the schema", strings.Join(s.uncounted, ", ")))
	}
	if len(s.unclaimed) > 0 {
		panic(fmt.Sprintf("httpapi: the function of %s may not claim idempotency keys: name it in "+
			"IdempotencyPatterns of the schema", strings.Join(s.unclaimed, ", ")))
	}
	if missing := s.missing(); len(missing) > 0 {
		panic(fmt.Sprintf("httpapi: no operation serves %s: register one for each, or take them from the Routes of "+
			"the schema", strings.Join(missing, ", ")))
	}
	var protected []string
	for _, route := range s.config.Platform.Routes {
		if s.api.NeedsToken(route.Caller) || route.Caller.IAM && s.config.Identify[route.Caller] == nil {
			protected = append(protected, route.Key())
		}
	}
	return &kit.API{
		Routes:    s.mux,
		Protected: protected,
		Error: func(ctx context.Context, err error) (int, any) {
			failure := s.Failure(ctx, err)
			return failure.Status, failure.Body
		},
		Log:          s.config.Log,
		MaxBodyBytes: s.api.MaxBodyBytes,
	}
}

// missing are the routes without an operation, of functions that have some.
func (s *Server) missing() (keys []string) {
	ours := map[string]bool{}
	served := map[string]bool{}
	for _, each := range s.registered {
		ours[each.route.Function], served[each.ID] = true, true
	}
	for _, route := range s.config.Platform.Operations() {
		if route.Function != "" && ours[route.Function] && !served[route.ID] {
			keys = append(keys, route.Key())
		}
	}
	return keys
}

// route is the platform's route of that operation.
func (s *Server) route(id string) (schema.Route, bool) {
	i := slices.IndexFunc(s.config.Platform.Routes, func(r schema.Route) bool { return r.ID == id })
	if i < 0 || id == "" {
		return schema.Route{}, false
	}
	return s.config.Platform.Routes[i], true
}

// admit answers a request, which serve does once it is admitted.
func (s *Server) admit(ctx *Context, serve func() (idempotency.Response, error)) {
	ctx.context = context.WithValue(ctx.Request.Context(), requestKey{}, ctx)
	if s.config.WorkTime > 0 && !ctx.operation.NoWorkTime {
		hurried, cancel := context.WithTimeout(ctx.context, s.config.WorkTime)
		defer cancel()
		ctx.context = hurried
	}
	s.answer(ctx, serve)
	if err := ctx.refusal(); err != nil {
		// The answer has the headers of the checks that the request has passed.
		ctx.checks = slices.DeleteFunc(ctx.checks, (*check).refuses)
		s.fail(ctx, err)
	}
}

// answer answers a request, unless a check refuses it.
func (s *Server) answer(ctx *Context, serve func() (idempotency.Response, error)) {
	err := s.prepare(ctx)
	var response idempotency.Response
	if err == nil {
		response, err = serve()
	}
	if err != nil {
		s.fail(ctx, err)
		return
	}
	ctx.setHeaders(ctx.operation.headersOf(response))
	ctx.write(response)
}

// prepare does what comes before an operation reads its input.
func (s *Server) prepare(ctx *Context) (err error) {
	if ctx.query, err = url.ParseQuery(ctx.Request.URL.RawQuery); err != nil {
		return validate.Unreadable("query", validate.Constraint{}, "cannot be read: "+err.Error()+
			"; percent-encode values")
	}
	if err := s.identify(ctx); err != nil {
		return err
	}
	if ctx.body, err = io.ReadAll(ctx.Request.Body); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	if ctx.operation.read != nil {
		if err := ctx.operation.read(ctx); err != nil {
			return err
		}
	}
	if s.config.Admit != nil {
		admitted, err := s.config.Admit(ctx)
		if err != nil {
			return err
		}
		ctx.context = admitted
	}
	return nil
}

// statusGone is the status in the log of a request whose caller did not wait for the answer. HTTP defines no such
// status.
const statusGone = 499

// failure is the answer to an error of a request. It logs what is wrong on this side.
func (s *Server) failure(ctx context.Context, err error) Failure {
	failure := s.Failure(ctx, err)
	if errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled) {
		// No one waits for the answer, and nothing is wrong on this side.
		failure.Status = statusGone
	}
	// The error of a check that fails is logged once, when it is answered.
	request := requestFrom(ctx)
	if failure.Status >= http.StatusInternalServerError && (request == nil || request.refusal() == nil) {
		s.config.Log.ErrorContext(ctx, "request failed", "error", err.Error())
	}
	return failure
}

// fail answers a request that failed.
func (s *Server) fail(ctx *Context, err error) {
	failure := s.failure(ctx.Context(), err)
	ctx.setHeaders(failure.Header)
	response, err := kept(failure.Status, failure.Body)
	if err != nil {
		s.config.Log.ErrorContext(ctx.Context(), "an error could not be written", "error", err.Error())
	}
	ctx.write(response)
}

// instead is the work, unless something stands in for it (package standin).
func instead[I, R any](work func(context.Context, I) (R, error)) func(context.Context, I) (R, error) {
	return func(ctx context.Context, input I) (result R, err error) {
		if done, err := standin.Work(ctx, &result); done {
			return result, err
		}
		return work(ctx, input)
	}
}

// SetHeader sets a header of the answer to the context's request. The answer to a request that is repeated with
// its idempotency key lacks it.
func SetHeader(ctx context.Context, name, value string) {
	if request := requestFrom(ctx); request != nil {
		request.SetHeader(name, value)
	}
}
