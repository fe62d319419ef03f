package httpapi

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Request is one request of an operation.
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
// The input is read from the parameters and the body: a parameter is a text, a number, a bool, an
// [encoding.TextUnmarshaler], a pointer to one of these, which is nil without the parameter, or a list of these,
// separated by commas. Tags describe fields as in huma: the document has what they state, and the server checks it, as
// well as the rules of a [validate.Checker]. The tag default is the value of an omitted parameter; for a field of the
// body it only documents what the operation assumes.
//
// The server carries out an operation with an idempotency key once for each key. Two requests with a key are the same
// if method, path, If-Match and body are. A repeat gets the first answer. While the first attempt is running, a repeat
// waits for up to [Idempotency.Wait], and then gets a [*idempotency.RunningError].
func BindWork[P, B, A, R any](s *Server, op schema.Operation[P, B, A], work Work[P, B, R]) {
	declared := operation{Description: op.Describe()}
	if declared.Key != schema.KeyNone {
		declared = s.once(declared)
	}
	answer, do := work.Answer, instead(work.Do)
	if answer == nil {
		answer = func(result R) (int, any) {
			if declared.Answer() == nil {
				return declared.Status, nil
			}
			return declared.Status, result
		}
	}
	register(s, declared, func(ctx context.Context, input *bound[P, B]) (idempotency.Response, error) {
		request := Request[P, B]{input.Params, input.Body, CallerFrom(ctx)}
		if declared.Key == schema.KeyNone {
			result, err := do(ctx, request)
			if err != nil {
				return idempotency.Response{}, err
			}
			return kept(answer(result))
		}
		var key func() (string, []byte, error)
		if declared.Key == schema.KeyOwn {
			key = func() (string, []byte, error) { return work.Key(&request) }
		}
		return s.mutate(ctx, key, answered(answer), func(ctx context.Context) (any, error) { return do(ctx, request) })
	})
}

// BindDocument is [Bind] for the operation that answers with the OpenAPI document. The first request for the document
// makes it, so no other request waits for it.
func BindDocument(s *Server, op schema.Operation[schema.None, schema.None, schema.Document]) {
	made := sync.OnceValues(s.Document)
	declared := operation{Description: op.Describe()}
	register(s, declared, func(context.Context, *bound[schema.None, schema.None]) (idempotency.Response, error) {
		body, err := made()
		return idempotency.Response{Status: http.StatusOK, Body: body}, err
	})
}

// BindHealth is [Bind] for the operation that answers while the API is up.
func BindHealth(s *Server, op schema.Operation[schema.None, schema.None, schema.Health]) {
	Bind(s, op, func(context.Context, Request[schema.None, schema.None]) (schema.Health, error) {
		return schema.Health{Status: "ok"}, nil
	})
}

// bound is the input of an operation.
type bound[P, B any] struct {
	Params P
	Body   B
}

// check returns an error for all that breaks rules which the forms do not state. If the form of a field finds a
// problem, only that one counts.
func (b *bound[P, B]) check() error {
	var found []validate.Problem
	for _, form := range []any{b.Params, b.Body} {
		if reflect.ValueOf(form).Kind() != reflect.Struct {
			continue
		}
		if broken, ok := errors.AsType[*validate.Error](validate.Check(form)); ok {
			found = append(found, broken.Problems...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &validate.Error{Problems: found}
}
