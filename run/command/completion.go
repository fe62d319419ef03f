package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// scripts make a shell ask onesynth for the words that may follow, at each press of the Tab key.
var scripts = map[string]string{
	"bash": `_onesynth() { mapfile -t COMPREPLY < <(compgen -W "$(onesynth complete -- "${COMP_WORDS[@]:1:COMP_CWORD}")" -- "${COMP_WORDS[COMP_CWORD]}"); }
complete -o default -F _onesynth onesynth
`,
	"zsh": `#compdef onesynth
_onesynth() { local words_=("${(@f)$(onesynth complete -- "${words[@]:1:$((CURRENT-1))}")}"; compadd -- $words_ || _files; }
compdef _onesynth onesynth
`,
	"fish": `complete -c onesynth -a '(onesynth complete -- (commandline -opc)[2..] (commandline -ct))'
`,
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash, zsh, fish" help:"Shell: ${enum}."`
}

// Help returns the text of --help below the summary.
func (c *completionCommand) Help() string {
	return `Add to the shell's start file: source <(onesynth completion bash), source <(onesynth completion zsh), or onesynth completion fish | source.`
}

// Run prints the script.
func (c *completionCommand) Run(k *kong.Kong) error {
	_, err := io.WriteString(k.Stdout, scripts[c.Shell])
	return err
}

// completeCommand is what the scripts call.
type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the words that may stand where the last one is.
func (c *completeCommand) Run(k *kong.Kong) error {
	words := slices.DeleteFunc(c.Words, func(word string) bool { return word == "--" })
	for _, candidate := range candidates(k.Model.Node, words) {
		fmt.Fprintln(k.Stdout, candidate)
	}
	return nil
}

// candidates returns the commands, flags and values of flags that may stand where the last of the words is, which may
// be empty.
func candidates(node *kong.Node, words []string) (all []string) {
	last, before := "", ""
	if n := len(words); n > 0 {
		last, words = words[n-1], words[:n-1]
	}
	for _, word := range words {
		before = word
		if child := slices.IndexFunc(node.Children, func(child *kong.Node) bool {
			return child.Name == word
		}); child >= 0 {
			node = node.Children[child]
		}
	}
	flags := slices.Concat(node.AllFlags(true)...)
	for _, child := range node.Children {
		// A command that is chosen without its name gives its flags.
		if node.DefaultCmd == child {
			flags = append(flags, child.Flags...)
		}
	}
	for _, flag := range flags {
		if before == "--"+flag.Name && !flag.IsBool() {
			return flag.EnumSlice()
		}
	}
	if strings.HasPrefix(last, "-") {
		for _, flag := range flags {
			if !flag.Hidden {
				all = append(all, "--"+flag.Name)
			}
		}
		return all
	}
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, child.Name)
		}
	}
	for _, argument := range node.Positional {
		all = append(all, argument.EnumSlice()...)
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" })
}
