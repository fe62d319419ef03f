package askahuman

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/uuid"
)

// noon is an ordinary Wednesday.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestCursor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := position{CreatedAt: time.UnixMilli(
			rapid.Int64Range(0, 253402300799000).Draw(t, "moment")).UTC(), ID: uuid.NewString()}
		cursor := formatCursor(want)
		got, err := parseCursor(cursor)
		if err != nil || got != want {
			t.Fatalf("%q is read as %v (%v), want %v", cursor, got, err, want)
		}
		if strings.ContainsAny(cursor, "+/=&?# ") {
			t.Fatalf("cursor %q needs escaping in a URL", cursor)
		}
		if _, err := parseCursor(rapid.String().Draw(t, "text")); err != nil && err != errCursor {
			t.Fatalf("error = %v", err)
		}
	})
	valid := formatCursor(position{CreatedAt: noon, ID: uuid.NewString()})
	for _, cursor := range []string{"x", "null", valid + "A", valid[1:], valid[:len(valid)-1], "B" + valid[1:],
		valid + "\n", strings.Repeat("A", 34), strings.Repeat("_", 34), "{}", "AQ"} {
		if _, err := parseCursor(cursor); err == nil {
			t.Errorf("%q is taken for a cursor", cursor)
		}
	}
	if p, err := parseCursor(""); err != nil || p != (position{}) {
		t.Errorf("no cursor is read as %v (%v)", p, err)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.String().Draw(t, "prompt")
		short := shorten(prompt)
		if n := len([]rune(short)); n > bodyLength {
			t.Fatalf("%d characters", n)
		}
		if strings.ContainsAny(short, "\n\r\t") {
			t.Fatalf("%q is more than one line", short)
		}
	})
	if got := shorten(strings.Repeat("é", 121)); got != strings.Repeat("é", 119)+"…" {
		t.Errorf("shorten = %q", got)
	}
	if got := shorten(strings.Repeat("é", 120)); got != strings.Repeat("é", 120) {
		t.Errorf("shorten = %q", got)
	}
}
