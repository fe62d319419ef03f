package wait

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is a command that a test has started. It is a [Watched].
type Process struct {
	*Output
	// Command is the command. Its ProcessState is there after the end.
	Command *exec.Cmd
}

// Start starts a command and keeps all that it prints.
func Start(command *exec.Cmd) (*Process, error) {
	p := &Process{Output: &Output{}, Command: command}
	command.Stdout, command.Stderr = p.Output, p.Output
	if err := command.Start(); err != nil {
		return nil, err
	}
	go func() { p.End(command.Wait()) }()
	return p, nil
}

// Building returns what [Building] returns of the command's process.
func (p *Process) Building() string { return Building(p.Command.Process.Pid) }

// tools are the programs that build functions and apps.
var tools = []string{"asm", "cgo", "compile", "go", "link", "node"}

// Building returns the tools that build something below a process, with the processor time that they have used. A build
// prints nothing while it works. It returns "" if there are none, and where ps cannot list processes.
func Building(pid int) string {
	listed, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,time=,comm=").Output()
	if err != nil {
		return ""
	}
	children := map[int][][]string{}
	for line := range strings.Lines(string(listed)) {
		if words := strings.Fields(line); len(words) > 3 {
			parent, _ := strconv.Atoi(words[1])
			children[parent] = append(children[parent], words)
		}
	}
	var found []string
	for below := []int{pid}; len(below) > 0; below = below[1:] {
		for _, words := range children[below[0]] {
			child, _ := strconv.Atoi(words[0])
			below = append(below, child)
			if name := filepath.Base(words[3]); slices.Contains(tools, name) {
				found = append(found, fmt.Sprint(name, " ", child, " ", words[2]))
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}
