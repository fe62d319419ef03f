package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
)

// cacheVariable is the environment variable with the folder of the cache.
const cacheVariable = "ONESYNTH_CACHE"

// lockInterval is the time between two attempts to lock the cache.
const lockInterval = 20 * time.Millisecond

// unusedAfter is the age at which an unused entry is deleted.
const unusedAfter = 30 * 24 * time.Hour

// errMiss is the error of an entry that the cache does not have.
var errMiss = errors.New("not in the cache")

// cache is a folder with binaries by content, binaries/<SHA-256>/bootstrap, and the SHA-256 of
// the binary of each key, builds/<key>.
type cache struct {
	folder string
}

func openCache(folder string) (cache, error) {
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return cache{}, fmt.Errorf("finding the user's cache folder: %w: set %s to a folder for built handlers", err, cacheVariable)
		}
		folder = filepath.Join(user, "onesynth")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return cache{}, fmt.Errorf("resolving the cache folder: %w", err)
	}
	for _, sub := range []string{"binaries", "builds"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return cache{}, fmt.Errorf("making the cache folder: %w: set %s to a folder that can be written", err, cacheVariable)
		}
	}
	return cache{folder: folder}, nil
}

func (c cache) buildFile(key string) string {
	return filepath.Join(c.folder, "builds", key)
}

func (c cache) binaryFolder(hash string) string {
	return filepath.Join(c.folder, "binaries", hash)
}

// temporary makes a folder for the toolchain's output, on the cache's own file
// system so that binaries can be moved.
func (c cache) temporary() (string, error) {
	folder, err := os.MkdirTemp(c.folder, "build-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the build: %w", err)
	}
	return folder, nil
}

// lock waits until no other build, of this process or of another one, uses the cache, or ctx ends.
// The end of a process unlocks, too.
func (c cache) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(c.folder, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the cache: %w", err)
	}
	for {
		locked, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("locking the cache: %w", err)
		}
		if locked {
			return func() { file.Close() }, nil
		}
		select {
		case <-time.After(lockInterval):
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("waiting for another build: %w", context.Cause(ctx))
		}
	}
}

// read returns the binary with the key, or errMiss. It hashes the binary, so that a damaged one
// is built again and not deployed.
func (c cache) read(key string) (Binary, error) {
	file := c.buildFile(key)
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return Binary{}, errMiss
	}
	if err != nil {
		return Binary{}, fmt.Errorf("reading the cache: %w", err)
	}
	folder := c.binaryFolder(string(content))
	hash, size, err := digest(filepath.Join(folder, "bootstrap"))
	if err != nil || hash != string(content) {
		return Binary{}, errMiss
	}
	now := time.Now()
	for _, used := range []string{file, folder} {
		_ = os.Chtimes(used, now, now) // only delays the removal of an entry
	}
	return Binary{Directory: folder, Hash: hash, Size: size}, nil
}

// readAll returns the binary of each package, or the error of [cache.read]. It reads several at a time: where nothing has changed,
// the hashes take a third of the build.
func (c cache) readAll(mains []mainPackage) ([]Binary, []error) {
	binaries, failures := make([]Binary, len(mains)), make([]error, len(mains))
	var reading errgroup.Group
	reading.SetLimit(runtime.NumCPU())
	for i, m := range mains {
		reading.Go(func() error {
			binaries[i], failures[i] = c.read(m.key)
			return nil
		})
	}
	_ = reading.Wait() // failures has the errors
	return binaries, failures
}

// write moves a binary from the toolchain's output into the cache.
func (c cache) write(key, file string) (Binary, error) {
	binary, err := c.add(file)
	if err != nil {
		return Binary{}, err
	}
	// A rename is atomic: other processes see the whole file or none.
	if err := os.WriteFile(file, []byte(binary.Hash), 0o644); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	if err := os.Rename(file, c.buildFile(key)); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	return binary, nil
}

// add moves one binary to the folder of its hash.
func (c cache) add(file string) (Binary, error) {
	hash, size, err := digest(file)
	if err != nil {
		return Binary{}, fmt.Errorf("hashing the binary: %w", err)
	}
	folder := c.binaryFolder(hash)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	// The deployed archive contains the mode and the time.
	if err := os.Chmod(file, 0o755); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	if err := os.Rename(file, filepath.Join(folder, "bootstrap")); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	return Binary{Directory: folder, Hash: hash, Size: size}, nil
}

// removeUnused deletes entries that no build has used for unusedAfter. It ignores errors,
// because the next build tries again.
func (c cache) removeUnused() {
	limit := time.Now().Add(-unusedAfter)
	for _, pattern := range []string{"builds/*", "binaries/*", "build-*"} {
		entries, _ := filepath.Glob(filepath.Join(c.folder, pattern))
		for _, entry := range entries {
			if info, err := os.Stat(entry); err == nil && info.ModTime().Before(limit) {
				_ = os.RemoveAll(entry)
			}
		}
	}
}
