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

// processors are Go's names of Lambda's architectures.
var processors = map[string]string{"x86_64": "amd64", "arm64": "arm64"}

// Processor returns Go's name of Lambda's architecture, x86_64 or arm64, or "" if Lambda has no such.
func Processor(architecture string) string { return processors[architecture] }

// CheckBootstrap says whether the folder holds a bootstrap that this machine can run, and that AWS could run
// on the declared architecture (x86_64 or arm64; "" takes any). A missing or unusable file is an error that
// says what to do; a binary for another machine is ErrArchitecture.
func CheckBootstrap(folder, architecture string) error {
	path := filepath.Join(folder, "bootstrap")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no file named bootstrap in %s: a custom runtime's code needs one (is the assembly "+
			"complete? synthesise again)", folder)
	case err != nil:
		return fmt.Errorf("bootstrap: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not an executable", path)
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable (mode %v): AWS would refuse to start it too", path, info.Mode().Perm())
	}
	system, processor, ok := platform(path)
	if !ok {
		// A script with an interpreter line: the system decides.
		return nil
	}
	if architecture != "" && system == "linux" && processor != processors[architecture] {
		return fmt.Errorf("%s is built for %s/%s, but the function declares %s: AWS could not start it", path, system,
			processor, architecture)
	}
	if system != runtime.GOOS || processor != runtime.GOARCH {
		return fmt.Errorf("%s is %w: it runs on %s/%s, this machine is %s/%s; build it for this machine, with that "+
			"architecture in the template, and synthesise again",
			path, ErrArchitecture, system, processor, runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

// platform is the system and processor, in Go's names, that an executable was built for.
func platform(path string) (system, processor string, ok bool) {
	if file, err := elf.Open(path); err == nil {
		defer file.Close()
		return "linux", map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[file.Machine], true
	}
	if file, err := macho.Open(path); err == nil {
		defer file.Close()
		return "darwin", map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[file.Cpu], true
	}
	return "", "", false
}
