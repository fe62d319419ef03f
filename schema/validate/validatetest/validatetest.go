// Package validatetest reads what a check of a form has found.
package validatetest

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Fields returns the fields that an error names, in its order; nil for no error. It fails the test unless each message
// is a short text without a full stop at its end.
func Fields(t testing.TB, err error) (fields []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*validate.Error](err)
	if !ok {
		t.Fatalf("got %v, want a *validate.Error", err)
	}
	for _, p := range invalid.Problems {
		if p.Message == "" || len(p.Message) > 400 || !utf8.ValidString(p.Message) ||
			strings.HasSuffix(p.Message, ".") {
			t.Errorf("%s has the message %q", p.Field, p.Message)
		}
		fields = append(fields, p.Field)
	}
	return fields
}
