package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Context is a request that has matched a route. As a [huma.Context] it reads
// requests as the wire format has them, and writes a status no sooner than the
// body, so that an error's form decides on it.
type Context struct {
	humaContext
	// Route is the route.
	Route schema.Route

	caller Caller
	// key, content and ifMatch are set for an operation of [Mutate]. content is all that identifies
	// the request.
	key     string
	content []byte
	ifMatch precondition

	context context.Context
	query   url.Values
	body    []byte
	hasBody bool
	status  int
	begun   bool
	// checks run while the operation reads.
	checks []*check
}

// check is one that runs while its operation reads.
type check struct {
	done chan struct{}
	// begin begins the check, if it has not begun.
	begin func()
	// header is of every answer to a request that passes, err the error that refuses the request.
	header http.Header
	err    error
}

// wait waits for the outcome, and returns the error that refuses the request.
func (c *check) wait(ctx context.Context) error {
	c.begin()
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
	c.begin()
	<-c.done
	return c.err != nil
}

// WhileReading runs a check of the request while its operation begins. The operation may read tables; its
// writes and its questions to a model wait, and so does the answer, which is dropped if the check returns an
// error: that is then the answer. Call it in [Config.Admit], and derive the context of the operation from
// [Context.Context] after it.
func (c *Context) WhileReading(run func(context.Context) error) {
	c.whileReading(func(ctx context.Context) (http.Header, error) { return nil, run(ctx) })
}

func (c *Context) whileReading(run func(context.Context) (http.Header, error)) {
	c.later(run).begin()
}

// later is whileReading for a check that begins when the operation writes or answers.
func (c *Context) later(run func(context.Context) (http.Header, error)) *check {
	check, within := &check{done: make(chan struct{})}, c.context
	check.begin = sync.OnceFunc(func() {
		go func() {
			defer close(check.done)
			check.header, check.err = run(within)
		}()
	})
	c.checks, c.context = append(c.checks, check), dynamo.BeforeWrites(within, check.wait)
	return check
}

// now begins the checks.
func (c *Context) now() {
	for _, check := range c.checks {
		check.begin()
	}
}

type requestKey struct{}

// requestFrom returns the request that the context of an operation belongs to; nil outside of one.
func requestFrom(ctx context.Context) *Context {
	request, _ := ctx.Value(requestKey{}).(*Context)
	return request
}

// humaContext can be embedded, because its name differs from the names of its methods.
type humaContext = huma.Context

// Unwrap returns the context within.
func (c *Context) Unwrap() huma.Context { return c.humaContext }

// Context returns the context of the operation.
func (c *Context) Context() context.Context { return c.context }

// Declared is the operation that the route was registered with.
func (c *Context) Declared() Operation {
	op, _ := c.Operation().Metadata[operationKey].(Operation)
	return op
}

// Query reads the query as net/url does.
func (c *Context) Query(name string) string { return c.query.Get(name) }

// Header returns a header. A repeated header becomes one list, as from API Gateway. A media type is
// reduced to its name in lower case, for comparison; Accept is always JSON.
func (c *Context) Header(name string) string {
	var values []string
	c.EachHeader(func(each, value string) {
		if strings.EqualFold(each, name) {
			values = append(values, value)
		}
	})
	value := strings.Join(values, ",")
	switch {
	case strings.EqualFold(name, "Accept"):
		return ""
	case strings.EqualFold(name, "Content-Type") && value != "":
		if mediaType, _, err := mime.ParseMediaType(value); err == nil {
			return mediaType
		}
	}
	return value
}

// Body returns the body. [kit.API] has read it and checked its size.
func (c *Context) Body() ([]byte, error) {
	if c.hasBody {
		return c.body, nil
	}
	reader := c.humaContext.BodyReader()
	if reader != nil {
		body, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("reading the body: %w", err)
		}
		c.body = body
	}
	c.hasBody = true
	return c.body, nil
}

// BodyReader reads the body from its beginning.
func (c *Context) BodyReader() io.Reader {
	if c.hasBody {
		return bytes.NewReader(c.body)
	}
	return c.humaContext.BodyReader()
}

// SetStatus says which status will be written.
func (c *Context) SetStatus(status int) { c.status = status }

// Status returns the status that will be, or was, written.
func (c *Context) Status() int { return c.status }

// SetHeader sets a header: errors are plain JSON.
func (c *Context) SetHeader(name, value string) {
	if value == "application/problem+json" {
		value = "application/json"
	}
	c.humaContext.SetHeader(name, value)
}

func (c *Context) setHeaders(header http.Header) {
	for name, values := range header {
		c.SetHeader(name, values[0])
	}
}

// BodyWriter writes the status, once, and then the body. It waits for the checks. The answer to a request
// that one refuses is dropped.
func (c *Context) BodyWriter() io.Writer {
	c.begin()
	if c.refusal() != nil {
		return io.Discard
	}
	return c.humaContext.BodyWriter()
}

// write writes an answer.
func (c *Context) write(response idempotency.Response) {
	if len(response.Body) > 0 {
		c.SetHeader("Content-Type", "application/json")
	}
	c.SetStatus(response.Status)
	// A caller who is gone gets nothing.
	_, _ = c.BodyWriter().Write(response.Body)
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

func (c *Context) begin() {
	if !c.begun && c.status != 0 && c.refusal() == nil {
		c.begun = true
		for _, check := range c.checks {
			c.setHeaders(check.header)
		}
		c.humaContext.SetStatus(c.status)
	}
}
