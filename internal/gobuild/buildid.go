package gobuild

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/base64"
	"strings"
)

// noteHeader is the size of what precedes the id in a note of an ELF file: three words, and the owner in four bytes.
const noteHeader = 16

// clearBuildID replaces the build ids in an ELF file by zeros, and returns that of the toolchain. It returns an error
// if the file is damaged.
//
// The toolchain keeps in the id what it has linked the binary from, and needs no other note of it ("go help buildid",
// cmd/go/internal/work/buildid.go). That depends on the origin of the modules: a vendored module has no checksum. All
// other bytes do not, so without the ids the binaries are equal. Files of other systems stay as they are: they run
// where they are built.
func clearBuildID(binary []byte) (id string, err error) {
	if !bytes.HasPrefix(binary, []byte(elf.ELFMAG)) {
		return "", nil
	}
	file, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return "", err
	}
	// The linker derives the second one from the first one.
	for _, name := range []string{".note.go.buildid", ".note.gnu.build-id"} {
		section := file.Section(name)
		if section == nil || section.Size < noteHeader || section.Offset+section.Size > uint64(len(binary)) {
			continue
		}
		note := binary[section.Offset+noteHeader : section.Offset+section.Size]
		if id == "" {
			id = strings.TrimRight(string(note), "\x00")
		}
		clear(note)
	}
	return id, nil
}

// verifies says whether a binary with the hash, which has no ids, is the one that the toolchain gave the id. The last
// part of an id is the start of that hash. True if there is nothing to compare, as with -ldflags=-buildid=.
func verifies(id string, hash [sha256.Size]byte) bool {
	parts := strings.Split(id, "/")
	return len(parts) != 4 || parts[3] == base64.RawURLEncoding.EncodeToString(hash[:15])
}
