package gobuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// cacheVariable is the environment variable with the folder of the cache.
const cacheVariable = "ONESYNTH_CACHE"

// unusedAfter is the age at which an unused entry is deleted.
const unusedAfter = 30 * 24 * time.Hour

// errMiss is the error of an entry that the cache does not have.
var errMiss = errors.New("not in the cache")

// cache is a folder with binaries by content, binaries/<SHA-256>/bootstrap, and the binaries of
// each build, builds/<key>.json.
type cache struct {
	folder string
}

// cached is the content of a builds/<key>.json: the SHA-256 of each binary, by name.
type cached map[string]string

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
	return filepath.Join(c.folder, "builds", key+".json")
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

// read returns the binaries of the build with the key, or errMiss. It hashes each binary, so
// that a damaged one is built again and not deployed.
func (c cache) read(key string) (map[string]Binary, error) {
	file := c.buildFile(key)
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errMiss
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cache: %w", err)
	}
	var entry cached
	if json.Unmarshal(content, &entry) != nil || len(entry) == 0 {
		return nil, errMiss
	}
	binaries := map[string]Binary{}
	for name, hash := range entry {
		found, size, err := digest(filepath.Join(c.binaryFolder(hash), "bootstrap"))
		if err != nil || found != hash {
			return nil, errMiss
		}
		binaries[name] = Binary{Directory: c.binaryFolder(hash), Hash: hash, Size: size}
	}
	now := time.Now()
	touch := func(name string) { _ = os.Chtimes(name, now, now) } // only delays the removal of an entry
	touch(file)
	for _, b := range binaries {
		touch(b.Directory)
	}
	return binaries, nil
}

// write moves the toolchain's output into the cache.
func (c cache) write(key, output string) (map[string]Binary, error) {
	c.removeUnused()
	files, err := os.ReadDir(output)
	if err != nil {
		return nil, fmt.Errorf("reading the build's output: %w", err)
	}
	entry, binaries := cached{}, map[string]Binary{}
	for _, f := range files {
		binary, err := c.add(filepath.Join(output, f.Name()))
		if err != nil {
			return nil, err
		}
		entry[f.Name()], binaries[f.Name()] = binary.Hash, binary
	}
	content, err := json.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("encoding the cache entry: %w", err)
	}
	// A rename is atomic: other processes see the whole file or none.
	part := filepath.Join(output, "entry.json")
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return nil, fmt.Errorf("writing the cache: %w", err)
	}
	if err := os.Rename(part, c.buildFile(key)); err != nil {
		return nil, fmt.Errorf("writing the cache: %w", err)
	}
	return binaries, nil
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
	for _, pattern := range []string{"builds/*.json", "binaries/*", "build-*"} {
		entries, _ := filepath.Glob(filepath.Join(c.folder, pattern))
		for _, entry := range entries {
			if info, err := os.Stat(entry); err == nil && info.ModTime().Before(limit) {
				_ = os.RemoveAll(entry)
			}
		}
	}
}
