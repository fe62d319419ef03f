package props

import "regexp"

// prefix begins physical names; what follows it leaves the whole within what the
// services take.
var prefix = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}[a-z0-9]$`)

// CheckPrefix adds a finding at path if physical names cannot begin so; the empty
// prefix is the default.
func CheckPrefix(f *Findings, path, value string) {
	if value != "" && !prefix.MatchString(value) {
		f.Add(path, value, "2 to 32 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen", `write something like "aah"`)
	}
}

// CheckRemoval adds a finding at path if what goes with its stack is protected
// from deletion.
func CheckRemoval(f *Findings, path string, removeWithStack, deletionProtection bool) {
	if removeWithStack && deletionProtection {
		f.Add(path, true, "false with RemoveWithStack", "protected tables cannot be removed with their stack: set one of the two")
	}
}

// CheckLocalPort adds a finding at path if no server of a developer's machine may
// have the port; 0 is the default.
func CheckLocalPort(f *Findings, path string, port int) {
	if port != 0 && (port < 1024 || port > 65535) {
		f.Add(path, port, "1024 to 65535", "leave it 0 for the default")
	}
}
