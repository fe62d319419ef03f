package todo

import "testing"

// What README.md shows is so.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	suite.CheckWalkthrough(t, "Keep tasks, and query their history", nil)
}
