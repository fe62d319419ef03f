package platform

import (
	"regexp"
	"runtime/debug"
)

// library is the module of this package, and documents begins the address of its files, before the version: whoever
// publishes the module under another path chooses another one.
const (
	library   = "github.com/onesynth-cdk/onesynth"
	documents = "https://github.com/onesynth-cdk/onesynth/blob"
)

// commit ends the version of a module that has no tag ("Pseudo-versions", Go Modules
// Reference).
var commit = regexp.MustCompile(`-([0-9a-f]{12})$`)

// runbook is the address of docs/operate/alarms.md of the version of this library that a program was
// built with. In the library's own module, and where a folder replaces it, there is no version that
// others could look up; the address then leads to the main branch.
func runbook(info *debug.BuildInfo) string {
	version := "main"
	if info != nil {
		for _, m := range info.Deps {
			if m.Path != library || m.Replace != nil || m.Version == "" || m.Version == "(devel)" {
				continue
			}
			version = m.Version
			if match := commit.FindStringSubmatch(version); match != nil {
				version = match[1]
			}
		}
	}
	return documents + "/" + version + "/docs/operate/alarms.md#alarms"
}
