package platforms_test

import (
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
)

// The figures in the documents are those of the templates. make golden writes them.
func TestGoldenFigures(t *testing.T) {
	t.Parallel()
	everything := func(p *platforms.Platform) synthtest.Template { return synthtest.Stack(t, "everything-"+p.Name()) }
	for name, want := range map[string]string{"operate/cost.md": variants.Cost(t),
		"reference/alarms.md": variants.Alarms(t), "reference/provisioned.md": variants.Provisioned(everything)} {
		goldentest.Check(t, filepath.Join("..", "..", "docs", filepath.FromSlash(name)), []byte(want))
	}
}
