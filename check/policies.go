package check

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// policyKind is a place in which templates have policies of resources: who may do what with them.
type policyKind struct {
	// kind is the type that has the policy, and document its property; "" if the properties are the document.
	kind, document string
	// holders is the property that names the resources with the policy; "" if it is the resource itself.
	holders string
	// id ends the ids of findings, and noun names what has the policy.
	id, noun string
	// own is true if a statement's resource can be the holder alone.
	own bool
}

var policyKinds = []policyKind{
	{kind: "AWS::IAM::Role", document: "AssumeRolePolicyDocument", id: "trust", noun: "role", own: true},
	{kind: regionalTable, document: "ResourcePolicy.PolicyDocument", id: "policy", noun: "table"},
	{kind: globalTable, document: "Replicas.*.ResourcePolicy.PolicyDocument", id: "policy", noun: "table"},
	{kind: globalTable, document: "Replicas.*.ReplicaStreamSpecification.ResourcePolicy.PolicyDocument",
		id: "stream-policy", noun: "stream of the table"},
	{kind: regionalTable, document: "StreamSpecification.ResourcePolicy.PolicyDocument",
		id: "stream-policy", noun: "stream of the table"},
	{kind: "AWS::SQS::QueuePolicy", document: "PolicyDocument", holders: "Queues", id: "policy", noun: "queue"},
	{kind: "AWS::SQS::QueueInlinePolicy", document: "PolicyDocument", holders: "Queue", id: "policy", noun: "queue"},
	{kind: "AWS::SNS::TopicPolicy", document: "PolicyDocument", holders: "Topics", id: "policy", noun: "topic"},
	{kind: "AWS::SNS::TopicInlinePolicy", document: "PolicyDocument", holders: "TopicArn", id: "policy", noun: "topic"},
	{kind: "AWS::S3::BucketPolicy", document: "PolicyDocument", holders: "Bucket", id: "policy", noun: "bucket"},
	{kind: "AWS::SecretsManager::ResourcePolicy", document: "ResourcePolicy", holders: "SecretId",
		id: "policy", noun: "secret", own: true},
	{kind: "AWS::KMS::Key", document: "KeyPolicy", id: "policy", noun: "key", own: true},
	{kind: "AWS::Kinesis::ResourcePolicy", document: "ResourcePolicy", holders: "ResourceArn",
		id: "policy", noun: "stream"},
	{kind: "AWS::Events::EventBusPolicy", holders: "EventBusName", id: "policy", noun: "event bus"},
	{kind: "AWS::ApiGateway::RestApi", document: "Policy", id: "policy", noun: "REST API"},
	{kind: "AWS::ECR::Repository", document: "RepositoryPolicyText", id: "policy", noun: "repository", own: true},
}

// guarded is a resource with a policy.
type guarded struct{ id, kind, noun string }

// policies returns what the policies of resources allow or deny, and the permissions of functions.
func policies(resources map[string]*resource, effect string) map[guarded][]grant {
	all := map[guarded][]grant{}
	for id, r := range sorted(resources) {
		for _, p := range policyKinds {
			if p.kind != r.kind {
				continue
			}
			var found []grant
			for _, v := range pathPairs(r.properties, r.properties, p.document) {
				for _, g := range statements(v.after, effect) {
					if p.own {
						g.resource, g.on = "", nil
					}
					found = append(found, g)
				}
			}
			holders := []string{id}
			if p.holders != "" {
				holders = nil
				for _, v := range values(r.at(p.holders)) {
					holders = append(holders, cmp.Or(firstOf(intrinsic.References(v)), text(v)))
				}
			}
			for _, holder := range holders {
				key := guarded{holder, p.id, p.noun}
				all[key] = append(all[key], found...)
			}
		}
		if r.kind == "AWS::Lambda::Permission" && effect == "Allow" {
			for _, function := range intrinsic.References(r.at("FunctionName")) {
				key := guarded{function, "policy", "function"}
				all[key] = append(all[key], permission(r))
			}
		}
	}
	return all
}

// permission returns what a permission allows, with its sources as a condition.
func permission(r *resource) grant {
	sources := map[string]any{}
	for _, name := range []string{"SourceArn", "SourceAccount", "PrincipalOrgID", "EventSourceToken"} {
		if v := r.at(name); v != nil {
			sources[name] = v
		}
	}
	g := grant{principal: "AWS " + say(r.at("Principal")), action: text(r.at("Action"))}
	switch who := text(r.at("Principal")); {
	case who == "*":
		g.principal = everyone
	case strings.HasSuffix(who, ".amazonaws.com"):
		g.principal = "Service " + who
	}
	if len(sources) > 0 {
		encoded, _ := json.Marshal(sources)
		g.condition = string(encoded)
	}
	return g
}

func firstOf(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// administrative are the managed policies of AWS that allow more than any function needs.
var administrative = regexp.MustCompile(`/(AdministratorAccess.*|PowerUserAccess|.*FullAccess(V\d+)?)$`)

// boundless reports whether a grant of a new role or resource is wider than any needs.
func (g grant) boundless() bool {
	switch {
	case g.action == "":
		return administrative.MatchString(say(g.on))
	case g.principal != "":
		return g.principal == everyone && g.condition == ""
	default:
		return g.action == "*" || strings.HasSuffix(g.action, ":*")
	}
}

// widened reports whether a grant that is new to a deployed role or resource has a wildcard, is for another account or
// for a service that acts for anyone, or is one that had a condition.
func (c *comparison) widened(g grant, deployed []grant) bool {
	if g.action == "" {
		return g.boundless()
	}
	account, foreign := strings.CutPrefix(g.principal, "AWS ")
	if own := c.environment.Account; own != "" && strings.Contains(account, own) ||
		strings.Contains(account, "AWS::AccountId") || c.proposed[account] != nil {
		foreign = false
	}
	return g.boundless() || foreign || g.principal == everyone ||
		strings.HasPrefix(g.principal, "Service ") && g.condition == "" ||
		strings.ContainsAny(g.action, "*?") ||
		strings.ContainsAny(g.resource, "*?") && !c.refersToNew(g.on) ||
		slices.ContainsFunc(deployed, func(had grant) bool {
			had.condition = ""
			return g.condition == "" && had.covers(g)
		})
}

// refersToNew reports whether the value refers to a resource that the deployed template does not have.
func (c *comparison) refersToNew(v any) bool {
	return slices.ContainsFunc(intrinsic.References(v), func(id string) bool {
		return c.proposed[id] != nil && c.deployed[id] == nil
	})
}

// ofRemoved reports whether the resource, the principal or the condition of a grant names a resource that goes.
func (c *comparison) ofRemoved(g grant) bool {
	if c.refersToRemoved(g.on) {
		return true
	}
	for id := range c.deployed {
		named := strings.HasSuffix(g.principal, " "+id) || strings.Contains(g.condition, strconv.Quote(id))
		if c.proposed[id] == nil && named {
			return true
		}
	}
	return false
}

// uncovered returns what is said of the grants that none of the others covers and that the function takes, each once.
func uncovered(grants, by []grant, takes func(grant) bool) []string {
	var all []string
	for _, g := range grants {
		if said := g.String(); !g.covered(by) && takes(g) && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return all
}

// opened returns what is said of the grants that are new and that the function takes, and of those no longer denied.
func (c *comparison) opened(had, has, denied, denies []grant, takes func(grant) bool) []string {
	opened := uncovered(has, had, takes)
	for _, said := range uncovered(denied, denies, func(g grant) bool { return !c.ofRemoved(g) }) {
		opened = append(opened, said+" (no longer denied)")
	}
	return opened
}

// policies reports roles, and resources with a policy, that let in more than they did, or others no more.
func (c *comparison) policies() {
	c.identities()
	had, has := policies(c.deployed, "Allow"), policies(c.proposed, "Allow")
	denied, denies := policies(c.deployed, "Deny"), policies(c.proposed, "Deny")
	keys := slices.Collect(maps.Keys(had))
	for _, more := range []map[guarded][]grant{has, denied, denies} {
		keys = slices.AppendSeq(keys, maps.Keys(more))
	}
	slices.SortFunc(keys, func(a, b guarded) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind))
	})
	for _, key := range slices.Compact(keys) {
		r, old := c.proposed[key.id], c.deployed[key.id]
		if r == nil && old != nil {
			// Its drop is another finding.
			continue
		}
		isNew := r != nil && old == nil
		if r == nil {
			r = &resource{id: key.id, kind: "AWS::IAM::Policy"}
		}
		by := "the policy of " + r.constructPath()
		opened := c.opened(had[key], has[key], denied[key], denies[key], func(g grant) bool {
			return isNew && g.boundless() || !isNew && (key.kind == "trust" || c.widened(g, had[key]))
		})
		if len(opened) > 0 {
			c.warn(by, "opens-"+key.kind, r, "the policy of the "+key.noun+" allows newly: "+join(opened),
				"Others than before may do that. With a wildcard these are more than the template names, "+
					"also in other accounts if the principal is everyone.",
				"Name the principals, actions and resources that need it, with a condition such as aws:SourceArn, "+
					"and leave statements that deny.")
		}
		if isNew {
			continue
		}
		var stopped []string
		if key.noun != "function" {
			// The permissions of functions have a finding of their own.
			stopped = uncovered(had[key], has[key], func(g grant) bool { return !c.ofRemoved(g) })
		}
		for _, said := range uncovered(denies[key], denied[key], func(grant) bool { return true }) {
			stopped = append(stopped, said+" (denied)")
		}
		if len(stopped) > 0 {
			why := "What did so is refused from then on (AccessDenied), and often no log of yours says it."
			if key.kind == "trust" {
				why = "What has the role no longer gets it: functions, schedules and pipes with it fail at their " +
					"next start."
			}
			c.warn(by, "stops-"+key.kind, r, "the policy of the "+key.noun+" allows no more: "+join(stopped), why,
				"Put the statements back, and take new ones that deny away.")
		}
	}
}

// identities reports roles, users and groups that may do more, by a wildcard or a policy of administrators.
func (c *comparison) identities() {
	deployed, proposed := grants(c.deployed, "Allow"), grants(c.proposed, "Allow")
	denied, denies := grants(c.deployed, "Deny"), grants(c.proposed, "Deny")
	for id, has := range sorted(proposed) {
		r := c.proposed[id]
		isNew := r != nil && c.deployed[id] == nil
		if r == nil {
			r = &resource{id: id, kind: "AWS::IAM::Role"}
		}
		opened := c.opened(deployed[id], has, denied[id], denies[id], func(g grant) bool {
			return isNew && g.boundless() || !isNew && c.widened(g, deployed[id])
		})
		if len(opened) == 0 {
			continue
		}
		_, functions, _ := c.roleInPlaceOf(id)
		noun := cmp.Or(strings.ToLower(identities[r.kind]), "role")
		c.warn(c.grantsBy(r, functions), "opens-grants", r, "the "+noun+" may do newly: "+join(opened),
			"Who gets into what has it may do all of that. "+
				"A wildcard also covers resources of others, and actions that AWS adds later.",
			"Name the actions and the resources that it needs.")
	}
}
