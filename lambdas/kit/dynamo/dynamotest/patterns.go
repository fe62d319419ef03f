package dynamotest

import (
	"slices"
	"testing"

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
	measured := map[string][]Request{}
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
		made := slices.DeleteFunc(slices.Clone(all), func(r Request) bool { return !r.declared(p) })
		if len(made) == 0 {
			tb.Errorf("%s: got the requests %+v, want a %s on %s %s", p.Name, all, p.Action, p.Table, p.Index)
			continue
		}
		if own != nil {
			made = own(p.Name, made)
		}
		measured[p.Name] = made
	}
	table, _ := consumed(patterns, measured)
	tb.Logf("measured on DynamoDB Local:\n%s", table)
}
