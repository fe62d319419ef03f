//go:build !linux && !darwin

package lake

// limitMemory has nothing to limit: DuckDB is not built for this system.
func limitMemory() {}
