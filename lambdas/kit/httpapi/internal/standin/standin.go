// Package standin lets package httpapitest do the work of operations in their place, so that its checks of every API
// need neither a service nor data.
package standin

import "context"

type key struct{}

// With returns the context of a request with work in place of the operation's own. work puts what the operation would
// return where result points to.
func With(ctx context.Context, work func(result any) error) context.Context {
	return context.WithValue(ctx, key{}, work)
}

// Work does the stand-in's work for an operation. It reports false if nothing stands in for the operation.
func Work(ctx context.Context, result any) (done bool, err error) {
	work, ok := ctx.Value(key{}).(func(result any) error)
	if !ok {
		return false, nil
	}
	return true, work(result)
}
