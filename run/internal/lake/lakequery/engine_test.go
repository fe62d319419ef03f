//go:build cgo && (linux || darwin) && (amd64 || arm64)

package lakequery

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// Queries have bounds of memory and files.
func TestMemory(t *testing.T) {
	t.Parallel()
	e := must.Get(openEngine(t.Context(), catalog.Lake{Database: "shop"}, nil, t.TempDir()))(t)
	defer e.close()
	var memory, files string
	if err := e.(*duck).db.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit'), "+
		"current_setting('max_temp_directory_size')").Scan(&memory, &files); err != nil ||
		memory != "953.6 MiB" || files != "9.3 GiB" {
		t.Errorf("got %s, %s, %v", memory, files, err)
	}
}
