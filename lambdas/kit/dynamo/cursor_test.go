package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

// A page ends with a cursor, and the next one begins where it points.
func ExampleCursorKey_Sign() {
	key := dynamo.CursorKey("0123456789abcdef")
	next := key.Sign("2026-02-02", "alice", "status=pending")
	fmt.Println(next)
	fmt.Println(key.Position(next, "alice", "status=pending"))
	_, ok := key.Position(next, "bob", "status=pending")
	fmt.Println(ok)
	// Output:
	// AbvB1zaACt9aSBbfh8ft35dHqmrIsEhQAqPkfzoCBDDnMjAyNi0wMi0wMg
	// 2026-02-02 true
	// false
}

// A cursor is valid for its own list alone, and no other text is valid.
func TestCursorPosition(t *testing.T) {
	t.Parallel()
	key := dynamo.CursorKey("0123456789abcdef")
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.String(), 1, -1).Draw(t, "list")
		position := rapid.StringN(1, 50, -1).Draw(t, "position")
		signed := key.Sign(position, list[0], list[1:]...)
		if got, ok := key.Position(signed, list[0], list[1:]...); !ok || got != position {
			t.Fatalf("got %q, %v", got, ok)
		}
		other := rapid.SliceOfN(rapid.String(), 1, -1).Draw(t, "other")
		same := fmt.Sprintf("%q", list) == fmt.Sprintf("%q", other)
		if _, ok := key.Position(signed, other[0], other[1:]...); ok != same {
			t.Fatalf("%q opens a cursor of %q", other, list)
		}
		at := rapid.IntRange(0, len(signed)-1).Draw(t, "at")
		changed := signed[:at] + string(rapid.SampledFrom([]byte("AZaz09-_=\n ")).Draw(t, "by")) + signed[at+1:]
		if _, ok := key.Position(changed, list[0], list[1:]...); ok && changed != signed {
			t.Fatalf("%q is taken for %q", changed, signed)
		}
	})
	if got, ok := key.Position("", "x"); got != "" || !ok {
		t.Errorf("no cursor: got %q, %v", got, ok)
	}
	signed := key.Sign("here", "x")
	for _, wrong := range []string{"x", "AQ", signed[:len(signed)-1], signed + "\n", strings.Repeat("A", 4000)} {
		if _, ok := key.Position(wrong, "x"); ok {
			t.Errorf("%q is a cursor", wrong)
		}
	}
	if _, ok := dynamo.CursorKey("another key of enough bytes").Position(signed, "x"); ok {
		t.Error("a cursor of another key is valid")
	}
	if key.Check() != nil || key[1:].Check() != dynamo.ErrCursorKey {
		t.Error("a key of 16 bytes is long enough, and one of 15 is not")
	}
}
