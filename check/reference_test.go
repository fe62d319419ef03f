package check

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// explained has what each id stands for, by the sections of docs/reference/check.md.
var explained = []struct {
	heading, about string
	ids            [][2]string
}{
	{"Resources", "", [][2]string{
		{"conflict", "A logical id changes, or a property that replaces the resource, and AWS takes only one such " +
			"resource: see [what AWS has once](#what-aws-has-once)."},
		{"drop", "A resource [that holds something](#what-holds-something) leaves the template, or its logical id " +
			"changes."},
		{"rename", "The physical name of such a resource changes, also when a prefix is given or taken away. " +
			"CloudFormation makes a new, empty one."},
		{"replace", "Another property changes that makes a new one, as CloudFormation's data about each type says; " +
			"in `AWS::DynamoDB::Table` also the type of any attribute. Or the property refers to a resource that is " +
			"replaced. Of a resource that holds nothing it is a `conflict` if the template names it, and else a note."},
		{"may-replace", "A property of a store changes, and some changes of it make a new one."},
		{"unsupported", "A property changes that no update changes, of any type: the class of a log group, or " +
			"whether a KMS key is a multi-Region one."},
		{"type", "One logical id gets another type, such as `Table` and `GlobalTable`."},
		{"condition", "The condition on which such a resource exists is another."},
		{"policy", "The policy that keeps a resource, `DeletionPolicy` or `UpdateReplacePolicy`, goes."},
		{"protection", "Deletion protection goes."},
		{"export", "An export that another deployed stack imports goes, gets another name or another value, or is of " +
			"a resource that is replaced."},
		{"exports", "The same of exports of which the check cannot learn who imports them: without AWS, or without " +
			"the permission `cloudformation:ListImports`."},
		{"nested", "The template of a nested stack is another, and the check could not get the deployed one. Else it " +
			"compares both as it does stacks: the id of the nested stack comes before that of a finding."},
	}},
	{"Tables", "With several replicas, the id of a finding about one of them has its Region, as in " +
		"`recovery-eu-west-1`.", [][2]string{
		{"attribute", "An attribute that items still have gets another type or, it seems, another name: refused. " +
			"It leaves the schema: a warning."},
		{"indexes", "More than one global secondary index of a table is created or deleted, or one gets other keys, " +
			"another type of a key, or another projection."},
		{"index-drop", "An index is deleted."},
		{"ttl", "The attribute by which items expire changes."},
		{"ttl-on", "Items of a deployed table begin to expire."},
		{"ttl-off", "Items of a deployed table no longer expire."},
		{"stream", "The view of a stream changes, or the stream ends; any change of it with several replicas."},
		{"replicas", "Refused: more than one replica is added or removed, or the stack's own is removed, or one is " +
			"added with a policy of its own. Warnings: replicas are added or removed together with other changes of " +
			"the table or the stack."},
		{"shards", "Refused: functions would write more shards than deployed ones read, or read fewer than deployed " +
			"ones write ([scale](../operate/scale.md)). A warning: they read fewer than deployed ones read."},
		{"recovery", "Point-in-time recovery is switched off."},
		{"recovery-period", "Point-in-time recovery reaches back less far."},
		{"warm", "The warm throughput of a table or an index falls."},
		{"kinesis", "Changes of items go to another Kinesis stream, or to none."},
		{"key", "The key of a table changes."},
		{"encryption", "The kind of encryption of a table changes."},
		{"billing", "The billing mode of a table changes."},
		{"class", "The class of a table changes."},
	}},
	{"The lake", "", [][2]string{
		{"column", "A column of a table or view gets another name, or goes; a column of a table gets another type, " +
			"or shows another attribute: refused. A column of a view gets another type: a warning."},
		{"location", "The place of a table's objects changes."},
		{"projection", "Queries no longer compute partitions of a table: the projection is switched off, its range " +
			"begins later or ends earlier, or another of its parameters changes."},
	}},
	{"Rights", "", [][2]string{
		{"grants", "A role may no longer do what it could: a statement or a managed policy goes, or a new statement " +
			"denies it. Refused; a warning if the code of all functions with the role changes, too."},
		{"permissions", "A function that stays may no longer be invoked by a route that leads to it, or by another " +
			"service."},
		{"open", "A route loses its authorizer, so that everyone may call it; or it goes, and an open route for more " +
			"paths or methods leads its requests to the same function."},
		{"scopes", "A route loses all the scopes that it asked for."},
		{"issuer", "An API takes no more tokens of an issuer. The finding names the routes that this opens."},
		{"users", "A property of a user pool changes that Cognito never changes: sign-in, case, attributes."},
	}},
	{"Other content", "", [][2]string{
		{"secret-value", "CloudFormation would generate another value for a secret."},
		{"former", "A bucket keeps former versions of objects for fewer days."},
		{"versioning", "A bucket keeps no versions any more."},
		{"expiry", "A bucket begins to delete objects, or deletes others."},
		{"retention", "A log group keeps events for fewer days."},
	}},
	{"What opens something", "These changes succeed. They let somebody in, or do less against misuse.", [][2]string{
		{"opens-grants", "A deployed role, user or group may do more: by a wildcard (`*` or `?`) in an action or a " +
			"resource, by `NotAction` or `NotResource`, without a condition that it had, without a statement that " +
			"denied, or by `AdministratorAccess`, `PowerUserAccess` or a `…FullAccess` of AWS. A new one has such " +
			"a policy, or an action `*` or `service:*`."},
		{"opens-trust", "A deployed role lets in another service, account or caller, or a new one lets in everyone."},
		{"opens-policy", "The policy of a queue, topic, bucket, table, stream, secret, key, repository or function " +
			"allows more: to everyone, to another account, to a service without a condition, by a wildcard, without " +
			"a condition that it had (`SourceArn` of a function's permission), or without a statement that denied. " +
			"A new resource lets in everyone without a condition."},
		{"opens-stream-policy", "The same of the stream of a table."},
		{"opens-url", "A function URL asks for no authorization, also a new one, or takes every origin."},
		{"opens-public", "The block of a bucket's public access is weaker, its access list or a website makes it " +
			"public, or access lists count again."},
		{"opens-encryption", "Something is no longer encrypted under its key."},
		{"opens-sign-up", "Everyone may sign up, where only administrators made accounts."},
		{"opens-mfa", "A user pool asks for a second factor less, or protects less against threats."},
		{"opens-passwords", "A user pool takes weaker passwords."},
		{"opens-sign-in", "An app client gets another way to sign in, flow, scope, address for tokens or identity " +
			"provider; it tells which accounts there are; or its tokens can no longer be revoked."},
		{"opens-audience", "An API takes tokens for further app clients of an issuer, or for any."},
		{"opens-tokens", "A route takes tokens of another issuer."},
		{"opens-scopes", "A route takes a further scope."},
		{"opens-account", "A rule sends events to another account, or a function gets a layer of one."},
		{"opens-firewall", "A web ACL loses a rule, only counts, lets pass by default, or raises the limit of an " +
			"address; or a distribution loses its web ACL."},
		{"opens-edge", "A distribution has another cache policy, serves requests without TLS, or by an older version."},
		{"opens-authorizer", "A function that decides who calls is another one, is asked by another part of the " +
			"request, or its answers are kept longer."},
		{"opens-route", "A route is new and open, and most deployed routes of its function ask who calls."},
		{"opens-throttle", "The throttle of a stage or a route goes."},
		{"opens-origins", "An API takes calls of pages of every site, or with credentials."},
		{"opens-endpoint", "The other address of an API, or callers without a certificate, get through."},
		{"opens-boundary", "A role loses its permissions boundary."},
		{"opens-queries", "A query may read more bytes, or the settings of a workgroup no longer count."},
	}},
	{"What stops something", "These changes succeed. What worked no longer does, or fails unseen.", [][2]string{
		{"stops-function", "The reserved concurrency of a function is 0, also of a new one; its time-out is shorter; " +
			"or a key is disabled."},
		{"stops-trust", "A role no longer lets in who had it."},
		{"stops-policy", "The policy of a resource no longer allows something, or newly denies it."},
		{"stops-stream-policy", "The same of the stream of a table."},
		{"stops-boundary", "A role gets a permissions boundary, or another."},
		{"stops-mapping", "An event source mapping is disabled, begins to filter, or loses a pattern of its filter."},
		{"stops-schedule", "A schedule or rule is disabled, ends, starts something else or less, or has another " +
			"pattern."},
		{"stops-failures", "A failure destination, dead-letter queue or redrive policy goes; failures are tried less " +
			"often or less long, take a whole batch with them, or are not seen; a queue keeps messages less long."},
		{"stops-visibility", "The visibility time-out of a queue falls below six times the time-out of its function, " +
			"or below that. Refused: it is below that, and the mapping is new."},
		{"stops-trigger", "A trigger of a user pool goes."},
		{"stops-sign-in", "An app client loses a way to sign in, a flow, a scope or an address."},
		{"stops-audience", "An API no longer takes the tokens of an app client."},
		{"stops-open", "A route that everyone may call asks for a token."},
		{"stops-callers", "A route asks another who calls: an issuer of tokens, a function, or IAM."},
		{"stops-api", "The throttle of a stage is 0, or the address that API Gateway gives is switched off."},
		{"stops-integration", "Another function answers the requests of a route, or gets them in another form."},
		{"stops-origins", "An API lets pages of a site no longer call it, or not with a header or method."},
		{"stops-firewall", "The scope of a web ACL changes."},
		{"stops-edge", "A distribution loses a name, leads elsewhere, or is disabled."},
		{"stops-dns", "A DNS record leads elsewhere."},
		{"tenfold", "A throttle, an interval, a threshold, a delay or a concurrency is ten times as high or low, or " +
			"more."},
		{"stops-notice", "The actions of an alarm are switched off, it tells fewer, or watches something else; a " +
			"subscription gets a filter."},
		{"stops-variable", "A variable of a function names another table, bucket, secret, queue, stream or bus than " +
			"it did; or none, and the code stays. Texts count in variables whose names end in `TABLE`, `BUCKET`, " +
			"`SECRET`, `QUEUE`, `STREAM` or `BUS`, also before `_NAME`, `_ARN`, `_URL` or `_ID`."},
	}},
}

// docs/reference/check.md explains every id that a finding can have, and has the types that the check knows.
func TestReference(t *testing.T) {
	t.Run("Types", testTypes)
	page, found := &reference.Page{}, severities(t)
	page.Heading(1, "What onesynth check finds")
	page.Text("The id of a finding is the stack, one of the words below, and the logical id of the resource, such as "+
		"`onesynth-todo-prod/ttl:TodoDatabaseAppDataA1556560`. A name may follow the word, as in "+
		"`attribute-due_date`. [Check a deployment](../guide/deploy.md#check-a-deployment) says how to go on.", "", "")
	page.Text("A refusal is a change that fails, or that loses data or a way to restore it: the command ends with 1. "+
		"A warning is a change that succeeds, with an effect that its author may not expect: it counts with "+
		"`--strict` alone. Every other changed property of a resource that stays is a [note](#what-is-noted).", "", "")
	for _, section := range explained {
		page.Heading(2, section.heading)
		page.Text(section.about, "", "")
		for i, entry := range section.ids {
			id, text := entry[0], entry[1]
			if found[id] == nil {
				t.Errorf("the page explains %s, which begins no id", id)
			}
			severity := strings.Join(found[id], " or ")
			page.Item(i == 0, fmt.Sprintf("`%s` (%s): %s%s", id, severity, text, properties(id)), "", "")
			delete(found, id)
		}
	}
	for id := range found {
		t.Errorf("no text explains the finding %s", id)
	}

	page.Heading(2, "What holds something")
	page.Text("The check refuses that such a resource goes, is renamed or replaced, or gets another condition:", "", "")
	for _, severity := range []Severity{Refusal, Warning} {
		// Types with the same loss share an item.
		types, losses := map[string][]string{}, []string{}
		for name := range sorted(typeLines()) {
			if k, known := kindOf(name); known && k.severity == severity {
				if types[k.loss] == nil {
					losses = append(losses, k.loss)
				}
				types[k.loss] = append(types[k.loss], "`"+name+"`")
			}
		}
		for i, loss := range losses {
			also := ""
			if k, _ := kindOf(strings.Trim(types[loss][0], "`")); k.stateless {
				also = ". No warning if a new one has the same properties, or another name"
			} else if k.replaced != "" {
				also = "; that it is renamed or replaced is refused"
			}
			page.Item(i == 0, fmt.Sprintf("%s: %s%s.", strings.Join(types[loss], ", "), loss, also), "", "")
		}
		if severity == Refusal {
			page.Text("It warns of the same for these:", "", "")
		}
	}

	page.Heading(2, "What AWS has once")
	page.Text("CloudFormation creates what is new before it deletes what is gone, and a replacement before what it "+
		"replaces. Of the types below, AWS takes one resource with the same key. So the deployment fails halfway if "+
		"the key gets another logical id, or if the resource is replaced. The check refuses that, and lists the two "+
		"deployments that lead there. It is better to keep the logical id, as the constructs of this library do. "+
		"The keys:", "", "")
	for i, kind := range UniqueTypes() {
		var names []string
		for _, p := range uniques[kind].key {
			names = append(names, "`"+strings.Join(p.ways[0], ".")+"`")
		}
		page.Item(i == 0, fmt.Sprintf("`%s`: %s. %s", kind, strings.Join(names, ", "), uniques[kind].why), "", "")
	}
	page.Text("In the key of a route, names of path variables make no difference: `GET /tasks/{task_id}` is "+
		"`GET /tasks/{id}`.", "", "")
	page.Text("The same is true of every other resource to which a template gives a physical name, such as a "+
		"function, a role or an alarm: also if another property changes that replaces it. Another name, or none, is "+
		"enough then.", "", "")

	page.Heading(2, "What comes from CloudFormation's data")
	counts, unchanging := map[string]int{}, []string{}
	for name, fields := range sorted(typeLines()) {
		for property := range strings.FieldsSeq(fields[typeReplaces]) {
			counts[property[:1]]++
			if path, _, _ := strings.Cut(property[1:], "="); property[:1] == fixed {
				unchanging = append(unchanging, "`"+path+"` of `"+name+"`")
			}
		}
	}
	page.Text(fmt.Sprintf("What identifies a resource and what replaces it is in a table of %d types: %d properties "+
		"whose change makes a new one, and %d some of whose changes do. It comes of the resource database of the CDK "+
		"command, which is under the Apache License 2.0 (Copyright Amazon.com, Inc. or its affiliates). No update "+
		"changes these: %s.", len(typeLines()), counts[replaces], counts[mayReplace], strings.Join(unchanging, ", ")),
		"", "")

	page.Heading(2, "What is noted")
	page.Text("A changed property of a resource that stays, about which there is no finding, is a note: the property "+
		"before and after, folded by type. Notes never end the command with 1, also with `--strict`. There are none "+
		"of code, assets, descriptions, tags and the metadata of resources, and of what is compared by its meaning: "+
		"policies, keys and indexes of tables, columns of the lake, and who may call a route. A text is compared by "+
		"what it gives: `Fn::Sub` and `Fn::Join` may be exchanged.", "", "")

	page.Heading(2, "What it does not see")
	for i, unseen := range []string{
		"Changes by hand: it knows templates, not resources. `Fn::If` within properties, and values that " +
			"CloudFormation alone knows. A deployed template in YAML, which `cdk import` leaves behind: the error " +
			"says how to compare with a copy in JSON. A stack that leaves the app: `cdk deploy` leaves it alone, too.",
		"What a change of load balancers, networks, databases or other types without a rule opens or stops: the " +
			"change is a note.",
		"Managed policies that the template does not declare, but for AWS's administrators and `…FullAccess`; what a " +
			"permissions boundary allows; permissions of Amazon API Gateway other than for routes and authorizers of " +
			"HTTP APIs.",
		"Which of two conditions of a statement is wider: two that are written differently are different.",
		"Whether a filter, event pattern or schedule still matches anything. It names each pattern that goes.",
		"Routes and functions that go, code that fails, and limits of an account.",
		"Nested stacks and importers of exports without AWS, but for files beside that of `--against` and stacks of " +
			"the assembly.",
		"Warm throughput that DynamoDB has raised by itself, and shards of other functions than those with the " +
			"variables `SHARDS`, `READ_SHARDS` and one for a table (`…_TABLE`).",
	} {
		page.Item(i == 0, unseen, "", "")
	}
	page.Check(t, "check")
}

// finding matches the severity of a finding and what begins its id, or the id of a warning by [comparison.warn].
var finding = regexp.MustCompile(`(?:(Refusal|Warning|kind\.severity)\)?,\s+"([a-z-]+)"|"((?:opens|stops)-[a-z-]*|nested|exports)")`)

// severities returns the severities of findings by what begins their ids, from the rules and from the source.
func severities(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	add := func(id, severity string) {
		if !slices.Contains(all[id], severity) {
			all[id] = append(all[id], severity)
		}
	}
	for _, r := range propertyRules() {
		add(r.ID, string(cmp.Or(r.Severity, Warning)))
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range finding.FindAllStringSubmatch(string(content), -1) {
			switch id := found[2] + found[3]; {
			case strings.HasSuffix(found[3], "-"):
				for _, p := range policyKinds {
					add(found[3]+p.id, string(Warning))
				}
			case found[1] == "kind.severity":
				add(id, string(Refusal))
				add(id, string(Warning))
			default:
				add(strings.TrimSuffix(id, "-"), strings.ToLower(cmp.Or(found[1], string(Warning))))
			}
		}
	}
	for _, severities := range all {
		slices.Sort(severities)
	}
	return all
}

// properties names the properties in which the rules look for a change, by the types of resources.
func properties(id string) string {
	paths := map[string][]string{}
	for _, r := range propertyRules() {
		if r.ID == id {
			kind := r.Kind
			if strings.HasPrefix(kind, "AWS::") {
				kind = "`" + kind + "`"
			}
			for path := range strings.SplitSeq(r.Path, "|") {
				paths[kind] = append(paths[kind], "`"+path+"`")
			}
		}
	}
	var all []string
	for kind, of := range sorted(paths) {
		all = append(all, fmt.Sprintf("%s of %s", strings.Join(slices.Compact(of), ", "), kind))
	}
	if len(all) == 0 {
		return ""
	}
	return " It looks at " + strings.Join(all, "; ") + "."
}
