// Package api serves To-Do over HTTP. One declaration per operation gives its
// routing, its validation and its part of the OpenAPI document.
//
// Where the wire contract is silent, the API decides: moments are RFC 3339 text
// in UTC with whole seconds, as the table keeps them; an optional field without a
// value is null in an answer, and null or "" in a request; unknown fields, fields
// that stand twice, and unknown, empty or repeated query parameters are refused,
// since each is a mistake that would otherwise go unseen; a body without a
// Content-Type is taken for JSON.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Service is what the routes call; [todo.Service] is one.
type Service interface {
	CreateUser(ctx context.Context, id string, input todo.UserInput) (todo.User, error)
	GetUser(ctx context.Context, id string) (todo.User, error)
	UpdateUser(ctx context.Context, id string, input todo.UserInput) (todo.User, error)
	DeleteUser(ctx context.Context, id string) (complete bool, err error)

	CreateTask(ctx context.Context, user string, input todo.TaskInput) (todo.Task, error)
	GetTask(ctx context.Context, user, id string) (todo.Task, error)
	ListTasks(ctx context.Context, user string, filter todo.TaskFilter) (todo.TaskPage, error)
	ReplaceTask(ctx context.Context, user, id string, input todo.TaskInput, ifVersion int) (todo.Task, error)
	ChangeTask(ctx context.Context, user, id string, change todo.TaskChange, ifVersion int) (todo.Task, error)
	DeleteTask(ctx context.Context, user, id string, ifVersion int) error

	SetStatuses(ctx context.Context, user string, ids []string, status todo.Status) (todo.BulkResult, error)
	DeleteCompleted(ctx context.Context, user string) (deleted int, more bool, err error)
	Stats(ctx context.Context, user string) (todo.Stats, error)
}

// IdempotencyKeys remember requests by their idempotency keys; [idempotency.Keys]
// do, and its methods say what these do.
type IdempotencyKeys interface {
	Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*idempotency.Claim, *idempotency.Response, error)
	Settle(ctx context.Context, claim *idempotency.Claim, response idempotency.Response) error
	Release(ctx context.Context, claim *idempotency.Claim) error
}

// API serves all routes of the platform.
type API struct {
	// Service carries requests out.
	Service Service
	// Keys are the idempotency keys, each user's a scope of its own.
	Keys IdempotencyKeys
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log *slog.Logger
	// Metrics receives the metric TasksCreated; TasksCompleted comes from
	// [CountCompleted]. Nil: none.
	Metrics *kit.Metrics
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// CountCompleted is for [todo.Service]: it emits the metric TasksCompleted for the
// tasks that a write completes.
func CountCompleted(metrics *kit.Metrics) func(context.Context, int) {
	return func(ctx context.Context, tasks int) { metrics.Emit(ctx, kit.Count("TasksCompleted", tasks)) }
}

// Handler returns the handler of the routes.
func (a *API) Handler() *kit.API {
	s := newServer(a)
	return s.Handler()
}

// server has the routes with their operations.
type server struct {
	*httpapi.Server
	service Service
	keys    IdempotencyKeys
	log     *slog.Logger
	metrics *kit.Metrics
	now     func() time.Time
}

func newServer(a *API) *server {
	s := &server{service: a.Service, keys: a.Keys, log: a.Log, metrics: a.Metrics, now: a.Now}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.Server = httpapi.New(httpapi.Config{
		Platform:    schema.Todo(),
		Description: "Users keep tasks of their own. Unknown fields, fields that stand twice, and unknown, empty or repeated query parameters are refused. A body without a Content-Type is taken for JSON. Moments are whole seconds in UTC.",
		Strict:      true,
		Admit:       s.admit,
		Failure:     func(err error) httpapi.Failure { return failure(err, s.now()) },
		Log:         s.log,
	})
	s.registerUsers()
	s.registerTasks()
	s.registerBulk()
	s.registerOthers()
	return s
}

// request is what an operation knows of its request beside its input.
type request struct {
	// user is the subject of the caller's token.
	user string
	// key is the idempotency key, and content what makes two requests with the same
	// key the same request; both of a mutation only.
	key     string
	content []byte
	// ifMatch is the precondition of a change to a task.
	ifMatch precondition
}

type requestKey struct{}

func requestFrom(ctx context.Context) request {
	r, _ := ctx.Value(requestKey{}).(request)
	return r
}

// admit identifies the caller, and reads the headers that count before the body.
func (s *server) admit(ctx *httpapi.Context) (context.Context, error) {
	if ctx.Route.Caller != schema.CallerUser {
		return ctx.Context(), nil
	}
	r := request{user: kit.InvocationFrom(ctx.Context()).Subject()}
	if isMutation(ctx.Route) {
		var err error
		if r.key, err = idempotencyKey(ctx.Header(keyHeader)); err != nil {
			return nil, err
		}
		ifMatch := ctx.Header(ifMatchHeader)
		if takesPrecondition(ctx.Route) {
			if r.ifMatch, err = parseIfMatch(ifMatch); err != nil {
				return nil, err
			}
		}
		body, err := ctx.Body()
		if err != nil {
			return nil, err
		}
		address := ctx.URL()
		r.content = content(ctx.Route.Method, address.EscapedPath(), ifMatch, body)
	}
	return context.WithValue(ctx.Context(), requestKey{}, r), nil
}

func isMutation(route schema.Route) bool {
	return route.Caller == schema.CallerUser && route.Method != http.MethodGet
}
