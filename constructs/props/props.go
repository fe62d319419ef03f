// Package props reports what is wrong with a construct's props: every finding at
// once, before anything is declared.
package props

import "strings"

// IsToken reports whether a string has a part that is only known at deployment,
// or is a list of such, so that its form cannot be checked. It looks for the CDK's
// markers itself: most props are checked before the CDK is started.
func IsToken(s string) bool {
	return strings.Contains(s, "${Token[") || strings.Contains(s, "#{Token[")
}
