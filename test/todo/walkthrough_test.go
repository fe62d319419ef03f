package todo

import "testing"

// The platform does what docs/TODO.md shows.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "docs/TODO.md", nil)
}
