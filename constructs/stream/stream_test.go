package stream_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

var changing = schema.Table{
	Name: "Changing", PhysicalName: "changing", Stream: schema.StreamNewImage,
	Key: schema.Key{Partition: "id"}, Attributes: []schema.Attribute{{Name: "id", Type: schema.String}},
}

var synthesised, global synthtest.Template

func TestMain(m *testing.M) {
	synthtest.Main(m, declare, func(folder string) error {
		var err error
		if synthesised, err = synthtest.Load(folder, "stack"); err != nil {
			return err
		}
		global, err = synthtest.Load(folder, "global")
		return err
	})
}

func declare(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	source := table.New(stack, "Table", table.Props{Table: changing})
	queue := deadletter.NewQueue(stack, "Queue", deadletter.Props{})
	function := func(id string) *gofunction.Function {
		return gofunction.New(stack, id, gofunction.Props{Package: "../gofunction/testdata/handlers/hello"})
	}
	stream.New(stack, "Zero", stream.Props{Table: source, Function: function("First"), OnFailure: queue})
	stream.New(stack, "Third", stream.Props{Table: source, Function: function("Another"), OnFailure: queue})
	replicated := awscdk.NewStack(app, jsii.String("global"), &awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("eu-central-1")}})
	// Replication needs the images of before, too.
	described := changing
	described.Stream = schema.StreamNewAndOldImages
	options := table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}
	for _, t := range []*table.Table{
		table.New(replicated, "Table", table.Props{Table: described, Options: options}), table.New(replicated, "Read", table.Props{Table: described, Options: options}),
	} {
		reader := awsiam.NewRole(t, jsii.String("Reader"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
		t.GrantStream(reader)
		if *t.Node().Id() == "Table" {
			t.GrantStream(reader)
		}
	}
	stream.New(stack, "All", stream.Props{
		Table: source, Function: function("Second"), OnFailure: queue,
		Filters:   []map[string]any{{"eventName": []any{"REMOVE"}}, {"eventName": []any{"INSERT"}}},
		BatchSize: 7, BatchWindow: time.Minute, Parallel: 2, Retries: 3, MaximumAge: time.Hour, Bisect: true, ReportItemFailures: true,
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]any{
		"Zero": {"BatchSize": 100.0, "MaximumRecordAgeInSeconds": 82800.0, "BisectBatchOnFunctionError": false, "StartingPosition": "TRIM_HORIZON"},
		"All": {
			"BatchSize": 7.0, "MaximumBatchingWindowInSeconds": 60.0, "ParallelizationFactor": 2.0, "MaximumRetryAttempts": 3.0,
			"MaximumRecordAgeInSeconds": 3600.0, "BisectBatchOnFunctionError": true, "FunctionResponseTypes": []any{"ReportBatchItemFailures"},
			"StartingPosition": "TRIM_HORIZON",
			"FilterCriteria": map[string]any{"Filters": []any{
				map[string]any{"Pattern": `{"eventName":["REMOVE"]}`}, map[string]any{"Pattern": `{"eventName":["INSERT"]}`},
			}},
		},
	}
	for id, want := range tests {
		got := map[string]any{}
		for name, value := range synthesised.Named("AWS::Lambda::EventSourceMapping")[id].Properties {
			switch name {
			case "FunctionName", "EventSourceArn", "DestinationConfig":
				if text := synthtest.Text(value); !strings.Contains(text, "Arn") && name != "FunctionName" {
					t.Errorf("%s: %s: got %s, want an ARN", id, name, text)
				}
			default:
				got[name] = value
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

// DynamoDB throttles the third reader of a shard, and the second where there are replicas.
func TestWarnsOfReaders(t *testing.T) {
	t.Parallel()
	const after = ": DynamoDB throttles them, and what is read too late is lost after 24 hours; let one function pass changes on to others [ack: @onesynth/table:streamReaders]"
	want := map[string][]string{
		"/stack/Table":  {"more than 2 read the stream of the table Changing" + after},
		"/global/Table": {"more than 1 read the stream of the table Changing, which has replicas" + after},
	}
	got := maps.Clone(synthesised.Warnings)
	maps.Copy(got, global.Warnings)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// A function may read the one stream, and may not yet exist without that.
func TestGrants(t *testing.T) {
	t.Parallel()
	want := []string{
		"dynamodb:DescribeStream Table.StreamArn", "dynamodb:GetRecords Table.StreamArn", "dynamodb:GetShardIterator Table.StreamArn",
		"dynamodb:ListStreams Table.StreamArn", "logs:CreateLogStream FirstLogs.Arn", "logs:PutLogEvents FirstLogs.Arn", "sqs:SendMessage Queue.Arn",
	}
	if diff := cmp.Diff(want, synthesised.Allowed(t, "FirstRole")); diff != "" {
		t.Errorf("role (-want +got):\n%s", diff)
	}
	policy, _ := synthesised.One(t, "AWS::IAM::Policy", "FirstRole")
	if after := synthtest.List(synthesised.Named("AWS::Lambda::EventSourceMapping")["Zero"].DependsOn); !slices.Contains(after, any(policy)) {
		t.Errorf("the mapping depends on %v, want %s among them", after, policy)
	}
}

// queue is a queue whose methods are not called.
type queue struct{ awssqs.IQueue }

// made returns a table whose resource's methods are not called.
func made(t schema.Table) *table.Table {
	return &table.Table{Schema: t, Resource: struct{ awsdynamodb.ITable }{}}
}

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	still := changing
	still.Stream = schema.StreamNone
	// right returns valid props after a change.
	right := func(change func(*stream.Props)) stream.Props {
		p := stream.Props{Table: made(changing), Function: &gofunction.Function{Resource: struct{ awslambda.Function }{}}, OnFailure: queue{}}
		change(&p)
		return p
	}
	filters := func(n int) []map[string]any {
		return slices.Repeat([]map[string]any{{"eventName": []any{"INSERT"}}}, n)
	}
	tests := map[string]struct {
		props stream.Props
		paths []string
	}{
		"OK": {right(func(*stream.Props) {}), nil},
		"Limits": {right(func(p *stream.Props) {
			p.Filters, p.BatchSize, p.BatchWindow, p.Parallel, p.Retries, p.MaximumAge = filters(5), 10000, 5*time.Minute, 10, 10000, 23*time.Hour
		}), nil},
		"ErrZero":     {stream.Props{}, []string{"Props.Table", "Props.Function", "Props.OnFailure"}},
		"ErrNoStream": {right(func(p *stream.Props) { p.Table = made(still) }), []string{"Props.Table"}},
		"ErrNotDeclared": {right(func(p *stream.Props) {
			p.Table, p.Function, p.OnFailure = &table.Table{Schema: changing}, &gofunction.Function{}, (*queue)(nil)
		}), []string{"Props.Table", "Props.Function", "Props.OnFailure"}},
		"ErrFilters":    {right(func(p *stream.Props) { p.Filters = filters(6) }), []string{"Props.Filters"}},
		"ErrNoFilter":   {right(func(p *stream.Props) { p.Filters = []map[string]any{{}} }), []string{"Props.Filters[0]"}},
		"ErrLongFilter": {right(func(p *stream.Props) { p.Filters = []map[string]any{{"x": []any{strings.Repeat("x", 4096)}}} }), []string{"Props.Filters[0]"}},
		"ErrFilter":     {right(func(p *stream.Props) { p.Filters = []map[string]any{{"x": func() {}}} }), []string{"Props.Filters[0]"}},
		"ErrAbove": {right(func(p *stream.Props) {
			p.BatchSize, p.BatchWindow, p.Parallel, p.Retries, p.MaximumAge = 10001, 301*time.Second, 11, 10001, 24*time.Hour
		}), []string{"Props.BatchSize", "Props.BatchWindow", "Props.Parallel", "Props.Retries", "Props.MaximumAge"}},
		"ErrBelow": {right(func(p *stream.Props) {
			p.BatchSize, p.BatchWindow, p.Parallel, p.Retries, p.MaximumAge = -1, -time.Second, -1, -1, time.Second
		}), []string{"Props.BatchSize", "Props.BatchWindow", "Props.Parallel", "Props.Retries", "Props.MaximumAge"}},
		"ErrFractions": {right(func(p *stream.Props) { p.BatchWindow, p.MaximumAge = time.Millisecond, time.Minute+time.Millisecond }), []string{"Props.BatchWindow", "Props.MaximumAge"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
