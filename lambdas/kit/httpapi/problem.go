package httpapi

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Unreadable returns a [*validate.Error] with status 400, for a header or a query that cannot be
// read.
func Unreadable(field string, constraint validate.Constraint, message string) error {
	return &validate.Error{Status: http.StatusBadRequest,
		Problems: []validate.Problem{{Field: field, Message: message, Constraint: constraint}}}
}

// RetryAfter returns the value of the header Retry-After: whole seconds, rounded up, and at least one.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
