//go:build linux || darwin

package lake

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// maxMemory is how many bytes of memory this process may have. DuckDB's own limit counts neither the texts that a
	// query makes nor their copies in Go: one value may have gigabytes.
	maxMemory = 3 << 29
	// looksEvery is the time between two looks at it, in which a query may take some 100 MB more.
	looksEvery = 20 * time.Millisecond
)

// limitMemory ends this process once it has more memory than it may. The one that started it removes its files.
func limitMemory() {
	for range time.Tick(looksEvery) {
		if has, err := memory(); err == nil && has > maxMemory {
			fmt.Fprintf(os.Stderr, "the query needs more than %.1f GiB of memory: select fewer or shorter values, "+
				"such as substr(column, 1, 1000), or fewer rows at once\n", float64(maxMemory)/(1<<30))
			os.Exit(1)
		}
	}
}

// memory is how many bytes of memory this process has; on macOS the most that it had.
func memory() (int64, error) {
	if runtime.GOOS == "darwin" {
		var usage syscall.Rusage
		err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
		return int64(usage.Maxrss), err
	}
	// On Linux the most is inherited from the process that started this one.
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/self/statm: got %q", text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
