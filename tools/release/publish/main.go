// Command publish writes this module under another path, for a team that keeps it as a repository of its own:
//
//	go run ./tools/release/publish -module example.com/team/onesynth -dir ../ours \
//		-docs https://git.example.com/ours/-/blob
//
// The repository has a branch upstream with a commit for each time, and the first time a branch main from there. Later
// times add a commit to upstream alone: "git merge upstream" brings it into the team's own branches.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

const (
	// branch has what is published, and ref is its name in full.
	branch = "upstream"
	ref    = "refs/heads/" + branch
	// security is the page that says where to report a vulnerability. A team's copy names both places.
	security = "SECURITY.md"
)

// publication is what is to be written.
type publication struct {
	// checkout is the folder of this module, and folder that of the team's repository.
	checkout, folder string
	// module is the new path, and documents begins the addresses of the new module's files, before the version.
	module, documents string
}

func main() {
	var p publication
	flag.StringVar(&p.module, "module", "", "path of the module, such as example.com/team/onesynth")
	flag.StringVar(&p.folder, "dir", "", "repository of the team: a folder that is not there yet, or empty, or one "+
		"that this command has written")
	flag.StringVar(&p.documents, "docs", "", "what comes before /VERSION/docs/… in addresses of alarms and errors, "+
		"such as https://git.example.com/team/onesynth/-/blob; default: https://MODULE/blob")
	flag.Parse()
	p.checkout = "."
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := p.publish(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// publish adds the files of the checkout that Git has to the branch upstream of the repository, with another path of
// the module. It changes no file of the repository but in a new one.
func (p publication) publish(ctx context.Context) error {
	known, err := p.check(ctx)
	if err != nil {
		return err
	}
	written, err := os.MkdirTemp("", "onesynth-publish-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(written)
	files, err := p.write(ctx, filepath.Join(written, "files"))
	if err != nil {
		return err
	}
	if !known {
		if _, err := git(ctx, p.folder, nil, "init", "--quiet", "--initial-branch=main", "."); err != nil {
			return err
		}
	}
	added, err := p.commit(ctx, written, known)
	switch {
	case err != nil:
		return err
	case !added:
		fmt.Printf("%s: the branch %s has these files already\n", p.folder, branch)
	case known:
		fmt.Printf("%s: the branch %s has %d files of %s: merge it by \"git merge %[2]s\"\n", p.folder, branch, files,
			p.module)
	default:
		if _, err := git(ctx, p.folder, nil, "reset", "--quiet", "--hard", branch); err != nil {
			return err
		}
		fmt.Printf("%s: wrote %d files of %s; tag a version, such as v0.1.0\n", p.folder, files, p.module)
	}
	return nil
}

// check refuses what cannot be published. known says that the folder is a repository with the branch.
func (p publication) check(ctx context.Context) (known bool, err error) {
	if err := module.CheckPath(p.module); err != nil {
		return false, fmt.Errorf("-module: %w: write a path such as example.com/team/onesynth", err)
	}
	if p.folder == "" {
		return false, errors.New(`-dir: got "": name the folder to write`)
	}
	if address, err := url.Parse(p.documents); p.documents != "" && (err != nil || address.Scheme != "https" ||
		address.Host == "") {
		return false, fmt.Errorf("-docs: got %q: write an address such as https://git.example.com/team/onesynth/-/blob",
			p.documents)
	}
	found, err := os.ReadDir(p.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, os.MkdirAll(p.folder, 0o755)
	}
	if err != nil || len(found) == 0 {
		return false, err
	}
	top, err := git(ctx, p.folder, nil, "rev-parse", "--show-prefix")
	if err == nil && top == "" {
		_, err = git(ctx, p.folder, nil, "rev-parse", "--quiet", "--verify", ref)
		known = err == nil
	}
	if !known {
		return false, fmt.Errorf("-dir: %s has files, and is no repository with a branch %s: name a folder that is "+
			"not there yet, or empty, or one that publish-as has written", p.folder, branch)
	}
	return true, nil
}

// write writes the files of the checkout into a folder, and returns how many there are.
func (p publication) write(ctx context.Context, folder string) (files int, err error) {
	description, err := os.ReadFile(filepath.Join(p.checkout, "go.mod"))
	if err != nil {
		return 0, err
	}
	former := modfile.ModulePath(description)
	renamed := strings.NewReplacer("https://"+former+"/blob", cmp.Or(p.documents, "https://"+p.module+"/blob"),
		former, p.module)
	listed, err := git(ctx, p.checkout, nil, "ls-files", "-z")
	if err != nil {
		return 0, err
	}
	for name := range strings.SplitSeq(strings.Trim(listed, "\x00"), "\x00") {
		information, err := os.Stat(filepath.Join(p.checkout, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet in a commit
		}
		if err != nil {
			return 0, err
		}
		content, err := os.ReadFile(filepath.Join(p.checkout, name))
		if err != nil {
			return 0, err
		}
		to := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return 0, err
		}
		text := renamed.Replace(string(content))
		if name == security {
			text = "# Security of " + p.module + "\n\nThis is a copy of https://" + former + " under a path of a " +
				"team's own. Report what the team has changed to\nthe team, and everything else as follows. The team " +
				"gets the mended version by the branch " + branch + ".\n\n" + string(content)
		}
		if err := os.WriteFile(to, []byte(text), information.Mode().Perm()); err != nil {
			return 0, err
		}
		files++
	}
	// The order of imports follows their paths.
	if output, err := exec.CommandContext(ctx, "gofmt", "-w", folder).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("gofmt: %w: %s", err, output)
	}
	return files, nil
}

// commit adds a commit with the written files to the branch, and reports whether they differ from those of the last
// one. It uses an index of its own: what the team has changed and not committed stays as it is.
func (p publication) commit(ctx context.Context, written string, known bool) (added bool, err error) {
	repository, err := git(ctx, p.folder, nil, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return false, err
	}
	files := filepath.Join(written, "files")
	environment := []string{"GIT_DIR=" + repository, "GIT_WORK_TREE=" + files,
		"GIT_INDEX_FILE=" + filepath.Join(written, "index")}
	if _, err := git(ctx, files, environment, "add", "--all", "--force", "."); err != nil {
		return false, err
	}
	tree, err := git(ctx, files, environment, "write-tree")
	if err != nil {
		return false, err
	}
	version, err := git(ctx, p.checkout, nil, "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return false, err
	}
	arguments := []string{"commit-tree", tree, "-m", branch + ": " + version}
	if known {
		former, err := git(ctx, p.folder, nil, "rev-parse", ref+"^{tree}")
		if err != nil || former == tree {
			return false, err
		}
		arguments = append(arguments, "-p", ref)
	}
	made, err := git(ctx, p.folder, nil, arguments...)
	if err != nil {
		return false, err
	}
	_, err = git(ctx, p.folder, nil, "update-ref", ref, made)
	return true, err
}

// git runs Git in a folder, with further variables, and returns what it prints, without the end of the line.
func git(ctx context.Context, folder string, environment []string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...)
	var failed bytes.Buffer
	command.Dir, command.Env, command.Stderr = folder, append(os.Environ(), environment...), &failed
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", arguments[0], err, bytes.TrimSpace(failed.Bytes()))
	}
	return strings.TrimSuffix(string(printed), "\n"), nil
}
