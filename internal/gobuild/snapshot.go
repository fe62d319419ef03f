package gobuild

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Snapshots keep source files as they were at one moment, for builds that do not see later saves.
//
// The Go toolchain hashes a file first, and compiles it later. If the file is saved between, the toolchain keeps the
// program of the newer text under the hash of the former one, for all later builds. A build from a snapshot compiles
// what it has hashed. The toolchain reads the copies by "go build -overlay", and builds the same binaries.
// Make one with [NewSnapshots]. It is not for concurrent use.
type Snapshots struct {
	folder string
	// kept are the names of copies in the folder.
	kept map[string]bool
	// newest is the file of the last snapshot, and count numbers them.
	newest string
	count  int
}

// Snapshot is the content of source files at one moment. A nil Snapshot stands for the files as they are.
type Snapshot struct {
	folder string
	// overlay is the file for "go build -overlay".
	overlay string
	// files are the names of the files by those of their copies, which follow from name and content.
	files map[string]string
}

// NewSnapshots returns snapshots that keep their files in the folder, which has to exist.
func NewSnapshots(folder string) *Snapshots {
	return &Snapshots{folder: folder, kept: map[string]bool{}}
}

// Take returns a snapshot of the files, by absolute name, and removes the former one. Builds from it read other files
// from where they are. The error is why the folder cannot be written.
func (s *Snapshots) Take(files map[string][]byte) (*Snapshot, error) {
	var overlay struct{ Replace map[string]string }
	overlay.Replace = make(map[string]string, len(files))
	s.count++
	taken := &Snapshot{folder: s.folder, overlay: filepath.Join(s.folder, fmt.Sprint(s.count, ".json")),
		files: make(map[string]string, len(files))}
	for name, content := range files {
		hash := sha256.New()
		fmt.Fprintf(hash, "%q ", name)
		hash.Write(content)
		copied := fmt.Sprintf("%x%s", hash.Sum(nil), filepath.Ext(name))
		if !s.kept[copied] {
			if err := os.WriteFile(filepath.Join(s.folder, copied), content, 0o600); err != nil {
				return nil, fmt.Errorf("copying %s for the build: %w", name, err)
			}
		}
		s.kept[copied], taken.files[copied] = true, name
		overlay.Replace[name] = filepath.Join(s.folder, copied)
	}
	text, err := json.Marshal(overlay)
	if err == nil {
		err = os.WriteFile(taken.overlay, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("copying the source for the build: %w", err)
	}
	if s.newest != "" {
		_ = os.Remove(s.newest)
	}
	s.newest = taken.overlay
	for copied := range s.kept {
		if _, needed := taken.files[copied]; !needed {
			_ = os.Remove(filepath.Join(s.folder, copied))
			delete(s.kept, copied)
		}
	}
	return taken, nil
}

// snapshotOf makes the folder, and returns a snapshot of the files in it. The toolchain says what is wrong with a file
// that cannot be read.
func snapshotOf(files []string, folder string) (*Snapshot, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("copying the source for the build: %w", err)
	}
	contents := map[string][]byte{}
	for _, name := range files {
		if content, err := os.ReadFile(name); err == nil {
			contents[name] = content
		}
	}
	return NewSnapshots(folder).Take(contents)
}

// flags are those of "go build".
func (s *Snapshot) flags() []string {
	if s == nil {
		return nil
	}
	return []string{"-overlay=" + s.overlay}
}

// copied is the name of a copy in what the toolchain prints.
var copied = regexp.MustCompile(`[0-9a-f]{64}(\.\w+)?`)

// named returns what the toolchain printed in a folder, with the names of the files in place of those of the copies.
func (s *Snapshot) named(printed, folder string) string {
	if s == nil {
		return printed
	}
	inFolder := func(name string) string {
		if relative, err := filepath.Rel(folder, name); err == nil {
			return relative
		}
		return name
	}
	for _, prefix := range []string{s.folder, inFolder(s.folder)} {
		printed = strings.ReplaceAll(printed, prefix+string(filepath.Separator), "")
	}
	return copied.ReplaceAllStringFunc(printed, func(found string) string {
		if name, has := s.files[found]; has {
			return inFolder(name)
		}
		return found
	})
}
