package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// unique is a type with a unique key: AWS takes one resource for each value of it. CloudFormation creates and replaces before it
// deletes ("Update behaviors of stack resources", CloudFormation user guide), so a second resource with the key of a
// deployed one fails.
type unique struct {
	// noun names the type in findings.
	noun string
	// key leads to the properties that make up the key. Each part has one or several paths; the first that leads to a value
	// counts. A resource without a value for a required part has no key: AWS names it.
	key []part
	// renamed is the property by which the second one may have another key; "" if its value matters to others. The steps
	// name it instead of two deployments.
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
	ways     [][]string
	optional bool
	// route normalises route keys.
	route bool
	// each makes one key of each element of a list.
	each bool
}

func required(path ...string) part { return part{ways: [][]string{path}} }
func optional(path ...string) part { return part{ways: [][]string{path}, optional: true} }
func each(path ...string) part     { return part{ways: [][]string{path}, each: true} }

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
	eventSourceMapping: {
		noun: "event source mapping",
		// Mappings of one broker differ by topic or queue.
		key:       []part{required("FunctionName"), required("EventSourceArn"), optional("Topics"), optional("Queues")},
		meanwhile: "Meanwhile records wait in the stream, for 24 hours in DynamoDB's. The new mapping begins where its StartingPosition says: with TRIM_HORIZON records of these hours come again, with LATEST those of the time between the deployments are skipped.",
	},
	httpRoute: {
		noun: "route", key: []part{required("ApiId"), {ways: [][]string{{"RouteKey"}}, route: true}},
		meanwhile: "Meanwhile the API answers 404 there.",
	},
	httpAuthorizer: {
		noun: "authorizer", key: []part{required("ApiId"), required("Name")}, renamed: "Name",
	},
	"AWS::ApiGatewayV2::Stage": {
		noun: "stage", key: []part{required("ApiId"), required("StageName")},
		meanwhile: "Meanwhile the API answers nothing.",
	},
	"AWS::ApiGatewayV2::DomainName": {
		noun: "domain name", key: []part{required("DomainName")},
		meanwhile: "Meanwhile clients of the name get no answer. The new one has another target: the DNS record has to name that.",
	},
	"AWS::ApiGatewayV2::ApiMapping": {
		noun: "API mapping", key: []part{required("DomainName"), optional("ApiMappingKey")},
		meanwhile: "Meanwhile the domain name leads to no API.",
	},
	"AWS::Lambda::EventInvokeConfig": {
		noun: "setting of asynchronous invocations", key: []part{required("FunctionName"), required("Qualifier")},
		meanwhile: "Meanwhile the function has AWS Lambda's own: two retries in six hours, and no queue for what fails.",
	},
	"AWS::S3::BucketPolicy": {
		noun: "bucket policy", key: []part{required("Bucket")},
		meanwhile: "Meanwhile the bucket has no policy: requests without TLS are not refused, and services that it lets in are.",
	},
	"AWS::SQS::QueuePolicy": {
		noun: "queue policy", key: []part{each("Queues")}, why: emptied("queue"),
		meanwhile: "Meanwhile the queue has no policy: requests without TLS are not refused, and services that it lets in are.",
	},
	"AWS::SNS::TopicPolicy": {
		noun: "topic policy", key: []part{each("Topics")}, why: emptied("topic"),
		meanwhile: "Meanwhile the topic has Amazon SNS's own policy: requests without TLS are not refused, and services that it lets in are.",
	},
	glueDatabase: {
		noun: "catalog database", key: []part{required("CatalogId"), {ways: [][]string{{"DatabaseInput", "Name"}, {"DatabaseName"}}}},
		meanwhile: "Meanwhile queries fail. The catalog is all that goes: the objects in the bucket stay.",
	},
	glueTable: {
		noun: "catalog table", key: []part{required("CatalogId"), required("DatabaseName"), {ways: [][]string{{"TableInput", "Name"}, {"Name"}}}},
		meanwhile: "Meanwhile queries of it fail. The catalog is all that goes: the objects in the bucket stay.",
	},
	"AWS::Athena::WorkGroup": {
		noun: "workgroup", key: []part{required("Name")},
		meanwhile: "Meanwhile queries fail. The history of queries and what people have saved in the workgroup go.",
		before:    "Keep what people have saved: aws athena list-named-queries --work-group {Name}, and batch-get-named-query",
	},
	"AWS::Cognito::UserPoolResourceServer": {
		noun: "resource server", key: []part{required("UserPoolId"), required("Identifier")},
		meanwhile: "Meanwhile clients get no token with its scopes. Clients that name them have to be left out, too, and come back with another id and secret: keep the clients by taking the scopes from them instead.",
	},
	userPoolGroup: {
		noun: "group", key: []part{required("UserPoolId"), required("GroupName")},
		meanwhile: "Meanwhile nobody is in the group, and tokens do not name it.",
		before:    "Keep the list of its members: aws cognito-idp list-users-in-group --user-pool-id {UserPoolId} --group-name {GroupName}.",
		after:     "Once the next deployment is complete, put each member back: aws cognito-idp admin-add-user-to-group --user-pool-id {UserPoolId} --group-name {GroupName} --username NAME.",
	},
	userPoolDomain: {
		noun: "sign-in domain", key: []part{required("Domain")},
		meanwhile: "Meanwhile people cannot sign in, and programs get no token there.",
	},
	"AWS::SQS::Queue": {
		noun: "queue", key: []part{required("QueueName")},
		meanwhile: "The messages in it go.",
		before:    "Receive what is in it.",
		after:     "Wait 60 seconds: Amazon SQS gives the name of a deleted queue to no other before.",
	},
	logGroup: {
		noun: "log group", key: []part{required("LogGroupName")},
		meanwhile: "The events in it go.",
		before:    "Export them first if anyone needs them: aws logs create-export-task.",
	},
}

// emptied says what comes of two policies of one queue or topic.
func emptied(noun string) string {
	return "CloudFormation puts the new policy on the " + noun + " first, and then cleans up the old one, which takes away the policy that is there: the deployment succeeds, and the " + noun + " is left without any."
}

// UniqueTypes returns, in order, the resource types whose logical ids cannot change in one deployment, since AWS takes one
// resource for each value of their unique key.
func UniqueTypes() []string { return slices.Sorted(maps.Keys(uniques)) }

// keys returns the values of the resource's unique key, as text: one, or several if a part has a list; none if a part has no value.
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
			if part.route {
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
			return slices.ContainsFunc(references(r.at(way...)), func(id string) bool { return slices.Contains(ids, id) })
		})
	})
}

// named are the types whose Ref is the name that the template gives.
var named = map[string][]string{
	globalTable: {"TableName"}, regionalTable: {"TableName"}, bucket: {"BucketName"}, lambdaFunction: {"FunctionName"}, glueDatabase: {"DatabaseInput", "Name"},
	"AWS::ApiGatewayV2::DomainName": {"DomainName"}, iamRole: {"RoleName"}, "AWS::Events::EventBus": {"Name"}, "AWS::Scheduler::ScheduleGroup": {"Name"},
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
		if name, ok := r.at(named[r.kind]...).(string); ok {
			return name
		}
	}
	return "the resource " + id
}

// conflict is a resource that would get a key while a deployed one has it.
type conflict struct{ old, changed *resource }

// clashes returns the conflicts, by the logical ids of the new resources.
func (c *comparison) clashes() []conflict {
	holders := map[string][]*resource{}
	for _, id := range slices.Sorted(maps.Keys(c.deployed)) {
		r := c.deployed[id]
		for _, key := range uniqueOf(r.kind).keys(c.deployed, r) {
			holders[key] = append(holders[key], r)
		}
	}
	var all []conflict
	for _, id := range slices.Sorted(maps.Keys(c.proposed)) {
		r, own := c.proposed[id], c.deployed[id]
		var had []string
		if own != nil && own.kind == r.kind {
			had = uniqueOf(r.kind).keys(c.deployed, own)
		}
		for _, key := range uniqueOf(r.kind).keys(c.proposed, r) {
			same := slices.Contains(had, key)
			for _, holder := range holders[key] {
				// Two deployed resources with one key have opposite conditions.
				clash := conflict{holder, r}
				if (!same || holder.id == id && len(replacing(own, r)) > 0) && !slices.Contains(all, clash) {
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

// conflict adds the finding about one; without are all resources that block another, and those that are removed with them.
func (c *comparison) conflict(clash conflict, without []string) {
	old, changed := clash.old, clash.changed
	u := uniqueOf(old.kind)
	is := describeKey(u, changed)
	p, by := &plan{}, c.madeBy(c.proposedModels, changed)
	why := cmp.Or(u.why, "CloudFormation creates before it deletes, and AWS takes one "+u.noun+" with that key: the deployment fails and rolls back.")
	var got string
	switch stays := c.proposed[old.id]; {
	case old.id == changed.id:
		properties := join(replacing(old, changed))
		by = properties + " of " + changed.place()
		got = fmt.Sprintf("%s changes, which replaces the %s of %s", properties, u.noun, is)
		p.do("Leave %s as deployed.", properties)
	case stays != nil && stays.kind == changed.kind && slices.ContainsFunc(u.keys(c.proposed, stays), func(key string) bool { return slices.Contains(u.keys(c.proposed, changed), key) }):
		got = fmt.Sprintf("%s is a second %s of %s, which %s is already", changed.id, u.noun, is, old.id)
		p.do("Leave one of the two out: AWS takes one.")
		second := "AWS takes one " + u.noun + " with that key: CloudFormation fails and rolls back."
		if u.why != "" {
			second = "AWS takes one " + u.noun + " with that key: the later one replaces the other, without a word."
		}
		c.addBy(by, Refusal, "conflict", changed, got, second, p.steps...)
		return
	default:
		got = fmt.Sprintf("%s is to be the %s of %s, which the deployed %s is", changed.id, u.noun, is, old.id)
		p.do("Keep the logical id: leave the construct's id and its place in the tree as they were, or call OverrideLogicalId(%q) on its L1 resource.", old.id)
	}
	if u.renamed != "" && old.id != changed.id {
		p.do("Or give the new one another %s: then both are there until CloudFormation has deleted the old one.", u.renamed)
		c.addBy(by, Refusal, "conflict", changed, got, why, p.steps...)
		return
	}
	p.do("If it has to be, two deployments lead there. %s", u.meanwhile)
	if u.before != "" {
		p.do("%s", c.fill(u.before, old))
	}
	p.deploy("the deployed template without %s, and without what uses them.%s", join(without), c.acceptDrops(without))
	p.by("%s", c.constructs(without))
	if kept(old.deletion) {
		p.do("It is left behind then (DeletionPolicy %s): delete it by hand, or import it into the stack as %s (cdk import).", old.deletion, changed.id)
	}
	if u.after != "" {
		p.do("%s", c.fill(u.after, old))
	}
	p.deploy("this template.")
	c.addBy(by, Refusal, "conflict", changed, got, why, p.steps...)
}

// acceptDrops names the findings about dropped resources to accept.
func (c *comparison) acceptDrops(ids []string) string {
	var refused []string
	for _, id := range ids {
		if kinds[c.deployed[id].kind].severity == Refusal {
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
			if said := say(r.at(way...)); said != "" {
				parts = append(parts, way[len(way)-1]+" "+said)
				break
			}
		}
	}
	return join(parts)
}
