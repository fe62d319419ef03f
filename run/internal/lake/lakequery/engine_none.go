//go:build !cgo || !(linux || darwin) || !(amd64 || arm64)

package lakequery

import (
	"context"

	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
)

// hasEngine says that DuckDB is built in.
const hasEngine = false

func check(context.Context, catalog.Lake) ([]catalog.Failure, error) { return nil, ErrWithoutEngine }

// openEngine has nothing to open in this build.
func openEngine(context.Context, catalog.Lake, map[string][]string, string) (engine, error) {
	return nil, ErrWithoutEngine
}
