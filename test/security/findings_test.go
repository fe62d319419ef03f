package security

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// acknowledgement says why a resource need not keep a rule.
type acknowledgement struct {
	// Rule and Resource are those of the [finding].
	Rule, Resource string
	// In are the stacks where it does not. Empty: all that have the resource.
	In []string
	// Reason is why.
	Reason string
}

// covers says whether a finding of a stack is acknowledged.
func (a acknowledgement) covers(stack string, f finding) bool {
	return a.Rule == f.Rule && a.Resource == f.Resource && (len(a.In) == 0 || slices.Contains(a.In, stack))
}

func TestFindings(t *testing.T) {
	t.Parallel()
	needed := make([]map[string]bool, len(acknowledged))
	for _, name := range slices.Sorted(maps.Keys(stacks)) {
		s := stacks[name]
		findings := broken(s)
		for _, pack := range packs {
			r := reports[name][pack]
			if r.Kept == 0 {
				t.Errorf("%s: cdk-nag's pack %s looked at nothing", name, pack)
			}
			for _, u := range r.Undecided {
				t.Errorf("%s: %s cannot judge %s: %s", name, u.Rule, s.paths[u.Resource], u.Cause)
			}
			for _, f := range r.Findings {
				findings = append(findings, finding{Rule: synthtest.Stable(f.Rule), Resource: s.paths[f.Resource]})
			}
		}
		for _, f := range findings {
			i := slices.IndexFunc(acknowledged, func(a acknowledgement) bool { return a.covers(name, f) })
			if i < 0 {
				t.Errorf("%s: %s does not keep %s: mend it, or acknowledge it with the reason", name, f.Resource, f.Rule)
				continue
			}
			if needed[i] == nil {
				needed[i] = map[string]bool{}
			}
			needed[i][name] = true
		}
	}
	for i, a := range acknowledged {
		if len(needed[i]) == 0 {
			t.Errorf("no stack needs the acknowledgement of %s at %s: remove it", a.Rule, a.Resource)
		}
		for _, name := range a.In {
			if !needed[i][name] {
				t.Errorf("%s does not need the acknowledgement of %s at %s: remove it there", name, a.Rule, a.Resource)
			}
		}
		if !strings.HasSuffix(a.Reason, ".") {
			t.Errorf("the acknowledgement of %s at %s needs a reason in whole sentences", a.Rule, a.Resource)
		}
	}
}
