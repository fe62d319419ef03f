package todo

import "testing"

// The platform does what README.md shows.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "Keep tasks, and query their history", nil)
}
