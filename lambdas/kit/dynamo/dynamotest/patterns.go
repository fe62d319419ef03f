package dynamotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Cases has a function for each access pattern, by name. The function prepares the pattern's request, and returns a
// function that makes it. Measure ignores the requests of the preparation.
type Cases map[string]func() (request func() error)

// Measure makes the request of each access pattern, in their order, compares it with its declaration, and logs what it
// consumed. It fails the test if a pattern has no case, or if a case does not make the pattern's request.
//
// own selects a pattern's requests among those with its operation, table and index, where other patterns have the same.
// Nil: all are the pattern's.
func (t *Tables) Measure(tb testing.TB, patterns []schema.AccessPattern, cases Cases,
	own func(pattern string, made []Request) []Request) {
	tb.Helper()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "access pattern\toperation\ton\trequests\tconsumed units\tin the origin")
	for _, p := range patterns {
		prepare, ok := cases[p.Name]
		if !ok {
			tb.Errorf("%s: no case makes this request", p.Name)
			continue
		}
		request := prepare()
		t.Recorder.Requests()
		if err := request(); err != nil {
			tb.Errorf("%s: %v", p.Name, err)
			continue
		}
		all := t.Recorder.Requests()
		made := slices.DeleteFunc(slices.Clone(all), func(r Request) bool {
			return r.Action != p.Action || r.Table != p.Table || r.Index != p.Index
		})
		if len(made) == 0 {
			tb.Errorf("%s: got the requests %+v, want a %s on %s %s", p.Name, all, p.Action, p.Table, p.Index)
			continue
		}
		if own != nil {
			made = own(p.Name, made)
		}
		units := 0.0
		for _, r := range made {
			units += r.Units
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f\t%s\n", p.Name, p.Action, strings.TrimSuffix(p.Table+"/"+p.Index, "/"),
			len(made), units, inOrigin(p))
	}
	if err := w.Flush(); err != nil {
		tb.Error(err)
	}
	tb.Logf("measured on DynamoDB Local; reads of lists include all their pages:\n%s", text.String())
}

// inOrigin is the origin's wording of a pattern.
func inOrigin(p schema.AccessPattern) string {
	switch {
	case p.Origin == "":
		return "-"
	case p.OriginCost == "":
		return p.Origin
	default:
		return p.Origin + " (" + p.OriginCost + ")"
	}
}
