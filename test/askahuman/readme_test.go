package askahuman

import (
	"regexp"
	"testing"
)

// The platform does what README.md shows. An answer at night earns one badge more.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "Ask and answer", regexp.MustCompile(`,\{"id":"night_owl"[^}]*\}`))
}
