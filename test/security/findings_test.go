package security

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

// Every accepted finding has a reason, and every reason a finding.
func TestFindings(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{} // of everywhere
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
				findings = append(findings, finding{Rule: synthtest.Stable(f.Rule), Resource: f.Resource})
			}
		}
		own := s.accepted
		unneeded := slices.Clone(own)
		for _, f := range findings {
			path := s.paths[f.Resource]
			shown, judged := s.shown(f.Resource, f.Rule)
			is := func(a nag.Accepted) bool { return a.Rule == f.Rule && a.Resource == path }
			if !slices.ContainsFunc(own, is) && !slices.ContainsFunc(s.inherited, is) &&
				(s.environment != recipe || len(shown) == 0) {
				t.Errorf("%s: %s does not keep %s: mend it, or accept it with the reason, in constructs/platform or "+
					"beside the construct", name, path, f.Rule)
			}
			if len(shown) != 1 && judged && s.environment != recipe {
				t.Errorf("%s: %s does not keep %s: the template shows %v, not one reason", name, path, f.Rule, shown)
			}
			for _, reason := range shown {
				needed[reason] = true
			}
			unneeded = slices.DeleteFunc(unneeded, is)
		}
		for _, a := range unneeded {
			t.Errorf("%s: nothing needs that the platform accepts %s at %s: remove it", name, a.Rule, a.Resource)
		}
		for _, a := range own {
			if !strings.HasSuffix(a.Reason, ".") {
				t.Errorf("%s accepts %s at %s: write the reason in whole sentences", name, a.Rule, a.Resource)
			}
		}
	}
	for name := range everywhere {
		if !needed[name] {
			t.Errorf("no stack needs the reason %s: remove it", name)
		}
	}
}

// A reason applies only where the template shows that it is true.
func TestReasons(t *testing.T) {
	t.Parallel()
	for name, s := range stacks {
		for id, r := range s.template.OfType("AWS::SQS::Queue") {
			if other := s.without(id); len(other.reasons(id, "AwsSolutions-SQS3")) != 0 {
				t.Errorf("%s: %s is accepted as a queue of failures, though nothing sends there: %v", name, s.paths[id],
					r.Properties)
			}
		}
		for id := range s.template.OfType("AWS::Lambda::Function") {
			if other := s.without(id); len(other.reasons(id, "Serverless-LambdaDLQ")) != 0 {
				t.Errorf("%s: %s is accepted without a dead-letter queue, though nothing known invokes it", name,
					s.paths[id])
			}
		}
	}
}

// without returns the stack without all that mentions the resource, which itself stays.
func (s stack) without(id string) stack {
	others := map[string]synthtest.Resource{}
	for other, r := range s.template.Resources {
		if other == id || !mentions(r.Properties, id) {
			others[other] = r
		}
	}
	s.template.Resources, s.template.Outputs = others, maps.Clone(s.template.Outputs)
	maps.DeleteFunc(s.template.Outputs, func(_ string, output struct{ Value any }) bool {
		return mentions(output.Value, id)
	})
	return s
}

// mentions reports whether a reference in the value is to the resource.
func mentions(value any, id string) bool {
	text, err := json.Marshal(value)
	return err != nil || strings.Contains(string(text), strconv.Quote(id))
}
