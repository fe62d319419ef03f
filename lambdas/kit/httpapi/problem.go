package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// longestName is how many characters of a name a message has.
const longestName = 40

// quote is a value as a message quotes it: cut, so that the message stays
// readable. Empty: there is nothing to quote.
func quote(value any) string {
	switch v := value.(type) {
	case string:
		return validate.Excerpt(v)
	case float64, int64, int, bool:
		return fmt.Sprint(v)
	case []any:
		return fmt.Sprintf("%d of them", len(v))
	case map[string]any:
		return "an object"
	default:
		return ""
	}
}

// clipped returns a name that the caller chose, cut to a length that fits into a message.
func clipped(name string) string {
	if name == "" {
		return `""`
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if runes := []rune(name); len(runes) > longestName {
		return string(runes[:longestName]) + "…"
	}
	return name
}

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
