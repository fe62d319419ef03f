package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("writes the archive of a release of its own: go test without -short does")
	}
	t.Parallel()
	jar, err := FindJar("")
	if err != nil {
		t.Fatal(err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	made, err := prepare(t.Context(), java, jar, folder)
	if err != nil {
		t.Fatal(err)
	}
	before := written(t, made.archive)
	again, err := prepare(t.Context(), java, jar, folder)
	if err != nil || again.archive != made.archive || !written(t, made.archive).Equal(before) {
		t.Errorf("got %v, %v: want the archive that is there", again, err)
	}

	// Another process may write its own copy of the jar while this archive is in use.
	if err := writeLauncherJar(made.classPath[0], jar); err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	// With this flag java ends where it cannot use the archive.
	if err := e.start(t.Context(), made, "", "-Xshare:on"); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestStartWithoutArchive has a java that does not start with its archive.
func TestStartWithoutArchive(t *testing.T) {
	found, err := exec.LookPath("java")
	if err != nil {
		t.Fatal(err)
	}
	jar, err := FindJar("")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	java := filepath.Join(folder, "java")
	script := "#!/bin/sh\ncase \"$*\" in *SharedArchiveFile*) exit 1;; esac\nexec '" + found + "' \"$@\"\n"
	if err := os.WriteFile(java, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", folder)
	t.Setenv("HOME", folder)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	key, err := archiveKey(java, jar)
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(cache, "onesynth", "dynamodb-local", key, "classes.jsa")
	if err := os.MkdirAll(filepath.Dir(archive), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archive, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(folder, name), used, used); err != nil {
			t.Fatal(err)
		}
	}
	removeUnusedArchives(folder)
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 1 ||
		filepath.Base(left[0]) != "new" {
		t.Errorf("got %v, %v: want new", left, err)
	}
}

func written(t *testing.T, file string) time.Time {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
