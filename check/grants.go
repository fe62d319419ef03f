package check

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// grant is one action that a role may do on one resource.
type grant struct {
	action, resource, condition string
	// on is the resource as the template has it.
	on any
}

// String describes the grant.
func (g grant) String() string {
	if g.condition != "" {
		return g.action + " on " + say(g.on) + " if " + g.condition
	}
	return g.action + " on " + say(g.on)
}

// covers reports whether who has g may do what other says.
func (g grant) covers(other grant) bool {
	return (g.condition == "" || g.condition == other.condition) && matches(strings.ToLower(g.action), strings.ToLower(other.action)) && matches(g.resource, other.resource)
}

// matches reports whether the text fits a pattern with * and ?, as IAM has it.
func matches(pattern, text string) bool {
	if pattern == text {
		return true
	}
	if !strings.ContainsAny(pattern, "*?") {
		return false
	}
	expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile("(?s)^" + expression + "$").MatchString(text)
}

// values returns a value that may be a list.
func values(v any) []any {
	if l, ok := v.([]any); ok || v == nil {
		return l
	}
	return []any{v}
}

// grants returns what each role may do, by logical id, or by name if the template does not declare the role.
func grants(resources map[string]*resource) map[string][]grant {
	all := map[string][]grant{}
	add := func(role string, document any) {
		for _, statement := range values(at(document, "Statement")) {
			if text(at(statement, "Effect")) != "Allow" {
				continue
			}
			for _, action := range values(at(statement, "Action")) {
				for _, on := range values(at(statement, "Resource")) {
					all[role] = append(all[role], grant{text(action), text(on), text(at(statement, "Condition")), on})
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r := resources[id]
		switch r.kind {
		case "AWS::IAM::Role":
			for _, inline := range list(r.at("Policies")) {
				add(id, at(inline, "PolicyDocument"))
			}
		case "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy":
			for _, role := range slices.Concat(list(r.at("Roles")), values(r.at("RoleName"))) {
				add(cmp.Or(text(at(role, "Ref")), text(role)), r.at("PolicyDocument"))
			}
		}
	}
	return all
}

// role returns the logical id of the role of a function, or "".
func role(function *resource) string {
	attribute := list(function.at("Role", "Fn::GetAtt"))
	if function.kind != "AWS::Lambda::Function" || len(attribute) != 2 {
		return ""
	}
	return text(attribute[0])
}

// references reports whether all resources of the template that the value names are there.
func references(v any, resources map[string]*resource) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, id := range []string{text(v["Ref"]), first(v["Fn::GetAtt"])} {
			if id != "" && !strings.HasPrefix(id, "AWS::") && resources[id] == nil {
				return false
			}
		}
		for _, element := range v {
			if !references(element, resources) {
				return false
			}
		}
	case []any:
		for _, element := range v {
			if !references(element, resources) {
				return false
			}
		}
	}
	return true
}

// first returns the first element of a list of texts, or "".
func first(v any) string {
	if l := list(v); len(l) > 0 {
		return text(l[0])
	}
	return ""
}

// grants reports what a role may no longer do. The policy of a function's role changes before the function.
func (c *comparison) grants() {
	deployed, proposed := grants(c.deployed), grants(c.proposed)
	for _, id := range slices.Sorted(maps.Keys(deployed)) {
		heir, functions, unchanged := c.heirOfRole(id)
		if heir == "" {
			continue
		}
		var lost []string
		for _, g := range deployed[id] {
			if slices.ContainsFunc(proposed[heir], func(has grant) bool { return has.covers(g) }) || !references(g.on, c.proposed) {
				// What the grant is for may go with it.
				continue
			}
			if said := g.String(); !slices.Contains(lost, said) {
				lost = append(lost, said)
			}
		}
		if len(lost) == 0 {
			continue
		}
		r := c.proposed[heir]
		if r == nil {
			r = &resource{id: heir, kind: "AWS::IAM::Role"}
		}
		p, by := &plan{}, c.grantsBy(r, functions)
		got := "the role may no longer do " + join(lost)
		if len(functions) > 0 && !unchanged {
			p.do("If the new code of %s does this no longer, and failures for some seconds matter:", join(functions))
			p.deploy("this template, but with the role as deployed.")
			p.by("%s, as deployed; %s", by, functionsCode)
			p.deploy("this template.")
			c.addBy(by, Warning, "grants", r, got, "The role changes before the function: until the new code runs, requests of the old code are refused (AccessDenied).", p.steps...)
			continue
		}
		why := "What has this role is refused from then on (AccessDenied)."
		if len(functions) > 0 {
			why = fmt.Sprintf("The code of %s stays as deployed, so it goes on making these requests: they are refused (AccessDenied).", join(functions))
		}
		p.do("Put the grants back.")
		p.do("If nothing makes these requests any more: accept this finding.")
		c.addBy(by, Refusal, "grants", r, got, why, p.steps...)
	}
}

// heirOfRole returns the role that takes a deployed role's place, the functions that have it, and whether the code of any of
// these stays. A role that goes with all that has it has no heir.
func (c *comparison) heirOfRole(id string) (heir string, functions []string, unchanged bool) {
	if c.deployed[id] == nil || c.proposed[id] != nil {
		// Declared elsewhere, or still there.
		heir = id
	}
	for _, name := range slices.Sorted(maps.Keys(c.deployed)) {
		old, changed := c.deployed[name], c.proposed[name]
		if changed == nil || role(old) != id || role(changed) == "" {
			continue
		}
		if heir == "" {
			heir = role(changed)
		}
		functions = append(functions, name)
		unchanged = unchanged || reflect.DeepEqual(old.at("Code"), changed.at("Code"))
	}
	return heir, functions, unchanged
}
