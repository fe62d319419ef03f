package kit

import (
	"runtime"
	"runtime/debug"
	"strconv"
)

const (
	// megabytesOfProcessor is the memory from which on Lambda gives a function a whole processor
	// ("Configure Lambda function memory").
	megabytesOfProcessor = 1769
	// collectAt is the growth of the heap, in percent, at which Go collects garbage. A function's heap is
	// a few MB of the memory that it pays for: with Go's 100, collections are a fifth of its processor time.
	collectAt = 400
	// leastReserved is the least memory, in MB, that Go leaves to what its limit does not count: the
	// program itself and the sandbox.
	leastReserved = 32
)

// runtimeSettings are the settings of Go's runtime that a function changes. Zero leaves Go's own.
type runtimeSettings struct {
	processors  int   // GOMAXPROCS
	collectAt   int   // GOGC, percent
	memoryLimit int64 // GOMEMLIMIT, bytes
}

// runtimeFor returns the settings for a function of the memory that Lambda says. A variable of Go's own
// that is set wins: Go has read it. Without a memory size, as outside of Lambda, all stay Go's.
func runtimeFor(getenv func(string) string) (s runtimeSettings) {
	megabytes, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64)
	if err != nil || megabytes <= leastReserved {
		return s
	}
	// Below a whole processor, threads that run at the same time only use up its share sooner.
	if getenv("GOMAXPROCS") == "" && megabytes < megabytesOfProcessor {
		s.processors = 1
	}
	if getenv("GOGC") == "" {
		s.collectAt = collectAt
	}
	if getenv("GOMEMLIMIT") == "" {
		s.memoryLimit = (megabytes - max(leastReserved, megabytes/10)) << 20
	}
	return s
}

func (s runtimeSettings) apply() {
	if s.processors > 0 {
		runtime.GOMAXPROCS(s.processors)
	}
	if s.collectAt > 0 {
		debug.SetGCPercent(s.collectAt)
	}
	if s.memoryLimit > 0 {
		debug.SetMemoryLimit(s.memoryLimit)
	}
}
