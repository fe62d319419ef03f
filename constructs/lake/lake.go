// Package lake turns the changes of a table's items into files that can be queried.
//
//	table stream ─> writer ─> Parquet in Amazon S3 <─ compactor, by schedule
//	                                 └── AWS Glue catalog ─> Amazon Athena
//
// The bucket holds the changes in
// events/entity=<name>/event_date=<YYYY-MM-DD>/<object>.parquet, and the results
// of queries, for a week, in results/. The failure queue has the records that cannot
// become rows, each with its cause.
package lake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsathena"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsglue"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/bucket"
	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// The functions: the last elements of their packages, and the one before.
const (
	writer    = schema.LakeWriter
	compactor = schema.LakeCompactor
	folder    = "lake"
)

// Packages returns the main packages of the lake's functions, for [gofunction.Source.Packages].
func Packages() []string {
	return []string{"lambdas/" + folder + "/" + writer, "lambdas/" + folder + "/" + compactor}
}

// CheckBuild adds a finding at path if the build lacks the lake's functions. A nil build lacks none.
func CheckBuild(f *finding.List, path string, build *gofunction.Build) {
	build.Check(f, path, "", build.NameOf(folder, writer), build.NameOf(folder, compactor))
}

const (
	// EventsPrefix begins the keys of the changes.
	EventsPrefix = "events/"
	// resultsPrefix begins the keys of what queries found.
	resultsPrefix = "results/"

	// resultDays is how long results of queries can be looked at again.
	resultDays = 7
	// accessPrefix begins the keys of access logs.
	accessPrefix = "lake/"

	// writerTimeout leaves time to write the objects of a full batch again and
	// again: one needs about a second.
	writerTimeout = 2 * time.Minute
	writerMemory  = 512
	// compactorMemory holds a page of each column of the objects that are being
	// merged, and a row group of the one that they become.
	compactorMemory = 1024
	// batchSize is the most that AWS Lambda hands over; 6 MB come before that.
	batchSize = 10000
	// maxFilters is how many filters a mapping may have ("Lambda quotas").
	maxFilters = 5
)

// Lake holds the changes of a table's items as files, and what queries over them need.
type Lake struct {
	constructs.Construct
	props.Location
	// Schema is the lake's description. Its entities list all their columns.
	Schema schema.Lake
	// Bucket holds the changes and the results of queries.
	Bucket awss3.Bucket
	// AccessLogs holds the logs of requests to Bucket, in lake/, for LogRetention. It is nil with RemoveWithStack: a
	// bucket that keeps filling could not be deleted with the stack.
	AccessLogs awss3.Bucket
	// CatalogName is the name of the catalog's database and of the workgroup.
	CatalogName string
	// Catalog describes the objects; Tables are its tables and then its views.
	Catalog awsglue.CfnDatabase
	Tables  []awsglue.CfnTable
	// WorkGroup is where queries run, and Queries are saved in it.
	WorkGroup awsathena.CfnWorkGroup
	Queries   []awsathena.CfnNamedQuery
	// Writer makes objects of the stream's records, which Mapping hands to it. Compactor, which Schedule starts, merges
	// small objects.
	Writer, Compactor *gofunction.Function
	Mapping           *stream.Mapping
	Schedule          *schedule.Schedule
	// Failures receives the records that cannot become rows, each with its cause, and the places in the stream of
	// batches that could not be written in time.
	Failures awssqs.Queue

	files           *bucket.Bucket
	metricNamespace string
	// bucket, account and database are the names of the bucket and of the catalog, and the stack's account, which the
	// CDK was asked for once.
	bucket            string
	account, database *string
}

// New declares a lake. It ends the program, by [props.Fatal], with the error of
// [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Lake {
	location := props.Accept("lake", scope, id, p.Validate())
	p = p.withDefaults()
	l := &Lake{Location: location, Schema: p.Lake, CatalogName: p.CatalogName, metricNamespace: p.MetricNamespace}
	constructs.NewConstruct_Override(l, scope, &id)
	if l.CatalogName == "" {
		l.CatalogName = p.Lake.Name + "_" + unique(l)
	}
	l.account = awscdk.Stack_Of(l).Account()
	l.addBucket(p)
	l.addCatalog(p)
	l.addMetadata()
	l.addQueries(p)
	l.addWriter(p)
	l.addCompactor(p)
	if p.Table.Replicated {
		awscdk.Annotations_Of(l).AddWarningV2(jsii.String("@onesynth/lake:replicas"), jsii.String(
			"the table "+p.Lake.Table+" has replicas: its stream can have one reader, the lake; a change "+
				"made in another region has the time at which it comes to this one"))
	}
	return l
}

// unique tells lakes of one account and region apart: by their path in the app, and
// by the name of the stack, since an app may be deployed under several. A nested
// stack has no name before it is deployed.
func unique(l *Lake) string {
	stack := awscdk.Stack_Of(l)
	for parent := stack.NestedStackParent(); parent != nil; parent = stack.NestedStackParent() {
		stack = parent
	}
	h := sha256.Sum256([]byte(*stack.StackName() + "/" + *l.Node().Addr()))
	return hex.EncodeToString(h[:4])
}

func (l *Lake) addBucket(p Props) {
	l.files = bucket.New(l, bucket.Props{
		Results: resultsPrefix, ResultDays: resultDays,
		Objects: EventsPrefix, RetentionDays: p.LakeRetentionDays,
		LogPrefix: accessPrefix, LogRetention: p.LogRetention,
		RemoveWithStack: p.RemoveWithStack,
		Key:             p.Key,
	})
	l.Bucket, l.AccessLogs, l.bucket = l.files.Resource, l.files.AccessLogs, *l.files.Resource.BucketName()
}

func (l *Lake) addWriter(p Props) {
	l.Failures = deadletter.NewQueue(l, "Failures", deadletter.Props{Retain: !p.RemoveWithStack, Key: p.Key})
	l.Writer = l.addFunction("Writer", writer, "writes changes as Parquet", writerTimeout, writerMemory, p)
	l.files.AllowPut(l.Writer, EventsPrefix)
	l.Mapping = stream.New(l, "Mapping", stream.Props{
		Table: p.Table, Function: l.Writer, OnFailure: l.Failures,
		On: schema.OnStream{
			Filters: filters(p.Table.Schema.Key, p.Lake.Entities), BatchSize: batchSize, BatchWindow: p.LakeBatchWindow,
			// Nor is it reported in part: a batch that is tried again has to cover the same records to be the same
			// objects.
			Whole: true,
		},
		Off: p.Off,
	})
}

// filters let only items of entities through, as far as a mapping can tell; the
// writer looks again.
func filters(of schema.Key, entities []schema.Entity) []map[string]any {
	if len(entities) > maxFilters {
		return nil
	}
	var all []map[string]any
	for _, e := range entities {
		keys := map[string]any{}
		for attribute, prefix := range map[string]string{of.Partition: e.PartitionPrefix, of.Sort: e.SortPrefix} {
			if prefix != "" {
				keys[attribute] = map[string]any{"S": []any{map[string]any{"prefix": prefix}}}
			}
		}
		if len(keys) == 0 {
			return nil
		}
		all = append(all, map[string]any{"dynamodb": map[string]any{"Keys": keys}})
	}
	return all
}

func (l *Lake) addCompactor(p Props) {
	// Runs do not overlap, because none takes longer than the shortest time between two.
	// An overlap would do the work twice, without harm. So there is no reserved
	// concurrency, which new accounts do not have.
	l.Compactor = l.addFunction("Compactor", compactor, "merges small objects", compactorTimeout, compactorMemory, p)
	l.Compactor.Allow([]string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}, l.files.Objects(EventsPrefix))
	l.Compactor.Role.AddToPrincipalPolicy(l.list(EventsPrefix))
	key.Allow(l, l.Compactor.Role, p.Key, "s3", key.Write)
	l.Schedule = schedule.New(l, "Schedule", schedule.Props{
		Function:    l.Compactor,
		On:          schema.OnSchedule{Every: p.CompactEvery},
		Description: "Lake " + l.Schema.Name + ": runs the compactor",
		Key:         p.Key,
		Off:         p.Off,
	})
}

func (l *Lake) addFunction(id, name, description string, timeout time.Duration, memory int,
	p Props) *gofunction.Function {
	// Validate has seen that there is one.
	definition, _ := p.Lake.Definition(p.Database)
	environment := map[string]string{
		"LAKE_BUCKET":     l.bucket,
		"LAKE_DEFINITION": definition.Encode(),
	}
	if p.MetricNamespace != "" {
		environment[schema.MetricNamespaceVariable] = p.MetricNamespace
	}
	return gofunction.New(l, id, p.Sizes.For(gofunction.Props{
		Build:           p.Build,
		Name:            p.Build.NameOf(folder, name),
		Description:     "Lake " + l.Schema.Name + ": " + description,
		Environment:     environment,
		Timeout:         timeout,
		MemoryMegabytes: memory,
		Settings:        p.Settings,
	}))
}

// list allows to list the keys that begin so.
func (l *Lake) list(prefixes ...string) awsiam.PolicyStatement {
	patterns := props.Map(prefixes, func(prefix string) string { return prefix + "*" })
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions:    jsii.Strings("s3:ListBucket"),
		Resources:  jsii.Strings(*l.Bucket.BucketArn()),
		Conditions: &map[string]any{"StringLike": map[string]any{"s3:prefix": patterns}},
	})
}

// GrantQuery lets the grantee query the lake in its workgroup, and run the saved
// queries: it may read the changes and the catalog, and read and write results.
func (l *Lake) GrantQuery(grantee awsiam.IGrantable) {
	arn := func(service, resource string) string { return props.ARN(l, service, resource) }
	catalog := []string{arn("glue", "catalog"), arn("glue", "database/"+l.CatalogName)}
	for _, e := range l.Schema.Entities {
		catalog = append(catalog, arn("glue", "table/"+l.CatalogName+"/"+e.ChangeTable()))
	}
	for _, v := range l.Schema.Views {
		catalog = append(catalog, arn("glue", "table/"+l.CatalogName+"/"+v.Name))
	}
	allow := func(actions []string, resources ...string) {
		grantee.GrantPrincipal().AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings(actions...), Resources: jsii.Strings(resources...),
		}))
	}
	// "Control access to Amazon Athena and AWS services": example policies.
	allow([]string{
		"athena:BatchGetNamedQuery", "athena:BatchGetQueryExecution", "athena:GetNamedQuery",
		"athena:GetQueryExecution",
		"athena:GetQueryResults", "athena:GetQueryResultsStream", "athena:GetWorkGroup", "athena:ListNamedQueries",
		"athena:ListQueryExecutions", "athena:StartQueryExecution", "athena:StopQueryExecution",
	}, arn("athena", "workgroup/"+l.CatalogName))
	allow([]string{"glue:GetDatabase", "glue:GetTable", "glue:GetTables"}, catalog...)
	// For every query Amazon Athena looks up this database, too ("Configure access to
	// databases and tables in the AWS Glue Data Catalog").
	allow([]string{"glue:GetDatabase"}, arn("glue", "database/default"))
	allow([]string{"s3:GetBucketLocation"}, *l.Bucket.BucketArn())
	allow([]string{"s3:GetObject"}, l.files.Objects(EventsPrefix))
	allow([]string{"s3:AbortMultipartUpload", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"},
		l.files.Objects(resultsPrefix))
	grantee.GrantPrincipal().AddToPrincipalPolicy(l.list(EventsPrefix, resultsPrefix))
	key.Allow(l, grantee, l.Bucket.EncryptionKey(), "s3", key.Write)
}

// GrantCompact lets the grantee run the compactor between its scheduled runs.
func (l *Lake) GrantCompact(grantee awsiam.IGrantable) awsiam.Grant {
	return l.Compactor.GrantInvoke(grantee)
}

// MetricRows counts the rows that landed: a sum over five minutes unless options
// say otherwise; options may be nil.
func (l *Lake) MetricRows(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.metric(l.Writer, "LakeRows", "Sum", options)
}

// MetricDelay is the time in milliseconds that the oldest change of a batch took to land: a maximum over five minutes
// unless options say otherwise; options may be nil.
func (l *Lake) MetricDelay(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.metric(l.Writer, "LakeDelay", "Maximum", options)
}

// MetricFailedRecords counts the records that cannot become rows: a sum over five
// minutes unless options say otherwise; options may be nil.
func (l *Lake) MetricFailedRecords(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.metric(l.Writer, "LakeFailures", "Sum", options)
}

// MetricWriteFailures counts the batches that could not be written and are tried
// again: a sum over five minutes unless options say otherwise; options
// may be nil.
func (l *Lake) MetricWriteFailures(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.metric(l.Writer, "LakeWriteFailures", "Sum", options)
}

// MetricCompactionFailures counts the objects that the compactor could not merge and tries again in the next run: a sum
// over five minutes unless options say otherwise; options may be nil.
func (l *Lake) MetricCompactionFailures(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.metric(l.Compactor, "LakeCompactionFailures", "Sum", options)
}

// MetricFailureQueue is how many messages wait in the failure queue: a maximum
// over five minutes unless options say otherwise; options may be nil.
func (l *Lake) MetricFailureQueue(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return l.Failures.MetricApproximateNumberOfMessagesVisible(options)
}

// metric is one of the metrics that a function reports itself.
func (l *Lake) metric(of *gofunction.Function, name, statistic string,
	options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	metric := of.MetricReported(schema.MetricNamespace(l.metricNamespace, schema.LakeComponent), schema.MetricDimension,
		name, statistic)
	return metric.With(cmp.Or(options, &awscloudwatch.MetricOptions{}))
}
