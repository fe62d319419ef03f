//go:build unix

package lambda

import (
	"errors"
	"fmt"
	"syscall"
)

// killGroup kills a child and everything it started. A group that has already gone is no error.
func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("kill process group %d: %w", pid, err)
	}
	return nil
}
