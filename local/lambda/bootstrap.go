package lambda

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ErrArchitecture says that a bootstrap binary was built for another processor or system.
var ErrArchitecture = errors.New("built for another machine")

// CheckBootstrap says whether the folder holds a bootstrap that this machine can run. A missing or
// unusable file is an error that says what to do; a binary for another machine is ErrArchitecture.
func CheckBootstrap(folder string) error {
	path := filepath.Join(folder, "bootstrap")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no file named bootstrap in %s: a custom runtime's code needs one (is the assembly complete? synthesise again)", folder)
	case err != nil:
		return fmt.Errorf("bootstrap: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not an executable", path)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable (mode %v): AWS would refuse to start it too", path, info.Mode().Perm())
	}
	var got string
	if file, err := elf.Open(path); err == nil {
		defer file.Close()
		got = "linux/" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[file.Machine]
	} else if file, err := macho.Open(path); err == nil {
		defer file.Close()
		got = "darwin/" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[file.Cpu]
	} else {
		// A script with an interpreter line: the system decides.
		return nil
	}
	want := runtime.GOOS + "/" + runtime.GOARCH
	if got == want {
		return nil
	}
	name := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	return fmt.Errorf("%s is %w: it runs on %s, this machine is %s; synthesise for this machine: make synth ARCH=%s", path, ErrArchitecture, got, want, name)
}
