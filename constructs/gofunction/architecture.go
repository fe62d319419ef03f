package gofunction

import "github.com/onesynth-cdk/onesynth/schema/finding"

// Architecture is the processor that a function runs on, as AWS Lambda spells
// it. The zero value is [ARM64].
type Architecture string

// The architectures of AWS Lambda ("Selecting and configuring an instruction set
// architecture for your Lambda function").
const (
	ARM64  Architecture = "arm64"
	X86_64 Architecture = "x86_64"
)

// Valid reports whether AWS Lambda has the architecture; the zero value is valid.
func (a Architecture) Valid() bool {
	switch a {
	case "", ARM64, X86_64:
		return true
	}
	return false
}

// Check adds a finding at path if AWS Lambda does not have the architecture.
func (a Architecture) Check(f *finding.List, path string) {
	if !a.Valid() {
		f.Add(path, string(a), `"arm64" or "x86_64"`, "use gofunction.ARM64 or gofunction.X86_64")
	}
}

// goarch returns Go's name of the architecture.
func (a Architecture) goarch() string {
	if a == X86_64 {
		return "amd64"
	}
	return "arm64"
}
