//go:build unix

// Package processgroup makes commands lead groups of processes: Ctrl-C in a terminal does not reach them, and what they
// have started ends with them.
package processgroup

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// Lead makes a command lead a group of its own. Call it before the command starts.
func Lead(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Kill kills a command and everything that it started, by its process id. A group that has already gone is no error.
func Kill(pid int) error { return signal(pid, syscall.SIGKILL) }

// Terminate asks a command and everything that it started to end, by its process id. A group that has already gone is
// no error.
func Terminate(pid int) error { return signal(pid, syscall.SIGTERM) }

func signal(pid int, what syscall.Signal) error {
	if err := syscall.Kill(-pid, what); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%v to process group %d: %w", what, pid, err)
	}
	return nil
}
