package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// wireContext makes huma speak the wire format. huma's own errors have statuses
// and a content type that the wire format does not know, and could otherwise be
// changed only for the whole process.
type wireContext struct {
	humaContext
	query url.Values
}

// humaContext can be embedded: its name is not that of one of its methods.
type humaContext = huma.Context

// Unwrap returns the context within.
func (c *wireContext) Unwrap() huma.Context { return c.humaContext }

// Query reads the query as net/url does.
func (c *wireContext) Query(name string) string { return c.query.Get(name) }

// Header returns a header. A media type is reduced to its name in lower case, as
// it is compared; JSON is all there is to accept.
func (c *wireContext) Header(name string) string {
	value := c.humaContext.Header(name)
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

// SetStatus writes the status: what huma finds wrong with a request is 400.
func (c *wireContext) SetStatus(status int) {
	switch status {
	case http.StatusNotAcceptable, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		status = http.StatusBadRequest
	}
	c.humaContext.SetStatus(status)
}

// SetHeader sets a header: errors are plain JSON.
func (c *wireContext) SetHeader(name, value string) {
	if value == "application/problem+json" {
		value = "application/json"
	}
	c.humaContext.SetHeader(name, value)
}

func jsonFormat() huma.Format {
	return huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
}

// unmarshal reads a JSON body. Its errors say where and what, in the words of the
// wire format rather than in Go's.
func unmarshal(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("the body is not valid UTF-8")
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return errors.New("the body begins with a byte order mark: leave it out (RFC 8259, section 8.1)")
	}
	err := json.Unmarshal(data, v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the body is not valid JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := mismatch.Field
		if field == "" {
			field = "a field"
		}
		return fmt.Errorf("%s cannot be the %s: write whole numbers without fraction and exponent, of at most 18 digits", field, mismatch.Value)
	}
	return err
}

// timestamp is a moment as the wire format writes it: ISO 8601 in UTC with
// milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// list is a list that is never null on the wire.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

func writeJSON(w io.Writer, v any) error { return huma.DefaultJSONFormat.Marshal(w, v) }
