package language

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// More records than fit into memory come in their order, and those of a text together.
func TestRecords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var sorted records
	defer sorted.close()
	var want []record
	for range 3*maxRecords + 7 {
		r := record{section: slugsSection + random.IntN(3), text: fmt.Sprint("no\x00cap", random.IntN(1000)),
			isNearly: random.IntN(2) == 0, score: float64(random.IntN(4)) / 4, value: random.Uint64()}
		sorted.add(r)
		r.number = uint64(len(want) + 1)
		want = append(want, r)
		must.OK(t, sorted.spilled())
	}
	if len(sorted.runs) != 3 || len(sorted.added) != 7 {
		t.Errorf("got %d runs and %d records in memory", len(sorted.runs), len(sorted.added))
	}
	slices.SortFunc(want, record.compare)
	var got []record
	texts := map[string]bool{}
	for group, err := range sorted.groups() {
		must.OK(t, err)
		for _, r := range group {
			if r.section != group[0].section || r.text != group[0].text {
				t.Fatalf("got %+v in the group of %+v", r, group[0])
			}
		}
		key := fmt.Sprint(group[0].section, group[0].text)
		if texts[key] {
			t.Fatalf("%q comes twice", key)
		}
		texts[key] = true
		got = append(got, group...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d records in another order than the %d that were added", len(got), len(want))
	}
}
