package check

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxIndexes is how many global secondary indexes a table may have ("Service, account, and table quotas in Amazon
// DynamoDB", developer guide).
const maxIndexes = 20

// table is a table of either resource type, as a template declares it.
type table struct {
	keys string
	// attributes are the types of key attributes.
	attributes map[string]string
	indexes    []index
	locals     []index
	ttl        string
	stream     string
	// replicas are the settings of a global table in each Region.
	replicas map[string]any
	resource *resource
	regions  []string
}

// index is a secondary index. Two that are equal need no change in DynamoDB.
type index struct {
	name, keys, projection string
}

// String describes the index.
func (i index) String() string { return fmt.Sprintf("%s (%s; %s)", i.name, i.keys, i.projection) }

func describe(r *resource) table {
	t := table{
		resource: r, keys: describeKeys(r.at("KeySchema"), r), indexes: describeIndexes(r, "GlobalSecondaryIndexes"),
		locals:   describeIndexes(r, "LocalSecondaryIndexes"),
		stream:   text(r.at("StreamSpecification", "StreamViewType")),
		replicas: map[string]any{}, attributes: map[string]string{},
	}
	for _, attribute := range list(r.at("AttributeDefinitions")) {
		t.attributes[text(at(attribute, "AttributeName"))] = text(at(attribute, "AttributeType"))
	}
	if enabled := text(r.at("TimeToLiveSpecification", "Enabled")); enabled != "" && enabled != "false" {
		t.ttl = text(r.at("TimeToLiveSpecification", "AttributeName"))
	}
	for _, settings := range list(r.at("Replicas")) {
		region := text(at(settings, "Region"))
		t.regions = append(t.regions, region)
		t.replicas[region] = settings
	}
	return t
}

// describeKeys describes a key schema with the types of its attributes.
func describeKeys(schema any, r *resource) string {
	var keys []string
	for _, key := range list(schema) {
		name, kind := text(at(key, "AttributeName")), "?"
		for _, attribute := range list(r.at("AttributeDefinitions")) {
			if text(at(attribute, "AttributeName")) == name {
				kind = text(at(attribute, "AttributeType"))
			}
		}
		keys = append(keys, fmt.Sprintf("%s %s %s", name, kind, text(at(key, "KeyType"))))
	}
	return join(keys)
}

func describeIndexes(r *resource, property string) []index {
	var indexes []index
	for _, declared := range list(r.at(property)) {
		i := index{name: text(at(declared, "IndexName")), keys: describeKeys(at(declared, "KeySchema"), r),
			projection: text(at(declared, "Projection", "ProjectionType"))}
		var attributes []string
		for _, attribute := range list(at(declared, "Projection", "NonKeyAttributes")) {
			attributes = append(attributes, text(attribute))
		}
		if slices.Sort(attributes); len(attributes) > 0 {
			i.projection += " " + join(attributes)
		}
		indexes = append(indexes, i)
	}
	return indexes
}

// table compares two declarations of one table.
func (c *comparison) table(oldResource, newResource *resource) {
	old, changed := describe(oldResource), describe(newResource)
	if c.keys(old, changed) {
		// No other comparison applies to a replaced table.
		return
	}
	c.indexes(old, changed)
	c.timeToLive(old, changed)
	c.stream(old, changed)
	c.replicas(old, changed)
	c.rules(tables, "", oldResource, newResource, oldResource.properties, newResource.properties)
	if newResource.kind == regionalTable {
		c.rules(replica, "", oldResource, newResource, oldResource.properties, newResource.properties)
	}
	for region, before := range old.replicas {
		if after, stays := changed.replicas[region]; stays {
			where := region
			if len(old.regions) == 1 {
				where = ""
			}
			c.rules(replica, where, oldResource, newResource, before, after)
		}
	}
}

// keys reports changes that replace a table, and returns whether there is one: of keys, local indexes, and in
// AWS::DynamoDB::Table the type of any attribute ("Replacement if you edit an existing AttributeDefinition",
// CloudFormation template reference).
func (c *comparison) keys(old, changed table) bool {
	kind := kinds[changed.resource.kind]
	names, types, retypes := c.retyped(old, changed)
	var got string
	switch {
	case old.keys != changed.keys:
		got = fmt.Sprintf("the keys of the table change from (%s) to (%s)", old.keys, changed.keys)
	case !sameIndexes(old.locals, changed.locals):
		got = fmt.Sprintf("the local secondary indexes change from (%s) to (%s)", describeAll(old.locals),
			describeAll(changed.locals))
	case changed.resource.kind == regionalTable && len(names) > 0:
		c.replace(lines(retypes), kind, old.resource, changed.resource, join(types), retypePlan(names)...)
		return true
	default:
		return false
	}
	s := c.source(changed.resource)
	by := s.table(".Key", "KeySchema", s.metadata.Key == changed.keys)
	c.replace(by, kind, old.resource, changed.resource, got,
		deploy(by+", in a table of its own", "a second table with the new keys, under another construct id; this "+
			"one stays as it is deployed."),
		deploy(functionsCode, "functions that write to both tables, and still read the old one."),
		do("Copy the existing items: read the old table to its end, and write each item that the new one does not "+
			"have (condition attribute_not_exists on the key)."),
		deploy(functionsCode, "functions that read and write the new table only."),
		do("%s.", c.fill(saveTable, old.resource)),
		deploy("without "+s.table("", "the table", true), "without the old table; accept its drop then."))
	return true
}

// retyped returns the attributes whose type changes, what is said of each, and the lines that change them.
func (c *comparison) retyped(old, changed table) (names, got, by []string) {
	s := c.source(changed.resource)
	for name, before := range sorted(old.attributes) {
		after := changed.attributes[name]
		if after == "" || after == before {
			continue
		}
		names = append(names, name)
		got = append(got, turns("the type of the attribute "+name, before, after))
		by = append(by, s.table(".Attributes["+name+"].Type", "AttributeDefinitions",
			strings.HasPrefix(s.metadata.Attributes[name], after)))
	}
	return names, got, by
}

// retypePlan keeps the types of attributes, and adds attributes of the new types.
func retypePlan(names []string) []step {
	all := join(names)
	return []step{
		do("Leave the type of %s as it is deployed, and give the attribute of the new type another name in the schema.",
			all),
		do("Check that again: with other names, its steps lead from index to index. Until the old indexes are gone, "+
			"functions write %s as before, too.", all),
	}
}

func describeAll(indexes []index) string {
	var all []string
	for _, i := range indexes {
		all = append(all, i.String())
	}
	return cmp.Or(join(all), "none")
}

func sameIndexes(a, b []index) bool {
	created, deleted, changed := difference(a, b)
	return len(created)+len(deleted)+len(changed) == 0
}

// difference returns the indexes that only b has, those that only a has, and those of b that differ from a's.
func difference(a, b []index) (created, deleted, changed []index) {
	if slices.Equal(a, b) {
		return nil, nil, nil
	}
	find := func(indexes []index, name string) int {
		return slices.IndexFunc(indexes, func(i index) bool { return i.name == name })
	}
	for _, i := range b {
		switch n := find(a, i.name); {
		case n < 0:
			created = append(created, i)
		case a[n] != i:
			changed = append(changed, i)
		}
	}
	for _, i := range a {
		if find(b, i.name) < 0 {
			deleted = append(deleted, i)
		}
	}
	return created, deleted, changed
}

// moveTable returns the steps that move a table's items to another name.
func (c *comparison) moveTable(old, changed *resource) []step {
	source, _ := c.name(old)
	target := cmp.Or(text(changed.at("TableName")), "NEW-NAME")
	plan := []step{do("If you need the change, move the items while the writers are stopped:")}
	if !kept(old.deletion) {
		plan = append(plan, deploy("DeletionPolicy and UpdateReplacePolicy of "+c.source(old).path, "as deployed, "+
			"but with DeletionPolicy and UpdateReplacePolicy Retain."))
	}
	return append(plan,
		do("Stop the writers. Wait five minutes: the latest restorable time is that far back."),
		do("aws dynamodb restore-table-to-point-in-time --use-latest-restorable-time --source-table-name %s "+
			"--target-table-name %s", source, target),
		deploy(c.goneBy(old), "without the table and what uses it; accept its drop then: it stays in AWS."),
		do("Import the restored table into the stack under its logical id %s, with the table alone in the new "+
			"template: cdk import.", old.id),
		deploy("", "this template. It sets what a restore leaves out: TTL, stream, recovery, tags, alarms."),
		do("Start the writers, and delete the old table when you are sure that nothing is missing."))
}

// indexes enforces the limit of one index a deployment ("AWS::DynamoDB::GlobalTable", property GlobalSecondaryIndexes,
// CloudFormation template reference: "You can only create or delete one global secondary index in a single stack
// operation"; the same for AWS::DynamoDB::Table, as UpdateTable has it so).
func (c *comparison) indexes(old, changed table) {
	created, deleted, replaced := difference(old.indexes, changed.indexes)
	changes := len(created) + len(deleted) + 2*len(replaced)
	if changes == 0 {
		return
	}
	if changes == 1 {
		if len(deleted) == 1 {
			c.addBy(c.source(changed.resource).dropped(deleted[0]), Warning, "index-drop", changed.resource,
				"the index "+deleted[0].String()+" is deleted",
				"The table changes before the functions: those that still query the index fail until they are "+
					"updated, or for good if the new ones query it too. To get the index back, DynamoDB has to fill "+
					"it from all items.",
				do("If deployed functions query it: deploy functions that do not first, and then without the index."))
		}
		return
	}
	var got, by []string
	s := c.source(changed.resource)
	for _, i := range created {
		got = append(got, "creates the index "+i.String())
		by = append(by, s.index(i, nil))
	}
	for _, i := range replaced {
		was := old.indexes[slices.IndexFunc(old.indexes, func(was index) bool { return was.name == i.name })]
		by = append(by, s.index(i, &was))
		got = append(got, fmt.Sprintf("changes the index %s to (%s; %s)", i.name, i.keys, i.projection))
	}
	for _, i := range deleted {
		got = append(got, "deletes the index "+i.String())
		by = append(by, s.dropped(i))
	}
	why := "DynamoDB creates or deletes one global secondary index in one update of a table: CloudFormation fails " +
		"and rolls back."
	if len(replaced) > 0 {
		why = "Keys and projection of an index cannot be changed: that deletes it and creates another, and DynamoDB " +
			"does one of these in one update of a table. CloudFormation fails and rolls back."
	}
	if names, types, retypes := c.retyped(old, changed); len(names) > 0 {
		// The old and the new index cannot exist at the same time, as every other plan needs.
		c.addBy(lines(retypes), Refusal, "indexes", changed.resource, join(append(got, types...)),
			why+" An attribute has one type in all indexes of a table, and DynamoDB refuses items with another one "+
				"for as long as an index has it as a key.",
			retypePlan(names)...)
		return
	}
	c.addBy(lines(by), Refusal, "indexes", changed.resource, join(got), why,
		c.indexPlan(s, old, created, deleted, replaced)...)
}

// indexPlan orders the deployments so that each makes one change, an index exists before functions query it, and stays
// while they do.
func (c *comparison) indexPlan(s source, old table, created, deleted, replaced []index) []step {
	var plan []step
	then := func(steps ...step) { plan = append(plan, steps...) }
	name, given := c.name(old.resource)
	if !given {
		then(do("For the commands below: TABLE=%s", name))
		name = "$TABLE"
	}
	status := func(i string) string {
		return fmt.Sprintf("aws dynamodb describe-table --table-name %s --query "+
			"\"Table.GlobalSecondaryIndexes[?IndexName=='%s'].IndexStatus\"", name, i)
	}
	create := func(i index) {
		by := s.successor(i)
		if slices.Contains(created, i) {
			by = s.index(i, nil)
		}
		then(deploy(by, "the deployed table, and the index %s.", i),
			do("Wait until it is ACTIVE, which can take hours: %s", status(i.name)))
	}
	taken := map[string]bool{}
	for _, i := range slices.Concat(old.indexes, created) {
		taken[i.name] = true
	}
	var goes []string
	successors := slices.Clone(replaced)
	for n, i := range replaced {
		for number := 2; taken[successors[n].name]; number++ {
			successors[n].name = fmt.Sprintf("%s-%d", i.name, number)
		}
		goes = append(goes, i.name)
	}
	for _, i := range deleted {
		goes = append(goes, i.name)
	}
	remove := func() {
		for _, index := range goes {
			then(deploy(s.table(".Indexes, without "+index+",", "GlobalSecondaryIndexes", true),
				"without the index %s.", index),
				do("Wait until this no longer finds it: %s", status(index)))
		}
	}
	if len(old.indexes)+len(created)+len(replaced) > maxIndexes {
		then(do("A table has at most %d indexes, so the old ones have to go first. Queries of them fail meanwhile.",
			maxIndexes),
			deploy(functionsCode, "functions that query none of %s; the table as deployed.", join(goes)))
		remove()
		for _, i := range slices.Concat(created, replaced) {
			create(i)
		}
		then(deploy("", "this template."))
		return plan
	}
	for _, i := range slices.Concat(created, successors) {
		create(i)
	}
	still := functionsCode + "; " + s.table(".Indexes, still with "+join(goes)+",", "GlobalSecondaryIndexes", true)
	switch {
	case len(goes) == 0:
		then(deploy(functionsCode, "this template: functions may query the new indexes now."))
	case len(replaced) == 0:
		then(deploy(still, "this template, but with the indexes %s: functions no longer query them.", join(goes)))
		remove()
	default:
		for n, i := range replaced {
			then(do("In the schema, write the index %s as %s, and query that.", i.name, successors[n].name))
		}
		then(deploy(still, "that, but with the indexes %s still there: functions no longer query them.", join(goes)))
		remove()
		then(do("You can keep the old name if its queries may fail for a while: deploy without the index, wait " +
			"until it is gone, and deploy with it again."))
	}
	return plan
}

// timeToLive reports changes of the attribute by which items expire ("UpdateTimeToLive", API reference: one call an
// hour; "AWS::DynamoDB::GlobalTable TimeToLiveSpecification", CloudFormation template reference: the attribute cannot
// be changed directly).
func (c *comparison) timeToLive(old, changed table) {
	s := c.source(changed.resource)
	by := s.table(".TimeToLive", "TimeToLiveSpecification", s.metadata.TimeToLive == changed.ttl)
	switch {
	case old.ttl == changed.ttl:
	case old.ttl == "":
		c.addBy(by, Warning, "ttl-on", changed.resource, "items expire by the attribute "+changed.ttl,
			"DynamoDB deletes, within days and without asking, every existing item whose "+changed.ttl+
				" is a time in the past.",
			do("Make sure that deployed items have no other meaning of %s, and that it is in seconds.", changed.ttl))
	case changed.ttl == "":
		c.addBy(by, Warning, "ttl-off", changed.resource, "items no longer expire by the attribute "+old.ttl,
			"They stay, and cost, until you delete them. You cannot switch expiry on again within an hour.",
			do("Make sure that you mean this."))
	default:
		c.addBy(by, Refusal, "ttl", changed.resource,
			turns("the attribute by which items expire", old.ttl, changed.ttl),
			"DynamoDB does not change the attribute of an enabled TTL: it has to be disabled first, and an hour "+
				"lies between two changes. CloudFormation fails and rolls back.",
			do("Write the new attribute %s on items that should expire: old items that have only %s never do.",
				changed.ttl, old.ttl),
			deploy(s.table("", "TimeToLiveSpecification", false),
				"this template, but with TimeToLiveSpecification {AttributeName: %s, Enabled: false}.", old.ttl),
			do("Wait an hour: DynamoDB takes that long, and refuses another change meanwhile. Nothing expires; "+
				"readers have to pass over expired items, as always."),
			deploy("", "this template."))
	}
}

// stream reports changes of the table's stream ("AWS::DynamoDB::Table", property StreamSpecification, CloudFormation
// template reference: the stream is replaced; "AWS::DynamoDB::GlobalTable": one with several replicas has to have a
// stream, and cannot change it).
func (c *comparison) stream(old, changed table) {
	replicated := len(old.regions) > 1
	if old.stream == changed.stream || old.stream == "" && !(replicated && len(changed.regions) > 1) {
		return
	}
	s := c.source(changed.resource)
	by := s.table(".Stream", "StreamSpecification", s.metadata.Stream == changed.stream)
	got := turns("the stream", old.stream, changed.stream)
	if replicated && len(changed.regions) > 1 {
		c.addBy(by, Refusal, "stream", changed.resource, got, "Replication between Regions needs the stream: "+
			"CloudFormation changes it only while the table has one replica.",
			do("Leave the stream as it is deployed, for as long as there are replicas."))
		return
	}
	var plan []step
	if replicated {
		for _, region := range except(old.regions, changed.regions) {
			plan = append(plan, deploy("Replicas of "+s.path,
				"the deployed template, without the replica in %s.", region))
		}
	}
	plan = append(plan, do("Stop the writers, and wait until readers have caught up (Lambda metric IteratorAge 0)."))
	why := "Readers lose the records that they have not read yet, up to 24 hours of changes."
	if changed.stream == "" {
		plan = append(plan, deploy("", "this template; accept this finding then."))
	} else {
		why = "The view of an enabled stream cannot be changed: the stream ends and another begins, with another " +
			"ARN. " + why
		plan = append(plan,
			deploy("", "without the stream and its event source mappings; accept the finding about the stream then."),
			deploy("", "this template, with mappings that begin at TRIM_HORIZON."),
			do("Start the writers."))
	}
	c.addBy(by, Refusal, "stream", changed.resource, got, why, plan...)
}

// replicas reports changes of the Regions ("AWS::DynamoDB::GlobalTable", property Replicas, CloudFormation template
// reference: "you can only add or remove a single replica in each update"; the stack's own cannot be removed. "DynamoDB
// resource-based policy considerations", developer guide: a new replica's policies come later).
func (c *comparison) replicas(old, changed table) {
	if changed.resource.kind != globalTable {
		return
	}
	added, removed := except(changed.regions, old.regions), except(old.regions, changed.regions)
	policed := slices.DeleteFunc(slices.Clone(added), func(region string) bool {
		settings := changed.replicas[region]
		return at(settings, "ResourcePolicy") == nil && at(settings, "ReplicaStreamSpecification",
			"ResourcePolicy") == nil
	})
	got := fmt.Sprintf("replicas: adds %s, removes %s", cmp.Or(join(added), "none"), cmp.Or(join(removed), "none"))
	if len(added)+len(removed) == 0 {
		return
	}
	own, by := c.environment.Region, "Replicas of "+c.source(changed.resource).path
	switch {
	case own != "" && slices.Contains(removed, own):
		c.addBy(by, Refusal, "replicas", changed.resource, got,
			"CloudFormation does not remove the replica in the Region of the stack.",
			do("Keep the replica in %s. To leave the Region, restore a backup of the table in another one, and "+
				"import it into a stack there.", own))
	case len(added)+len(removed) > 1:
		var plan []step
		for _, region := range added {
			without := ""
			if slices.Contains(policed, region) {
				without = ", without its policies"
			}
			plan = append(plan, deploy("",
				"the deployed template, and the replica in %s%s. It takes minutes to hours.", region, without))
		}
		for _, region := range removed {
			plan = append(plan, deploy("", "without the replica in %s, once nothing uses it.", region))
		}
		c.addBy(by, Refusal, "replicas", changed.resource, got,
			"CloudFormation adds or removes one replica in one update.", append(plan,
				deploy("", "the rest of this template."))...)
	case len(policed) > 0:
		c.addBy(by, Refusal, "replicas", changed.resource, got+"; that in "+join(policed)+" has a policy of its own",
			"In another Region than the stack's, CloudFormation does not make a replica and give it a policy in one "+
				"update.",
			deploy("", "the deployed template, and the replica in %s without ResourcePolicy and "+
				"ReplicaStreamSpecification. It takes minutes to hours.", join(added)),
			deploy("", "this template."))
	case c.others(old.resource, changed.resource):
		c.addBy(by, Warning, "replicas", changed.resource, got, "Adding or removing a replica takes minutes to "+
			"hours. If anything else in the deployment fails, the rollback may leave it half done, and you have to "+
			"mend it by hand.",
			do("Deploy the replica alone, as AWS recommends, and then the rest."))
	}
}

// others reports whether anything changes besides the Regions of a table, and the stream that the first replica brings.
func (c *comparison) others(oldTable, newTable *resource) bool {
	rest := func(r *resource, other *resource) map[string]any {
		properties := map[string]any{}
		maps.Copy(properties, r.properties)
		for _, name := range []string{"Replicas", "StreamSpecification"} {
			delete(properties, name)
		}
		var common []any
		for _, settings := range list(r.at("Replicas")) {
			if slices.ContainsFunc(list(other.at("Replicas")), func(v any) bool {
				return reflect.DeepEqual(at(v, "Region"), at(settings, "Region"))
			}) {
				common = append(common, settings)
			}
		}
		properties["Replicas"] = common
		return properties
	}
	if len(c.deployed) != len(c.proposed) || !reflect.DeepEqual(rest(oldTable, newTable), rest(newTable, oldTable)) {
		return true
	}
	for id, old := range c.deployed {
		changed := c.proposed[id]
		if id != newTable.id && (changed == nil || !reflect.DeepEqual(old.properties, changed.properties)) {
			return true
		}
	}
	return false
}
