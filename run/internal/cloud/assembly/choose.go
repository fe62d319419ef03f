package assembly

import (
	"fmt"
	"path"
	"strings"
)

// StackError says that the stacks that someone named are not clear: there is none of that name, or several.
type StackError struct{ message string }

// Error names the stacks that there are.
func (e *StackError) Error() string { return e.message }

// Stackf returns a [StackError] with a text as of fmt.Sprintf.
func Stackf(format string, arguments ...any) error {
	return &StackError{fmt.Sprintf(format, arguments...)}
}

// Choose returns the wanted stacks, or all when none is named. A stack is named by its name, its display id or a
// pattern of display ids, as the CDK's command takes them: Dev/Ask, Dev/*, **. One star matches no slash, two do.
// Errors: *StackError.
func Choose[S any](all []S, wanted []string, id func(S) (name, displayID string)) ([]S, error) {
	if len(wanted) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for _, text := range wanted {
		exact, named, like := []int{}, []int{}, []int{}
		var known []string
		for i, stack := range all {
			name, displayID := id(stack)
			known = append(known, display(name, displayID))
			switch {
			case displayID == text:
				exact = append(exact, i)
			case name == text:
				named = append(named, i)
			case matchesPath(strings.Split(text, "/"), strings.Split(displayID, "/")):
				like = append(like, i)
			}
		}
		found := exact
		if len(found) == 0 {
			found = named
			if len(named) > 1 {
				_, first := id(all[named[0]])
				return nil, Stackf("stack %q: got the name of %d stacks: write which, such as %s; the assembly has %s",
					text, len(named), first, strings.Join(known, ", "))
			}
		}
		if len(found) == 0 {
			found = like
		}
		if len(found) == 0 {
			return nil, Stackf("stack %q: the assembly has %s", text, strings.Join(known, ", "))
		}
		for _, i := range found {
			chosen[i] = true
		}
	}
	var stacks []S
	for i, stack := range all {
		if chosen[i] {
			stacks = append(stacks, stack)
		}
	}
	return stacks, nil
}

// display is how the CDK's command lists a stack.
func display(name, displayID string) string {
	if name == displayID {
		return name
	}
	return displayID + " (" + name + ")"
}

func matchesPath(pattern, name []string) bool {
	if len(pattern) == 0 || len(name) == 0 {
		return len(pattern) == len(name) || len(pattern) == 1 && pattern[0] == "**"
	}
	if pattern[0] == "**" {
		return matchesPath(pattern[1:], name) || matchesPath(pattern, name[1:])
	}
	matched, err := path.Match(pattern[0], name[0])
	return err == nil && matched && matchesPath(pattern[1:], name[1:])
}
