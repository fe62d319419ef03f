package lambda

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// endWithRunner has the kernel kill a child should the runner die. A debugger is asked to end, because it has to end
// the program.
func endWithRunner(command *exec.Cmd, debugger bool) {
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
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
