package todo

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC)
	var last string
	for i := range 1000 {
		id, err := newID(moment.Add(time.Duration(i) * time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := uuid.Parse(id)
		if err != nil || parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 || !isID(id) {
			t.Fatalf("%s: version %d, %v", id, parsed.Version(), err)
		}
		if id <= last {
			t.Fatalf("%s does not sort after %s", id, last)
		}
		last = id
	}
	for _, id := range []string{"", "x", strings.ToUpper(last), "urn:uuid:" + last, "{" + last + "}",
		strings.ReplaceAll(last, "-", ""), last + " ", last + "#"} {
		if isID(id) {
			t.Errorf("%q is an id", id)
		}
	}
}

// Folding agrees with the standard library's idea of equality but for case.
func TestFold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		a, b := rapid.String().Draw(r, "a"), rapid.StringN(0, 3, -1).Draw(r, "b")
		if (fold(a) == fold(b)) != strings.EqualFold(a, b) {
			r.Errorf("%q and %q", a, b)
		}
		for _, other := range []string{strings.ToUpper(b), strings.ToLower(b)} {
			if strings.EqualFold(b, other) && !search(other)(todo.Task{Title: a + b + a}) {
				r.Errorf("%q is not found in %q", other, a+b+a)
			}
		}
	})
}
