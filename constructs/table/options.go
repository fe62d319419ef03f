package table

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Limits and defaults of DynamoDB.
const (
	// longestRecovery is how far back point-in-time recovery can reach, in days, and
	// the default ("Point-in-time recovery", DynamoDB developer guide).
	longestRecovery = 35
	// defaultTarget is a percentage ("Managing throughput
	// capacity automatically with DynamoDB auto scaling").
	defaultTarget = 70
	// growth times the minimum is the default maximum of scaled capacity.
	growth = 10
)

// Options are settings of DynamoDB for a table beyond its description.
// The zero value is the safe default.
type Options struct {
	// OnDemand makes you pay by the request, also if the description provisions capacity. Default: as described.
	OnDemand bool
	// MaximumReadUnits and MaximumWriteUnits limit cost: they limit the request units a second that an on-demand table
	// serves, and that each of its indexes serves. DynamoDB throttles requests beyond them, so a maximum below the
	// usual peak loses requests. DynamoDB keeps to them only roughly. Default: no maximum.
	MaximumReadUnits, MaximumWriteUnits int
	// Read and Write are the provisioned capacity of the table and of each of its indexes, instead of the
	// description's. Set both or neither. Default: as described.
	Read, Write Scaling

	// RecoveryDays is how far back point-in-time recovery reaches: 1 to 35 days. You cannot switch it off. Default: 35.
	RecoveryDays int `min:"1" max:"35" default:"35 days"`

	// Replicas are copies of the table in other regions, to read and write like the table: a global table, eventually
	// consistent, where the last writer wins. A transaction or condition sees one region only, so write to one region
	// at a time. The stack has to name its region. The table gets a stream of new and old images, whatever its
	// description says. Provisioned capacity counts for each region. Removing a replica from the list deletes its data.
	// Default: none.
	Replicas []Replica

	// CDK are properties of the CDK's table that the construct hands through: tags, table class, warm throughput,
	// contributor insights, resource policies, and a Kinesis stream of changes. GlobalSecondaryIndexes has the
	// throughput of single indexes, warm throughput included, each with the IndexName of an index that every table with
	// these options has: see [DatabaseOptions.Each]. A property that the table's description or another prop decides is
	// refused. Default: the CDK's defaults.
	CDK awsdynamodb.TablePropsV2
}

// Scaling is provisioned capacity that follows the load. The zero value means no provisioned capacity.
type Scaling struct {
	// Minimum is the fewest units a second, with which the table begins: 1 or more. Required.
	Minimum int
	// Maximum limits the units a second: Minimum or more. Default: ten times the minimum.
	Maximum int
	// TargetPercent is how much of the capacity should be in use: 20 to 90. Default: 70.
	TargetPercent int `min:"20" max:"90" default:"70"`
}

// Replica is a copy of a table in another region. A zero field has the table's value.
type Replica struct {
	// Region is the replica's region, such as "eu-west-1". Required.
	Region string
	// KeyARN is the customer managed key, of the replica's region, that encrypts it. Required if the table has such a
	// key, and allowed only then.
	KeyARN string
	// DeletionProtection makes DynamoDB refuse to delete it. Default: as the table.
	DeletionProtection bool
	// RecoveryDays is how far back its own point-in-time recovery reaches: 1 to 35.
	// Default: as the table.
	RecoveryDays int `min:"1" max:"35" default:"the table's"`
	// CDK are properties of the CDK's replica that the construct hands through, such as policies and a Kinesis stream
	// of its region. Deploy policies after the replica: AWS CloudFormation does not take both in one deployment
	// ("DynamoDB resource-based policy considerations"). Default: the CDK's defaults.
	CDK awsdynamodb.ReplicaTableProps
}

// DatabaseOptions are the options of all tables of a data model. The zero value is
// the safe default.
type DatabaseOptions struct {
	// All are the options of every table that Each does not name.
	All Options
	// Each are the options of single tables by logical name, instead of All.
	Each map[string]Options
	// Existing are existing tables, by logical name. The construct grants their use, and neither declares nor changes
	// them. Import them, as [awsdynamodb.TableV2_FromTableAttributes] does, with their stream's ARN if the data model
	// gives them a stream, and with their customer managed key if they have one. Each is a table of the stack's account
	// and region, and listed once. Its keys, indexes, stream view and time to live have to match the data model, which
	// nothing checks. The assembly describes them to a local run, beside the template. Default: the construct declares
	// every table.
	Existing map[string]awsdynamodb.ITable
}

// ReplicasOf returns the replicas of a table by its logical name. It returns none for a table that exists.
func (o DatabaseOptions) ReplicasOf(table string) []Replica {
	if o.Existing[table] != nil {
		return nil
	}
	return o.of(table).Replicas
}

// of returns the options of a table.
func (o DatabaseOptions) of(table string) Options {
	if own, ok := o.Each[table]; ok {
		return own
	}
	return o.All
}

var (
	regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
	keyARN     = regexp.MustCompile(`^arn:[a-z-]+:kms:([a-z0-9-]+):[0-9]{12}:key/[A-Za-z0-9-]+$`)
)

// environment is what the check of options depends on: the table, its encryption,
// whether it goes with its stack, and the stack's region, which is empty while it is not
// known.
type environment struct {
	table                schema.Table
	customerKey, removed bool
	region               string
}

// check adds a finding for each option that is invalid for the table.
func (o Options) check(f *finding.List, path string, e environment) {
	o.checkCapacity(f, path, e.table)
	f.Limits(path, o)
	checkHandedThrough(f, path+".CDK", o.CDK)
	for i, index := range o.givenIndexes() {
		at := fmt.Sprintf("%s.CDK.GlobalSecondaryIndexes[%d]", path, i)
		checkHandedThrough(f, at, index)
		if _, ok := e.table.Index(*index.IndexName); !ok {
			f.Add(at+".IndexName", *index.IndexName, indexNames(e.table), "name an index of "+e.table.Name)
		}
	}
	o.checkReplicas(f, path, e)
}

// givenIndexes returns the CDK's properties of indexes. Each has a name, which may be empty.
func (o Options) givenIndexes() []awsdynamodb.GlobalSecondaryIndexPropsV2 {
	if o.CDK.GlobalSecondaryIndexes == nil {
		return nil
	}
	return props.Map(*o.CDK.GlobalSecondaryIndexes,
		func(given *awsdynamodb.GlobalSecondaryIndexPropsV2) (index awsdynamodb.GlobalSecondaryIndexPropsV2) {
			if given != nil {
				index = *given
			}
			index.IndexName = cmp.Or(index.IndexName, new(""))
			return index
		})
}

// decided are properties of the CDK's that are not handed through. Each has the remedy.
var decided = map[string]string{
	"PartitionKey": inDescription, "PartitionKeys": inDescription, "SortKey": inDescription, "SortKeys": inDescription,
	"ProjectionType": inDescription, "NonKeyAttributes": inDescription, "LocalSecondaryIndexes": inDescription,
	"DynamoStream": inDescription, "TimeToLiveAttribute": inDescription,
	"Region": "set Region", "Replicas": "set Replicas", "RemovalPolicy": "set RemoveWithStack",
	"DeletionProtection": "set DeletionProtection", "Encryption": "set Key or OwnedKey",
	"TableName":                        "set the prefix of the tables or the name of the table",
	"Billing":                          "set OnDemand, MaximumReadUnits and MaximumWriteUnits, or Read and Write",
	"PointInTimeRecovery":              "set RecoveryDays",
	"PointInTimeRecoverySpecification": "set RecoveryDays",
	"MultiRegionConsistency":           noStrong,
	"WitnessRegion":                    noStrong,
}

const (
	inDescription = "change the description of the table"
	noStrong      = "leave it out: strongly consistent replicas take neither transactions nor a time to live"
)

// checkHandedThrough adds a finding for each property of the CDK's that is set and decided elsewhere.
func checkHandedThrough(f *finding.List, path string, given any) {
	for field, value := range reflect.ValueOf(given).Fields() {
		if remedy, ok := decided[field.Name]; ok && !value.IsZero() {
			f.Append(finding.Finding{Path: path + "." + field.Name, Got: "a value",
				Allowed: "none, since another prop or the description decides it", Remedy: remedy})
		}
	}
}

func (o Options) checkCapacity(f *finding.List, path string, t schema.Table) {
	given := o.Read != Scaling{} || o.Write != Scaling{}
	if given && o.OnDemand {
		f.Add(path+".OnDemand", true, "false with Read and Write",
			"choose: a table is paid by the request or by its capacity")
	}
	if given {
		o.Read.check(f, path+".Read")
		o.Write.check(f, path+".Write")
	}
	read, _ := o.scaling(t)
	checkMaximum(f, path+".MaximumReadUnits", o.MaximumReadUnits, t, read != Scaling{})
	checkMaximum(f, path+".MaximumWriteUnits", o.MaximumWriteUnits, t, read != Scaling{})
}

func checkMaximum(f *finding.List, path string, units int, t schema.Table, provisioned bool) {
	switch {
	case units < 0 || units > props.LargestNumber:
		f.Add(path, units, "1 to 2147483647 units in a second", "leave it 0 for no maximum")
	case units > 0 && provisioned:
		f.Add(path, units, "0 on "+t.Name+", which has provisioned capacity",
			"set Maximum of Read and Write, or OnDemand")
	}
}

// check adds a finding for each part that is invalid.
func (s Scaling) check(f *finding.List, path string) {
	if s.Minimum < 1 || s.Minimum > props.LargestNumber/growth {
		f.Add(path+".Minimum", s.Minimum, "1 to 214748364 units in a second", "Read and Write both need one")
	}
	if s.Maximum != 0 && (s.Maximum < s.Minimum || s.Maximum > props.LargestNumber) {
		f.Add(path+".Maximum", s.Maximum, fmt.Sprintf("%d, the minimum, to 2147483647", s.Minimum),
			"leave it 0 for ten times the minimum")
	}
	f.Limits(path, s)
}

func (o Options) checkReplicas(f *finding.List, path string, e environment) {
	if len(o.Replicas) == 0 {
		return
	}
	if props.IsToken(e.region) {
		f.Add(path+".Replicas", len(o.Replicas), "none in a stack for any region",
			"give the stack an environment with a region")
	}
	regions := map[string]bool{}
	for i, r := range o.Replicas {
		at := fmt.Sprintf("%s.Replicas[%d]", path, i)
		switch {
		case !regionName.MatchString(r.Region):
			f.Add(at+".Region", r.Region, "the name of a region", `write something like "eu-west-1"`)
		case r.Region == e.region:
			f.Add(at+".Region", r.Region, "another region than that of the stack",
				"leave it out: the table itself is there")
		case regions[r.Region]:
			f.Add(at+".Region", r.Region, "each region once", "leave one of them out")
		case e.region != "": // else there is no app yet, and the CDK is not asked
			props.CheckRegion(f, at+".Region", r.Region)
		}
		regions[r.Region] = true
		r.checkKey(f, at+".KeyARN", e.customerKey)
		props.CheckRemoval(f, at+".DeletionProtection", e.removed, r.DeletionProtection)
		f.Limits(at, r)
		checkHandedThrough(f, at+".CDK", r.CDK)
	}
}

func (r Replica) checkKey(f *finding.List, path string, customerKey bool) {
	switch {
	case !customerKey && r.KeyARN != "":
		f.Add(path, r.KeyARN, "none without a customer managed key of the table",
			"give the table a key too, or leave this one out")
	case customerKey && r.KeyARN == "":
		f.Add(path, r.KeyARN, "the ARN of a key in "+r.Region,
			"a table with a customer managed key needs one in each region of a replica")
	case customerKey:
		props.CheckARN(f, path, r.KeyARN, r.Region, keyARN, "the ARN of a key in "+r.Region,
			"write it as arn:aws:kms:REGION:ACCOUNT:key/ID: a key encrypts in its own region")
	}
}

// scaling returns the provisioned capacity of the table, which is zero if it is
// on-demand.
func (o Options) scaling(t schema.Table) (read, write Scaling) {
	switch {
	case o.OnDemand:
		return Scaling{}, Scaling{}
	case o.Read != Scaling{} || o.Write != Scaling{}:
		return o.Read, o.Write
	}
	return Scaling{Minimum: t.Capacity.ReadUnits}, Scaling{Minimum: t.Capacity.WriteUnits}
}

func indexNames(t schema.Table) string {
	if len(t.Indexes) == 0 {
		return "none: the table has no index"
	}
	return strings.Join(props.Map(t.Indexes, func(i schema.Index) string { return i.Name }), ", ")
}
