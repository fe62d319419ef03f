// Package dev is for those who change a run's source. A [Watcher] tells which files that programs may be made of were
// saved: it watches the folders of Go modules, and compares contents, so that a file that was saved as it was does not
// count, nor a test. A [Follower] builds what was saved, where the Go toolchain decides what a file makes necessary,
// and replaces what runs. A [Debugger] runs one function under delve.
package dev

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
)

const (
	// DefaultQuiet is the time without further events after which saved files count. Editors write a file in several
	// steps.
	DefaultQuiet = 25 * time.Millisecond
	// longest is the longest that events may come one after the other before they count.
	longest = 20 * DefaultQuiet
)

// Change is what was saved.
type Change struct {
	// Files are the files whose content has changed: absolute, sorted.
	Files []string
	// Saved is when the first of them was saved, as far as events tell.
	Saved time.Time
}

// Add merges another change into this one.
func (c *Change) Add(other Change) {
	c.Files = append(slices.Clone(c.Files), other.Files...)
	slices.Sort(c.Files)
	c.Files = slices.Compact(c.Files)
	if c.Saved.IsZero() || !other.Saved.IsZero() && other.Saved.Before(c.Saved) {
		c.Saved = other.Saved
	}
}

// movesSource reports whether programs may be of other folders after the change: it is of a module's or a workspace's
// file.
func (c *Change) movesSource() bool {
	return slices.ContainsFunc(c.Files, func(path string) bool {
		return slices.Contains([]string{"go.mod", "go.work"}, filepath.Base(path))
	})
}

// Watcher watches the files of programs. Make one with [New], and close it.
type Watcher struct {
	quiet  time.Duration
	events *fsnotify.Watcher
	signal chan struct{}
	ended  sync.WaitGroup

	mutex sync.Mutex
	// sources are those of the programs of the last search, and forgotten counts the calls of Forget.
	sources   []gobuild.Sources
	forgotten int
	modules   []string
	// embedded are the folders in which all files count.
	embedded map[string]bool
	// files count, too, such as cdk.json.
	files map[string]bool
	// known are the hashes of files; empty for one that does not exist.
	known   map[string]string
	pending Change
	// watched are folders, and fresh those that are watched since the last scan, and were there before.
	watched, fresh map[string]bool
}

// New finds what the programs are made of, and watches it from then on, and the files, which need not exist. Quiet is
// the time without further events after which files count; 0 is [DefaultQuiet].
func New(ctx context.Context, programs []gobuild.Listing, files []string, quiet time.Duration) (*Watcher, error) {
	if quiet == 0 {
		quiet = DefaultQuiet
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{
		quiet: quiet, events: events, signal: make(chan struct{}, 1),
		files: map[string]bool{}, known: map[string]string{},
		watched: map[string]bool{}, fresh: map[string]bool{},
	}
	for _, path := range files {
		w.files[path] = true
	}
	if err := w.Find(ctx, programs); err != nil {
		_ = events.Close()
		return nil, err
	}
	w.ended.Go(w.run)
	return w, nil
}

// Close ends the watching.
func (w *Watcher) Close() {
	_ = w.events.Close()
	w.ended.Wait()
}

// Changed gets a value when there may be something to take. It is not closed.
func (w *Watcher) Changed() <-chan struct{} { return w.signal }

// Take returns what was saved since the last call.
func (w *Watcher) Take() Change {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	taken := w.pending
	w.pending = Change{}
	return taken
}

// Read returns the files that programs may be made of, by absolute name, as they are now, for a build. It also returns
// what was saved since the last call of Take or Read. Later changes are those of what Read has returned: a file that
// gets its former text back, while its newer one is built, has changed.
func (w *Watcher) Read() (map[string][]byte, Change) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	// The next search says why a folder cannot be watched.
	contents, _ := w.scan()
	saved := w.pending
	w.pending = Change{}
	return contents, saved
}

// scan reads all files that count, and adds those that are not as known to the pending ones. It returns the contents
// but for those of modules' files, which the toolchain may write, and why a folder cannot be watched. The caller holds
// the mutex.
func (w *Watcher) scan() (contents map[string][]byte, err error) {
	paths := maps.Clone(w.files)
	for path := range w.known {
		paths[path] = true
	}
	for _, folder := range slices.Concat(w.modules, slices.Sorted(maps.Keys(w.embedded))) {
		err = cmp.Or(err, w.enter(folder, paths))
	}
	contents = map[string][]byte{}
	change := Change{Saved: time.Now()}
	read := func(path string) {
		text, err := os.ReadFile(path)
		former, known := w.known[path]
		w.known[path] = hashOf(text, err)
		// A file that was there before its folder was watched has not changed.
		if w.known[path] != former && (known || !w.fresh[filepath.Dir(path)]) {
			change.Files = append(change.Files, path)
		}
		if err == nil && !isOfModule(path) {
			contents[path] = text
		}
	}
	for path := range paths {
		if filepath.Ext(path) == ".go" && w.counts(path) {
			read(path)
			for _, folder := range embedded(path, contents[path]) {
				if !w.embedded[folder] {
					w.embedded[folder] = true
					err = cmp.Or(err, w.enter(folder, paths))
				}
			}
		}
	}
	for path := range paths {
		if filepath.Ext(path) != ".go" && w.counts(path) {
			read(path)
		}
	}
	clear(w.fresh)
	if len(change.Files) > 0 {
		w.pending.Add(change)
	}
	return contents, err
}

// isOfModule reports whether a file says which modules there are.
func isOfModule(path string) bool {
	return slices.Contains([]string{"go.mod", "go.sum", "go.work"}, filepath.Base(path))
}

// embedded returns the folders of the files that a Go file with this text embeds.
func embedded(path string, text []byte) (folders []string) {
	for line := range bytes.Lines(text) {
		patterns, found := bytes.CutPrefix(bytes.TrimSpace(line), []byte("//go:embed "))
		if !found {
			continue
		}
		for _, pattern := range strings.Fields(string(patterns)) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			matches, _ := filepath.Glob(filepath.Join(filepath.Dir(path), filepath.FromSlash(pattern)))
			for _, match := range matches {
				_ = filepath.WalkDir(match, func(path string, entry fs.DirEntry, err error) error {
					if err == nil && !entry.IsDir() {
						folders = append(folders, filepath.Dir(path))
					}
					return nil
				})
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// Forget makes [Watcher.Sources] return nothing until the next [Watcher.Find] that begins after it.
func (w *Watcher) Forget() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.sources = nil
	w.forgotten++
}

// Sources returns where the source files of the programs are, in the order of [Watcher.Find]; nil: nobody knows.
func (w *Watcher) Sources() []gobuild.Sources {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.sources
}

// Find asks again what the programs are made of. Call it when they may have other packages or embedded files.
func (w *Watcher) Find(ctx context.Context, programs []gobuild.Listing) error {
	w.mutex.Lock()
	forgotten := w.forgotten
	w.mutex.Unlock()
	sources := make([]gobuild.Sources, len(programs))
	failures := make([]error, len(programs))
	var asking sync.WaitGroup
	for i, program := range programs {
		if len(program.Patterns) > 0 {
			asking.Go(func() { sources[i], failures[i] = gobuild.FindSources(ctx, program) })
		}
	}
	asking.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.forgotten == forgotten {
		w.sources = sources
	}
	w.modules, w.embedded = nil, map[string]bool{}
	for _, found := range sources {
		for _, module := range found.Modules {
			w.modules = append(w.modules, module)
			w.files[filepath.Join(module, "go.mod")], w.files[filepath.Join(module, "go.sum")] = true, true
		}
		for _, folder := range found.Embedded {
			w.embedded[folder] = true
		}
		if found.Workspace != "" {
			w.files[found.Workspace] = true
		}
	}
	slices.Sort(w.modules)
	w.modules = slices.Compact(w.modules)
	for path := range w.files {
		if err := w.watch(filepath.Dir(path)); err != nil {
			return err
		}
	}
	// An event of a file that did not count yet was ignored.
	_, err := w.scan()
	if len(w.pending.Files) > 0 {
		w.tell()
	}
	return err
}

// tell says that there is something to take.
func (w *Watcher) tell() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// enter watches a folder with those below, and adds their files to paths.
func (w *Watcher) enter(folder string, paths map[string]bool) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case !entry.IsDir():
			paths[path] = true
			return nil
		case path != folder && ignored(path, entry.Name()):
			return filepath.SkipDir
		}
		return w.watch(path)
	})
}

// hashOf is the hash of a file that was read; empty for one that cannot be.
func hashOf(text []byte, err error) string {
	if err != nil {
		return ""
	}
	hash := sha256.Sum256(text)
	return string(hash[:])
}

// watch watches a folder. A folder that is gone counts as watched: its parent tells when it comes back.
func (w *Watcher) watch(folder string) error {
	if w.watched[folder] {
		return nil
	}
	err := w.events.Add(folder)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("watch %s: %w: the system watches no more files: raise its limit (on Linux: sysctl "+
			"fs.inotify.max_user_watches=524288), or run without --watch", folder, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	// Events tell of a folder that comes into one that is watched, and so of its files.
	parent := filepath.Dir(folder)
	w.watched[folder], w.fresh[folder] = true, !w.watched[parent] || w.fresh[parent]
	return nil
}

// ignored reports whether no package of the module is in the folder: the toolchain ignores it, or it is another
// module's.
func ignored(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		slices.Contains([]string{"testdata", "node_modules", "vendor", "cdk.out"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// counts reports whether a program may be made of the file.
func (w *Watcher) counts(path string) bool {
	name := filepath.Base(path)
	switch {
	case w.files[path]:
		return true
	case strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_test.go"):
		return false
	case filepath.Ext(name) == ".go":
		return slices.ContainsFunc(w.modules, func(module string) bool {
			return strings.HasPrefix(path, module+string(filepath.Separator))
		})
	}
	return w.embedded[filepath.Dir(path)]
}

// run collects events until none has come for a while, and looks at the files then.
func (w *Watcher) run() {
	touched := map[string]bool{}
	all := false
	var timer <-chan time.Time
	var first time.Time
	for {
		select {
		case event, open := <-w.events.Events:
			if !open {
				return
			}
			// Chmod alone changes no content, and indexers cause it.
			if event.Op == fsnotify.Chmod {
				continue
			}
			touched[event.Name] = true
		case _, open := <-w.events.Errors:
			if !open {
				return
			}
			// Events were lost.
			all = true
		case <-timer:
			w.look(touched, all, first)
			touched, all, timer = map[string]bool{}, false, nil
			continue
		}
		if timer == nil {
			first = time.Now()
		}
		timer = time.After(min(w.quiet, max(time.Until(first.Add(longest)), 0)))
	}
}

// look compares the files that events name with what is known of them.
func (w *Watcher) look(touched map[string]bool, all bool, first time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	paths := map[string]bool{}
	for path := range touched {
		paths[path] = true
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			if !ignored(path, filepath.Base(path)) {
				// A folder that cannot be watched has been removed, or the next search says why.
				_ = w.enter(path, paths)
			}
		case err != nil:
			// It may have been a folder.
			delete(w.watched, path)
			for known := range w.known {
				if strings.HasPrefix(known, path+string(filepath.Separator)) {
					paths[known] = true
				}
			}
		}
	}
	if all {
		for known := range w.known {
			paths[known] = true
		}
	}
	change := Change{Saved: first}
	for path := range paths {
		if now := hashOf(os.ReadFile(path)); w.counts(path) && now != w.known[path] {
			w.known[path] = now
			change.Files = append(change.Files, path)
		}
	}
	if len(change.Files) == 0 {
		return
	}
	w.pending.Add(change)
	w.tell()
}
