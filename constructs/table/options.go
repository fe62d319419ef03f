package table

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskinesis"
	"github.com/aws/constructs-go/constructs/v10"

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
	// warmReads and warmWrites are the warm throughput of new on-demand tables and indexes,
	// in units a second; it cannot be lowered ("Understanding DynamoDB warm throughput in
	// different scenarios").
	warmReads, warmWrites = 12000, 4000
	// growth times the minimum is the default maximum of scaled capacity.
	growth = 10
)

// Options are settings of DynamoDB for a table beyond its description.
// The zero value is the safe default.
type Options struct {
	// OnDemand makes you pay by the request, also if the description provisions capacity. Default: as described.
	OnDemand bool
	// MaximumReadUnits and MaximumWriteUnits limit cost: they are the most request units a second that an on-demand
	// table serves, and that each of its indexes serves. DynamoDB throttles requests beyond them, so a maximum below
	// the usual peak loses requests. DynamoDB keeps to them only roughly. Default: no maximum.
	MaximumReadUnits, MaximumWriteUnits int
	// Read and Write are provisioned capacity of the table and of each of its indexes, instead of what the description
	// says. Set both or neither. Default: as described.
	Read, Write Scaling
	// WarmReadUnits and WarmWriteUnits are the units a second for which the table and each of its indexes are ready at
	// once, such as at a launch. You pay for them once and cannot lower them. Allowed: from 12,000 reads and 4,000
	// writes up on-demand, from the minimum of Read and Write up otherwise. Default: DynamoDB's default for new tables.
	WarmReadUnits, WarmWriteUnits int
	// Indexes are throughputs of indexes by name, where they differ from the table's. Every table with these options
	// must have the index: see [DatabaseOptions.Each]. Default: the table's.
	Indexes map[string]IndexOptions

	// RecoveryDays is how far back point-in-time recovery reaches: 1 to 35 days. You cannot switch it off. Default: as
	// described, or else 35.
	RecoveryDays int `min:"1" max:"35" default:"what the table's description says"`
	// InfrequentAccess makes storage cheaper and requests more expensive: the table class DynamoDB Standard-Infrequent
	// Access. Default: DynamoDB Standard.
	InfrequentAccess bool
	// ContributorInsights counts, in Amazon CloudWatch, which keys of the table and of
	// its indexes are used most. Default: [NoInsights].
	ContributorInsights ContributorInsights
	// ResourcePolicy lets further principals use the table. Principals of other accounts need a customer managed key.
	// Write "*" for the resource: it means the table, whose name is not known before. Default: none.
	ResourcePolicy awsiam.PolicyDocument
	// StreamPolicy is the same for the table's stream. DynamoDB takes no policy for a stream that it is about to
	// create, so add the policy in a later deployment ("DynamoDB resource-based policy considerations"). Default: none.
	StreamPolicy awsiam.PolicyDocument
	// KinesisStream receives every change of an item, beside the table's own stream.
	// Default: none.
	KinesisStream awskinesis.IStream

	// Replicas are copies of the table in other regions, to read and write like the table: a global table, eventually
	// consistent, where the last writer wins. A transaction or condition sees one region only, so write to one region
	// at a time. The stack has to name its region. The table gets a stream of new and old images, whatever its
	// description says. Provisioned capacity counts for each region. Removing a replica from the list deletes its data.
	// Default: none.
	Replicas []Replica
}

// Scaling is provisioned capacity that follows the load. The zero value means no provisioned capacity.
type Scaling struct {
	// Minimum is the fewest units a second, with which the table begins: 1 or more. Required.
	Minimum int
	// Maximum is the most units a second: Minimum or more. Default: ten times the minimum.
	Maximum int
	// TargetPercent is how much of the capacity should be in use: 20 to 90. Default: 70.
	TargetPercent int `min:"20" max:"90" default:"70"`
}

// IndexOptions are the throughput of an index. A zero field has the table's value.
type IndexOptions struct {
	// MaximumReadUnits, MaximumWriteUnits, WarmReadUnits and WarmWriteUnits are as in [Options]. An index that takes
	// fewer writes than its table throttles the table's writes.
	MaximumReadUnits, MaximumWriteUnits, WarmReadUnits, WarmWriteUnits int
	// Read and Write are as in [Options], but you can set one alone.
	Read, Write Scaling
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
	// MaximumReadUnits and Read are as in [Options]. Writes have the same maximum and capacity in every region.
	// Default: as the table.
	MaximumReadUnits int
	Read             Scaling
	// KinesisStream, a stream of this region, receives every change of an item in it. Default: none.
	KinesisStream awskinesis.IStream
	// ResourcePolicy and StreamPolicy are as in [Options], for this region alone. Deploy them after the replica: AWS
	// CloudFormation does not take both in one deployment ("DynamoDB resource-based policy considerations"). Default:
	// none, even if the table has one.
	ResourcePolicy, StreamPolicy awsiam.PolicyDocument
}

// ContributorInsights says which keys Amazon CloudWatch counts. It costs by the
// event ("CloudWatch Contributor Insights for DynamoDB").
type ContributorInsights string

// The modes.
const (
	// NoInsights counts nothing.
	NoInsights ContributorInsights = ""
	// ThrottledKeys counts the keys whose requests DynamoDB throttles. It costs nothing while it throttles none.
	ThrottledKeys ContributorInsights = "THROTTLED_KEYS"
	// AccessedAndThrottledKeys counts the keys of all requests.
	AccessedAndThrottledKeys ContributorInsights = "ACCESSED_AND_THROTTLED_KEYS"
)

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
	switch o.ContributorInsights {
	case NoInsights, ThrottledKeys, AccessedAndThrottledKeys:
	default:
		f.Add(path+".ContributorInsights", string(o.ContributorInsights),
			"NoInsights, ThrottledKeys or AccessedAndThrottledKeys", "use one of the constants of package table")
	}
	if o.StreamPolicy != nil && e.table.Stream == schema.StreamNone && len(o.Replicas) == 0 {
		f.Add(path+".StreamPolicy", "a policy", "none for "+e.table.Name+", which has no stream",
			"set Stream in the table's schema, or leave the policy out")
	}
	checkGiven(f, path, e.region, o.KinesisStream, o.ResourcePolicy, o.StreamPolicy)
	o.checkReplicas(f, path, e)
}

// checkGiven adds a finding for each resource of the caller that a table or a replica
// cannot use; nil is the default of each.
func checkGiven(f *finding.List, path, region string, stream awskinesis.IStream, policy,
	streamPolicy awsiam.PolicyDocument) {
	props.CheckResource(f, path+".KinesisStream", stream, region)
	for i, document := range []awsiam.PolicyDocument{policy, streamPolicy} {
		if document != nil && props.IsNil(document) {
			f.Add(path+[]string{".ResourcePolicy", ".StreamPolicy"}[i], document, "a policy, or nil",
				"leave it out for none: in an interface, a nil pointer is not nil")
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
		o.Read.check(f, path+".Read", true)
		o.Write.check(f, path+".Write", true)
	}
	read, write := o.scaling(t)
	provisioned := read != Scaling{}
	checkThroughput(f, path, IndexOptions{o.MaximumReadUnits, o.MaximumWriteUnits, o.WarmReadUnits, o.WarmWriteUnits,
		read, write}, t, provisioned)
	for _, name := range slices.Sorted(maps.Keys(o.Indexes)) {
		index, indexPath := o.Indexes[name], fmt.Sprintf("%s.Indexes[%q]", path, name)
		if _, ok := t.Index(name); !ok {
			f.Add(indexPath, name, indexNames(t), "name an index of "+t.Name)
			continue
		}
		index.Read.check(f, indexPath+".Read", false)
		index.Write.check(f, indexPath+".Write", false)
		if !provisioned && (index.Read != Scaling{} || index.Write != Scaling{}) {
			f.Add(indexPath, "provisioned capacity", "none on "+t.Name+", which is on-demand",
				"set Read and Write of the table too")
		}
		index.Read, index.Write = cmp.Or(index.Read, read), cmp.Or(index.Write, write)
		checkThroughput(f, indexPath, index, t, provisioned)
	}
}

// checkThroughput checks what tables and indexes have in common. Read and Write are those of the table where the index
// has none.
func checkThroughput(f *finding.List, path string, o IndexOptions, t schema.Table, provisioned bool) {
	checkMaximum(f, path+".MaximumReadUnits", o.MaximumReadUnits, t, provisioned)
	checkMaximum(f, path+".MaximumWriteUnits", o.MaximumWriteUnits, t, provisioned)
	leastReads, leastWrites := warmReads, warmWrites
	if provisioned {
		leastReads, leastWrites = max(o.Read.Minimum, 1), max(o.Write.Minimum, 1)
	}
	checkWarm(f, path+".WarmReadUnits", o.WarmReadUnits, leastReads)
	checkWarm(f, path+".WarmWriteUnits", o.WarmWriteUnits, leastWrites)
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

func checkWarm(f *finding.List, path string, units, least int) {
	if units != 0 && (units < least || units > props.LargestNumber) {
		f.Add(path, units, fmt.Sprintf("%d to 2147483647 units in a second", least),
			"leave it 0: it cannot be less than what the table is ready for anyhow")
	}
}

// check adds a finding for each part that is invalid.
func (s Scaling) check(f *finding.List, path string, required bool) {
	if !required && s == (Scaling{}) {
		return
	}
	if s.Minimum < 1 || s.Minimum > props.LargestNumber/growth {
		f.Add(path+".Minimum", s.Minimum, "1 to 214748364 units in a second", "Read and Write both need one")
	}
	if s.Maximum != 0 && (s.Maximum < s.Minimum || s.Maximum > props.LargestNumber) {
		f.Add(path+".Maximum", s.Maximum, fmt.Sprintf("%d, the minimum, to 2147483647", s.Minimum),
			"leave it 0 for ten times the minimum")
	}
	f.Limits(path, s)
}

// checkRegions returns a [finding.List] if a replica is in a region that the CDK
// does not know.
func (o Options) checkRegions(scope constructs.Construct) error {
	var f finding.List
	if !props.IsNil(scope) {
		for i, r := range o.Replicas {
			if regionName.MatchString(r.Region) {
				props.CheckRegion(&f, fmt.Sprintf("Props.Options.Replicas[%d].Region", i), r.Region)
			}
		}
	}
	return f.Err()
}

func (o Options) checkReplicas(f *finding.List, path string, e environment) {
	if len(o.Replicas) == 0 {
		return
	}
	if props.IsToken(e.region) {
		f.Add(path+".Replicas", len(o.Replicas), "none in a stack for any region",
			"give the stack an environment with a region")
	}
	read, _ := o.scaling(e.table)
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
		}
		regions[r.Region] = true
		r.checkKey(f, at+".KeyARN", e.customerKey)
		props.CheckRemoval(f, at+".DeletionProtection", e.removed, r.DeletionProtection)
		f.Limits(at, r)
		r.Read.check(f, at+".Read", false)
		if (r.Read != Scaling{}) && read == (Scaling{}) {
			f.Add(at+".Read", "provisioned capacity", "none on "+e.table.Name+", which is on-demand",
				"set Read and Write of the table too")
		}
		checkMaximum(f, at+".MaximumReadUnits", r.MaximumReadUnits, e.table, read != Scaling{})
		checkGiven(f, at, r.Region, r.KinesisStream, r.ResourcePolicy, r.StreamPolicy)
	}
}

func (r Replica) checkKey(f *finding.List, path string, customerKey bool) {
	match := keyARN.FindStringSubmatch(r.KeyARN)
	switch {
	case !customerKey && r.KeyARN != "":
		f.Add(path, r.KeyARN, "none without a customer managed key of the table",
			"give the table a key too, or leave this one out")
	case customerKey && r.KeyARN == "":
		f.Add(path, r.KeyARN, "the ARN of a key in "+r.Region,
			"a table with a customer managed key needs one in each region of a replica")
	case r.KeyARN != "" && !props.IsToken(r.KeyARN) && (match == nil || match[1] != r.Region):
		f.Add(path, r.KeyARN, "the ARN of a key in "+r.Region,
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
