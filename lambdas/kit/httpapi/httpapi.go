// Package httpapi turns the routes of a platform into HTTP operations: one
// declaration per operation gives its routing, its validation and its part of the
// OpenAPI document. It uses huma, and replaces huma's own answers: every error has the
// platform's form.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Config says how a platform speaks HTTP.
type Config struct {
	// Platform has the routes.
	Platform schema.Platform
	// Description says in the OpenAPI document what the platform is for.
	Description string
	// Complete completes the OpenAPI document, with all operations, before the server does. Nil: nothing is to add.
	Complete func(*huma.OpenAPI)
	// Strict refuses undeclared input: unknown and repeated fields, and unknown, empty and repeated
	// query parameters. Otherwise they are ignored.
	Strict bool
	// MaxBodyBytes is the largest body. Zero: [kit.DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// Callers say how callers identify themselves, by the kind that the routes name. A kind
	// that is missing is the zero [Identity].
	Callers map[schema.Caller]Identity
	// Admit runs before every operation and its validation, when the caller is known. It
	// returns the context of the operation, derived from the request's, or an error that
	// refuses the request. Nil admits everyone.
	Admit func(*Context) (context.Context, error)
	// Errors say how errors are answered.
	Errors Errors
	// Limiter counts the calls of routes with a rate limit. Required if a route that is
	// registered has one.
	Limiter RateLimiter
	// CountWhileReading lets an operation begin while its call is counted towards a rate limit, as a check of
	// [Context.WhileReading]. It may claim an idempotency key meanwhile. Set it if operations cause nothing beside
	// what waits.
	CountWhileReading bool
	// WorkTime ends the context of an operation, where the function has more time for operations that
	// are NoWorkTime. Zero: the context ends with the time of the invocation.
	WorkTime time.Duration
	// Idempotency is for the operations of [Mutate].
	Idempotency Idempotency
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
	// Log receives the errors that are answered with 500 and above. They are logged nowhere else.
	// Nil: [slog.Default].
	Log *slog.Logger
}

// Server serves the operations that are registered with it. What huma needs of an operation is made when it is asked
// for the first time, so that a function starts without.
type Server struct {
	config Config
	mux    *http.ServeMux
	// registered are the operations, each as it is registered with huma.
	registered []func(*operations)
	// routes are their routes.
	routes []schema.Route
	// uncounted are the registered routes whose rate limit is not counted.
	uncounted []string
}

// operations are operations of a server as huma has them: the one of a route, or all, for the document.
type operations struct {
	*Server
	api huma.API
	// serve serves the operation that was registered last.
	serve http.HandlerFunc
}

// HandleFunc takes an operation's handler from huma.
func (s *operations) HandleFunc(_ string, serve func(http.ResponseWriter, *http.Request)) {
	s.serve = serve
}

// ServeHTTP serves the operation.
func (s *operations) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r) }

// New returns a server without operations.
func New(config Config) *Server {
	if config.Log == nil {
		config.Log = slog.Default()
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Server{config: config, mux: http.NewServeMux()}
}

// operations returns no operations yet.
func (s *Server) operations() *operations {
	config, o := s.config, &operations{Server: s}
	format := huma.Format{Marshal: WriteJSON, Unmarshal: s.unmarshal}
	settings := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: config.Platform.Title, Version: "1.0.0", Description: config.Description},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/",
				huma.DefaultSchemaNamer)},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{o.transform},
	}
	settings.AllowAdditionalPropertiesByDefault = !config.Strict
	o.api = humago.New(o, settings)
	o.api.UseMiddleware(o.admit)
	return o
}

// operation notes an operation, which register registers with huma. It panics if the operation is no route of the
// platform.
func (s *Server) operation(op Operation, register func(*operations)) {
	route, ok := s.route(op.ID)
	if !ok {
		panic(fmt.Sprintf("httpapi: no route of %s has the ID %q: add it to the Routes of the schema, or spell it as "+
			"there", s.config.Platform.Name, op.ID))
	}
	if _, limited := s.config.Platform.RateLimit(route.RateLimit); limited && s.config.Limiter == nil {
		s.uncounted = append(s.uncounted, route.Key())
	}
	s.registered, s.routes = append(s.registered, register), append(s.routes, route)
	made := sync.OnceValue(func() *operations {
		o := s.operations()
		register(o)
		return o
	})
	s.mux.HandleFunc(route.Key(), func(w http.ResponseWriter, r *http.Request) { made().serve(w, r) })
}

// Handler is the API ready to be served. It panics if a registered route has a rate limit
// that is not counted, since the platform would promise a limit that it does not keep, and if a route of a function
// that has operations has none: callers would get 405.
func (s *Server) Handler() *kit.API {
	if len(s.uncounted) > 0 {
		panic(fmt.Sprintf("httpapi: the rate limits of %s are not counted: set Config.Limiter, or take RateLimit "+
			"from these routes of the schema", strings.Join(s.uncounted, ", ")))
	}
	if missing := s.missing(); len(missing) > 0 {
		panic(fmt.Sprintf("httpapi: no operation serves %s: register one for each, or take them from the Routes of "+
			"the schema", strings.Join(missing, ", ")))
	}
	var protected []string
	for _, route := range s.config.Platform.Routes {
		if s.needsToken(route) {
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
		MaxBodyBytes: s.config.MaxBodyBytes,
	}
}

// missing are the routes without an operation, of functions that have some.
func (s *Server) missing() (keys []string) {
	ours := map[string]bool{}
	served := map[string]bool{}
	for _, route := range s.routes {
		ours[route.Function], served[route.ID] = true, true
	}
	for _, route := range s.config.Platform.Operations() {
		if route.Function != "" && ours[route.Function] && !served[route.ID] {
			keys = append(keys, route.Key())
		}
	}
	return keys
}

// needsToken reports whether the route is only for callers with a verified token.
func (s *Server) needsToken(route schema.Route) bool {
	return route.Caller.Authenticated() && s.config.Callers[route.Caller].Identify == nil
}

// route is the platform's route of that operation.
func (s *Server) route(id string) (schema.Route, bool) {
	i := slices.IndexFunc(s.config.Platform.Routes, func(r schema.Route) bool { return r.ID == id })
	if i < 0 || id == "" {
		return schema.Route{}, false
	}
	return s.config.Platform.Routes[i], true
}

// admit runs before every operation.
func (s *operations) admit(inner huma.Context, next func(huma.Context)) {
	route, _ := s.route(inner.Operation().OperationID)
	ctx := &Context{humaContext: inner, Route: route}
	ctx.context = context.WithValue(inner.Context(), requestKey{}, ctx)
	if s.config.WorkTime > 0 && !ctx.Declared().NoWorkTime {
		hurried, cancel := context.WithTimeout(ctx.context, s.config.WorkTime)
		defer cancel()
		ctx.context = hurried
	}
	s.answer(ctx, next)
	if err := ctx.refusal(); err != nil {
		// The answer has the headers of the checks that the request has passed.
		ctx.checks = slices.DeleteFunc(ctx.checks, (*check).refuses)
		s.fail(ctx, err)
	}
}

// answer answers a request, unless a check refuses it.
func (s *operations) answer(ctx *Context, next func(huma.Context)) {
	inner := ctx.humaContext
	address := inner.URL()
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		s.fail(ctx, Unreadable("query", validate.Constraint{},
			"cannot be read: "+err.Error()+"; percent-encode values"))
		return
	}
	ctx.query = query
	if err := s.identify(ctx); err != nil {
		s.fail(ctx, err)
		return
	}
	if read := ctx.Declared().read; read != nil {
		if err := read(ctx); err != nil {
			s.fail(ctx, err)
			return
		}
	}
	if s.config.Admit != nil {
		admitted, err := s.config.Admit(ctx)
		if err != nil {
			s.fail(ctx, err)
			return
		}
		ctx.context = admitted
	}
	if s.config.Strict {
		problems := undeclared(query, inner.Operation())
		if form := s.bodyForm(inner.Operation()); form != nil {
			body, err := ctx.Body()
			if err != nil {
				s.fail(ctx, err)
				return
			}
			problems = append(problems, miscased(body, form)...)
		}
		ctx.context = context.WithValue(ctx.context, problemsKey{}, problems)
	}
	next(ctx)
	ctx.begin()
}

// bodyForm is the form of an operation's JSON body; nil if it has none.
func (s *operations) bodyForm(operation *huma.Operation) *huma.Schema {
	if operation.RequestBody == nil {
		return nil
	}
	content := operation.RequestBody.Content["application/json"]
	if content == nil || content.Schema == nil {
		return nil
	}
	if content.Schema.Ref == "" {
		return content.Schema
	}
	return s.api.OpenAPI().Components.Schemas.SchemaFromRef(content.Schema.Ref)
}

type problemsKey struct{}

// problemsFrom returns the problems that only a strict server finds.
func problemsFrom(ctx context.Context) []validate.Problem {
	problems, _ := ctx.Value(problemsKey{}).([]validate.Problem)
	return problems
}

// statusGone is the status in the log of a request whose caller did not wait for the answer. HTTP has none.
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

// transform gives the errors that huma finds in a request the platform's form.
func (s *operations) transform(ctx huma.Context, _ string, value any) (any, error) {
	model, ok := value.(*huma.ErrorModel)
	if !ok {
		return value, nil
	}
	var err error = model
	if model.Status < http.StatusInternalServerError {
		err = s.invalid(ctx.Operation(), model, problemsFrom(ctx.Context()))
	}
	failure := s.failure(ctx.Context(), err)
	if ours, ok := ctx.(*Context); ok {
		ours.setHeaders(failure.Header)
	}
	ctx.SetStatus(failure.Status)
	return failure.Body, nil
}
