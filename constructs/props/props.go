// Package props reports what is wrong with a construct's props: every finding at
// once, before anything is declared.
package props

import "strings"

// IsToken reports whether a string has a part that becomes known only at deployment, or stands for a list of such
// parts: its form cannot be checked. It looks for the CDK's markers itself, because most props are checked before the
// CDK starts.
func IsToken(s string) bool {
	return strings.Contains(s, "${Token[") || strings.Contains(s, "#{Token[")
}
