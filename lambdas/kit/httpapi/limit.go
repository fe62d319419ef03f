package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// RateLimiter counts calls; [ratelimit.Counter] is one.
type RateLimiter interface {
	// CountRequest counts a caller's call towards a limit, in the window of now. It returns a [*ratelimit.LimitedError]
	// beyond the limit.
	CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error)
	// CountRead is CountRequest for a call that changes nothing. It may allow a caller a few more or fewer calls than
	// the limit.
	CountRead(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (ratelimit.State, error)
	// GiveBack gives back a call that CountRead has counted and that the caller does not make.
	GiveBack(limit schema.RateLimit, caller string, now time.Time)
}

// count counts a call towards the caller's limit of the route. At the same time it counts the call towards
// the limit of the caller's address, if the route has one: as a read, because the address gets a call back
// that the caller's limit refuses, for others share it. The answer has the
// state of the limit that has the least left.
func (s *Server) count(ctx *Context, caller Caller) error {
	limit, ok := s.config.Platform.RateLimit(ctx.Route.RateLimit)
	if !ok {
		return nil
	}
	if !s.config.CountWhileReading {
		state, err := s.countCall(ctx.Context(), ctx.Route, limit, caller)
		if err != nil {
			return err
		}
		ctx.setHeaders(state.Header(s.config.Clock.Now()))
		return nil
	}
	if call := s.along(ctx, limit, caller); call != nil {
		ctx.later(func(within context.Context) (http.Header, error) {
			state, err := call.Count(within)
			return state.Header(s.config.Clock.Now()), err
		})
		ctx.context = ratelimit.WithCall(ctx.context, call)
		return nil
	}
	ctx.whileReading(func(within context.Context) (http.Header, error) {
		state, err := s.countCall(within, ctx.Route, limit, caller)
		return state.Header(s.config.Clock.Now()), err
	})
	return nil
}

// along is the call of an operation that may count it; nil: the server counts it.
func (s *Server) along(ctx *Context, limit schema.RateLimit, caller Caller) *ratelimit.Call {
	counter, ok := s.config.Limiter.(interface {
		Along(limit schema.RateLimit, caller string, now time.Time) *ratelimit.Call
	})
	if !ok || !ctx.operation.CountsAlong || limit.Per == schema.PerAddress || limit.AddressRequests != 0 ||
		caller.ID == "" {
		return nil
	}
	return counter.Along(limit, caller.ID, s.config.Clock.Now())
}

func (s *Server) countCall(ctx context.Context, route schema.Route, limit schema.RateLimit,
	caller Caller) (ratelimit.State, error) {
	now, who := s.config.Clock.Now(), caller.ID
	if who == "" || limit.Per == schema.PerAddress {
		who = caller.Address
	}
	countCall := s.config.Limiter.CountRequest
	if route.Method == http.MethodGet {
		countCall = s.config.Limiter.CountRead
	}
	if limit.AddressRequests == 0 || caller.ID == "" {
		return countCall(ctx, limit, who, now)
	}
	ofAddress := schema.RateLimit{Name: limit.Name + "-address", Requests: limit.AddressRequests, Window: limit.Window,
		Per: schema.PerAddress}
	var address ratelimit.State
	counted := make(chan error, 1)
	go func() {
		var err error
		address, err = s.config.Limiter.CountRead(ctx, ofAddress, caller.Address, now)
		counted <- err
	}()
	state, err := countCall(ctx, limit, who, now)
	addressErr := <-counted
	if err != nil && addressErr == nil {
		s.config.Limiter.GiveBack(ofAddress, caller.Address, now)
	}
	if address.Remaining < state.Remaining {
		state = address
	}
	return state, cmp.Or(err, addressErr)
}
