//go:build unix && !linux

package lambda

import (
	"bytes"
	"os/exec"
	"strconv"
)

// endWithRunner does nothing: only Linux ends children of a killed runner by itself.
func endWithRunner(*exec.Cmd, bool) {}

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
