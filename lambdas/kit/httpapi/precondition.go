package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// noVersion is the version of nothing.
const noVersion = -1

// ETag returns the entity tag of a version (RFC 9110, section 8.8.3).
func ETag(version int) string { return strconv.Quote(strconv.Itoa(version)) }

// precondition is an If-Match header (RFC 9110, section 13.1.1). The zero value matches any
// version.
type precondition struct {
	given    bool
	versions []int
}

// IfMatch makes a change under the header If-Match of the context's request, for an operation with
// [schema.Description.IfMatch]. It tries the change on each version that the header allows, until one is the current
// version; version 0 stands for any. If the thing has another version, change returns a [*problem.VersionError].
func IfMatch[R any](ctx context.Context, change func(version int) (R, error)) (R, error) {
	request := requestFrom(ctx)
	if request == nil || !request.ifMatch.given {
		return change(0)
	}
	version, allowed := noVersion, request.ifMatch.versions
	if len(allowed) > 0 {
		version = allowed[0]
	}
	for {
		result, err := change(version)
		other, ok := errors.AsType[*problem.VersionError](err)
		if !ok || other.Current == version || !slices.Contains(allowed, other.Current) {
			return result, err
		}
		version = other.Current
	}
}

// parseIfMatch reads the header of a request that has one: *, or a list of entity tags. A weak tag matches nothing, nor
// does one that is no version, which is 1 or above. An empty header is refused: its sender meant some version.
func parseIfMatch(what, header string) (precondition, error) {
	rest := strings.Trim(header, " \t")
	if rest == "*" {
		return precondition{}, nil
	}
	p := precondition{given: true}
	for {
		var tag string
		var weak, ok bool
		if tag, weak, rest, ok = cutTag(strings.TrimLeft(rest, " \t,")); !ok {
			return precondition{}, validate.Unreadable(schema.IfMatchHeader, validate.Constraint{},
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
