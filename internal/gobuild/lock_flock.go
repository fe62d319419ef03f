//go:build darwin || freebsd || linux || netbsd || openbsd

package gobuild

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file unless it is locked. Closing the file unlocks it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
