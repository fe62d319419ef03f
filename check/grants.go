package check

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// everyone is the principal of a statement for all callers.
const everyone = "everyone"

// grant is one action on one resource that a policy allows or denies one principal.
type grant struct {
	// principal is who may, such as "Service lambda.amazonaws.com", or everyone; "" in the policy of a role.
	principal string
	// action is "" for a managed policy that the template does not declare; on is the policy then.
	action, resource, condition string
	// on is the resource, as in the template.
	on any
}

// String describes the grant.
func (g grant) String() string {
	if g.action == "" {
		return "what " + say(g.on) + " allows"
	}
	text := g.action
	if on := say(g.on); on != "" {
		text += " on " + on
	}
	if g.principal != "" {
		text += " by " + g.principal
	}
	if g.condition != "" {
		text += " if " + g.condition
	}
	return text
}

// covers reports whether g includes other.
func (g grant) covers(other grant) bool {
	return (g.condition == "" || g.condition == other.condition) &&
		(g.principal == everyone || g.principal == other.principal) &&
		matches(strings.ToLower(g.action), strings.ToLower(other.action)) && matches(g.resource, other.resource)
}

// statements returns what a policy document allows or denies, by the effect. A statement of everything but some
// actions, resources or principals is one of all, with that as a condition.
func statements(document any, effect string) []grant {
	var all []grant
	for _, statement := range values(at(document, "Statement")) {
		if text(at(statement, "Effect")) != effect {
			continue
		}
		condition := text(at(statement, "Condition"))
		// of returns the elements of a part of the statement, or one nil if it lacks the part.
		of := func(name string, every any) []any {
			if but := at(statement, "Not"+name); but != nil {
				condition += "Not" + name + " " + text(but)
				return []any{every}
			}
			if v := at(statement, name); v != nil {
				return values(v)
			}
			return []any{nil}
		}
		actions, on, who := of("Action", "*"), of("Resource", "*"), principals(of("Principal", "*"))
		for _, action := range actions {
			for _, r := range on {
				for _, principal := range who {
					all = append(all, grant{principal, text(action), text(r), condition, r})
				}
			}
		}
	}
	return all
}

// principals returns the principals of a statement as [grant] has them.
func principals(declared []any) []string {
	var all []string
	for _, v := range declared {
		byKind, ok := v.(map[string]any)
		if !ok {
			byKind = map[string]any{"AWS": v}
		}
		for kind, named := range sorted(byKind) {
			for _, who := range values(named) {
				if text := say(who); text == "*" && kind == "AWS" {
					all = append(all, everyone)
				} else {
					all = append(all, kind+" "+text)
				}
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// matches reports whether the text matches an IAM pattern with * and ?.
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

// overlaps reports whether one of the two covers the other, without regard to conditions.
func (g grant) overlaps(other grant) bool {
	g.condition, other.condition = "", ""
	return g.covers(other) || other.covers(g)
}

// covered reports whether one of the grants covers g.
func (g grant) covered(by []grant) bool {
	return slices.ContainsFunc(by, func(has grant) bool { return has.covers(g) })
}

// identities are the types that have policies of their own, with the properties by which other policies name them.
var identities = map[string]string{"AWS::IAM::Role": "Role", "AWS::IAM::User": "User", "AWS::IAM::Group": "Group"}

// grants returns the actions that policies allow or deny each role, user or group, by the logical id, or by the name if
// the template does not declare it. The effect is "Allow" or "Deny".
func grants(resources map[string]*resource, effect string) map[string][]grant {
	all := map[string][]grant{}
	for id, r := range sorted(resources) {
		switch r.kind {
		case "AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group":
			for _, inline := range list(r.at("Policies")) {
				all[id] = append(all[id], statements(at(inline, "PolicyDocument"), effect)...)
			}
			for _, managed := range list(r.at("ManagedPolicyArns")) {
				if declared := resources[text(at(managed, "Ref"))]; declared != nil {
					all[id] = append(all[id], statements(declared.at("PolicyDocument"), effect)...)
				} else if effect == "Allow" {
					all[id] = append(all[id], grant{resource: text(managed), on: managed})
				}
			}
		case "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy", "AWS::IAM::UserPolicy",
			"AWS::IAM::GroupPolicy":
			for _, noun := range identities {
				for _, holder := range slices.Concat(list(r.at(noun+"s")), values(r.at(noun+"Name"))) {
					name := cmp.Or(text(at(holder, "Ref")), text(holder))
					all[name] = append(all[name], statements(r.at("PolicyDocument"), effect)...)
				}
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

// refersToRemoved reports whether the value refers to a resource that the proposed template no longer has. Grants on it
// may be removed with it.
func (c *comparison) refersToRemoved(v any) bool {
	return slices.ContainsFunc(intrinsic.References(v), func(id string) bool {
		return c.deployed[id] != nil && c.proposed[id] == nil
	})
}

// grants reports the actions that a role loses. The policy of a function's role changes before the function.
func (c *comparison) grants() {
	deployed, proposed := grants(c.deployed, "Allow"), grants(c.proposed, "Allow")
	denied, denies := grants(c.deployed, "Deny"), grants(c.proposed, "Deny")
	for id, had := range sorted(deployed) {
		heir, functions, unchanged := c.roleInPlaceOf(id)
		if heir == "" {
			continue
		}
		lost := uncovered(had, proposed[heir], func(g grant) bool { return !c.refersToRemoved(g.on) })
		overlaps := func(d grant) bool { return slices.ContainsFunc(had, d.overlaps) }
		for _, text := range uncovered(denies[heir], denied[id], overlaps) {
			lost = append(lost, text+" (denied)")
		}
		if len(lost) == 0 {
			continue
		}
		r := c.proposed[heir]
		if r == nil {
			r = &resource{id: heir, kind: "AWS::IAM::Role"}
		}
		noun := cmp.Or(strings.ToLower(identities[r.kind]), "role")
		by := c.grantsBy(r, functions)
		got := "the " + noun + " may no longer do " + join(lost)
		if len(functions) > 0 && !unchanged {
			c.addBy(by, Warning, "grants", r, got, "The role changes before the function: until the new code runs, "+
				"requests of the old code are refused (AccessDenied).",
				do("If the new code of %s does this no longer, and failures for some seconds matter:", join(functions)),
				deploy(by+", as deployed; "+functionsCode, "this template, but with the role as deployed."),
				deploy("", "this template; accept this finding then."))
			continue
		}
		why := "What has this " + noun + " is refused from then on (AccessDenied)."
		if len(functions) > 0 {
			why = fmt.Sprintf("The code of %s stays as deployed, so it goes on making these requests: they are "+
				"refused (AccessDenied).", join(functions))
		}
		c.addBy(by, Refusal, "grants", r, got, why,
			do("Put the grants back, and take new statements that deny away."),
			do("If nothing makes these requests any more: accept this finding."))
	}
}

// roleInPlaceOf returns the role that replaces a deployed role, the functions with it, and whether the code of one of
// them stays. A role that is removed together with its functions has no heir.
func (c *comparison) roleInPlaceOf(id string) (heir string, functions []string, unchanged bool) {
	if c.deployed[id] == nil || c.proposed[id] != nil {
		// Declared elsewhere, or in both templates.
		heir = id
	}
	for name, old := range sorted(c.deployed) {
		changed := c.proposed[name]
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
