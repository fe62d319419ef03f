package api_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// The document allows the terms that have a slug, among Unicode's first 256 characters.
func TestTermPattern(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Pattern string }
			}
		}
	}
	must.OK(t, json.Unmarshal(suite(t).Document, &document))
	// Go writes characters otherwise than JSON Schema does.
	pattern := regexp.MustCompile(`\\u([0-9a-f]{4})`).ReplaceAllString(
		document.Components.Schemas["Proposal"].Properties["slang_term"].Pattern, `\x{$1}`)
	allowed := regexp.MustCompile(pattern)
	for r := rune(0); r < 256; r++ {
		if got, want := allowed.MatchString(string(r)), lingible.Slug(string(r)) != ""; got != want {
			t.Errorf("the document allows %q: %t, want %t", r, got, want)
		}
	}
}
