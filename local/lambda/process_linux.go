package lambda

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup makes a child lead its own process group, so that a terminal's Ctrl-C reaches only the
// runner and a kill reaches the child's children, and has the kernel kill it should the runner die. A debugger is asked to end,
// because it has to end the program.
func ownGroup(command *exec.Cmd, debugger bool) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if debugger {
		command.SysProcAttr.Pdeathsig = syscall.SIGTERM
	}
}

// residentBytes is the process's resident set, or 0 when it has gone.
func residentBytes(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
