package api_test

import (
	"strings"
	"testing"
)

// A platform without moderation has none of its routes, in its document and behind it.
func TestWithoutModeration(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) {
		p.agentAPI.Parts.WithoutModeration, p.humanAPI.Parts.WithoutModeration = true, true
	})
	document, err := p.agentAPI.Document()
	if err != nil || strings.Contains(string(document), "/reports") ||
		strings.Contains(string(document), "/operator/") {
		t.Errorf("the document has routes of moderation, or there is none: %v", err)
	}
	for _, r := range []request{asAgent("POST /agent/reports", "{}"), asPerson("ann", "POST /human/reports", "{}")} {
		if w := p.serve(r); w.Code != 404 {
			t.Errorf("%s: got %d", r.line, w.Code)
		}
	}
}
