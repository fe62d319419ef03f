package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Request is what an operation was sent.
type Request[P, B any] struct {
	// Params are its parameters, and Body its body: both as [schema.Operation] says.
	Params P
	Body   B
	// Caller is who sent it.
	Caller Caller
}

// Work is what an operation does, where that is more than a function from the request to the answer.
type Work[P, B, R any] struct {
	// Do does the work. A store passes the same result to [idempotency.Transact].
	Do func(context.Context, Request[P, B]) (R, error)
	// Answer makes the status and the body, nil for none, from the result. Nil: the result is the body.
	Answer func(R) (status int, body any)
	// Key returns the idempotency key of a request and the content that identifies it, for [schema.KeyOwn]. The key is
	// "" for a request that the server carries out each time. An error refuses the request, which uses up no key. It
	// may complete the request. The key keeps no answer to an error, and a repeated answer does not say that it is one.
	Key func(*Request[P, B]) (key string, content []byte, err error)
}

// Bind makes a server serve an operation by a function of its request. It panics if the platform has no route with the
// operation's ID: no request would come, and its caller would be undefined.
func Bind[P, B, A any](s *Server, op schema.Operation[P, B, A], do func(context.Context, Request[P, B]) (A, error)) {
	BindWork(s, op, Work[P, B, A]{Do: do})
}

// BindWork is [Bind] for work whose result is not the answer, or that has a key of its own.
//
// The server carries out an operation with an idempotency key once for each key. Two requests with a key are the same
// if method, path, If-Match and body are. A repeat gets the first answer. While the first attempt is running, a repeat
// waits for up to [Idempotency.Wait], and then gets a [*idempotency.RunningError].
func BindWork[P, B, A, R any](s *Server, op schema.Operation[P, B, A], work Work[P, B, R]) {
	d := op.Describe()
	declared := operationOf(d)
	if d.Key != schema.KeyNone {
		declared = s.once(declared, d.Key == schema.KeyOwn)
	}
	answer, do := work.Answer, instead(work.Do)
	if answer == nil {
		answer = func(result R) (int, any) {
			if d.Answer() == nil {
				return declared.Status, nil
			}
			return declared.Status, result
		}
	}
	register(s, declared, func(ctx context.Context, input *bound[P, B]) (idempotency.Response, error) {
		request := Request[P, B]{input.Params, input.Body, CallerFrom(ctx)}
		if d.Key == schema.KeyNone {
			result, err := do(ctx, request)
			if err != nil {
				return idempotency.Response{}, err
			}
			return kept(answer(result))
		}
		var key func() (string, []byte, error)
		if d.Key == schema.KeyOwn {
			key = func() (string, []byte, error) { return work.Key(&request) }
		}
		return s.mutate(ctx, key, answered(answer), func(ctx context.Context) (any, error) { return do(ctx, request) })
	})
}

// operationOf is what the server keeps of a description.
func operationOf(d schema.Description) Operation {
	op := Operation{ID: d.ID, Description: cmp.Or(d.Detail, d.Summary+"."), Status: cmp.Or(d.Status, http.StatusOK),
		OtherAnswers: d.Further, Headers: d.Headers, Location: d.Location, Errors: d.Errors, IfMatch: d.IfMatch,
		KeyOptional: d.Key == schema.KeyOptional, NeedsCaller: d.NeedsCaller, CountsAlong: d.CountsAlong,
		NoWorkTime: d.NoWorkTime, described: d}
	switch {
	case d.OneOf != nil:
		op.Form = OneOf(d.OneOf)
	case d.Answer() != nil:
		op.Form = reflect.Zero(d.Answer()).Interface()
	}
	return op
}

// bound is the input of an operation.
type bound[P, B any] struct {
	Params P
	Body   B
}

// Validate implements [Validated].
func (b *bound[P, B]) Validate() error {
	var found []validate.Problem
	for _, form := range []any{b.Params, b.Body} {
		if reflect.ValueOf(form).Kind() != reflect.Struct {
			continue
		}
		err := validate.Form(form)
		if broken, ok := errors.AsType[*validate.Error](err); ok {
			found = append(found, broken.Problems...)
		} else if err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &validate.Error{Problems: found}
}
