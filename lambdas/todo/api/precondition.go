package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

const ifMatchHeader = "If-Match"

// noVersion is the version of no task.
const noVersion = -1

// etag is the entity tag of a task's version (RFC 9110, section 8.8.3).
func etag(version int) string { return strconv.Quote(strconv.Itoa(version)) }

// takesPrecondition reports whether a route changes one task.
func takesPrecondition(route schema.Route) bool {
	return isMutation(route) && route.Method != http.MethodPost && strings.Contains(route.Path, "{task_id}")
}

// precondition is an If-Match header (RFC 9110, section 13.1.1). The zero value
// holds on any version.
type precondition struct {
	given    bool
	versions []int
}

// parseIfMatch reads a header: nothing, *, or a list of entity tags. A weak tag
// matches nothing, nor does one that is no version of a task.
func parseIfMatch(header string) (precondition, error) {
	rest := strings.Trim(header, " \t")
	if rest == "" || rest == "*" {
		return precondition{}, nil
	}
	p := precondition{given: true}
	for {
		var tag string
		var weak, ok bool
		if tag, weak, rest, ok = cutTag(strings.TrimLeft(rest, " \t,")); !ok {
			return precondition{}, unreadable(ifMatchHeader, fmt.Sprintf(`is %s: write the ETag of the task, such as "3" with its quotation marks, a list of these, or *`, httpapi.Quoted(header)))
		}
		if version, err := strconv.Atoi(tag); err == nil && version > 0 && etag(version) == `"`+tag+`"` && !weak {
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

// hold makes an attempt at a change on each version that is allowed, until the task
// has it. The attempt fails with a [*todo.VersionError] when the task has another
// version than the one it is given; 0 allows any.
func (p precondition) hold(attempt func(ifVersion int) error) error {
	if !p.given {
		return attempt(0)
	}
	version := noVersion
	if len(p.versions) > 0 {
		version = p.versions[0]
	}
	for {
		err := attempt(version)
		other, ok := errors.AsType[*todo.VersionError](err)
		if !ok || other.Current == version || !slices.Contains(p.versions, other.Current) {
			return err
		}
		version = other.Current
	}
}
