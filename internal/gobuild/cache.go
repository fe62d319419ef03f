package gobuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// cache is a folder with binaries by content, binaries/<SHA-256>/bootstrap, and those that the
// toolchain has linked for one module, target and set of flags, linked/<key>/bin/<name>. Further ones of the same name
// are in linked/<key>/bin2, and so on.
type cache struct {
	folder string
}

func openCache(folder string) (cache, error) {
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return cache{}, fmt.Errorf("finding the user's cache folder: %w: set %s to a folder for built handlers",
				err, cacheVariable)
		}
		folder = filepath.Join(user, "onesynth")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return cache{}, fmt.Errorf("resolving the cache folder: %w", err)
	}
	for _, sub := range []string{"binaries", "linked"} {
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o755); err != nil {
			return cache{}, fmt.Errorf("making the cache folder: %w: set %s to a folder that can be written", err,
				cacheVariable)
		}
	}
	return cache{folder: folder}, nil
}

// temporary makes a folder for one build, on the cache's own file system so that binaries can be moved.
func (c cache) temporary() (string, error) {
	folder, err := os.MkdirTemp(c.folder, "build-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the build: %w", err)
	}
	return folder, nil
}

// linked makes the folder in which the toolchain keeps what it links for a description. It waits until no other
// build, of this process or of another one, uses the folder, or ctx ends. The end of a process unlocks, too.
func (c cache) linked(ctx context.Context, description string) (folder string, unlock func(), err error) {
	entry := filepath.Join(c.folder, "linked", hexadecimal(sha256.Sum256([]byte(description))))
	folder = filepath.Join(entry, "bin")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", nil, fmt.Errorf("writing the cache: %w", err)
	}
	used(entry)
	unlock, err = lock(ctx, filepath.Join(entry, "lock"))
	return folder, unlock, err
}

func hexadecimal(hash [sha256.Size]byte) string { return hex.EncodeToString(hash[:]) }

// used notes that an entry is in use. It ignores errors, which only bring the removal of the entry forward.
func used(entry string) {
	now := time.Now()
	_ = os.Chtimes(entry, now, now)
}

// lock locks a file, and waits for that until ctx ends.
func lock(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
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

// keepAll keeps the binary of each package that the toolchain has linked into the folder, and returns them in the order
// of the packages. It deletes the damaged ones in the folder, and returns their packages. It reads several at a time:
// where nothing has changed, the hashes take a third of the build.
func (c cache) keepAll(folder, temporary string, mains []mainPackage) (binaries []Binary, damaged []mainPackage,
	err error) {
	binaries = make([]Binary, len(mains))
	intact := make([]bool, len(mains))
	var reading errgroup.Group
	reading.SetLimit(runtime.NumCPU())
	for i, m := range mains {
		reading.Go(func() error {
			file := m.file(folder)
			content, err := os.ReadFile(file)
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s: the toolchain gives the binary another name than %s: rename the folder",
					m.importPath, m.name())
			}
			if err != nil {
				return fmt.Errorf("reading the binary: %w", err)
			}
			id, damaged := clearBuildID(content)
			hash := sha256.Sum256(content)
			if intact[i] = damaged == nil && verifies(id, hash); !intact[i] {
				if err := os.Remove(file); err != nil {
					return fmt.Errorf("removing a damaged binary: %w", err)
				}
			}
			kept, err := c.keep(content, hexadecimal(hash), temporary)
			binaries[i] = m.describe(kept)
			return err
		})
	}
	err = reading.Wait()
	for i, m := range mains {
		if !intact[i] {
			damaged = append(damaged, m)
		}
	}
	return binaries, damaged, err
}

// keep writes a binary into the folder of its hash, unless it is there.
func (c cache) keep(content []byte, hash, temporary string) (Binary, error) {
	folder := filepath.Join(c.folder, "binaries", hash)
	binary := Binary{Directory: folder, Hash: hash, Size: int64(len(content))}
	file := filepath.Join(folder, "bootstrap")
	if kept, err := os.ReadFile(file); err == nil && bytes.Equal(kept, content) {
		used(folder)
		return binary, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	written := filepath.Join(temporary, hash)
	if err := os.WriteFile(written, content, 0o755); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	// The deployed archive contains the mode.
	if err := os.Chmod(written, 0o755); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	// A rename is atomic: other processes see the whole file or none.
	if err := os.Rename(written, file); err != nil {
		return Binary{}, fmt.Errorf("writing the cache: %w", err)
	}
	return binary, nil
}

// removeUnused deletes entries that no build has used for unusedAfter. It ignores errors,
// because the next build tries again.
func (c cache) removeUnused() {
	limit := time.Now().Add(-unusedAfter)
	for _, pattern := range []string{"linked/*", "binaries/*", "build-*"} {
		entries, _ := filepath.Glob(filepath.Join(c.folder, pattern))
		for _, entry := range entries {
			if info, err := os.Stat(entry); err == nil && info.ModTime().Before(limit) {
				_ = os.RemoveAll(entry)
			}
		}
	}
}
