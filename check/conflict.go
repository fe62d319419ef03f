package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
)

// unique is a type with a unique key: AWS takes one resource for each value of it. CloudFormation creates and replaces
// before it deletes ("Update behaviors of stack resources", CloudFormation user guide), so a second resource with the
// key of a deployed one fails.
type unique struct {
	// noun names the type in findings.
	noun string
	// key has what makes up the key. A resource without a value for a part that is not optional has no key: AWS names
	// it.
	key []part
	// renamed is the property by which the second one may have another key; "" if its value matters to others. The
	// steps name it instead of two deployments.
	renamed string
	// why says what happens, where AWS does not refuse the second one; "" where it does.
	why string
	// meanwhile describes the state between the deployment without the resource and the next one.
	meanwhile string
	// before and after are steps around the deployment without it.
	before, after string
}

// part is one part of a unique key.
type part struct {
	// ways are paths of properties; the first that leads to a value counts.
	ways     [][]string
	optional bool
	// each makes one key of each element of a list.
	each bool
}

// parts returns the parts of a key. Each is a property, with dots between levels. | separates alternative properties; ?
// ends an optional one, and * a list.
func parts(properties ...string) []part {
	var all []part
	for _, property := range properties {
		name, may := strings.CutSuffix(property, "?")
		name, every := strings.CutSuffix(name, "*")
		p := part{optional: may, each: every}
		for way := range strings.SplitSeq(name, "|") {
			p.ways = append(p.ways, strings.Split(way, "."))
		}
		all = append(all, p)
	}
	return all
}

const (
	eventSourceMapping = "AWS::Lambda::EventSourceMapping"
	userPoolDomain     = "AWS::Cognito::UserPoolDomain"
	userPoolGroup      = "AWS::Cognito::UserPoolGroup"
	glueDatabase       = "AWS::Glue::Database"
	glueTable          = "AWS::Glue::Table"
)

// uniques are the types with a unique key, from the API reference of each service: the errors ConflictException,
// ResourceConflictException, AlreadyExistsException and QueueNameExists of the operation that creates them. Which
// properties replace a resource is from the CloudFormation template reference ("Update requires: Replacement").
var uniques = map[string]unique{
	eventSourceMapping: {noun: "event source mapping",
		// Mappings of one broker differ by topic or queue.
		key: parts("FunctionName", "EventSourceArn", "Topics?", "Queues?"),
		meanwhile: "Meanwhile records wait in the stream, for 24 hours in DynamoDB's. The new mapping begins where " +
			"its StartingPosition says: with TRIM_HORIZON records of these hours come again, with LATEST those of " +
			"the time between the deployments are skipped."},
	httpRoute: {noun: "route", key: parts("ApiId", "RouteKey"),
		meanwhile: "Meanwhile the API answers 404 there."},
	httpAuthorizer: {noun: "authorizer", key: parts("ApiId", "Name"), renamed: "Name"},
	"AWS::ApiGatewayV2::Stage": {noun: "stage", key: parts("ApiId", "StageName"),
		meanwhile: "Meanwhile the API answers nothing."},
	"AWS::ApiGatewayV2::DomainName": {noun: "domain name", key: parts("DomainName"),
		meanwhile: "Meanwhile clients of the name get no answer. The new one has another target: the DNS record has " +
			"to name that."},
	"AWS::ApiGatewayV2::ApiMapping": {noun: "API mapping", key: parts("DomainName", "ApiMappingKey?"),
		meanwhile: "Meanwhile the domain name leads to no API."},
	"AWS::Lambda::EventInvokeConfig": {
		noun: "setting of asynchronous invocations", key: parts("FunctionName", "Qualifier"),
		meanwhile: "Meanwhile the function has AWS Lambda's own: two retries in six hours, and no queue for " +
			"what fails."},
	"AWS::S3::BucketPolicy": {noun: "bucket policy", key: parts("Bucket"),
		meanwhile: "Meanwhile the bucket has no policy: requests without TLS are not refused, and services that it " +
			"lets in are."},
	"AWS::SQS::QueuePolicy": {noun: "queue policy", key: parts("Queues*"), why: emptied("queue"),
		meanwhile: "Meanwhile the queue has no policy: requests without TLS are not refused, and services that it " +
			"lets in are."},
	"AWS::SNS::TopicPolicy": {noun: "topic policy", key: parts("Topics*"), why: emptied("topic"),
		meanwhile: "Meanwhile the topic has Amazon SNS's own policy: requests without TLS are not refused, and " +
			"services that it lets in are."},
	glueDatabase: {noun: "catalog database", key: parts("CatalogId", "DatabaseInput.Name|DatabaseName"),
		meanwhile: "Meanwhile queries fail. The catalog is all that goes: the objects in the bucket stay."},
	glueTable: {noun: "catalog table", key: parts("CatalogId", "DatabaseName", "TableInput.Name|Name"),
		meanwhile: "Meanwhile queries of it fail. The catalog is all that goes: the objects in the bucket stay."},
	"AWS::Athena::WorkGroup": {noun: "workgroup", key: parts("Name"),
		meanwhile: "Meanwhile queries fail. The history of queries and what people have saved in the workgroup go.",
		before: "Keep what people have saved: aws athena list-named-queries --work-group {Name}, and " +
			"batch-get-named-query"},
	"AWS::Cognito::UserPoolResourceServer": {noun: "resource server", key: parts("UserPoolId", "Identifier"),
		meanwhile: "Meanwhile clients get no token with its scopes. Clients that name them have to be left out, too, " +
			"and come back with another id and secret: keep the clients by taking the scopes from them instead."},
	userPoolGroup: {noun: "group", key: parts("UserPoolId", "GroupName"),
		meanwhile: "Meanwhile nobody is in the group, and tokens do not name it.",
		before: "Keep the list of its members: aws cognito-idp list-users-in-group --user-pool-id {UserPoolId} " +
			"--group-name {GroupName}.",
		after: "Once the next deployment is complete, put each member back: aws cognito-idp admin-add-user-to-group " +
			"--user-pool-id {UserPoolId} --group-name {GroupName} --username NAME."},
	userPoolDomain: {noun: "sign-in domain", key: parts("Domain"),
		meanwhile: "Meanwhile people cannot sign in, and programs get no token there."},
	"AWS::SQS::Queue": {noun: "queue", key: parts("QueueName"),
		meanwhile: "The messages in it go.",
		before:    "Receive what is in it.",
		after:     "Wait 60 seconds: Amazon SQS gives the name of a deleted queue to no other before."},
	logGroup: {noun: "log group", key: parts("LogGroupName"),
		meanwhile: "The events in it go.",
		before:    "Export them first if anyone needs them: aws logs create-export-task."},
}

// emptied says what comes of two policies of one queue or topic.
func emptied(noun string) string {
	return "CloudFormation puts the new policy on the " + noun + " first, and then cleans up the old one, which " +
		"takes away the policy that is there: the deployment succeeds, and the " + noun + " is left without any."
}

// UniqueTypes returns, in order, the resource types whose logical ids cannot change in one deployment, because AWS
// takes one resource for each value of their unique key.
func UniqueTypes() []string { return slices.Sorted(maps.Keys(uniques)) }

// keys returns the values of the resource's unique key, as text: one, or several if a part has a list; none if a part
// has no value.
func (u unique) keys(resources map[string]*resource, r *resource) []string {
	all := []string{r.kind}
	for _, part := range u.key {
		var found []any
		for _, way := range part.ways {
			if v := r.at(way...); v != nil && found == nil {
				found = []any{v}
				if part.each {
					found = values(v)
				}
			}
		}
		if found == nil && part.optional {
			found = []any{""}
		}
		var longer []string
		for _, v := range found {
			value := identity(resources, v)
			if part.ways[0][0] == "RouteKey" {
				value = variableName.ReplaceAllString(value, "{")
			}
			if value == "" && !part.optional {
				continue
			}
			for _, key := range all {
				longer = append(longer, key+"\n"+value)
			}
		}
		all = longer
	}
	if len(u.key) == 0 {
		return nil
	}
	return all
}

// within reports whether the key of a resource refers to one of the resources, as that of a catalog table refers to the
// database. Such a resource is removed with them.
func (u unique) within(r *resource, ids []string) bool {
	return slices.ContainsFunc(u.key, func(p part) bool {
		return slices.ContainsFunc(p.ways, func(way []string) bool {
			return slices.ContainsFunc(intrinsic.References(r.at(way...)), func(id string) bool {
				return slices.Contains(ids, id)
			})
		})
	})
}

// identity returns the text of a value, the same for two ways of naming one resource of the template.
func identity(resources map[string]*resource, v any) string {
	id := text(at(v, "Ref"))
	if attribute := list(at(v, "Fn::GetAtt")); len(attribute) == 2 && text(attribute[1]) == "Arn" {
		id = text(attribute[0])
	}
	if id == "" {
		return text(v)
	}
	if r := resources[id]; r != nil {
		if ref := typeField(r.kind, typeRef); ref != "" && r.at(strings.Split(ref, ".")...) != nil {
			return text(r.at(strings.Split(ref, ".")...))
		}
	}
	return "the resource " + id
}

// conflict is a resource that would get a key while a deployed one has it.
type conflict struct{ old, changed *resource }

// clashes returns the conflicts, by the logical ids of the new resources.
func (c *comparison) clashes() []conflict {
	holders := map[string][]*resource{}
	for _, r := range sorted(c.deployed) {
		for _, key := range uniqueOf(r.kind).keys(c.deployed, r) {
			holders[key] = append(holders[key], r)
		}
	}
	var all []conflict
	for id, r := range sorted(c.proposed) {
		own := c.deployed[id]
		var had []string
		if own != nil && own.kind == r.kind {
			had = uniqueOf(r.kind).keys(c.deployed, own)
		}
		for _, key := range uniqueOf(r.kind).keys(c.proposed, r) {
			same := slices.Contains(had, key)
			for _, holder := range holders[key] {
				// Two deployed resources with one key have opposite conditions.
				clash := conflict{holder, r}
				again := same && holder.id == id && len(c.marked(replaces, own, r, nil)) > 0
				if (!same || again) && !slices.Contains(all, clash) {
					all = append(all, clash)
				}
			}
		}
	}
	return all
}

// conflicts reports resources that AWS allows once, and that would exist twice during the deployment.
func (c *comparison) conflicts() {
	all := c.clashes()
	var without []string
	for _, clash := range all {
		if uniqueOf(clash.old.kind).renamed == "" || clash.old.id == clash.changed.id {
			without = append(without, clash.old.id)
		}
	}
	for id, r := range c.deployed {
		if uniqueOf(r.kind).within(r, without) {
			without = append(without, id)
		}
	}
	slices.Sort(without)
	without = slices.Compact(without)
	for _, clash := range all {
		c.clashing[clash.old.id] = true
		c.clashing[clash.changed.id] = true
		c.conflict(clash, without)
	}
}

// conflict adds the finding about one; without are all resources that block another, and those that are removed with
// them.
func (c *comparison) conflict(clash conflict, without []string) {
	old, changed := clash.old, clash.changed
	u := uniqueOf(old.kind)
	is := describeKey(u, changed)
	by := c.madeBy(c.proposedMetadata, changed)
	why := cmp.Or(u.why, "CloudFormation creates before it deletes, and AWS takes one "+u.noun+
		" with that key: the deployment fails and rolls back.")
	var got string
	var plan []step
	switch stays := c.proposed[old.id]; {
	case old.id == changed.id:
		var changes []string
		for _, p := range c.marked(replaces, old, changed, nil) {
			changes = append(changes, p.path)
			c.judge(changed, p.path)
		}
		properties := join(changes)
		by = properties + " of " + changed.constructPath()
		got = fmt.Sprintf("%s changes, which replaces the %s of %s", properties, u.noun, is)
		plan = append(plan, do("Leave %s as deployed.", properties))
	case stays != nil && stays.kind == changed.kind &&
		slices.ContainsFunc(u.keys(c.proposed, stays), func(key string) bool {
			return slices.Contains(u.keys(c.proposed, changed), key)
		}):
		got = fmt.Sprintf("%s is a second %s of %s, which %s is already", changed.id, u.noun, is, old.id)
		second := "AWS takes one " + u.noun + " with that key: CloudFormation fails and rolls back."
		if u.why != "" {
			second = "AWS takes one " + u.noun + " with that key: the later one replaces the other, without a word."
		}
		c.addBy(by, Refusal, "conflict", changed, got, second, do("Leave one of the two out: AWS takes one."))
		return
	default:
		got = fmt.Sprintf("%s is to be the %s of %s, which the deployed %s is", changed.id, u.noun, is, old.id)
		plan = append(plan, keepLogicalID(old))
	}
	if u.renamed != "" && old.id != changed.id {
		c.addBy(by, Refusal, "conflict", changed, got, why, append(plan,
			do("Or give the new one another %s: then both are there until CloudFormation has deleted the old one.",
				u.renamed))...)
		return
	}
	plan = append(plan, do("If it has to be, two deployments lead there. %s", u.meanwhile))
	if u.before != "" {
		plan = append(plan, do("%s", c.fill(u.before, old)))
	}
	plan = append(plan, deploy(c.constructs(without), "the deployed template without %s, and without what uses "+
		"them.%s", join(without), c.acceptDrops(without)))
	if kept(old.deletion) {
		plan = append(plan, do("It is left behind then (DeletionPolicy %s): delete it by hand, or import it into "+
			"the stack as %s (cdk import).", old.deletion, changed.id))
	}
	if u.after != "" {
		plan = append(plan, do("%s", c.fill(u.after, old)))
	}
	c.addBy(by, Refusal, "conflict", changed, got, why, append(plan, deploy("", "this template."))...)
}

// acceptDrops names the findings about dropped resources to accept.
func (c *comparison) acceptDrops(ids []string) string {
	var refused []string
	for _, id := range ids {
		if kind, _ := kindOf(c.deployed[id].kind); kind.severity == Refusal {
			refused = append(refused, "drop:"+id)
		}
	}
	if len(refused) == 0 {
		return ""
	}
	return " Then accept " + join(refused) + "."
}

// describeKey names the values of the key as the template has them.
func describeKey(u unique, r *resource) string {
	var parts []string
	for _, part := range u.key {
		for _, way := range part.ways {
			if value := say(r.at(way...)); value != "" {
				parts = append(parts, way[len(way)-1]+" "+value)
				break
			}
		}
	}
	return join(parts)
}
