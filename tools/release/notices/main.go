// Command notices prints the licences and notices of what the named commands link, which has to go along with them:
//
//	go run ./tools/release/notices ./cmd/onesynth ./cmd/onesynth-lake
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := write(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// write writes the texts of Go itself and of each other module that the packages are made of, in the order of their
// names. A module without a licence is an error.
func write(ctx context.Context, to io.Writer, packages []string) error {
	const module = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-f", module}, packages...)...)
	list.Stderr = os.Stderr
	listed, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	modules := append(strings.Split(strings.TrimSpace(string(listed)), "\n"), "Go\t"+strings.TrimSpace(string(goroot)))
	slices.Sort(modules)
	for _, of := range slices.Compact(modules) {
		name, folder, ok := strings.Cut(of, "\t")
		if !ok {
			continue // the packages have no other modules
		}
		text, err := texts(folder)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := fmt.Fprintf(to, "======== %s\n\n%s\n", name, text); err != nil {
			return err
		}
	}
	return nil
}

// texts returns the licences and notices in a module's folder.
func texts(folder string) ([]byte, error) {
	var all [][]byte
	licensed := false
	for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "License*", "NOTICE*"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		licensed = licensed || len(files) > 0 && pattern != "NOTICE*"
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, bytes.TrimSpace(text), nil)
		}
	}
	if !licensed {
		return nil, fmt.Errorf("%s has no licence", folder)
	}
	return bytes.Join(all, []byte("\n")), nil
}
