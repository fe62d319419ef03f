package httpapi_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// limiter counts a call. The name of a limit of reads ends with " read".
type limiter func(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error)

func (l limiter) CountRequest(ctx context.Context, limit schema.RateLimit, caller string,
	now time.Time) (ratelimit.State, error) {
	return l(ctx, limit, caller, now)
}

func (l limiter) CountRead(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State,
	error) {
	limit.Name += " read"
	return l(ctx, limit, caller, now)
}

func (limiter) GiveBack(schema.RateLimit, string, time.Time) {}

// A token or a header identifies a caller, and a route of a group admits only its
// members. Refused callers are not counted.
func TestCallers(t *testing.T) {
	t.Parallel()
	const agentHeader = "X-Agent"
	agent := schema.Caller{Name: "agent", Header: agentHeader}
	errName := errors.New("a bad name")
	var counted []string
	// The call after the second is refused.
	limit := func(_ context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error) {
		counted = append(counted, limit.Name+" "+caller)
		state := ratelimit.State{Limit: 2, Remaining: max(0, 2-len(counted)), Reset: now.Add(1500 * time.Millisecond)}
		if len(counted) > 2 {
			return state, &ratelimit.LimitedError{State: state}
		}
		return state, nil
	}
	s := httpapi.New(httpapi.Config{
		Platform: schema.Platform{Name: "club", Title: "Club", Routes: []schema.Route{
			{ID: "user", Method: "GET", Path: "/user", Caller: schema.CallerUser},
			{ID: "admin", Method: "GET", Path: "/admin", Caller: schema.Caller{Name: "admin", Token: schema.TokenOfUser,
				Group: "admin"}, RateLimit: "admin"},
			{ID: "agent", Method: "GET", Path: "/agent", Caller: agent},
			{ID: "anyone", Method: "GET", Path: "/anyone", Caller: schema.CallerAnyone},
			{ID: "partner", Method: "GET", Path: "/partner", Caller: schema.Caller{Name: "partner",
				Authorizer: "gate"}},
			{ID: "service", Method: "GET", Path: "/service", Caller: schema.Caller{Name: "service", IAM: true}},
		}, RateLimits: []schema.RateLimit{{Name: "admin", Requests: 2, Window: time.Hour, Per: schema.PerUser}},
			API: schema.API{
				Errors: problem.Answers{Known: []problem.Answer{{Match: problem.Is(errName), Status: 400}}}}},
		Identify: map[schema.Caller]httpapi.Identify{
			agent: httpapi.ByHeader(agentHeader, func(name string) error {
				if name == "" {
					return errName
				}
				return nil
			}),
		},
		Limiter: limiter(limit),
	})
	for _, id := range []string{"user", "admin", "agent", "anyone", "partner", "service"} {
		op := schema.Operation[none, none, string]{ID: id}
		httpapi.Bind(s, op, func(_ context.Context, r request) (string, error) { return r.Caller.ID, nil })
	}
	handler := s.Handler()
	for _, test := range []struct {
		name, path, subject, group, header string
		status                             int
		body                               string
		authorized                         kit.Invocation
	}{
		{name: "Subject", path: "/user", subject: "ann", status: 200, body: `"ann"`},
		{name: "NoToken", path: "/user", status: 401, body: `no verified token`},
		{name: "Group", path: "/admin", subject: "ann", group: "admin", status: 200, body: `"ann"`},
		{name: "GroupAgain", path: "/admin", subject: "ann", group: "admin", status: 200, body: `"ann"`},
		{name: "ErrOtherGroup", path: "/admin", subject: "eve", group: "administrators", status: 403,
			body: `of another group`},
		{name: "ErrGroupInOtherCase", path: "/admin", subject: "eve", group: "Admin", status: 403,
			body: `of another group`},
		{name: "ErrNoGroup", path: "/admin", subject: "eve", status: 403, body: `of another group`},
		{name: "ErrLimit", path: "/admin", subject: "ann", group: "admin", status: 429, body: `more than 2 calls`},
		{name: "Header", path: "/agent", header: agentHeader + ": bob", status: 200, body: `"bob"`},
		{name: "ErrHeader", path: "/agent", status: 400, body: `a bad name`},
		{name: "Anyone", path: "/anyone", subject: "ann", status: 200, body: `""`},
		{name: "Partner", path: "/partner", authorized: kit.Invocation{Context: map[string]any{"sub": "bob"}},
			status: 200, body: `"bob"`},
		{name: "PartnerOfNoName", path: "/partner", status: 200, body: `""`},
		{name: "Service", path: "/service", authorized: kit.Invocation{Signer: kit.Signer{ID: "AIDA"}}, status: 200,
			body: `"AIDA"`},
		{name: "NoSignature", path: "/service", status: 401, body: `no verified token`},
		// The team has given a route of users another authorizer.
		{name: "UserByAuthorizer", path: "/user", authorized: kit.Invocation{Context: map[string]any{"sub": "bob"}},
			status: 200, body: `"bob"`},
	} {
		// One after the other: the limiter counts them all.
		r := httptest.NewRequest("GET", test.path, nil)
		if name, value, ok := strings.Cut(test.header, ": "); ok {
			r.Header.Set(name, value)
		}
		invocation := test.authorized
		invocation.SourceAddress = "203.0.113.7"
		if test.subject != "" {
			invocation.Claims, invocation.Groups = map[string]string{"sub": test.subject}, []string{"staff", test.group}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(kit.WithInvocation(t.Context(), invocation)))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.body) {
			t.Errorf("%s: got %d %s; want %d %s", test.name, w.Code, w.Body, test.status, test.body)
		}
		if got := w.Header().Get("Retry-After"); (got == "2") != (test.status == 429) {
			t.Errorf("%s: Retry-After is %q", test.name, got)
		}
		if got := w.Header().Get("WWW-Authenticate"); (got == "Bearer") != (test.status == 401) {
			t.Errorf("%s: WWW-Authenticate is %q", test.name, got)
		}
		if got := w.Header().Get("X-RateLimit-Limit"); (got == "2") != (test.path == "/admin" && test.status != 403) {
			t.Errorf("%s: X-RateLimit-Limit is %q", test.name, got)
		}
	}
	if got := strings.Join(counted, ", "); got != "admin read ann, admin read ann, admin read ann" {
		t.Errorf("counted %s", got)
	}
}
