package check

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/check.md explains every id that a finding can have, and has the types that the check knows. Its prose
// is in testdata/page.txt: headings, paragraphs, items, and in braces the names of what comes from the code. An item
// that begins with an id gets the severities of its findings, and the properties that they look at.
func TestReference(t *testing.T) {
	t.Run("Types", testTypes)
	var keys []string
	for _, kind := range UniqueTypes() {
		var names []string
		for _, p := range uniques[kind].key {
			names = append(names, "`"+strings.Join(p.ways[0], ".")+"`")
		}
		keys = append(keys, fmt.Sprintf("`%s`: %s. %s", kind, strings.Join(names, ", "), uniques[kind].why))
	}
	lists := map[string][]string{"{stores}": losses(Refusal), "{others}": losses(Warning), "{keys}": keys}
	counts, unchanging := map[string]int{}, []string{}
	for name, fields := range sorted(typeLines()) {
		for property := range strings.FieldsSeq(fields[typeReplaces]) {
			counts[property[:1]]++
			if path, _, _ := strings.Cut(property[1:], "="); property[:1] == fixed {
				unchanging = append(unchanging, "`"+path+"` of `"+name+"`")
			}
		}
	}
	prose := strings.NewReplacer("\n  ", " ", "\n", " ", "{types}", fmt.Sprint(len(typeLines())), "{replaces}",
		fmt.Sprint(counts[replaces]), "{may replace}", fmt.Sprint(counts[mayReplace]), "{unchanging}",
		strings.Join(unchanging, ", "))

	page, found := &reference.Page{}, severities(t)
	text := must.Get(os.ReadFile("testdata/page.txt"))(t)
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		mark, rest, _ := strings.Cut(block, " ")
		items := lists[block]
		switch {
		case strings.HasPrefix(mark, "#"):
			page.Heading(len(mark), rest)
		case mark == "-":
			items = strings.Split(rest, "\n- ")
		case items == nil:
			page.Text(prose.Replace(block), "", "")
		}
		for i, item := range items {
			item = prose.Replace(item)
			if id, text, ok := strings.Cut(strings.TrimPrefix(item, "`"), "`: "); ok && mark == "-" {
				if found[id] == nil {
					t.Errorf("the page explains %s, which begins no id", id)
				}
				item = fmt.Sprintf("`%s` (%s): %s%s", id, strings.Join(found[id], " or "), text, properties(id))
				delete(found, id)
			}
			page.Item(i == 0, item, "", "")
		}
	}
	for id := range found {
		t.Errorf("testdata/page.txt does not explain the finding %s", id)
	}
	page.Check(t, "check")
}

// losses returns what the check refuses to lose, or warns of: types with the same loss share an item.
func losses(of Severity) (items []string) {
	types, order := map[string][]string{}, []string{}
	for name := range sorted(typeLines()) {
		if k, known := kindOf(name); known && k.severity == of {
			if types[k.loss] == nil {
				order = append(order, k.loss)
			}
			types[k.loss] = append(types[k.loss], "`"+name+"`")
		}
	}
	for _, loss := range order {
		also := ""
		if k, _ := kindOf(strings.Trim(types[loss][0], "`")); k.stateless {
			also = ". No warning if a new one has the same properties, or another name"
		} else if k.replaced != "" {
			also = "; that it is renamed or replaced is refused"
		}
		items = append(items, fmt.Sprintf("%s: %s%s.", strings.Join(types[loss], ", "), loss, also))
	}
	return items
}

// finding matches the severity of a finding and what begins its id, or the id of a warning by [comparison.warn].
var finding = regexp.MustCompile(`(?:(Refusal|Warning|kind\.severity)\)?,\s+"([a-z-]+)"|"((?:opens|stops)-[a-z-]*|nested|exports)")`)

// severities returns the severities of findings by what begins their ids, from the rules and from the source.
func severities(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	add := func(id, severity string) {
		if !slices.Contains(all[id], severity) {
			all[id] = append(all[id], severity)
		}
	}
	for _, r := range propertyRules() {
		add(r.ID, string(cmp.Or(r.Severity, Warning)))
	}
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, name := range files {
		content := must.Get(os.ReadFile(name))(t)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range finding.FindAllStringSubmatch(string(content), -1) {
			switch id := found[2] + found[3]; {
			case strings.HasSuffix(found[3], "-"):
				for _, p := range policyKinds {
					add(found[3]+p.id, string(Warning))
				}
			case found[1] == "kind.severity":
				add(id, string(Refusal))
				add(id, string(Warning))
			default:
				add(strings.TrimSuffix(id, "-"), strings.ToLower(cmp.Or(found[1], string(Warning))))
			}
		}
	}
	for _, severities := range all {
		slices.Sort(severities)
	}
	return all
}

// properties names the properties in which the rules look for a change, by the types of resources.
func properties(id string) string {
	paths := map[string][]string{}
	for _, r := range propertyRules() {
		if r.ID == id {
			kind := r.Kind
			if strings.HasPrefix(kind, "AWS::") {
				kind = "`" + kind + "`"
			}
			for path := range strings.SplitSeq(r.Path, "|") {
				paths[kind] = append(paths[kind], "`"+path+"`")
			}
		}
	}
	var all []string
	for kind, of := range sorted(paths) {
		all = append(all, fmt.Sprintf("%s of %s", strings.Join(slices.Compact(of), ", "), kind))
	}
	if len(all) == 0 {
		return ""
	}
	return " It looks at " + strings.Join(all, "; ") + "."
}
