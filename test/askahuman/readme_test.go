package askahuman

import (
	"regexp"
	"testing"
)

// What README.md shows is so. Who answers at night has a badge more.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "Ask and answer", regexp.MustCompile(`,\{"id":"night_owl"[^}]*\}`))
}
