package check

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// kind describes a resource type that holds data or settings.
type kind struct {
	// noun names the type in findings.
	noun string
	// loss says what is lost with a resource, as a clause.
	loss string
	// severity is that of the loss.
	severity Severity
	// replaced is the severity of a replacement; "" is severity.
	replaced Severity
	// save is a step that keeps what the resource holds, for [comparison.fill].
	save string
	// stateless is true if another resource with the same properties is as good.
	stateless bool
}

// named returns the physical name that the template gives, or nil.
func named(r *resource) any {
	if name := nameOf(r.kind); name != nil {
		return r.at(name...)
	}
	return nil
}

const (
	globalTable   = "AWS::DynamoDB::GlobalTable"
	regionalTable = "AWS::DynamoDB::Table"
	logGroup      = "AWS::Logs::LogGroup"
)

const saveTable = "Back it up: aws dynamodb create-backup --backup-name before-change --table-name {}"

// kindOf returns a type that holds something, and whether it is one: of [kinds], or a store of the table of types.
func kindOf(name string) (kind, bool) {
	k, known := kinds[name]
	if !known && strings.Contains(typeField(name, typeFlags), "s") {
		return kind{noun: nounOf(name), loss: "its content is gone", severity: Refusal}, true
	}
	return k, known
}

var kinds = map[string]kind{
	// Keys and local indexes replace a table too: see comparison.table.
	globalTable:   {noun: "table", loss: "its items are gone", severity: Refusal, save: saveTable},
	regionalTable: {noun: "table", loss: "its items are gone", severity: Refusal, save: saveTable},
	"AWS::S3::Bucket": {noun: "bucket", loss: "nothing finds its objects any more, and they go with it when it is " +
		"emptied", severity: Refusal,
		save: "Copy its objects: aws s3 sync s3://{} s3://OTHER-BUCKET"},
	"AWS::Cognito::UserPool": {noun: "user pool",
		loss:     "its users are gone: they have to sign up again, and Cognito does not export their passwords",
		severity: Refusal},
	"AWS::SecretsManager::Secret": {noun: "secret",
		loss:     "its value is gone after the recovery window, and values derived from it no longer match",
		severity: Refusal, save: "Keep its value: aws secretsmanager get-secret-value --secret-id {}"},
	"AWS::KMS::Key": {noun: "key",
		loss: "nothing that is encrypted under it can be read once it is deleted, backups included", severity: Refusal},
	"AWS::Kinesis::Stream": {noun: "stream", loss: "the records that have not been read are gone",
		severity: Refusal},
	nestedStack: {noun: "nested stack", loss: "everything in it goes", severity: Refusal},
	"AWS::SQS::Queue": {noun: "queue", loss: "the messages in it are gone", severity: Warning,
		save: "Drain it: stop what sends to it, let its function empty it, or receive each message, keep it where " +
			"you need it and delete it (aws sqs receive-message, delete-message), until the numbers are 0 in " +
			"aws sqs get-queue-attributes --attribute-names ApproximateNumberOfMessages " +
			"ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesDelayed --queue-url {id}"},
	logGroup: {noun: "log group", loss: "its events are gone", severity: Warning, replaced: Refusal,
		save: "Export its events into a bucket whose policy lets logs.amazonaws.com write: aws logs " +
			"create-export-task --log-group-name {} --from 0 --to $(date +%s000) --destination BUCKET"},
	"AWS::Cognito::UserPoolClient": {noun: "app client",
		loss: "apps that hold its id, and its secret, can no longer sign people in", severity: Warning,
		save: "Deploy the new client beside it, under another construct id, and give each app that has the id " +
			"{} the new one. Take this one away when no app signs people in with it"},
	userPoolGroup: {noun: "group", loss: "its members lose the right that they have by it, and nothing keeps who " +
		"they were", severity: Refusal,
		save: "Keep the list of its members: aws cognito-idp list-users-in-group --user-pool-id {UserPoolId} " +
			"--group-name {}. To put each into another group: aws cognito-idp admin-add-user-to-group"},
	glueDatabase: {noun: "catalog database",
		loss:     "SQL that names it fails, and so do roles that may query it; the objects in the bucket stay",
		severity: Refusal},
	glueTable: {noun: "catalog table", loss: "SQL that names it fails; the objects in the bucket stay",
		severity: Refusal},
	"AWS::Athena::WorkGroup": {noun: "workgroup", loss: "the history of queries and what people have saved in it go",
		severity: Refusal},
	userPoolDomain: {noun: "sign-in domain", loss: "apps that send people or ask for tokens there fail",
		severity: Warning,
		save: "Tell each app that has the address of {} where people sign in, and where programs get tokens, from " +
			"then on"},
	"AWS::ApiGatewayV2::DomainName": {noun: "domain name",
		loss: "clients that call it get no answer, and another one of the same name has another target for DNS " +
			"records",
		severity: Refusal},
	"AWS::ApiGatewayV2::Api": {noun: "API", loss: "its address changes, and clients that have the old one fail",
		severity: Warning,
		save: "Deploy the new API beside it, under another construct id, and tell clients its address: the stack's " +
			"output has it, and aws apigatewayv2 get-apis. Take this one (aws apigatewayv2 get-api --api-id {}) away " +
			"when its access log has no more requests. A domain name of your own keeps the address"},
	"AWS::ApiGatewayV2::ApiMapping": {noun: "API mapping", loss: "the domain name leads to no API", severity: Warning,
		stateless: true},
	"AWS::Lambda::EventInvokeConfig": {noun: "setting of asynchronous invocations",
		loss:     "the function has AWS Lambda's own: two retries in six hours, and no queue for what fails",
		severity: Warning, stateless: true},
	"AWS::Scheduler::Schedule": {noun: "schedule", loss: "what it starts is started no more", severity: Warning,
		stateless: true},
	"AWS::Events::Rule": {noun: "rule", loss: "what it starts is started no more", severity: Warning,
		stateless: true},
	recordSet: {noun: "DNS record", loss: "its name leads nowhere", severity: Warning, stateless: true},
	"AWS::Route53::HostedZone": {noun: "hosted zone", loss: "its names lead nowhere, and another one has other name " +
		"servers", severity: Refusal},
	"AWS::WAFv2::WebACLAssociation": {noun: "association of a firewall", loss: "requests get past the firewall",
		severity: Warning, stateless: true},
	"AWS::Events::EventBus": {noun: "event bus", loss: "publishers and rules of other stacks no longer meet on it",
		severity: Warning},
	"AWS::CloudWatch::Alarm": {noun: "alarm", loss: "nobody hears of what it watched", severity: Warning,
		stateless: true},
	"AWS::CloudWatch::CompositeAlarm": {noun: "alarm", loss: "nobody hears of what it watched", severity: Warning,
		stateless: true},
	"AWS::SNS::Topic": {noun: "topic",
		loss: "its subscribers hear nothing more, and have to subscribe and confirm again", severity: Warning},
	"AWS::SNS::Subscription": {noun: "subscription", loss: "its endpoint hears nothing more", severity: Warning,
		stateless: true},
	eventSourceMapping: {noun: "event source mapping", loss: "its place in the stream is forgotten: a new one begins " +
		"where StartingPosition says, so that records come again or are skipped", severity: Warning},
}

// kept reports whether a policy keeps the resource.
func kept(policy string) bool { return policy == "Retain" || policy == "RetainExceptOnCreate" }

// protects reports whether a policy keeps the resource or a snapshot of it.
func protects(policy string) bool { return kept(policy) || policy == "Snapshot" }

// drop reports a resource that the proposed template no longer has.
func (c *comparison) drop(kind kind, old *resource) {
	if c.clashing[old.id] {
		return
	}
	plan := []step{do("Put it back, unless you want to remove it.")}
	got := "the " + kind.noun + " is no longer in the template"
	heir := c.heir(kind, old)
	if heir != nil && kind.stateless {
		return
	}
	if heir != nil {
		got = fmt.Sprintf("the %s is no longer in the template, and %s is new: it looks as if the logical id had "+
			"changed", kind.noun, heir.id)
		plan = []step{keepLogicalID(old)}
	}
	why := "CloudFormation deletes it: " + kind.loss + "."
	switch {
	case old.deletion == "Snapshot":
		why = "CloudFormation takes a snapshot and deletes it: " + kind.loss + ", except what you restore by hand."
	case kept(old.deletion):
		why = "CloudFormation leaves it behind (DeletionPolicy " + old.deletion +
			"), and no stack owns it any more: nothing in the new template uses its content."
	}
	if heir != nil && sameName(old, heir) {
		why = fmt.Sprintf("CloudFormation creates before it deletes, and there cannot be two with the name %s: the "+
			"deployment fails. If it did not: %s", say(named(old)), why)
	}
	if kind.save != "" {
		plan = append(plan, do("To remove it: %s.", c.fill(kind.save, old)))
	}
	if kind.severity == Refusal {
		plan = append(plan, do("To remove it, if nothing needs its content: accept this finding."))
	}
	c.addBy(c.goneBy(old), kind.severity, "drop", old, got, why, plan...)
}

// keepLogicalID is the step that keeps a resource as the one that is deployed.
func keepLogicalID(old *resource) step {
	return do("Keep the logical id: leave the construct's id and its place in the tree as they were, or call "+
		"OverrideLogicalId(%q) on its L1 resource.", old.id)
}

// heir returns a new resource that looks like the dropped one, or nil. It has to be the only one.
func (c *comparison) heir(kind kind, old *resource) *resource {
	var heirs []*resource
	for id, r := range c.proposed {
		if _, deployed := c.deployed[id]; deployed || r.kind != old.kind {
			continue
		}
		if old.kind == globalTable || old.kind == regionalTable {
			if describeKeys(old.at("KeySchema"), old) != describeKeys(r.at("KeySchema"), r) {
				continue
			}
		} else if !reflect.DeepEqual(old.properties, r.properties) {
			continue
		}
		heirs = append(heirs, r)
	}
	if named := slices.IndexFunc(heirs, func(r *resource) bool { return sameName(old, r) }); named >= 0 {
		return heirs[named]
	}
	if len(heirs) == 1 {
		return heirs[0]
	}
	return nil
}

// sameName reports whether both templates set the same name.
func sameName(a, b *resource) bool {
	return named(a) != nil && reflect.DeepEqual(named(a), named(b))
}

// retype reports a logical id that is used for another type.
func (c *comparison) retype(old, changed *resource, known bool) {
	plan := []step{do("Give the new resource another logical id: another construct id.")}
	if known {
		plan = slices.Insert(plan, 0, do("To keep its content: first set its DeletionPolicy to Retain, and deploy "+
			"that."))
	}
	c.add(Refusal, "type", changed, turns("the type of the resource", old.kind, changed.kind),
		"CloudFormation refuses to update a resource to another type (\"Update of resource type is not "+
			"permitted\").", plan...)
}

// retention reports resources that the end of their stack would no longer keep.
func (c *comparison) retention(kind kind, old, changed *resource) {
	if kind.severity != Refusal {
		return
	}
	var got []string
	for _, policy := range []struct{ name, before, after string }{
		{"DeletionPolicy", old.deletion, changed.deletion},
		{"UpdateReplacePolicy", old.replacement, changed.replacement},
	} {
		if protects(policy.before) && !protects(policy.after) {
			got = append(got, turns(policy.name, policy.before, policy.after))
		}
	}
	if len(got) > 0 {
		c.add(Warning, "policy", changed, join(got),
			"Nothing is lost yet. But the "+kind.noun+
				" no longer stays when it leaves the template, is replaced, or its stack is deleted: "+kind.loss+
				" then.",
			do("Leave the policies as they are deployed where the data matters."))
	}
}

// replacement reports resources that CloudFormation replaces by new, empty ones.
func (c *comparison) replacement(kind kind, old, changed *resource) {
	if c.clashing[changed.id] || kind.stateless {
		return
	}
	if !reflect.DeepEqual(named(old), named(changed)) {
		c.judge(changed, strings.Join(nameOf(changed.kind), "."))
		c.rename(kind, old, changed)
		return
	}
	for _, p := range c.replacing(old, changed) {
		if changed.kind == globalTable || changed.kind == regionalTable {
			if p.path != "ImportSourceSpecification" {
				// See comparison.table.
				continue
			}
		}
		c.judge(changed, p.path)
		got := p.turns()
		if len(c.marked(replaces, old, changed, nil)) == 0 {
			got = p.path + " refers to " + say(p.after) + ", which is replaced"
		}
		c.replace(p.path+" of "+changed.constructPath(), kind, old, changed, got,
			do("Leave %s as it is deployed, unless you want a new %s.", p.path, kind.noun))
		return
	}
	may := c.marked(mayReplace, old, changed, nil)
	if len(may) > 0 && kind.severity == Refusal && kind.noun != "table" {
		c.judge(changed, may[0].path)
		c.addBy(may[0].path+" of "+changed.constructPath(), Warning, "may-replace", changed, may[0].turns(),
			"Some changes of this property replace the "+kind.noun+" by a new, empty one: "+kind.loss+" then.",
			do("Look at the change set, which says whether it replaces: cdk deploy --method prepare-change-set."))
	}
}

// replacing returns the properties besides the physical name whose change makes CloudFormation replace the resource,
// also because a resource that they refer to is replaced, if that is no finding of its own.
func (c *comparison) replacing(old, changed *resource) []pair {
	unsaid := func(id string) bool {
		if !c.isReplaced(id) {
			return false
		}
		_, known := kindOf(c.proposed[id].kind)
		return !known
	}
	return slices.DeleteFunc(c.marked(replaces, old, changed, unsaid), func(p pair) bool {
		return p.path == strings.Join(nameOf(changed.kind), ".")
	})
}

// isReplaced reports whether CloudFormation replaces the resource with that logical id.
func (c *comparison) isReplaced(id string) bool {
	verdict, known := c.replaced[id]
	if known {
		return verdict
	}
	c.replaced[id] = false // A circle ends here.
	old, changed := c.deployed[id], c.proposed[id]
	c.replaced[id] = old != nil && changed != nil && old.kind == changed.kind &&
		len(c.marked(replaces, old, changed, c.isReplaced)) > 0
	return c.replaced[id]
}

// fixed reports changes that no update makes.
func (c *comparison) fixed(old, changed *resource) {
	for _, p := range c.marked(fixed, old, changed, nil) {
		noun := nounOf(changed.kind)
		c.judge(changed, p.path)
		c.addBy(p.path+" of "+changed.constructPath(), Refusal, "unsupported", changed, p.turns(),
			"AWS does not change it in a "+noun+" that is there: CloudFormation fails and rolls back.",
			do("Leave %s as deployed (%s).", p.path, cmp.Or(say(p.before), "unset")),
			do("If it has to be %s, only another %s can be:", cmp.Or(say(p.after), "unset"), noun),
			deploy("a second construct beside "+changed.constructPath(), "the deployed template, and a second %s with "+
				"that under another construct id.", noun),
			deploy("", "what uses it with the second one. Keep the first one for as long as anything needs what it "+
				"holds."))
	}
}

// outcome says what happens to a replaced resource.
func outcome(kind kind, old, changed *resource) string {
	if kept(old.replacement) && kept(changed.replacement) {
		return "The old one is left behind (UpdateReplacePolicy), owned by no stack: nothing uses its content."
	}
	return "The old one is deleted: " + kind.loss + "."
}

// replace adds a finding about a replacement for a reason other than the name.
func (c *comparison) replace(by string, kind kind, old, changed *resource, got string, plan ...step) {
	why := "CloudFormation replaces the " + kind.noun + " by a new, empty one. " + outcome(kind, old, changed)
	if _, given := c.name(old); given {
		why = "CloudFormation refuses: it cannot replace a " + kind.noun + " that has a name of its own " +
			"(\"CloudFormation cannot update a stack when a custom-named resource requires replacing\"). With " +
			"another name, it would make a new, empty one."
	}
	c.addBy(by, cmp.Or(kind.replaced, kind.severity), "replace", changed, got, why, plan...)
}

// rename adds a finding about a change of the physical name.
func (c *comparison) rename(kind kind, old, changed *resource) {
	var plan []step
	if old.kind != logGroup {
		// The name of a log group of the API's follows the stack and the logical id: no prop sets it.
		plan = append(plan, do("Leave the name as it is deployed (%s).", cmp.Or(say(named(old)), "none: "+
			"CloudFormation has given it one")))
	}
	if kind.noun == "table" {
		plan = append(plan, c.moveTable(old, changed)...)
	} else if kind.save != "" {
		plan = append(plan, do("If you need the change: %s.", c.fill(kind.save, old)))
		if kind.severity == Refusal {
			plan = append(plan, do("Then accept this finding, and put the saved content into the new one."))
		}
	}
	c.addBy(c.nameBy(changed), cmp.Or(kind.replaced, kind.severity), "rename", changed,
		turns("the name of the "+kind.noun, cmp.Or(say(named(old)), "one that CloudFormation has given"),
			cmp.Or(say(named(changed)), "one that CloudFormation gives")),
		"Nothing is renamed in AWS: CloudFormation makes a new, empty one. "+outcome(kind, old, changed), plan...)
}
