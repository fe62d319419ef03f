// Package watch says what saved Go files make necessary: which functions to build again, or another synth. It asks the Go
// toolchain which files make which program, watches their folders, and compares contents, so that a file that was saved as it was,
// a test, or a file of no program makes nothing necessary. It knows no run.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/onesynth-cdk/onesynth/gobuild"
)

const (
	// DefaultQuiet is the time without further events after which saved files count. Editors write a file in several steps.
	DefaultQuiet = 25 * time.Millisecond
	// longest is the longest that events may come one after the other before they count.
	longest = 20 * DefaultQuiet
)

// Target is what is made of one listing.
type Target struct {
	gobuild.Listing
	// Functions are the names of the functions that are built of a main package, by its import path.
	Functions map[string][]string
	// App says that the packages are those of the app: their change needs a synth.
	App bool
	// Files are further files that count as changes of the target, such as cdk.json. They need not exist.
	Files []string
}

// Change is what saved files make necessary.
type Change struct {
	// Files are the files whose content has changed: absolute, sorted.
	Files []string
	// Packages are the import paths of the packages that have to be compiled again, sorted.
	Packages []string
	// Functions are the names of the functions that have to be built again, sorted.
	Functions []string
	// Synth says that the app has to run again.
	Synth bool
	// Relist says that other files than before may count now: imports have changed, or files have come or gone.
	Relist bool
	// Saved is when the first of the files was saved, as far as events tell.
	Saved time.Time
}

// Empty reports whether nothing is necessary.
func (c Change) Empty() bool { return len(c.Functions) == 0 && !c.Synth }

// Add merges another change into this one.
func (c *Change) Add(other Change) {
	c.Files, c.Packages, c.Functions = merge(c.Files, other.Files), merge(c.Packages, other.Packages), merge(c.Functions, other.Functions)
	c.Synth, c.Relist = c.Synth || other.Synth, c.Relist || other.Relist
	if c.Saved.IsZero() || !other.Saved.IsZero() && other.Saved.Before(c.Saved) {
		c.Saved = other.Saved
	}
}

func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Watcher watches the files of targets. Make one with [New], and close it.
type Watcher struct {
	quiet  time.Duration
	events *fsnotify.Watcher
	signal chan struct{}
	ended  sync.WaitGroup

	mutex   sync.Mutex
	files   *files
	pending Change
	failing bool
	watched map[string]bool
}

// New lists the files of the targets, and watches them from then on. Quiet is the time without further events after which
// files count; 0 is [DefaultQuiet].
func New(ctx context.Context, targets []Target, quiet time.Duration) (*Watcher, error) {
	if quiet == 0 {
		quiet = DefaultQuiet
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	w := &Watcher{quiet: quiet, events: events, signal: make(chan struct{}, 1), watched: map[string]bool{}}
	if err := w.List(ctx, targets); err != nil {
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

// Take returns what has become necessary since the last call.
func (w *Watcher) Take() Change {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	taken := w.pending
	w.pending = Change{}
	return taken
}

// Failing says whether the last build failed. While it does, each changed Go file of the modules counts, also if no program
// has it: what is missing may be there now. Such a change names no function.
func (w *Watcher) Failing(failing bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.failing = failing
}

// List reads anew which files make the targets. Files that have changed since they were last looked at count as changes.
func (w *Watcher) List(ctx context.Context, targets []Target) error {
	listed, err := list(ctx, targets)
	if err != nil {
		return err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	former := w.files
	w.files = listed
	for _, folder := range listed.folders() {
		if err := w.watch(folder); err != nil {
			return err
		}
	}
	for path := range listed.known {
		listed.known[path] = look(path)
	}
	if former == nil {
		return nil
	}
	for path, was := range former.known {
		if now, known := listed.known[path]; known && now.content != was.content {
			change := listed.changed(path, was, now)
			change.Saved = time.Now()
			w.note(change)
		}
	}
	return nil
}

// watch watches a folder. A folder that is gone counts as watched: its parent tells when it comes back.
func (w *Watcher) watch(folder string) error {
	if w.watched[folder] {
		return nil
	}
	err := w.events.Add(folder)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("watch %s: %w: the system watches no more files: raise its limit (on Linux: sysctl fs.inotify.max_user_watches=524288), or run without --watch", folder, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	w.watched[folder] = true
	return nil
}

// note adds a change to what is pending.
func (w *Watcher) note(change Change) {
	if len(change.Files) == 0 {
		return
	}
	w.pending.Add(change)
	select {
	case w.signal <- struct{}{}:
	default:
	}
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
			w.enter(path, paths)
		case err != nil:
			// It may have been a folder.
			delete(w.watched, path)
			for known := range w.files.known {
				if strings.HasPrefix(known, path+string(filepath.Separator)) {
					paths[known] = true
				}
			}
		}
	}
	if all {
		for known := range w.files.known {
			paths[known] = true
		}
	}
	for path := range paths {
		was, known := w.files.known[path]
		if !known && !w.files.mayBelong(path) && !(w.failing && w.files.inModule(path)) {
			continue
		}
		now := look(path)
		if now.content == was.content {
			continue
		}
		w.files.known[path] = now
		change := w.files.changed(path, was, now)
		change.Saved = first
		w.note(change)
	}
}

// enter watches a new folder with those below, and adds their files.
func (w *Watcher) enter(folder string, paths map[string]bool) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if !entry.IsDir() {
			paths[path] = true
			return nil
		}
		if path != folder && ignored(path, entry.Name()) || !w.files.inModule(filepath.Join(path, "x.go")) {
			return filepath.SkipDir
		}
		// A folder that cannot be watched has been removed, or the next listing says why.
		_ = w.watch(path)
		return nil
	})
}
