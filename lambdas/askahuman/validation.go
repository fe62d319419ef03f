package askahuman

import (
	"errors"
	"fmt"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/problem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// problems gathers all that is wrong with a request into one answer.
type problems struct{ validate.Problems }

// limit returns how many items of a list a caller gets: 0 means the default, and more than the most
// means the most.
func (p *problems) limit(value, byDefault, most int) int {
	if value == 0 {
		return byDefault
	}
	if least := 1; value < least {
		p.Range("limit", value, &least, nil)
	}
	return min(value, most)
}

func (p *problems) cursor(value string) askahuman.Position {
	position, err := parseCursor(value)
	if err != nil {
		p.Add("cursor", validate.RuleFormat, "is not a cursor of this list; send the next_cursor of the page before "+
			"unchanged, or none for the first page")
	}
	return position
}

// wrap wraps an error with the action that failed. It returns the errors that callers
// distinguish unchanged, because their text is for people, and nil for nil.
func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	var known problem.Problem
	if errors.As(err, &known) {
		return known
	}
	return fmt.Errorf("%s: %w", doing, err)
}
