// Package figures makes what the documents say of the templates: what platforms cost, what their alarms watch, and
// which resources they have. The tests of internal/platforms, which synthesise the templates, compare the documents.
package figures

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// Variant is a platform as one environment describes it.
type Variant struct {
	*platforms.Platform
	Environment string
	Template    synthtest.Template
	// Described is the schema of what the template has.
	Described schema.Platform
}

// Variants are the platforms of the list, by platform and environment.
type Variants map[string]map[string]Variant

// Cost returns docs/operate/cost.md with its tables.
func (all Variants) Cost(t testing.TB) string {
	t.Helper()
	text := Page(t, "operate/cost.md")
	for _, table := range []reference.Table{all.atRest(t), abuse(), all.monthly(t), all.events(t)} {
		text = table.In(t, text)
	}
	return text
}

// Page returns a page of the folder docs.
func Page(t testing.TB, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(reference.Root(t), "docs", filepath.FromSlash(name))))(t))
}

// CostsOf returns the name of the page of what a platform costs.
func CostsOf(p *platforms.Platform) string { return "reference/costs/" + p.Name() + ".md" }
