package platform

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Walk checks that the commands of a document, such as "docs/platforms/todo.md", print what it shows, one after the
// other, on a platform that runs, but for ids and times. varies matches what may also be printed, depending on the
// hour.
func Walk(t *testing.T, document string, target *onesynthtest.Target, varies *regexp.Regexp) {
	t.Helper()
	var commands []Command
	var also []string
	for _, b := range Blocks(t, document) {
		commands = append(commands, b.Commands()...)
		if b.Language == "console" && strings.Contains(b.Text, "onesynth lake") {
			also = []string{commandtest.Lake}
		}
	}
	if len(commands) == 0 {
		t.Fatalf("%s shows no commands", document)
	}
	onesynth := commandtest.Path(t, also...)
	host := func(address string) string { return must.Get(url.Parse(address))(t).Host }
	ids := map[string]string{} // from the ids of the document to the ids of this run
	var before []string        // assignments and functions
	for _, c := range commands {
		// The shown addresses of the console, and of the API at the port of its stack, are at
		// free ports here.
		line := strings.ReplaceAll(c.Line, "localhost:8079", host(target.Run.ConsoleURL()))
		line = addressOfAPI.ReplaceAllLiteralString(line, host(target.URL))
		line = ownCommand.ReplaceAllLiteralString(line, onesynth+" ")
		for of, is := range ids {
			line = strings.ReplaceAll(line, of, is)
		}
		if definition.MatchString(line) {
			before = append(before, line)
			continue
		}
		if strings.Contains(c.Line, "onesynth lake") {
			target.Flush(t)
		}
		shell := exec.CommandContext(t.Context(), "bash", "-c", strings.Join(append(slices.Clone(before), line), "\n"))
		var complaints bytes.Buffer
		shell.Env = append(os.Environ(), "ONESYNTH_CONSOLE="+target.Run.ConsoleURL())
		shell.Stderr = &complaints
		printed, err := shell.Output()
		if err != nil {
			t.Fatalf("$ %s\n%v\n%s%s", line, err, printed, complaints.Bytes())
		}
		if c.Output == "" {
			continue
		}
		got := strings.TrimSpace(strings.ReplaceAll(string(printed), "\r", ""))
		if varies != nil {
			got = varies.ReplaceAllString(got, "")
		}
		if err := agree(c.Output, got, ids); err != nil {
			t.Fatalf("$ %s\n%s\n%s shows\n%s\n%v", line, got, document, c.Output, err)
		}
	}
	t.Logf("%d commands print what %s shows", len(commands), document)
}

var (
	addressOfAPI = regexp.MustCompile(`localhost:808\d`)
	ownCommand   = regexp.MustCompile(`(\.\./)*bin/onesynth `)
	definition   = regexp.MustCompile(`^\w+(=|\(\))`)
	anyID        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b`)
	anyTime      = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z`)
)

// agree compares the documented output with the printed one, and learns which ids correspond.
func agree(documented, printed string, ids map[string]string) error {
	were, are := anyID.FindAllString(documented, -1), anyID.FindAllString(printed, -1)
	if len(were) == len(are) {
		for i, id := range were {
			if known, ok := ids[id]; ok && known != are[i] {
				return fmt.Errorf("%s stands for %s and for %s", id, known, are[i])
			}
			ids[id] = are[i]
		}
	}
	plain := func(text string) string {
		return anyTime.ReplaceAllString(anyID.ReplaceAllString(text, "ID"), "TIME")
	}
	if plain(documented) != plain(printed) {
		return fmt.Errorf("that differs")
	}
	if len(ids) != len(slices.Compact(slices.Sorted(maps.Values(ids)))) {
		return fmt.Errorf("two ids that are shown stand for the same: %v", ids)
	}
	return nil
}

// Block is a block of code of a document.
type Block struct{ Language, Text string }

// Command is a command of a block, with the output that the block shows, or "".
type Command struct{ Line, Output string }

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// Blocks returns the blocks of code of a document, such as "README.md".
func Blocks(t testing.TB, document string) (all []Block) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(Root(t), document)))(t)
	for _, found := range fence.FindAllStringSubmatch(string(content), -1) {
		all = append(all, Block{found[1], found[2]})
	}
	return all
}

// Commands returns the commands of a block of a console, and none of another block. One goes on after a backslash.
func (b Block) Commands() (commands []Command) {
	if b.Language != "console" {
		return nil
	}
	for _, part := range strings.Split("\n"+b.Text, "\n$ ")[1:] {
		lines := strings.Split(strings.TrimSpace(part), "\n")
		last := slices.IndexFunc(lines, func(line string) bool { return !strings.HasSuffix(line, `\`) })
		commands = append(commands, Command{strings.Join(lines[:last+1], "\n"),
			strings.TrimSpace(strings.Join(lines[last+1:], "\n"))})
	}
	return commands
}
