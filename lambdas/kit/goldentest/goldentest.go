// Package goldentest has the flag of tests that compare what they get with files.
package goldentest

import "flag"

var update = flag.Bool("update", false, "write the files that the tests compare, in place of the comparison")

// Update reports whether the flag -update is given: a test then writes its files.
func Update() bool { return *update }
