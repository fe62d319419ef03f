//go:build unix

package local

import (
	"os/exec"
	"syscall"
	"time"
)

// groupEnd is how long a group of processes has to end by itself.
const groupEnd = time.Second

// leadGroup makes a command lead a group of processes of its own, which the end of its context ends.
func leadGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		pid := command.Process.Pid
		time.AfterFunc(groupEnd, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
		return syscall.Kill(-pid, syscall.SIGTERM)
	}
	command.WaitDelay = 2 * groupEnd
}

// endGroup ends what a command that has ended has left.
func endGroup(command *exec.Cmd) {
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
}
