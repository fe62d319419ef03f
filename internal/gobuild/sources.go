package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Sources say where the source files of programs are, on this machine and outside of the module cache.
type Sources struct {
	// Modules are the folders of modules, and Packages those of packages.
	Modules, Packages []string
	// Embedded are the folders with embedded files.
	Embedded []string
	// Workspace is the go.work file, if the toolchain uses one.
	Workspace string
}

// FindSources asks the Go toolchain for the sources of programs, including packages that do not compile.
func FindSources(ctx context.Context, of Listing) (found Sources, err error) {
	t := toolchain{location: location{directory: of.Directory}, source: Source{Packages: of.Patterns}}
	text, err := t.runWith(ctx, of.Environment, []string{"env", "-json", "GOMODCACHE", "GOWORK"})
	if err != nil {
		return found, err
	}
	var settings struct{ GOMODCACHE, GOWORK string }
	if err := json.Unmarshal(text, &settings); err != nil {
		return found, fmt.Errorf("go env: %w", err)
	}
	if settings.GOWORK != "off" {
		found.Workspace = settings.GOWORK
	}
	const format = "-f={{if not .Standard}}{{.Dir}}\t{{with .Module}}{{.Dir}}{{end}}" +
		"{{range .EmbedFiles}}\t{{.}}{{end}}{{end}}"
	list := slices.Concat([]string{"list", "-e", "-deps", format}, of.Flags, of.Patterns)
	text, err = t.runWith(ctx, of.Environment, list)
	if err != nil {
		return found, err
	}
	add := func(to *[]string, folder string) {
		if folder != "" && !slices.Contains(*to, folder) {
			*to = append(*to, folder)
		}
	}
	for line := range bytes.Lines(text) {
		fields := strings.Split(strings.TrimSpace(string(line)), "\t")
		if len(fields) < 2 || strings.HasPrefix(fields[0], settings.GOMODCACHE+string(filepath.Separator)) {
			continue
		}
		add(&found.Packages, fields[0])
		add(&found.Modules, fields[1])
		for _, name := range fields[2:] {
			add(&found.Embedded, filepath.Dir(filepath.Join(fields[0], name)))
		}
	}
	return found, nil
}
