//go:build !linux && !darwin

package main

// limitMemory has nothing to limit: DuckDB is not built for this system.
func limitMemory() {}
