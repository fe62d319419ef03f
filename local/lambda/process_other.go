//go:build unix && !linux

package lambda

import (
	"bytes"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup makes a child lead its own process group, so that a terminal's Ctrl-C reaches only the
// runner and a kill reaches the child's children. Only Linux ends children of a killed runner by itself.
func ownGroup(command *exec.Cmd, _ bool) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// residentBytes is the process's resident set, or 0 when it has gone.
func residentBytes(pid int) int64 {
	output, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(bytes.TrimSpace(output)), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
