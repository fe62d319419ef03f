package s3_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
)

func TestBrowse(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "b/1", "b/2", "b/c/3", "b0", "b/", "c/d/e", "c/d0", "d//e", "ü/x", "z"}
	store := open(t, t.TempDir())
	for _, key := range keys {
		put(t, store, key, "content")
	}
	for prefix, want := range map[string]string{
		"":     "a b/ b0 c/ d/ z ü/",
		"b/":   "b/ b/1 b/2 b/c/",
		"b":    "b/ b0",
		"c/d":  "c/d/ c/d0",
		"d/":   "d//",
		"none": "",
	} {
		for most := 1; most <= 8; most++ {
			var got []string
			after := ""
			for {
				page := must.Get(store.Browse("events", prefix, after, most))(t)
				if len(page.Folders)+len(page.Objects) > most {
					t.Errorf("%q: got %+v, want %d at the most", prefix, page, most)
				}
				got = append(got, page.Folders...)
				for _, object := range page.Objects {
					got = append(got, object.Key)
				}
				if after = page.Next; after == "" {
					break
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%q by %d: got %s, want %s", prefix, most, text, want)
			}
		}
	}
	if _, err := store.Browse("other", "", "", 1); !errors.Is(err, s3.ErrNoBucket) {
		t.Errorf("got %v", err)
	}
}
