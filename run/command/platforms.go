package command

import "github.com/onesynth-cdk/onesynth/run/command/askahuman"

// platformCommands are the commands that one platform alone has: its name, which is their group in the list of
// commands, and a struct of them.
var platformCommands = []struct {
	platform string
	commands any
}{
	{"Ask-a-Human", &askahuman.Commands{}},
}
