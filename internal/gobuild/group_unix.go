//go:build unix

package gobuild

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup makes the end of the command's context end all that the command has started.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error {
		err := syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	command.WaitDelay = time.Second
}
