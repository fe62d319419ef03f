// Package standin lets package httpapitest do the work of operations in their place, so that what it checks of every
// API needs neither a service nor data.
package standin

import "context"

type key struct{}

// With returns the context of a request whose operation does not do its work: work does, and puts what the operation
// would return where result points to.
func With(ctx context.Context, work func(result any) error) context.Context {
	return context.WithValue(ctx, key{}, work)
}

// Work does the work of an operation in its place. It reports false if nothing stands in for the operation.
func Work(ctx context.Context, result any) (done bool, err error) {
	work, ok := ctx.Value(key{}).(func(result any) error)
	if !ok {
		return false, nil
	}
	return true, work(result)
}
