package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC)
	var last string
	for i := range 1000 {
		id := wire.NewID(moment.Add(time.Duration(i) * time.Millisecond))
		parsed, err := uuid.Parse(id)
		if err != nil || parsed.Version() != 7 || parsed.Variant() != uuid.RFC4122 || !wire.IsID(id) {
			t.Fatalf("%s: version %d, %v", id, parsed.Version(), err)
		}
		if id <= last {
			t.Fatalf("%s does not sort after %s", id, last)
		}
		last = id
	}
	for _, id := range []string{"", "x", strings.ToUpper(last), "urn:uuid:" + last, "{" + last + "}",
		strings.ReplaceAll(last, "-", ""), last + " ", last + "#"} {
		if wire.IsID(id) {
			t.Errorf("%q is an id", id)
		}
	}
}
