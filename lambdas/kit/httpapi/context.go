package httpapi

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Context is a request that has matched a route.
type Context struct {
	// Request is the request as it came.
	Request *http.Request
	// Route is the route.
	Route schema.Route

	operation operation
	writer    http.ResponseWriter
	caller    Caller
	// key, content and ifMatch are set for an operation of with a key. content is all that identifies
	// the request.
	key     string
	content []byte
	ifMatch precondition

	context context.Context
	query   url.Values
	body    []byte
	// checks run while the operation reads.
	checks []*check
}

// check is one that runs while its operation reads.
type check struct {
	done chan struct{}
	// start starts the check, unless it has started.
	start func()
	// header is of every answer to a request that passes, err the error that refuses the request.
	header http.Header
	err    error
}

// wait waits for the outcome, and returns the error that refuses the request.
func (c *check) wait(ctx context.Context) error {
	c.start()
	select {
	case <-c.done:
	case <-ctx.Done():
		// Of two that are ready, select takes any.
		select {
		case <-c.done:
		default:
			return ctx.Err()
		}
	}
	return c.err
}

// refuses waits for the outcome without a context: a check ends with that of its request.
func (c *check) refuses() bool {
	c.start()
	<-c.done
	return c.err != nil
}

// WhileReading runs a check of the request while its operation begins. The operation may read tables meanwhile; its
// writes, its questions to a model and its answer wait for the check. If the check returns an error, that becomes the
// answer. Call WhileReading in [Config.Admit], and then derive the context of the operation from [Context.Context].
func (c *Context) WhileReading(run func(context.Context) error) {
	c.whileReading(func(ctx context.Context) (http.Header, error) { return nil, run(ctx) })
}

func (c *Context) whileReading(run func(context.Context) (http.Header, error)) {
	c.later(run).start()
}

// later is whileReading for a check that begins when the operation writes or answers.
func (c *Context) later(run func(context.Context) (http.Header, error)) *check {
	check, within := &check{done: make(chan struct{})}, c.context
	check.start = sync.OnceFunc(func() {
		go func() {
			defer close(check.done)
			check.header, check.err = run(within)
		}()
	})
	c.checks, c.context = append(c.checks, check), dynamo.BeforeWrites(within, check.wait)
	return check
}

// startChecks starts the checks.
func (c *Context) startChecks() {
	for _, check := range c.checks {
		check.start()
	}
}

type requestKey struct{}

// requestFrom returns the request that the context of an operation belongs to; nil outside of one.
func requestFrom(ctx context.Context) *Context {
	request, _ := ctx.Value(requestKey{}).(*Context)
	return request
}

// Context returns the context of the operation.
func (c *Context) Context() context.Context { return c.context }

// Declared returns the operation that is bound to the route.
func (c *Context) Declared() schema.Description { return c.operation.Description }

// Header returns a header. A repeated header becomes one list, as from API Gateway. Of a media type it returns the name
// alone, in lower case, for comparison.
func (c *Context) Header(name string) string {
	value := strings.Join(c.Request.Header.Values(name), ",")
	if strings.EqualFold(name, "Content-Type") {
		mediaType, _, _ := mime.ParseMediaType(value)
		return cmp.Or(mediaType, value)
	}
	return value
}

// has reports whether the request has a header, also an empty one.
func (c *Context) has(name string) bool { return len(c.Request.Header.Values(name)) > 0 }

// SetHeader sets a header of the answer.
func (c *Context) SetHeader(name, value string) { c.writer.Header().Set(name, value) }

func (c *Context) setHeaders(header http.Header) {
	for name, values := range header {
		c.SetHeader(name, values[0])
	}
}

// write writes an answer. It waits for the checks. The answer to a request that one refuses is dropped.
func (c *Context) write(response idempotency.Response) {
	if c.refusal() != nil {
		return
	}
	for _, check := range c.checks {
		c.setHeaders(check.header)
	}
	if len(response.Body) > 0 {
		c.SetHeader("Content-Type", "application/json")
	}
	c.writer.WriteHeader(response.Status)
	// A caller who is gone gets nothing.
	_, _ = c.writer.Write(response.Body)
}

// refusal waits until all checks have ended, and returns the error of the first that refuses the request.
func (c *Context) refusal() error {
	for _, check := range c.checks {
		if check.refuses() {
			return check.err
		}
	}
	return nil
}
