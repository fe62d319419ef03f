package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("writes the archive of a release of its own: go test without -short does")
	}
	t.Parallel()
	jar := must.Get(FindJar(""))(t)
	java := must.Get(exec.LookPath("java"))(t)
	folder := t.TempDir()
	made := must.Get(prepare(t.Context(), java, jar, folder))(t)
	before := written(t, made.archive)
	again, err := prepare(t.Context(), java, jar, folder)
	if err != nil || again.archive != made.archive || !written(t, made.archive).Equal(before) {
		t.Errorf("got %v, %v: want the archive that is there", again, err)
	}

	// Another process may write its own copy of the jar while this archive is in use.
	must.OK(t, writeLauncherJar(made.classPath[0], jar))
	e := newEngine()
	// With this flag java ends where it cannot use the archive.
	must.OK(t, e.start(t.Context(), made, "", "-Xshare:on"))
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestStartWithoutArchive has a java that does not start with its archive.
func TestStartWithoutArchive(t *testing.T) {
	found := must.Get(exec.LookPath("java"))(t)
	jar := must.Get(FindJar(""))(t)
	folder := t.TempDir()
	java := filepath.Join(folder, "java")
	script := "#!/bin/sh\ncase \"$*\" in *SharedArchiveFile*) exit 1;; esac\nexec '" + found + "' \"$@\"\n"
	must.OK(t, os.WriteFile(java, []byte(script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", folder)
	t.Setenv("HOME", folder)
	cache := must.Get(os.UserCacheDir())(t)
	key := must.Get(archiveKey(java, jar))(t)
	archive := filepath.Join(cache, "onesynth", "dynamodb-local", key, "classes.jsa")
	must.OK(t, os.MkdirAll(filepath.Dir(archive), 0o700))
	must.OK(t, os.WriteFile(archive, nil, 0o600))
	e := must.Get(Start(t.Context(), Options{}))(t)
	defer func() { _ = e.Close() }()
	if err := e.ping(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v: want the archive removed", err)
	}
}

func TestUnusedArchivesAreRemoved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, age := range map[string]time.Duration{"old": archiveUnusedAfter + time.Hour,
		"new": archiveUnusedAfter - time.Hour} {
		must.OK(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		used := time.Now().Add(-age)
		must.OK(t, os.Chtimes(filepath.Join(folder, name), used, used))
	}
	removeUnusedArchives(folder)
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 1 ||
		filepath.Base(left[0]) != "new" {
		t.Errorf("got %v, %v: want new", left, err)
	}
}

func written(t *testing.T, file string) time.Time {
	t.Helper()
	info := must.Get(os.Stat(file))(t)
	return info.ModTime()
}
