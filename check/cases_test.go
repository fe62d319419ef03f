package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// scenario is a case of an archive: what it changes in the base, and the findings that it states.
type scenario struct {
	name            string
	changes, states []string
}

// TestCases compares the findings of each case of testdata/*.txtar with those that the case states. With -update it
// writes the findings into the archives: a new case is its name and what it changes.
//
// An archive has a base, which is a template or the name of a file with one, and cases:
//
//	NAME: PATH DEPLOYED => PROPOSED
//	  PATH VALUE
//	  refusal ID: what changes
//	    why: if the case has such a line
//	    - a step in each line, if the case has such lines
//
// A path is a logical id and a property, such as Table/TableName, or begins with a slash, such as /Metadata. Each value
// is JSON, or a type of a resource and its properties, or none; base, or no value before =>, is that of the base. A
// value alone is that of both templates. A finding that the reverse has, too, is one of both ways. Where a case of an
// archive states a note, all state theirs.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%d files, want base and cases: %v", len(archive.Files), err)
			}
			base := bytes.TrimSpace(archive.Files[0].Data)
			if !bytes.HasPrefix(base, []byte("{")) {
				base = must.Get(os.ReadFile(filepath.Join("testdata", string(base))))(t)
			}
			var written strings.Builder
			all := templates{}
			noted := bytes.Contains(archive.Files[1].Data, []byte("\n  note "))
			for _, c := range scenarios(string(archive.Files[1].Data)) {
				t.Run(c.name, func(t *testing.T) {
					found := c.run(t, base, all, noted)
					fmt.Fprintf(&written, "%s: %s\n", c.name, strings.Join(append(c.changes, found...), "\n  "))
					if diff := cmp.Diff(c.states, found); diff != "" && !goldentest.Update() {
						t.Errorf("findings (-stated +found):\n%s", diff)
					}
				})
			}
			if goldentest.Update() {
				archive.Files[1].Data = []byte(written.String())
				must.OK(t, os.WriteFile(path, txtar.Format(archive), 0o600))
			}
		})
	}
}

// scenarios returns the cases of a text. A line without an indent begins one.
func scenarios(text string) (all []scenario) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name, change, _ := strings.Cut(line, ": ")
		word, _, _ := strings.Cut(strings.TrimPrefix(line, "  "), " ")
		switch last := len(all) - 1; {
		case line == "":
		case !strings.HasPrefix(line, "  "):
			all = append(all, scenario{name: name, changes: []string{change}})
		case word == "" || slices.Contains([]string{"refusal", "warning", "note"}, word):
			all[last].states = append(all[last].states, line[2:])
		default:
			all[last].changes = append(all[last].changes, line[2:])
		}
	}
	return all
}

// run returns the findings of a case, with why and the steps if the case states any, and with the notes if they are
// noted.
func (c scenario) run(t *testing.T, base []byte, all templates, noted bool) (found []string) {
	t.Helper()
	var deployed, proposed any
	for _, side := range []*any{&deployed, &proposed} {
		must.OK(t, json.Unmarshal(base, side))
	}
	for _, change := range c.changes {
		before, after, path := parseChange(t, change)
		deployed, proposed = put(deployed, path, before), put(proposed, path, after)
	}
	from, to := all.of(t, deployed), all.of(t, proposed)
	states := func(begins string) bool {
		return slices.ContainsFunc(c.states, func(line string) bool { return strings.HasPrefix(line, begins) })
	}
	findings, notes := check.CompareWithNotes(from, to, here)
	back := sync.OnceValue(func() []check.Change { return check.Compare(to, from, here) })
	for _, f := range findings {
		if f.Got == "" || f.Why == "" || f.By == "" || len(f.Steps) == 0 {
			t.Errorf("incomplete: %+v", f)
		}
		ways := ""
		isSame := func(b check.Change) bool { return b.ID == f.ID }
		if f.Severity == check.Warning && slices.ContainsFunc(back(), isSame) {
			ways = " both ways"
		}
		found = append(found, fmt.Sprintf("%s %s%s: %s", f.Severity, f.ID, ways, f.Got))
		if states("  why: ") {
			found = append(found, "  why: "+f.Why)
		}
		if states("  - ") {
			for _, step := range f.Steps {
				found = append(found, "  - "+step)
			}
		}
	}
	if noted {
		for _, n := range notes {
			found = append(found, fmt.Sprintf("note %s %s: %s => %s", n.Type, n.Property, n.Before, n.After))
		}
	}
	return found
}

// templates are the templates of an archive, by their JSON. Most cases share the base.
type templates map[string]*check.Template

// of parses a template, once for each JSON. The comparison of a template with itself must have no findings.
func (all templates) of(t *testing.T, object any) *check.Template {
	t.Helper()
	text := string(must.Get(json.Marshal(object))(t))
	if all[text] == nil {
		all[text] = parse(t, text)
		if got := check.Compare(all[text], all[text], here); len(got) != 0 {
			t.Errorf("a template and itself: got %+v", got)
		}
	}
	return all[text]
}

// nothing takes a value away, and unchanged leaves it as the base has it.
type nothing struct{}
type unchanged struct{}

// parseChange parses "PATH VALUE" and "PATH [VALUE] => VALUE".
func parseChange(t *testing.T, text string) (before, after any, path []string) {
	t.Helper()
	place, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	value := func() (value any) {
		word, more, _ := strings.Cut(rest, " ")
		switch {
		case word == "=>":
			return unchanged{}
		case word == "none", word == "base":
			if rest = strings.TrimSpace(more); word == "base" {
				return unchanged{}
			}
			return nothing{}
		case strings.HasPrefix(word, "AWS::"):
			value = map[string]any{"Type": word}
			if rest = strings.TrimSpace(more); !strings.HasPrefix(rest, "{") {
				return value
			}
		}
		decoder := json.NewDecoder(strings.NewReader(rest))
		var read any
		if err := decoder.Decode(&read); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		rest = strings.TrimSpace(rest[decoder.InputOffset():])
		if resource, ok := value.(map[string]any); ok {
			resource["Properties"] = read
			return resource
		}
		return read
	}
	both := rest
	before = value()
	if proposed, found := strings.CutPrefix(rest, "=>"); found {
		both = strings.TrimSpace(proposed)
	}
	rest = both
	after = value()
	if rest != "" {
		t.Fatalf("%q is too much in %s", rest, text)
	}
	if strings.HasPrefix(place, "/") {
		path = strings.Split(place[1:], "/")
	} else {
		path = strings.Split("Resources/"+place, "/")
		if len(path) > 2 {
			path = slices.Insert(path, 2, "Properties")
		}
	}
	for i := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
	}
	return before, after, path
}

// put returns the node with the value at the path below it; missing objects are made.
func put(node any, path []string, value any) any {
	if _, ok := value.(unchanged); ok {
		return node
	}
	if len(path) == 0 {
		return value
	}
	if elements, ok := node.([]any); ok {
		var i int
		if _, err := fmt.Sscan(path[0], &i); err != nil || i > len(elements) {
			return node
		}
		if i == len(elements) {
			elements = append(elements, nil)
		}
		if elements[i] = put(elements[i], path[1:], value); elements[i] == (nothing{}) {
			elements = slices.Delete(elements, i, i+1)
		}
		return elements
	}
	object, ok := node.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	if object[path[0]] = put(object[path[0]], path[1:], value); object[path[0]] == (nothing{}) {
		delete(object, path[0])
	}
	return object
}
