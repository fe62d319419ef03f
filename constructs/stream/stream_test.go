package stream_test

import (
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

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

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

func declare(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	source := table.New(stack, "Table", table.Props{Table: changing})
	queue := deadletter.NewQueue(stack, "Queue", deadletter.Props{})
	function := func(id string) *gofunction.Function {
		return gofunction.New(stack, id, gofunction.Props{Package: "../gofunction/testdata/handlers/hello"})
	}
	stream.New(stack, "Zero", stream.Props{Table: source, Function: function("First"), OnFailure: queue,
		On: schema.OnStream{Whole: true}})
	stream.New(stack, "Third", stream.Props{Table: source, Function: function("Another"), OnFailure: queue,
		On: schema.OnStream{Whole: true}})
	replicated := awscdk.NewStack(app, jsii.String("global"),
		&awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("eu-central-1")}})
	// Replication needs the images of before, too.
	described := changing
	described.Stream = schema.StreamNewAndOldImages
	options := table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}
	for _, t := range []*table.Table{
		table.New(replicated, "Table", table.Props{Table: described, Options: options}),
		table.New(replicated, "Read", table.Props{Table: described, Options: options}),
	} {
		reader := awsiam.NewRole(t, jsii.String("Reader"),
			&awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
		t.GrantStream(reader)
		if *t.Node().Id() == "Table" {
			t.GrantStream(reader)
		}
	}
	all := stream.New(stack, "All", stream.Props{
		Table: source, Function: function("Second"), OnFailure: queue,
		On: schema.OnStream{
			Filters:   []map[string]any{{"eventName": []any{"REMOVE"}}, {"eventName": []any{"INSERT"}}},
			BatchSize: 7, BatchWindow: time.Minute, ReportItemFailures: true,
		},
	})
	all.Resource.SetParallelizationFactor(jsii.Number(2))
	all.Resource.SetMaximumRetryAttempts(jsii.Number(3))
	all.Resource.SetMaximumRecordAgeInSeconds(jsii.Number(3600))
}

// The golden files have the mappings, what each function may read, and the warnings: DynamoDB
// throttles the third reader of a shard, and the second where there are replicas.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "", synthtest.Stacks(t, "stack", "global"))
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
		p := stream.Props{Table: made(changing),
			Function: &gofunction.Function{Resource: struct{ awslambda.Function }{}}, OnFailure: queue{}}
		change(&p)
		return p
	}
	synthtest.Validate(t, map[string]synthtest.Case[stream.Props]{
		"OK":          {right(func(*stream.Props) {}), nil},
		"ErrZero":     {stream.Props{}, []string{"Props.Table", "Props.Function", "Props.OnFailure"}},
		"ErrNoStream": {right(func(p *stream.Props) { p.Table = made(still) }), []string{"Props.Table"}},
		"ErrNotDeclared": {right(func(p *stream.Props) {
			p.Table, p.Function, p.OnFailure = &table.Table{Schema: changing}, &gofunction.Function{}, (*queue)(nil)
		}), []string{"Props.Table", "Props.Function", "Props.OnFailure"}},
		"ErrOn": {right(func(p *stream.Props) { p.On.BatchSize = 10001 }), []string{"Props.On.BatchSize"}},
	})
}
