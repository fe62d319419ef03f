package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// The files that have a version in a place of its own.
const (
	changelogFile = "CHANGELOG.md"
	packageFile   = "package.json"
	lockFile      = "package-lock.json"
	// versionsFile says what a version promises.
	versionsFile = "docs/project/versions.md"
)

// write returns those of the files that change with a version.
func write(files map[string]string, module, version string, now time.Time) (map[string]string, error) {
	log, err := release(files[changelogFile], version, now)
	if err != nil {
		return nil, err
	}
	written := map[string]string{changelogFile: log}
	for name, places := range map[string]int{packageFile: 1, lockFile: 2} {
		if written[name], err = setVersion(files[name], version, places); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	announced := 0
	for name, content := range files {
		if !strings.HasSuffix(name, ".md") || name == changelogFile {
			continue
		}
		text, n := announce(content, module, version)
		if announced += n; text != content {
			written[name] = text
		}
	}
	if announced == 0 {
		return nil, fmt.Errorf("no document says %q or %q: README.md has to say how to get the newest version", none,
			newest)
	}
	return written, nil
}

// unreleased heads what is in no version yet.
const unreleased = "## [Unreleased]\n"

// heading matches the heading of a version.
var heading = regexp.MustCompile(`(?m)^## \[(\d[^]\n]*)\].*\n`)

// release moves what is unreleased in a changelog to a version. What is said before its first kind of changes is about
// a version to come, and goes.
func release(log, version string, now time.Time) (string, error) {
	before, after, found := strings.Cut(log, unreleased)
	if !found {
		return "", fmt.Errorf("%s has no heading %q", changelogFile, strings.TrimSpace(unreleased))
	}
	changes, earlier := after, ""
	if next := heading.FindStringSubmatchIndex(after); next != nil {
		changes, earlier = after[:next[0]], "\n"+after[next[0]:]
		if last := after[next[2]:next[3]]; semver.Compare("v"+version, "v"+last) <= 0 {
			return "", fmt.Errorf("-version: got %s: the last version is %s: write a higher one", version, last)
		}
	}
	_, changes, found = strings.Cut(changes, "\n### ")
	if !found {
		return "", fmt.Errorf("%s: nothing is unreleased: say what importers notice", changelogFile)
	}
	return before + unreleased + "\n## [" + version + "] - " + now.Format(time.DateOnly) + "\n\n### " +
		strings.TrimSpace(changes) + "\n" + earlier, nil
}

// notes are what a changelog says of a version of a module. Links lead to the module's files of that version.
func notes(log, module, version string) (string, error) {
	for _, place := range heading.FindAllStringSubmatchIndex(log, -1) {
		if log[place[2]:place[3]] != version {
			continue
		}
		text := log[place[1]:]
		if next := heading.FindStringIndex(text); next != nil {
			text = text[:next[0]]
		}
		return link.ReplaceAllStringFunc(strings.TrimSpace(text)+"\n", func(found string) string {
			parts := link.FindStringSubmatch(found)
			if strings.Contains(parts[2], ":") {
				return found
			}
			return "[" + parts[1] + "](https://" + module + "/blob/v" + version + "/" + parts[2] + ")"
		}), nil
	}
	return "", fmt.Errorf("%s has no version %q: make release VERSION=%s writes it before the tag", changelogFile,
		version, version)
}

// setVersion replaces the version of the package at the first places of a file of npm.
func setVersion(content, version string, places int) (string, error) {
	field := regexp.MustCompile(`"version": "[^"]*"`)
	n := 0
	text := field.ReplaceAllStringFunc(content, func(former string) string {
		if n++; n > places {
			return former
		}
		return `"version": "` + version + `"`
	})
	var got struct {
		Version  string
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return "", err
	}
	if own, locked := got.Packages[""]; got.Version != version || locked && own.Version != version {
		return "", fmt.Errorf("got %q and %q: want the version at the first %d places", got.Version, own.Version,
			places)
	}
	return text, nil
}

// How documents say which version there is: none before the first version, and newest since then.
const (
	none   = "No version is published yet: take"
	newest = "The newest version is "
)

// announce names the version in a document, wherever that names the newest one or one that Go gets, and returns how
// often it names the newest one.
func announce(document, module, version string) (string, int) {
	get := regexp.MustCompile(regexp.QuoteMeta(module) + `((?:/[\w/-]+)?)@v\d[\w.+-]*\b`)
	text := get.ReplaceAllString(document, module+"${1}@v"+version)
	n := 0
	replace := func(pattern, by string) {
		// A line of the document may end within the words. Those that come instead begin a line, and so stay short.
		words := regexp.MustCompile(" ?" + strings.ReplaceAll(pattern, " ", `\s+`))
		text = words.ReplaceAllStringFunc(text, func(former string) string {
			n++
			if former[0] == ' ' {
				return "\n" + by
			}
			return by
		})
	}
	replace(newest+`\d[\w.+-]*\b`, newest+version)
	replace(none, newest+version+": `go get "+module+"@v"+version+"` gets it,\nand [the latest release](https://"+
		module+"/releases/latest) has both commands.\nOr take")
	return text, n
}

// promises returns what a page says a version may change.
func promises(page string) (string, error) {
	const title = "## What a version may change"
	_, section, found := strings.Cut(page, "\n"+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if section = strings.TrimSpace(section); !found || section == "" {
		return "", fmt.Errorf("%s has no section %q", versionsFile, title)
	}
	return link.ReplaceAllString(section, "$1"), nil
}

// link matches a link of a document: its text, and where it leads.
var link = regexp.MustCompile(`\[([^]]*)\]\(([^)]*)\)`)
