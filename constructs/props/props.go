// Package props reports what is wrong with a construct's props: every finding at
// once, before anything is declared.
package props

import (
	"fmt"
	"strings"
	"time"
)

// Finding is one thing that is wrong with the props of a construct, or with its scope or id.
type Finding struct {
	// Path leads to the prop, such as "Props.Agents[1]".
	Path string
	// Got is the value that the prop has, as a Go value would be printed.
	Got string
	// Allowed says which values the prop may have.
	Allowed string
	// Remedy says what to do.
	Remedy string
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: got %s, allowed is %s: %s", f.Path, f.Got, f.Allowed, f.Remedy)
}

// Error is a list of findings. Match it with [errors.As] to read them.
type Error struct {
	// Findings are in the order of the props.
	Findings []Finding
}

// Error returns one line per finding.
func (e *Error) Error() string {
	lines := []string{fmt.Sprintf("%d findings:", len(e.Findings))}
	if len(e.Findings) == 1 {
		lines[0] = "1 finding:"
	}
	for _, f := range e.Findings {
		lines = append(lines, "  "+f.String())
	}
	return strings.Join(lines, "\n")
}

// Findings collects findings. The zero value is empty and ready to use.
type Findings struct {
	list []Finding
}

// Add notes a finding; got is printed as Go prints it, and a duration as its text,
// such as "1m30s".
func (f *Findings) Add(path string, got any, allowed, remedy string) {
	if d, ok := got.(time.Duration); ok {
		got = d.String()
	}
	f.list = append(f.list, Finding{Path: path, Got: fmt.Sprintf("%#v", got), Allowed: allowed, Remedy: remedy})
}

// Append notes a finding as it is.
func (f *Findings) Append(finding Finding) { f.list = append(f.list, finding) }

// IsToken reports whether a string has a part that is only known at deployment,
// or is a list of such, so that its form cannot be checked. It looks for the CDK's
// markers itself: most props are checked before the CDK is started.
func IsToken(s string) bool {
	return strings.Contains(s, "${Token[") || strings.Contains(s, "#{Token[")
}

// Err returns an [*Error] with all findings, or nil if there are none.
func (f *Findings) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	return &Error{Findings: f.list}
}
