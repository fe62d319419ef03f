// Package lambdatest builds Go functions for tests, the way a function's asset is built for AWS.
package lambdatest

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Build compiles the main package at a path (as go build takes it) into dir/bootstrap for this machine.
// It fails the test with the compiler's output when that does not succeed.
func Build(t testing.TB, packagePath, dir string) {
	t.Helper()
	// Go runs a test again when a file of the module that it has read changes. It does not see what the compiler reads.
	sources, _ := filepath.Glob(filepath.Join(packagePath, "*.go"))
	for _, source := range sources {
		must.Get(os.ReadFile(source))(t)
	}
	command := exec.Command("go", "build", "-tags", "lambda.norpc,timetzdata", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w", "-o", filepath.Join(dir, "bootstrap"), packagePath)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", packagePath, err, output)
	}
}

// Executable returns the header of an executable for a system and a processor, as Go names them.
func Executable(t testing.TB, system, processor string) []byte {
	t.Helper()
	var header any
	if system == "darwin" {
		cpu := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[processor]
		header = struct {
			macho.FileHeader
			Reserved uint32
		}{FileHeader: macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: macho.TypeExec}}
	} else {
		machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[processor]
		header = elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB),
				byte(elf.EV_CURRENT)},
			Type:    uint16(elf.ET_EXEC),
			Machine: uint16(machine),
			Version: uint32(elf.EV_CURRENT),
			Ehsize:  64,
		}
	}
	var content bytes.Buffer
	must.OK(t, binary.Write(&content, binary.LittleEndian, header))
	return content.Bytes()
}
