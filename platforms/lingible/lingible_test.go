package lingible_test

import (
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Each row of the origin has an access pattern.
func TestOrigin(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, p := range lingible.Platform().Database.AccessPatterns {
		if p.Origin != "" {
			rows = append(rows, p.Origin)
		}
	}
	for _, row := range []string{
		"Query by status", "Query by user", "Get by ID", "Query validation status",
		"Export by source", "Quiz by difficulty", "Quiz by category", "Get by term",
		"Global trending", "Category trending",
		"Get user profile", "Get usage limits", "Get quiz session", "Query by tier",
		"Get user translations", "Get single translation",
	} {
		if !slices.Contains(rows, row) {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
