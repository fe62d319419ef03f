//go:build !unix

package processgroup

import "os/exec"

// Lead does nothing: only Unix has groups of processes.
func Lead(*exec.Cmd) {}
