// Package check compares the template of a deployed stack with the one that is about to replace it. It finds changes
// that DynamoDB or CloudFormation would refuse halfway through the deployment, and changes that would lose data
// although every step succeeds. It says which deployments, in which order, lead to the same end safely.
//
// It reads only the two templates, and those of nested stacks. It ignores changes by hand, and conditions within
// properties (Fn::If). [Compare] returns what speaks against a deployment, and [CompareWithNotes] the other changes,
// too.
package check

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Severity says whether a deployment should go on.
type Severity string

// The severities.
const (
	// Refusal is a change that would fail, or lose data or a way to restore it.
	Refusal Severity = "refusal"
	// Warning is a change that works, with an effect that its author may not expect.
	Warning Severity = "warning"
)

// Change is a change between two templates that you should not deploy, or not without review.
type Change struct {
	// ID names the finding within its stack, by what happens and the logical id, such as
	// drop:TodoDatabaseAppDataA1556560. It is the same in each comparison of the same change.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// LogicalID and Type are the resource's.
	LogicalID string `json:"logical_id"`
	Type      string `json:"type"`
	// Path is the construct path (aws:cdk:path), or the logical id in templates without paths.
	Path string `json:"path"`
	// Got says what changes.
	Got string `json:"got"`
	// By says what makes the change in the app: lines of the schema, such as
	// "Tables[Questions].Indexes[ByStatus].Projection of the schema", or an override, a property or a construct with
	// its path.
	By string `json:"by"`
	// Why says what the change causes.
	Why string `json:"why"`
	// Steps lead to the same result safely, in order. A deployment among them ends with "By: " and what to change in
	// the app.
	Steps []string `json:"steps"`
}

// Environment describes the stack. An empty field is unknown in both templates.
type Environment struct {
	// Stack is the stack's name, for Ref AWS::StackName and for the commands in steps.
	Stack string
	// Region and Account are for Ref AWS::Region and Ref AWS::AccountId.
	Region, Account string
	// Parameters are the deployed values of template parameters. Any other parameter has its template's default.
	Parameters map[string]string
	// Importers returns the stacks that import an export of that name, and whether all are known. It is asked about
	// exports that go or change. With nil none is known.
	Importers func(export string) (stacks []string, known bool)
	// Nested are the nested stacks by logical id. A stack that is missing here is not compared.
	Nested map[string]Nested
}

// Compare returns the changes to warn of if the proposed template replaces the deployed one, refusals first, sorted by
// resource. For two equal templates it returns none.
func Compare(deployed, proposed *Template, environment Environment) []Change {
	return compare(deployed, proposed, environment, environment).findings
}

// compare compares two templates, each in its environment.
func compare(deployed, proposed *Template, environment, after Environment) *comparison {
	c := &comparison{
		environment: environment,
		deployed:    deployed.resolve(environment), proposed: proposed.resolve(after),
		deployedConditions: simplify(deployed.conditions, nil), proposedConditions: simplify(proposed.conditions, nil),
		deployedMetadata: deployed.metadata, proposedMetadata: proposed.metadata,
		clashing: map[string]bool{}, replaced: map[string]bool{}, judged: map[string][]string{},
	}
	c.conflicts()
	for id, old := range c.deployed {
		c.resource(old, c.proposed[id])
	}
	for id, changed := range c.proposed {
		switch old := c.deployed[id]; {
		case old == nil:
			c.rules(changed.kind, "", nil, changed, nil, changed.properties)
		case old.kind == changed.kind:
			c.rules(changed.kind, "", old, changed, old.properties, changed.properties)
		}
	}
	c.shards()
	c.authorizers()
	c.attributes()
	c.grants()
	c.permissions()
	c.policies()
	c.visibility()
	c.exports(deployed.exports(environment), proposed.exports(after))
	c.nested()
	slices.SortFunc(c.findings, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	})
	return c
}

type comparison struct {
	environment                            Environment
	deployed, proposed                     map[string]*resource
	deployedConditions, proposedConditions any
	deployedMetadata, proposedMetadata     map[string]metadata
	// clashing are the logical ids of resources in a conflict, for which drops and replacements are not reported.
	clashing map[string]bool
	// replaced are the verdicts of [comparison.isReplaced].
	replaced map[string]bool
	// judged are the paths of properties that findings are about, by logical id.
	judged   map[string][]string
	findings []Change
	// within are the comparisons of nested stacks.
	within []*comparison
}

// judge records that a finding is about the property.
func (c *comparison) judge(r *resource, path string) { c.judged[r.id] = append(c.judged[r.id], path) }

// add adds a finding about a resource whose construct makes the change; what is the first part of the finding's id.
func (c *comparison) add(severity Severity, what string, r *resource, got, why string, plan ...step) {
	c.addBy("the construct "+r.constructPath(), severity, what, r, got, why, plan...)
}

// addBy adds a finding. by names what makes the change in the app.
func (c *comparison) addBy(by string, severity Severity, what string, r *resource, got, why string, plan ...step) {
	c.findings = append(c.findings, Change{
		ID: what + ":" + r.id, Severity: severity, LogicalID: r.id, Type: r.kind, Path: r.constructPath(),
		Got: got, By: by, Why: why, Steps: sayPlan(plan, by),
	})
}

// warn adds a warning about something that opens or stops by the deployment; keep is what to do instead.
func (c *comparison) warn(by, what string, r *resource, got, why, keep string) {
	c.addBy(by, Warning, what, r, got, why, do("%s", keep),
		do("If you mean it, deploy it. With --strict, accept this finding."))
}

func (c *comparison) resource(old, changed *resource) {
	kind, known := kindOf(old.kind)
	if changed == nil {
		if known {
			c.drop(kind, old)
		}
		return
	}
	if old.kind != changed.kind {
		c.retype(old, changed, known)
		return
	}
	if changed.kind == lambdaFunction {
		c.variables(old, changed)
	}
	c.fixed(old, changed)
	if !known {
		return
	}
	if old.condition != changed.condition ||
		!reflect.DeepEqual(at(c.deployedConditions, old.condition), at(c.proposedConditions, changed.condition)) {
		c.add(kind.severity, "condition", changed,
			turns("the condition on which the "+kind.noun+" exists", old.condition, changed.condition),
			"If the condition is false, CloudFormation removes the "+kind.noun+": "+kind.loss+".",
			do("Make sure that the condition is true for this stack: cdk diff says whether the %s goes.",
				kind.noun), do("Then accept this finding."))
	}
	c.retention(kind, old, changed)
	c.replacement(kind, old, changed)
	switch changed.kind {
	case globalTable, regionalTable:
		c.table(old, changed)
	case "AWS::Cognito::UserPool":
		c.userPool(old, changed)
	case "AWS::S3::Bucket":
		c.bucket(old, changed)
	case glueTable:
		c.catalogTable(old, changed)
	}
}

// name returns a shell expression for the physical name of a deployed resource, and whether the template sets the name.
func (c *comparison) name(r *resource) (string, bool) {
	if given, ok := named(r).(string); ok {
		return given, true
	}
	return c.physical(r.id), false
}

// physical returns a shell expression for the physical id of a deployed resource.
func (c *comparison) physical(id string) string {
	return fmt.Sprintf("$(aws cloudformation describe-stack-resource --stack-name %s --logical-resource-id %s "+
		"--query StackResourceDetail.PhysicalResourceId --output text)",
		cmp.Or(c.environment.Stack, "STACK"), id)
}

// placeholder is {}, {id} or the name of a property, in a step.
var placeholder = regexp.MustCompile(`\{(\w*)\}`)

// fill returns a step about a deployed resource with shell expressions: {} is its physical name, {id} its physical id,
// and {Property} what the property says.
func (c *comparison) fill(step string, r *resource) string {
	return placeholder.ReplaceAllStringFunc(step, func(found string) string {
		switch property := strings.Trim(found, "{}"); property {
		case "":
			name, _ := c.name(r)
			return name
		case "id":
			return c.physical(r.id)
		default:
			if id := text(r.at(property, "Ref")); c.deployed[id] != nil {
				return c.physical(id)
			}
			return cmp.Or(say(r.at(property)), "NAME")
		}
	})
}

// turns says how something changes; what is missing is "none".
func turns(what, before, after string) string {
	return fmt.Sprintf("%s changes from %s to %s", what, cmp.Or(before, "none"), cmp.Or(after, "none"))
}

// except returns the texts that are not among the others.
func except(of, among []string) []string {
	return slices.DeleteFunc(slices.Clone(of), func(s string) bool { return slices.Contains(among, s) })
}

func join(values []string) string { return strings.Join(values, ", ") }
