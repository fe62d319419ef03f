package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// docs/reference/events.md ends with the events of all platforms, as their schemas have them.
func TestEventReference(t *testing.T) {
	t.Parallel()
	const file, heading = "docs/reference/events.md", "## The events\n"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString(heading)
	for _, p := range platforms.All() {
		fmt.Fprintf(&want,
			"\n### %s\n\n| Event | Made of | When | Fields; *about a person* |\n| --- | --- | --- | --- |\n",
			p.Schema.Title)
		for _, e := range p.Whole.Events {
			var fields []string
			for _, f := range e.Fields() {
				if name := "`" + f.Name + "`"; f.Personal {
					fields = append(fields, "*"+name+"*")
				} else {
					fields = append(fields, name)
				}
			}
			fmt.Fprintf(&want, "| [`%s`](events/%s/%s.json) %d | %s | %s | %s |\n", e.Name, p.Name(), e.Name,
				e.Version, e.Table,
				e.Description, strings.Join(fields, ", "))
		}
	}
	before, _, _ := strings.Cut(string(content), heading)
	reference.Compare(t, "events.md", before+want.String())
}
