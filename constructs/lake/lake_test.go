package lake_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// measured is a data model of no platform: its table has no sort key.
var measured = schema.Database{Tables: []schema.Table{{
	Name: "Measurements", PhysicalName: "measurements", Stream: schema.StreamNewAndOldImages,
	Key: schema.Key{Partition: "sensor"},
	Attributes: []schema.Attribute{{Name: "sensor", Type: schema.String}, {Name: "value", Type: schema.Number},
		{Name: "faulty", Type: schema.Boolean}},
}}}

// measurements is a lake of it, with as many entities as asked for, whose keys
// begin with their names.
func measurements(entities int) schema.Lake {
	l := schema.Lake{Name: "measurements", Table: "Measurements"}
	for i := range entities {
		name := fmt.Sprintf("kind%d", i)
		l.Entities = append(l.Entities, schema.Entity{Name: name, PartitionPrefix: name + "#", Columns: []schema.Column{
			{Name: "sensor", Type: schema.ColumnText}, {Name: "value", Type: schema.ColumnDecimal},
			{Name: "faulty", Type: schema.ColumnBoolean},
		}})
	}
	return l
}

// anything is a lake whose only entity is every item, and whose saved query says no more
// than its name.
func anything() schema.Lake {
	l := measurements(1)
	l.Entities[0].PartitionPrefix = ""
	l.Queries = []schema.SavedQuery{{Name: "All", SQL: "SELECT * FROM kind0_changes"}}
	return l
}

// lakes are the lakes under test, by stack name.
var lakes = map[string]schema.Lake{"one": measurements(1), "five": measurements(5), "six": measurements(6),
	"anything": anything(), "replicated": measurements(1)}

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

func declare(app awscdk.App) {
	build := gofunction.Start(context.Background(), gofunction.Source{
		Directory: "../todo/testdata/handlers", Packages: []string{"writer", "compactor"},
	})
	for name, l := range lakes {
		stack := awscdk.NewStack(app, jsii.String(name),
			&awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("eu-central-1")}})
		source := table.Props{Table: measured.Tables[0]}
		if name == "replicated" {
			source.Options.Replicas = []table.Replica{{Region: "eu-west-1"}}
		}
		made := lake.New(stack, "Lake", lake.Props{Table: table.New(stack, "Table", source), Database: measured,
			Lake: l, Build: build})
		if name != "one" {
			continue
		}
		for id, metric := range map[string]func(*awscloudwatch.MetricOptions) awscloudwatch.Metric{
			"Rows": made.MetricRows, "Delay": made.MetricDelay, "FailedRecords": made.MetricFailedRecords,
			"WriteFailures":      made.MetricWriteFailures,
			"CompactionFailures": made.MetricCompactionFailures, "FailureQueue": made.MetricFailureQueue,
		} {
			alarm.New(stack, id, alarm.Props{Metric: metric(nil)})
		}
	}
	declareTwice(build)
}

// declareTwice declares an app that is deployed under two names, as for two
// environments in one account and region.
func declareTwice(build *gofunction.Build) {
	names := map[string]string{}
	for _, stackName := range []string{"measured-dev", "measured-prod"} {
		stack := awscdk.NewStack(awscdk.NewApp(nil), jsii.String("measured"), &awscdk.StackProps{StackName: &stackName})
		nested := awscdk.NewNestedStack(stack, jsii.String("Nested"), nil)
		for _, scope := range []constructs.Construct{stack, nested} {
			made := lake.New(scope, "Lake", lake.Props{
				Table: table.New(scope, "Table", table.Props{Table: measured.Tables[0]}), Database: measured,
				Lake: measurements(1), Build: build,
			})
			if other, taken := names[made.CatalogName]; taken {
				panic(fmt.Sprintf("a lake of the stacks %s and %s has the same name: %s", other, stackName,
					made.CatalogName))
			}
			names[made.CatalogName] = stackName
		}
	}
}

// texts makes the texts of a lake as long as they may be, and so many bytes longer.
func texts(l *schema.Lake, more int) {
	l.Entities[0].Description = strings.Repeat("d", 2048+more)
	l.Entities[0].Columns = slices.Clone(l.Entities[0].Columns)
	l.Entities[0].Columns[1].Description = strings.Repeat("c", 255+more)
	l.Views = []schema.View{{Name: "all", Description: strings.Repeat("v", 2048+more), Columns: l.Entities[0].Columns,
		SQL: "SELECT"}}
	l.Queries = []schema.SavedQuery{{Name: strings.Repeat("q", 128+more), Description: strings.Repeat("d", 1024+more),
		SQL: strings.Repeat("s", 262144+more)}}
}

// A mapping has at most five filters; where more would be needed, or an entity is
// every item, the writer chooses alone.
func TestFilters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"five": 5, "six": 0, "anything": 0} {
		_, mapping := synthtest.Stack(t, name).One(t, "AWS::Lambda::EventSourceMapping", "")
		if got := synthtest.List(synthtest.At(mapping.Properties, "FilterCriteria", "Filters")); len(got) != want {
			t.Errorf("%s: got %v, want %d filters", name, got, want)
		}
	}
}

// The golden files have a lake of another model, one without filters and descriptions, and what
// a table with replicas is warned of: its stream can have one reader.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "one", synthtest.Stacks(t, "one", "anything", "replicated"))
}

// The metrics are those that the functions report.
func TestMetrics(t *testing.T) {
	t.Parallel()
	reported := map[string]string{}
	for _, m := range schema.LakeMetrics() {
		reported[m.Name] = m.Function
	}
	seen := 0
	for id, a := range synthtest.Stack(t, "one").Named("AWS::CloudWatch::Alarm") {
		function := synthtest.Stable(synthtest.Text(synthtest.At(a.Properties, "Dimensions", 0, "Value")))
		if name := fmt.Sprint(a.Properties["MetricName"]); a.Properties["Namespace"] == "Onesynth/lake" {
			seen++
			if !strings.EqualFold("Lake"+reported[name], function) {
				t.Errorf("%s: %s is reported by %q, not by %s", id, name, reported[name], function)
			}
		}
	}
	if seen != 5 {
		t.Errorf("got %d metrics of the lake, want 5", seen)
	}
}

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), gofunction.Source{Directory: "nowhere", Packages: lake.Packages()})
	// right returns valid props after a change.
	right := func(change func(*lake.Props)) lake.Props {
		p := lake.Props{Table: &table.Table{Schema: measured.Tables[0], Resource: struct{ awsdynamodb.ITable }{}},
			Database: measured, Lake: measurements(1), Build: build}
		change(&p)
		return p
	}
	synthtest.Validate(t, map[string]synthtest.Case[lake.Props]{
		"OK": {right(func(*lake.Props) {}), nil},
		"Limits": {right(func(p *lake.Props) {
			p.CatalogName, p.LakeBatchWindow, p.CompactEvery, p.LakeRetentionDays, p.QueryLimitBytes = "a_1",
				time.Second, 15*time.Minute, 1, 10_000_000
		}), nil},
		"FirstDay":     {right(func(p *lake.Props) { p.LakeFirstDay = "2026-11-15" }), nil},
		"ErrFirstDay":  {right(func(p *lake.Props) { p.LakeFirstDay = "2026-11-31" }), []string{"Props.LakeFirstDay"}},
		"ErrEarlyDay":  {right(func(p *lake.Props) { p.LakeFirstDay = "2019-12-31" }), []string{"Props.LakeFirstDay"}},
		"ErrFutureDay": {right(func(p *lake.Props) { p.LakeFirstDay = "9999-01-01" }), []string{"Props.LakeFirstDay"}},
		"ErrTwoDays": {right(func(p *lake.Props) { p.LakeFirstDay, p.LakeRetentionDays = "2026-11-15", 7 }),
			[]string{"Props.LakeFirstDay"}},
		"ErrZero": {lake.Props{}, []string{"Props.Table", "Props.Lake", "Props.Build"}},
		"ErrNoTable": {right(func(p *lake.Props) { p.Table = &table.Table{Schema: measured.Tables[0]} }),
			[]string{"Props.Table"}},
		"ErrHuge": {right(func(p *lake.Props) {
			p.LakeBatchWindow, p.LakeRetentionDays, p.QueryLimitBytes = 301*time.Second, math.MaxInt, math.MaxInt64
		}), []string{"Props.LakeBatchWindow", "Props.LakeRetentionDays", "Props.QueryLimitBytes"}},
		"ErrOtherTable": {right(func(p *lake.Props) {
			p.Table = &table.Table{Schema: schema.Table{Name: "Other"}, Resource: struct{ awsdynamodb.ITable }{}}
		}), []string{"Props.Table"}},
		"ErrLake": {right(func(p *lake.Props) {
			p.Lake.Name, p.Lake.Entities[0].Columns[1].Type = "Measurements", "money"
		}), []string{"Props.Lake.Name", "Props.Lake.Entities[kind0].Columns[value].Type",
			"Props.Lake.Entities[kind0].Columns[value].Type"}},
		"LongTexts": {right(func(p *lake.Props) { texts(&p.Lake, 0) }), nil},
		"ErrTexts": {right(func(p *lake.Props) { texts(&p.Lake, 1) }), []string{
			"Props.Lake.Entities[kind0].Description", "Props.Lake.Entities[kind0].Columns[value].Description",
			"Props.Lake.Views[all].Description", "Props.Lake.Views[all].Columns[value].Description",
			"Props.Lake.Queries[" + strings.Repeat("q", 129) + "].Name",
			"Props.Lake.Queries[" + strings.Repeat("q", 129) + "].Description",
			"Props.Lake.Queries[" + strings.Repeat("q", 129) + "].SQL",
		}},
		"ErrViewText": {right(func(p *lake.Props) {
			p.Lake.Views = []schema.View{{Name: "all", Columns: p.Lake.Entities[0].Columns,
				SQL: strings.Repeat("s", 400_000)}}
		}), []string{"Props.Lake.Views[all].SQL"}},
		"ErrBuild": {right(func(p *lake.Props) {
			p.Build = gofunction.Start(t.Context(),
				gofunction.Source{Directory: "nowhere", Packages: []string{"writer"}})
		}), []string{"Props.Build"}},
		"ErrCatalogName": {right(func(p *lake.Props) { p.CatalogName = "a-b" }), []string{"Props.CatalogName"}},
		"ErrDatabase":    {right(func(p *lake.Props) { p.CatalogName = "default" }), []string{"Props.CatalogName"}},
		"ErrWorkGroup":   {right(func(p *lake.Props) { p.CatalogName = "primary" }), []string{"Props.CatalogName"}},
		"ErrLongName": {right(func(p *lake.Props) { p.CatalogName = strings.Repeat("a", 129) }),
			[]string{"Props.CatalogName"}},
		"ErrBelow": {right(func(p *lake.Props) {
			p.LakeBatchWindow, p.CompactEvery, p.LakeRetentionDays, p.QueryLimitBytes, p.LogRetention =
				time.Millisecond, 14*time.Minute, -1, 9_999_999, -2
		}), []string{"Props.LakeBatchWindow", "Props.CompactEvery", "Props.LakeRetentionDays", "Props.QueryLimitBytes",
			"Props.LogRetention"}},
		"SizesOfOthers": {right(func(p *lake.Props) { p.Sizes.MemoryMegabytes = map[string]int{"todoapi": 1} }), nil},
		"ErrSizes": {right(func(p *lake.Props) {
			p.Sizes = gofunction.Sizes{MemoryMegabytes: map[string]int{"writer": 1},
				ReservedConcurrency: map[string]int{"compactor": -1}}
		}), []string{`Props.Sizes.MemoryMegabytes["writer"]`, `Props.Sizes.ReservedConcurrency["compactor"]`}},
		"ErrLogLevel": {right(func(p *lake.Props) { p.LogLevel = "all" }), []string{"Props.LogLevel"}},
	})
}
