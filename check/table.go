package check

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
	billing    string
	encryption string
	// warm is the warm throughput of the table, under "", and of each index.
	warm     map[string]warmth
	replicas map[string]replica
	resource *resource
	regions  []string
	// witness is the Region of the witness of a global table with strong consistency.
	witness string
	strong  bool
}

// warmth is the warm throughput of a table or index, in units a second; 0 if the template sets none.
type warmth struct{ reads, writes int }

// index is a secondary index. Two that are equal need no change in DynamoDB.
type index struct {
	name, keys, projection string
}

// String describes the index.
func (i index) String() string { return fmt.Sprintf("%s (%s; %s)", i.name, i.keys, i.projection) }

// replica is the table in one Region.
type replica struct {
	recovery  string
	days      int
	protected bool
	key       string
	class     string
	kinesis   string
	policies  bool
}

func describe(r *resource) table {
	t := table{
		resource: r, keys: describeKeys(r.at("KeySchema"), r), indexes: describeIndexes(r, "GlobalSecondaryIndexes"), locals: describeIndexes(r, "LocalSecondaryIndexes"),
		stream:     text(r.at("StreamSpecification", "StreamViewType")),
		billing:    cmp.Or(text(r.at("BillingMode")), "PROVISIONED"),
		encryption: describeEncryption(r.at("SSESpecification")),
		strong:     text(r.at("MultiRegionConsistency")) == "STRONG",
		replicas:   map[string]replica{}, attributes: map[string]string{}, warm: map[string]warmth{"": describeWarmth(r.properties)},
	}
	for _, attribute := range list(r.at("AttributeDefinitions")) {
		t.attributes[text(at(attribute, "AttributeName"))] = text(at(attribute, "AttributeType"))
	}
	for _, declared := range list(r.at("GlobalSecondaryIndexes")) {
		t.warm[text(at(declared, "IndexName"))] = describeWarmth(declared)
	}
	for _, witness := range list(r.at("GlobalTableWitnesses")) {
		t.witness = text(at(witness, "Region"))
	}
	if enabled := text(r.at("TimeToLiveSpecification", "Enabled")); enabled != "" && enabled != "false" {
		t.ttl = text(r.at("TimeToLiveSpecification", "AttributeName"))
	}
	if r.kind == regionalTable {
		t.replicas[""] = describeReplica(r.properties)
		return t
	}
	for _, settings := range list(r.at("Replicas")) {
		region := text(at(settings, "Region"))
		t.regions = append(t.regions, region)
		t.replicas[region] = describeReplica(settings)
	}
	return t
}

func describeReplica(settings any) replica {
	r := replica{
		recovery:  cmp.Or(text(at(settings, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled")), "false"),
		protected: text(at(settings, "DeletionProtectionEnabled")) == "true",
		key:       say(at(settings, "SSESpecification", "KMSMasterKeyId")),
		class:     cmp.Or(text(at(settings, "TableClass")), "STANDARD"),
		kinesis:   say(at(settings, "KinesisStreamSpecification", "StreamArn")),
		policies:  at(settings, "ResourcePolicy") != nil || at(settings, "ReplicaStreamSpecification", "ResourcePolicy") != nil,
		days:      35,
	}
	if days := text(at(settings, "PointInTimeRecoverySpecification", "RecoveryPeriodInDays")); days != "" {
		// A period that is only known at deployment is not compared.
		r.days, _ = strconv.Atoi(days)
	}
	return r
}

func describeWarmth(settings any) warmth {
	units := func(name string) int {
		// A value that is only known at deployment is not compared.
		n, _ := strconv.Atoi(text(at(settings, "WarmThroughput", name)))
		return n
	}
	return warmth{units("ReadUnitsPerSecond"), units("WriteUnitsPerSecond")}
}

// describeEncryption names the kind of key: DynamoDB's own, the account's for DynamoDB, or a customer's.
func describeEncryption(specification any) string {
	if text(at(specification, "SSEEnabled")) != "true" {
		return "a key that DynamoDB owns"
	}
	return "a key in AWS KMS"
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
		i := index{name: text(at(declared, "IndexName")), keys: describeKeys(at(declared, "KeySchema"), r), projection: text(at(declared, "Projection", "ProjectionType"))}
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
	c.warmth(old, changed)
	c.timeToLive(old, changed)
	c.stream(old, changed)
	c.consistency(old, changed)
	c.replicas(old, changed)
	for _, region := range slices.Sorted(maps.Keys(old.replicas)) {
		if after, ok := changed.replicas[region]; ok {
			c.replica(region, old.replicas[region], after, old, changed)
		}
	}
	if old.billing != changed.billing {
		c.add(Warning, "billing", newResource, fmt.Sprintf("the billing mode changes from %s to %s", old.billing, changed.billing),
			"A table can be switched to on-demand four times in 24 hours. Provisioned capacity that is too small throttles from the first request on.",
			"Make sure that it is not one of several switches today, and that provisioned capacity covers the consumed capacity of the last weeks (CloudWatch: ConsumedReadCapacityUnits, ConsumedWriteCapacityUnits).")
	}
	if old.encryption != changed.encryption {
		c.add(Warning, "encryption", newResource, fmt.Sprintf("the table is encrypted under %s, and was under %s", changed.encryption, old.encryption),
			"DynamoDB encrypts the table again. The old key is needed until that is done, and for as long as older backups exist.",
			"Keep the old key.")
	}
}

// keys reports changes that replace a table, and returns whether there is one: of keys, local indexes, and in
// AWS::DynamoDB::Table the type of any attribute ("Replacement if you edit an existing AttributeDefinition",
// CloudFormation template reference).
func (c *comparison) keys(old, changed table) bool {
	kind := kinds[changed.resource.kind]
	var got string
	switch {
	case old.keys != changed.keys:
		got = fmt.Sprintf("the keys of the table change from (%s) to (%s)", old.keys, changed.keys)
	case !sameIndexes(old.locals, changed.locals):
		got = fmt.Sprintf("the local secondary indexes change from (%s) to (%s)", describeAll(old.locals), describeAll(changed.locals))
	case changed.resource.kind == regionalTable && len(retyped(old, changed)) > 0:
		c.replace(c.retypedBy(old, changed), kind, old.resource, changed.resource, describeRetyped(old, changed), retypePlan(old, changed)...)
		return true
	default:
		return false
	}
	p, s := &plan{}, c.source(changed.resource)
	by := s.table(".Key", "KeySchema", s.model.Key == changed.keys)
	p.deploy("a second table with the new keys, under another construct id; this one stays as it is deployed.")
	p.by("%s, in a table of its own", by)
	p.deploy("functions that write to both tables, and still read the old one.")
	p.by(functionsCode)
	p.do("Copy the existing items: read the old table to its end, and write each item that the new one does not have (condition attribute_not_exists on the key).")
	p.deploy("functions that read and write the new table only.")
	p.by(functionsCode)
	p.do("%s.", c.fill(saveTable, old.resource))
	p.deploy("without the old table; accept its drop then.")
	p.by("without %s", s.table("", "the table", true))
	c.replace(by, kind, old.resource, changed.resource, got, p.steps...)
	return true
}

// retyped returns the attributes whose type changes.
func retyped(old, changed table) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(old.attributes)) {
		if kind, ok := changed.attributes[name]; ok && kind != old.attributes[name] {
			names = append(names, name)
		}
	}
	return names
}

// retypedBy returns the lines of the attributes whose type changes.
func (c *comparison) retypedBy(old, changed table) string {
	s := c.source(changed.resource)
	var all []string
	for _, name := range retyped(old, changed) {
		all = append(all, s.table(".Attributes["+name+"].Type", "AttributeDefinitions", strings.HasPrefix(s.model.Attributes[name], changed.attributes[name])))
	}
	return lines(all)
}

func describeRetyped(old, changed table) string {
	var all []string
	for _, name := range retyped(old, changed) {
		all = append(all, fmt.Sprintf("the type of the attribute %s changes from %s to %s", name, old.attributes[name], changed.attributes[name]))
	}
	return join(all)
}

// retypePlan keeps the types of attributes, and adds attributes of the new types.
func retypePlan(old, changed table) []string {
	p := &plan{}
	names := join(retyped(old, changed))
	p.do("Leave the type of %s as it is deployed, and give the attribute of the new type another name in the schema.", names)
	p.do("Check that again: with other names, its steps lead from index to index. Until the old indexes are gone, functions write %s as before, too.", names)
	return p.steps
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

// moveTable adds the steps that move a table's items to another name.
func (c *comparison) moveTable(p *plan, old, changed *resource) {
	source, _ := c.name(kinds[old.kind], old)
	target := cmp.Or(text(changed.at("TableName")), "NEW-NAME")
	p.do("If you need the change, move the items while the writers are stopped:")
	if !kept(old.deletion) {
		p.deploy("as deployed, but with DeletionPolicy and UpdateReplacePolicy Retain.")
		p.by("DeletionPolicy and UpdateReplacePolicy of %s", c.source(old).path)
	}
	p.do("Stop the writers. Wait five minutes: the latest restorable time is that far back.")
	p.do("aws dynamodb restore-table-to-point-in-time --use-latest-restorable-time --source-table-name %s --target-table-name %s", source, target)
	p.deploy("without the table and what uses it; accept its drop then: it stays in AWS.")
	p.by("%s", c.goneBy(old))
	p.do("Import the restored table into the stack under its logical id %s, with the table alone in the new template: cdk import.", old.id)
	p.deploy("this template. It sets what a restore leaves out: TTL, stream, recovery, tags, alarms.")
	p.do("Start the writers, and delete the old table when you are sure that nothing is missing.")
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
			c.addBy(c.source(changed.resource).dropped(deleted[0]), Warning, "index-drop", changed.resource, "the index "+deleted[0].String()+" is deleted",
				"The table changes before the functions: those that still query the index fail until they are updated, or for good if the new ones query it too. To get the index back, DynamoDB has to fill it from all items.",
				"If deployed functions query it: deploy functions that do not first, and then without the index.")
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
	why := "DynamoDB creates or deletes one global secondary index in one update of a table: CloudFormation fails and rolls back."
	if len(replaced) > 0 {
		why = "Keys and projection of an index cannot be changed: that deletes it and creates another, and DynamoDB does one of these in one update of a table. CloudFormation fails and rolls back."
	}
	if len(retyped(old, changed)) > 0 {
		// The old and the new index cannot exist at the same time, as every other plan needs.
		c.addBy(c.retypedBy(old, changed), Refusal, "indexes", changed.resource, join(append(got, describeRetyped(old, changed))),
			why+" An attribute has one type in all indexes of a table, and DynamoDB refuses items with another one for as long as an index has it as a key.",
			retypePlan(old, changed)...)
		return
	}
	c.addBy(lines(by), Refusal, "indexes", changed.resource, join(got), why, c.indexPlan(s, old, created, deleted, replaced)...)
}

// warmth reports warm throughput that falls ("Understanding DynamoDB warm throughput", developer guide: once increased,
// values cannot be decreased).
func (c *comparison) warmth(old, changed table) {
	var got []string
	lowered := func(of, what string, before, after int) {
		if after > 0 && after < before {
			got = append(got, fmt.Sprintf("the warm throughput of %s falls from %d to %d %s a second", of, before, after, what))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old.warm)) {
		of := "the table"
		if name != "" {
			of = "the index " + name
			if !slices.ContainsFunc(changed.indexes, func(i index) bool { return i.name == name && slices.Contains(old.indexes, i) }) {
				// The index is removed or replaced.
				continue
			}
		}
		lowered(of, "reads", old.warm[name].reads, changed.warm[name].reads)
		lowered(of, "writes", old.warm[name].writes, changed.warm[name].writes)
	}
	if len(got) > 0 {
		c.add(Refusal, "warm", changed.resource, join(got), "DynamoDB raises warm throughput and never lowers it: CloudFormation fails and rolls back.",
			"Leave the values as they are deployed: raising them had a price, and keeping them has none.")
	}
}

// indexPlan orders the deployments so that each makes one change, an index exists before functions query it, and stays
// while they do.
func (c *comparison) indexPlan(s source, old table, created, deleted, replaced []index) []string {
	p := &plan{}
	name, given := c.name(kinds[old.resource.kind], old.resource)
	if !given {
		p.do("For the commands below: TABLE=%s", name)
		name = "$TABLE"
	}
	status := func(i string) string {
		return fmt.Sprintf("aws dynamodb describe-table --table-name %s --query \"Table.GlobalSecondaryIndexes[?IndexName=='%s'].IndexStatus\"", name, i)
	}
	create := func(i index) {
		p.deploy("the deployed table, and the index %s.", i)
		if slices.Contains(created, i) {
			p.by("%s", s.index(i, nil))
		} else {
			p.by("%s", s.successor(i))
		}
		p.do("Wait until it is ACTIVE, which can take hours: %s", status(i.name))
	}
	taken := map[string]bool{}
	for _, i := range slices.Concat(old.indexes, created) {
		taken[i.name] = true
	}
	var temporary []string
	successors := make([]index, len(replaced))
	for n, i := range replaced {
		number := 2
		for taken[fmt.Sprintf("%s-%d", i.name, number)] {
			number++
		}
		successors[n] = i
		successors[n].name = fmt.Sprintf("%s-%d", i.name, number)
		temporary = append(temporary, i.name)
	}
	goes := slices.Clone(temporary)
	for _, i := range deleted {
		goes = append(goes, i.name)
	}
	remove := func(names []string) {
		for _, index := range names {
			p.deploy("without the index %s.", index)
			p.by("%s", s.table(".Indexes, without "+index+",", "GlobalSecondaryIndexes", true))
			p.do("Wait until this no longer finds it: %s", status(index))
		}
	}
	if len(old.indexes)+len(created)+len(replaced) > maxIndexes {
		p.do("A table has at most %d indexes, so the old ones have to go first. Queries of them fail meanwhile.", maxIndexes)
		p.deploy("functions that query none of %s; the table as deployed.", join(goes))
		p.by(functionsCode)
		remove(goes)
		for _, i := range slices.Concat(created, replaced) {
			create(i)
		}
		p.deploy("this template.")
		return p.steps
	}
	for _, i := range slices.Concat(created, successors) {
		create(i)
	}
	switch {
	case len(goes) == 0:
		p.deploy("this template: functions may query the new indexes now.")
		p.by(functionsCode)
	case len(replaced) == 0:
		p.deploy("this template, but with the indexes %s: functions no longer query them.", join(goes))
		p.by("%s; %s", functionsCode, s.table(".Indexes, still with "+join(goes)+",", "GlobalSecondaryIndexes", true))
		remove(goes)
	default:
		for n, i := range replaced {
			p.do("In the schema, write the index %s as %s, and query that.", i.name, successors[n].name)
		}
		p.deploy("that, but with the indexes %s still there: functions no longer query them.", join(goes))
		p.by("%s; %s", functionsCode, s.table(".Indexes, still with "+join(goes)+",", "GlobalSecondaryIndexes", true))
		remove(goes)
		p.do("You can keep the old name if its queries may fail for a while: deploy without the index, wait until it is gone, and deploy with it again.")
	}
	return p.steps
}

// timeToLive reports changes of the attribute by which items expire ("UpdateTimeToLive", API reference: one call an hour;
// "AWS::DynamoDB::GlobalTable TimeToLiveSpecification", CloudFormation template reference: the attribute cannot be
// changed directly).
func (c *comparison) timeToLive(old, changed table) {
	s := c.source(changed.resource)
	by := s.table(".TimeToLive", "TimeToLiveSpecification", s.model.TimeToLive == changed.ttl)
	switch {
	case old.ttl == changed.ttl:
	case old.ttl == "":
		c.addBy(by, Warning, "ttl-on", changed.resource, "items expire by the attribute "+changed.ttl,
			"DynamoDB deletes, within days and without asking, every existing item whose "+changed.ttl+" is a time in the past.",
			"Make sure that deployed items have no other meaning of "+changed.ttl+", and that it is in seconds.")
	case changed.ttl == "":
		c.addBy(by, Warning, "ttl-off", changed.resource, "items no longer expire by the attribute "+old.ttl,
			"They stay, and cost, until you delete them. You cannot switch expiry on again within an hour.", "Make sure that you mean this.")
	default:
		p := &plan{}
		p.do("Write the new attribute %s on items that should expire: old items that have only %s never do.", changed.ttl, old.ttl)
		p.deploy("this template, but with TimeToLiveSpecification {AttributeName: %s, Enabled: false}.", old.ttl)
		p.by("%s", s.table("", "TimeToLiveSpecification", false))
		p.do("Wait an hour: DynamoDB takes that long, and refuses another change meanwhile. Nothing expires; readers have to pass over expired items, as always.")
		p.deploy("this template.")
		c.addBy(by, Refusal, "ttl", changed.resource, fmt.Sprintf("the attribute by which items expire changes from %s to %s", old.ttl, changed.ttl),
			"DynamoDB does not change the attribute of an enabled TTL: it has to be disabled first, and an hour lies between two changes. CloudFormation fails and rolls back.", p.steps...)
	}
}

// stream reports changes of the table's stream ("AWS::DynamoDB::Table", property StreamSpecification, CloudFormation template
// reference: the stream is replaced; "AWS::DynamoDB::GlobalTable": one with several replicas has to have a stream, and
// cannot change it, but for strong consistency).
func (c *comparison) stream(old, changed table) {
	replicated := len(old.regions) > 1 && !old.strong
	if old.stream == changed.stream || old.stream == "" && !(replicated && len(changed.regions) > 1) {
		return
	}
	s := c.source(changed.resource)
	by := s.table(".Stream", "StreamSpecification", s.model.Stream == changed.stream)
	got := fmt.Sprintf("the stream changes from %s to %s", cmp.Or(old.stream, "none"), cmp.Or(changed.stream, "none"))
	if replicated && len(changed.regions) > 1 {
		c.addBy(by, Refusal, "stream", changed.resource, got, "Replication between Regions needs the stream: CloudFormation changes it only while the table has one replica.",
			"Leave the stream as it is deployed, for as long as there are replicas.")
		return
	}
	p := &plan{}
	if replicated {
		for _, region := range old.regions {
			if !slices.Contains(changed.regions, region) {
				p.deploy("the deployed template, without the replica in %s.", region)
				p.by("Replicas of %s", s.path)
			}
		}
	}
	p.do("Stop the writers, and wait until readers have caught up (Lambda metric IteratorAge 0).")
	why := "Readers lose the records that they have not read yet, up to 24 hours of changes."
	if changed.stream == "" {
		p.deploy("this template; accept this finding then.")
	} else {
		why = "The view of an enabled stream cannot be changed: the stream ends and another begins, with another ARN. " + why
		p.deploy("without the stream and its event source mappings; accept the finding about the stream then.")
		p.deploy("this template, with mappings that begin at TRIM_HORIZON.")
		p.do("Start the writers.")
	}
	c.addBy(by, Refusal, "stream", changed.resource, got, why, p.steps...)
}

// consistency reports changes of the mode of a global table. The mode never changes, and is strong only for a table that
// was empty when it became global ("Global tables", developer guide, Consistency modes).
func (c *comparison) consistency(old, changed table) {
	mode := map[bool]string{false: "EVENTUAL", true: "STRONG"}
	steps := []string{
		"Leave it as it is deployed.",
		"If you need the change: deploy a second table with it under another construct id. Write to both, copy the items, read the new one, and drop the old one.",
	}
	switch {
	case len(changed.regions) < 2:
	case len(old.regions) > 1 && old.strong != changed.strong:
		c.add(Refusal, "consistency", changed.resource, fmt.Sprintf("the consistency of the replicas changes from %s to %s", mode[old.strong], mode[changed.strong]),
			"DynamoDB does not change the consistency of a global table: CloudFormation fails and rolls back.", steps...)
	case len(old.regions) == 1 && changed.strong:
		c.add(Refusal, "consistency", changed.resource, "the table becomes a global one with strong consistency",
			"DynamoDB does that to an empty table only: with items in it, CloudFormation fails and rolls back.", append([]string{"If it is empty: accept this finding."}, steps[1])...)
	}
}

// replicas reports changes of the Regions ("AWS::DynamoDB::GlobalTable", property Replicas, CloudFormation template reference: "you can
// only add or remove a single replica in each update", several only with strong consistency; the stack's own cannot be
// removed. "Key facts about DynamoDB global tables", developer guide: with strong consistency there are three Regions, or
// one. "DynamoDB resource-based policy considerations", developer guide: a new replica's policies come later).
func (c *comparison) replicas(old, changed table) {
	if changed.resource.kind != globalTable {
		return
	}
	var added, removed, policed []string
	for _, region := range changed.regions {
		if !slices.Contains(old.regions, region) {
			added = append(added, region)
			if changed.replicas[region].policies {
				policed = append(policed, region)
			}
		}
	}
	for _, region := range old.regions {
		if !slices.Contains(changed.regions, region) {
			removed = append(removed, region)
		}
	}
	got := fmt.Sprintf("replicas: adds %s, removes %s", cmp.Or(join(added), "none"), cmp.Or(join(removed), "none"))
	if old.witness != changed.witness {
		got += fmt.Sprintf("; the witness changes from %s to %s", cmp.Or(old.witness, "none"), cmp.Or(changed.witness, "none"))
	} else if len(added)+len(removed) == 0 {
		return
	}
	own, by := c.environment.Region, "Replicas of "+c.source(changed.resource).path
	wasStrong := old.strong && len(old.regions) > 1
	switch {
	case own != "" && slices.Contains(removed, own):
		c.addBy(by, Refusal, "replicas", changed.resource, got, "CloudFormation does not remove the replica in the Region of the stack.",
			"Keep the replica in "+own+". To leave the Region, restore a backup of the table in another one, and import it into a stack there.")
	case wasStrong && (len(changed.regions) > 1 || changed.witness != ""):
		c.addBy(by, Refusal, "replicas", changed.resource, got,
			"A global table with strong consistency has three Regions; one may be a witness. DynamoDB adds none, and removes all others at once or none. CloudFormation fails and rolls back.",
			"Leave the Regions as they are deployed.", "To have the table in its own Region only: remove all other replicas and the witness in one deployment.")
	case len(added)+len(removed) > 1 && !wasStrong && !changed.strong:
		p := &plan{}
		for _, region := range added {
			without := ""
			if slices.Contains(policed, region) {
				without = ", without its policies"
			}
			p.deploy("the deployed template, and the replica in %s%s. It takes minutes to hours.", region, without)
		}
		for _, region := range removed {
			p.deploy("without the replica in %s, once nothing uses it.", region)
		}
		p.deploy("the rest of this template.")
		c.addBy(by, Refusal, "replicas", changed.resource, got, "CloudFormation adds or removes one replica in one update.", p.steps...)
	case len(policed) > 0:
		p := &plan{}
		p.deploy("the deployed template, and the replica in %s without ResourcePolicy and ReplicaStreamSpecification. It takes minutes to hours.", join(added))
		p.deploy("this template.")
		c.addBy(by, Refusal, "replicas", changed.resource, got+"; that in "+join(policed)+" has a policy of its own",
			"In another Region than the stack's, CloudFormation does not make a replica and give it a policy in one update.", p.steps...)
	case c.others(old.resource, changed.resource):
		c.addBy(by, Warning, "replicas", changed.resource, got, "Adding or removing a replica takes minutes to hours. If anything else in the deployment fails, the rollback may leave it half done, and you have to mend it by hand.",
			"Deploy the replica alone, as AWS recommends, and then the rest.")
	}
}

// others reports whether anything changes besides the Regions of a table, and the stream that the first replica brings.
func (c *comparison) others(oldTable, newTable *resource) bool {
	rest := func(r *resource, other *resource) map[string]any {
		properties := map[string]any{}
		maps.Copy(properties, r.properties)
		for _, name := range []string{"Replicas", "StreamSpecification", "MultiRegionConsistency", "GlobalTableWitnesses"} {
			delete(properties, name)
		}
		var common []any
		for _, settings := range list(r.at("Replicas")) {
			if slices.ContainsFunc(list(other.at("Replicas")), func(v any) bool { return reflect.DeepEqual(at(v, "Region"), at(settings, "Region")) }) {
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

// replica compares the settings of a table in one Region, or of one that has no Regions.
func (c *comparison) replica(region string, old, changed replica, oldTable, newTable table) {
	where, suffix := "", ""
	if region != "" && len(oldTable.regions) > 1 {
		where, suffix = " in "+region, "-"+region
	}
	r := newTable.resource
	switch {
	case old.recovery != "false" && changed.recovery == "false":
		c.add(Refusal, "recovery"+suffix, r, "point-in-time recovery is switched off"+where,
			"The table can no longer be restored to any time, also before this deployment. If you switch recovery on again, it starts from then.",
			"Leave it on.", "To switch it off: "+c.fill(saveTable, oldTable.resource)+".", "Then accept this finding.")
	case old.recovery != "false" && old.days > changed.days && changed.days > 0:
		c.add(Refusal, "recovery-period"+suffix, r, fmt.Sprintf("the recovery period%s shrinks from %d to %d days", where, old.days, changed.days),
			fmt.Sprintf("States of the table from more than %d days ago can no longer be restored. That saves nothing: recovery is charged by the size of the table.", changed.days),
			fmt.Sprintf("Leave it at %d days.", old.days), "To shorten it: "+c.fill(saveTable, oldTable.resource)+".", "Then accept this finding.")
	}
	if old.protected && !changed.protected {
		c.add(Warning, "protection"+suffix, r, "deletion protection is switched off"+where,
			"Nothing is lost yet. But a replacement, a drop, the end of the stack or a slip in the console deletes the table from now on.", "Leave it on where the data matters.")
	}
	if old.key != changed.key {
		c.add(Warning, "key"+suffix, r, fmt.Sprintf("the key of the table%s changes from %s to %s", where, cmp.Or(old.key, "AWS's"), cmp.Or(changed.key, "AWS's")),
			"DynamoDB encrypts the table again. The old key is needed until that is done, and for as long as older backups exist.", "Keep the old key.")
	}
	if old.kinesis != "" && old.kinesis != changed.kinesis {
		c.add(Warning, "kinesis"+suffix, r, fmt.Sprintf("changes of items%s go to %s, and went to %s", where, cmp.Or(changed.kinesis, "no Kinesis stream"), old.kinesis),
			"Readers of the old stream get no more changes, and DynamoDB does not repeat changes that no stream took.",
			"Make sure that readers have moved, and that they can get missed changes from the table.")
	}
	if old.class != changed.class {
		c.add(Warning, "class"+suffix, r, fmt.Sprintf("the table class%s changes from %s to %s", where, old.class, changed.class),
			"A table class can be changed twice in 30 days; prices of storage and requests change with it.", "Make sure that you mean this.")
	}
}
