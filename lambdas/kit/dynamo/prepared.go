package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// operation is an operation of the SDK's client for an access pattern, with its middlewares. The client itself makes
// these anew for each call, which takes as long as to sign the call.
type operation[In, Out any] struct {
	handler middleware.Handler
	// values is the context that the client makes for a call.
	values context.Context
	name   string
}

// call calls an operation of the client for a pattern. A call has an operation of its own, because some middlewares
// change with it, and the one that reads the answer has one output.
func call[In, Out any](ctx context.Context, p *access,
	of func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In) (*Out, error) {
	o, ok := p.operations.Get().(*operation[In, Out])
	if !ok {
		if o = prepare(p, of, in); o == nil {
			return of(ctx, in, p.named)
		}
	}
	result, _, err := o.handler.Handle(preparedContext{ctx, o.values}, in)
	if err != nil {
		return nil, &smithy.OperationError{ServiceID: dynamodb.ServiceID, OperationName: o.name, Err: err}
	}
	output := result.(*Out)
	out := *output
	*output = *new(Out)
	p.operations.Put(o)
	return &out, nil
}

// errPrepared ends the call whose middlewares are taken.
var errPrepared = errors.New("the operation is prepared")

// prepare returns an operation. It is nil if the client is not the SDK's own, or measures or traces its calls.
func prepare[In, Out any](p *access, of func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	in *In) *operation[In, Out] {
	if !p.prepares {
		return nil
	}
	o := &operation[In, Out]{}
	take := middleware.InitializeMiddlewareFunc("TakeOperation", func(ctx context.Context, _ middleware.InitializeInput,
		_ middleware.InitializeHandler) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		o.values = ctx
		return out, metadata, errPrepared
	})
	var stack *middleware.Stack
	_, err := of(context.Background(), in, p.named, func(options *dynamodb.Options) {
		_, unmeasured := options.MeterProvider.(metrics.NopMeterProvider)
		_, untraced := options.TracerProvider.(*tracing.NopTracerProvider)
		if !unmeasured || !untraced {
			return
		}
		handler := smithyhttp.NewClientHandlerWithOptions(options.HTTPClient, func(h *smithyhttp.ClientHandler) {
			h.Meter = options.MeterProvider.Meter("")
		})
		options.APIOptions = append(options.APIOptions, func(of *middleware.Stack) error {
			stack, o.name, o.handler = of, of.ID(), middleware.DecorateHandler(handler, of)
			return of.Initialize.Add(take, middleware.Before)
		})
	})
	if !errors.Is(err, errPrepared) {
		return nil
	}
	if _, err := stack.Initialize.Remove(take.ID()); err != nil {
		return nil
	}
	return o
}

// preparedContext is the context of a call with the values of a prepared operation.
type preparedContext struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (c preparedContext) Value(key any) any {
	if value := c.values.Value(key); value != nil {
		return value
	}
	return c.Context.Value(key)
}
