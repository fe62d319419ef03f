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

	"github.com/danielgtaylor/huma/v2"

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
	ifMatch Precondition

	context context.Context
	query   url.Values
	body    []byte
	hasBody bool
	status  int
	begun   bool
	// counting is the call's count; nil if the call was counted before the operation began, or has no limit.
	counting *counting
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

// BodyWriter writes the status, once, and then the body. It waits until the call is counted. The
// answer to a call beyond a limit is dropped.
func (c *Context) BodyWriter() io.Writer {
	c.begin()
	if c.refusal() != nil {
		return io.Discard
	}
	return c.humaContext.BodyWriter()
}

// refusal waits until the call is counted, and returns the error if that refuses it.
func (c *Context) refusal() error {
	if c.counting == nil {
		return nil
	}
	// The count ends with the context of the request.
	<-c.counting.done
	return c.counting.err
}

func (c *Context) begin() {
	if !c.begun && c.status != 0 && c.refusal() == nil {
		c.begun = true
		if c.counting != nil {
			c.setHeaders(c.counting.header)
		}
		c.humaContext.SetStatus(c.status)
	}
}
