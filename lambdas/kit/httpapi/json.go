package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// WriteJSON writes a body: with a newline at its end, with <, > and & as they are, and with the fields of each
// [wire.Extended] beside those of its form.
func WriteJSON(w io.Writer, v any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(wire.Inline(body.Bytes()))
	return err
}

// decode reads JSON into any.
func (s *Server) decode(data []byte) (value any, err error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the body is not valid UTF-8")
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, errors.New("the body begins with a byte order mark: leave it out (RFC 8259, section 8.1)")
	}
	p, value, ok := parseJSON(data)
	if !ok {
		if err := unmarshal(data, &value); err != nil {
			return nil, err
		}
	}
	if at := wire.LoneSurrogate(data); at >= 0 {
		return nil, fmt.Errorf("the body has %s at byte %d, which is half of a surrogate pair and no character: send "+
			"both halves, or the character itself", data[at:at+6], at+1)
	}
	if s.api.Strict && p.found {
		return nil, fmt.Errorf("the field %s stands twice in one object: send it once, because readers differ in "+
			"which one they take (RFC 8259, section 4)", validate.Excerpt(p.repeated))
	}
	return value, nil
}

// unmarshal reads JSON. Its errors say where and what, in the words of the wire format rather than in Go's.
func unmarshal(data []byte, v any) error {
	err := unmarshalWhole(data, v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the body is not valid JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s cannot be the %s: write whole numbers without fraction and exponent, of at most 18 "+
			"digits", cmp.Or(mismatch.Field, "a field"), mismatch.Value)
	}
	return err
}

// unmarshalWhole reads JSON in which whole numbers may be written with a fraction of zeros,
// which JSON Schema counts as integers ("Validation", 6.1.1).
func unmarshalWhole(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok ||
		!strings.HasPrefix(mismatch.Value, "number ") {
		return err
	}
	// Texts come first: digits within them are no number.
	part := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(-?[0-9]+)\.0+([\s,\]}]|$)`)
	return json.Unmarshal(part.ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return part.ReplaceAll(found, []byte("$1$2"))
	}), v)
}
