package askahuman

import (
	"regexp"
	"testing"
)

// The platform does what docs/ASKAHUMAN.md shows. An answer at night earns one badge more.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "docs/ASKAHUMAN.md", regexp.MustCompile(`,\{"id":"night_owl"[^}]*\}`))
}
