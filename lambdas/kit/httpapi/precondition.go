package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

const ifMatchHeader = "If-Match"

// noVersion is the version of nothing.
const noVersion = -1

// ETag is the entity tag of a version (RFC 9110, section 8.8.3).
func ETag(version int) string { return strconv.Quote(strconv.Itoa(version)) }

// Precondition is an If-Match header (RFC 9110, section 13.1.1). The zero value matches any
// version.
type Precondition struct {
	given    bool
	versions []int
}

// IfMatch returns the precondition of the context's request, for an operation with
// [Operation.IfMatch].
func IfMatch(ctx context.Context) Precondition {
	if request := requestFrom(ctx); request != nil {
		return request.ifMatch
	}
	return Precondition{}
}

// parseIfMatch reads a header: nothing, *, or a list of entity tags. A weak tag
// matches nothing, nor does one that is no version, which is 1 or above.
func parseIfMatch(what, header string) (Precondition, error) {
	rest := strings.Trim(header, " \t")
	if rest == "" || rest == "*" {
		return Precondition{}, nil
	}
	p := Precondition{given: true}
	for {
		var tag string
		var weak, ok bool
		if tag, weak, rest, ok = cutTag(strings.TrimLeft(rest, " \t,")); !ok {
			return Precondition{}, Unreadable(ifMatchHeader, validate.Constraint{},
				fmt.Sprintf(`is %s: write the ETag of %s, such as "3" with its quotation marks, a list of these, or *`,
					validate.Excerpt(header), what))
		}
		if version, err := strconv.Atoi(tag); err == nil && version > 0 && ETag(version) == `"`+tag+`"` && !weak {
			p.versions = append(p.versions, version)
		}
		rest = strings.TrimLeft(rest, " \t")
		if strings.Trim(rest, " \t,") == "" {
			return p, nil
		}
		if rest[0] != ',' {
			rest = "" // two tags without a comma between them
		}
	}
}

// cutTag takes the first entity tag off a list.
func cutTag(list string) (tag string, weak bool, rest string, ok bool) {
	list, weak = strings.CutPrefix(list, "W/")
	if !strings.HasPrefix(list, `"`) {
		return "", false, "", false
	}
	tag, rest, ok = strings.Cut(list[1:], `"`)
	if strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", false, "", false
	}
	return tag, weak, rest, ok
}

// Attempt tries a change on each version that the header allows, until one of them is the
// current version. attempt changes the given version, 0 for any. Where the thing has another
// version, attempt returns an error from which current reads it.
func (p Precondition) Attempt(attempt func(version int) error, current func(error) (version int, ok bool)) error {
	if !p.given {
		return attempt(0)
	}
	version := noVersion
	if len(p.versions) > 0 {
		version = p.versions[0]
	}
	for {
		err := attempt(version)
		other, ok := current(err)
		if !ok || other == version || !slices.Contains(p.versions, other) {
			return err
		}
		version = other
	}
}
