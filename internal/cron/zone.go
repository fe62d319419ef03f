package cron

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// zoneParts matches the form of names of the IANA time zone database, such as Etc/GMT+5. The files of a machine's copy
// are found by other spellings, too, such as Europe//Berlin.
var zoneParts = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z][A-Za-z0-9_+-]*)*$`)

// Zone returns the time zone with that name in the IANA time zone database, or UTC for "". Any other text is an error.
// Unlike [time.LoadLocation] it refuses Local and the further files of a machine's copy of the database, such as
// posixrules: what they stand for depends on the machine.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name != "" && !isZoneName(name) {
		return nil, fmt.Errorf("%q is not the IANA name of a time zone: write one such as Europe/Vienna", name)
	}
	return zone, nil
}

// isZoneName reports whether a text has the form of a zone's name and is none of the files that lie beside the zones.
// Factory stands for a zone that was not chosen yet.
func isZoneName(text string) bool {
	switch first, _, _ := strings.Cut(text, "/"); strings.ToLower(first) {
	case "local", "localtime", "posixrules", "factory", "posix", "right":
		return false
	}
	return zoneParts.MatchString(text)
}
