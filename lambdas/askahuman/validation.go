package askahuman

import (
	"errors"
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// problems gathers what is wrong with a request, so that the caller hears of
// everything at once.
type problems struct{ validate.Problems }

// limit is how many items a caller gets of a list: 0 is the default, and more than
// the most is the most.
func (p *problems) limit(value, byDefault, most int) int {
	if value == 0 {
		return byDefault
	}
	if least := 1; value < least {
		p.Range("limit", value, &least, nil)
	}
	return min(value, most)
}

func (p *problems) cursor(value string) Position {
	position, err := parseCursor(value)
	if err != nil {
		p.Add("cursor", validate.RuleFormat, "is not a cursor of this list; send the next_cursor of the page before unchanged, or none for the first page")
	}
	return position
}

// repeated checks that a tag of an audience stands there once. One that is no tag is wrong
// for that alone.
func (p *problems) repeated(tags []string, i int) {
	if slices.Contains(Audiences(), tags[i]) && slices.Contains(tags[:i], tags[i]) {
		p.Add(fmt.Sprintf("audience[%d]", i), validate.RuleUnique, "is %q again; give each tag once", tags[i])
	}
}

// because adds to an error what was being done. The errors that callers tell
// apart stay as they are: their text is for people. nil stays nil.
func because(err error, doing string) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrQuestionNotFound, ErrQuestionClosed, ErrAlreadyAnswered, ErrQuotaExceeded, ErrSubscriptionNotFound} {
		if errors.Is(err, known) {
			return known
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
