package httpapi

import (
	"math"
	"strconv"
	"time"
)

// RetryAfter returns the value of the header Retry-After: whole seconds, rounded up, and at least one.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
