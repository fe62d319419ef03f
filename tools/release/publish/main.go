// Command publish writes this module under another path, for a team that keeps it as a module of its own:
//
//	go run ./tools/release/publish -module example.com/team/onesynth -dir ../ours
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

func main() {
	path := flag.String("module", "", "path of the module, such as example.com/team/onesynth")
	folder := flag.String("dir", "", "folder to write, which is not there yet, or empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := publish(ctx, ".", *path, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// publish copies the files of a checkout that Git has into a folder, with another path of the module. The folder has to
// be empty, or not to be there.
func publish(ctx context.Context, checkout, path, folder string) error {
	if err := module.CheckPath(path); err != nil {
		return fmt.Errorf("-module: %w: write a path such as example.com/team/onesynth", err)
	}
	if folder == "" {
		return errors.New(`-dir: got "": name the folder to write`)
	}
	if found, err := os.ReadDir(folder); err == nil && len(found) > 0 {
		return fmt.Errorf("-dir: %s has files: name a folder that is not there yet, or empty", folder)
	}
	description, err := os.ReadFile(filepath.Join(checkout, "go.mod"))
	if err != nil {
		return err
	}
	former := []byte(modfile.ModulePath(description))
	list := exec.CommandContext(ctx, "git", "ls-files", "-z")
	list.Dir, list.Stderr = checkout, os.Stderr
	listed, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	files := 0
	for name := range strings.SplitSeq(strings.Trim(string(listed), "\x00"), "\x00") {
		information, err := os.Stat(filepath.Join(checkout, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet in a commit
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			return err
		}
		to := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		content = bytes.ReplaceAll(content, former, []byte(path))
		if err := os.WriteFile(to, content, information.Mode().Perm()); err != nil {
			return err
		}
		files++
	}
	// The order of imports follows their paths.
	if output, err := exec.CommandContext(ctx, "gofmt", "-w", folder).CombinedOutput(); err != nil {
		return fmt.Errorf("gofmt: %w: %s", err, output)
	}
	fmt.Printf("%s: wrote %d files of %s; commit them, and tag a version, such as v0.1.0\n", folder, files, path)
	return nil
}
