package clarity_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Each row of the origin has an access pattern.
func TestOrigin(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, p := range clarity.Platform().Database.AccessPatterns {
		rows = append(rows, strings.Split(p.Origin, "; ")...)
	}
	for _, row := range []string{
		"Get attempt by ID", "List user attempts", "Get recent attempts for profile", "Get latest profile",
		"Get profile history",
		"Update profile", "Get scenario by ID", "List active scenarios", "List scenarios by difficulty",
	} {
		if !strings.Contains("; "+strings.Join(rows, "; ")+"; ", "; "+row+"; ") {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
