package platforms_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
)

// TestDurations: cdk.json writes durations as people do, and says which text is none.
func TestDurations(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]time.Duration{`{"compactEvery": "1h30m"}`: 90 * time.Minute,
		`{"CompactEvery": 60000000000}`: time.Minute, `{}`: 0} {
		all, err := platforms.Configure([]byte(`{"todo": ` + given + `}`))
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		for _, p := range all {
			if props, ok := p.Props.(*todo.Props); ok && props.CompactEvery != want {
				t.Errorf("%s: got %s; want %s", given, props.CompactEvery, want)
			}
		}
	}
	if _, err := platforms.Configure([]byte(`{"todo": {"compactEvery": "soon"}}`)); err == nil ||
		!strings.Contains(err.Error(), `got "soon": write a duration such as 90s`) {
		t.Errorf("got %v", err)
	}
}
