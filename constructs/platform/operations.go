package platform

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/dashboard"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// failing and refusing are percentages of the requests.
	failing, refusing = 1, 50
	// slow is the time that one of a hundred requests may take, in milliseconds.
	slow = 1000
	// behind is the lowest age at which an alarm calls a waiting change late.
	behind = 5 * time.Minute
	// lasting is how many periods in a row a failure has to last if short ones pass by
	// themselves: requests are tried again.
	lasting = 3
	// mostMetrics is how many metrics an alarm on an expression takes ("Limits that
	// apply to alarms based on metric math expressions", Amazon CloudWatch user guide).
	mostMetrics = 10
)

// Operations are the parts of a platform that alarms watch and a dashboard shows,
// beside its functions and tables.
type Operations struct {
	// API is the API, and ServerErrorAlarm the construct id of the alarm on failed
	// requests. Default: there is none.
	API              *httpapi.API
	ServerErrorAlarm string
	// Schedules are the functions that run at intervals.
	Schedules []ScheduledFunction
	// Streams are the mappings that handle the changes of tables.
	Streams []HandledStream
	// Queues are those of failures.
	Queues []FailureQueue
	// Lake is the lake. Default: there is none.
	Lake *lake.Lake
}

// ScheduledFunction is a function that runs at intervals.
type ScheduledFunction struct {
	// ID is the construct id of the function: the alarm is <ID>NotRunAlarm.
	ID       string
	Schedule *schedule.Schedule
}

// HandledStream is a mapping of a table's stream.
type HandledStream struct {
	// ID is the construct id of the mapping: the alarm is <ID>AgeAlarm.
	ID      string
	Mapping *stream.Mapping
	// Changes names the records for people, and Handler the function that handles them.
	Changes, Handler string
}

// FailureQueue is a queue that is empty when all is well.
type FailureQueue struct {
	// Alarm is the construct id of the alarm.
	Alarm string
	Queue awssqs.Queue
	// Holds says what is in the queue.
	Holds string
}

// Operate declares the alarms and the dashboard, unless the props leave them out.
// Call it after the declaration of everything that they watch. An alarm watches the
// throttles of ten functions; for more functions there is a Throttles2Alarm, and so on.
//
// The description of each alarm refers to docs/OPERATIONS.md, by the alarm's id. The
// library's file explains the alarms that every platform has; explain those whose ids
// are in the operations in a file of that name of your own.
func (p *Platform) Operate(o Operations) ([]awscloudwatch.Alarm, awscloudwatch.Dashboard) {
	if !p.props.NoAlarms {
		if o.API != nil {
			p.watchAPI(o)
		}
		p.watchFunctions(o.Lake)
		p.watchTables()
		for _, s := range o.Schedules {
			p.watchSchedule(s)
		}
		for _, s := range o.Streams {
			p.watchStream(s)
		}
		for _, q := range o.Queues {
			p.watch(q.Alarm, q.Holds+" are in the queue of failures", alarm.Props{Metric: q.Queue.MetricApproximateNumberOfMessagesVisible(nil)})
		}
		if o.Lake != nil {
			p.watchLake(o.Lake)
		}
	}
	if p.props.NoDashboard {
		return p.alarms, nil
	}
	return p.alarms, p.show(o)
}

// watch declares an alarm. Its description begins with the platform's title and ends
// with the place of its explanation.
func (p *Platform) watch(id, description string, own alarm.Props) {
	own.Description = fmt.Sprintf("%s: %s. What to do: docs/OPERATIONS.md, %s", p.Schema.Title, description, id)
	own.Topic = p.props.AlarmTopic
	p.alarms = append(p.alarms, alarm.New(p.construct, id, own))
}

func (p *Platform) watchAPI(o Operations) {
	p.watch(o.ServerErrorAlarm, "one of a hundred requests, or more, fails on the server's side",
		alarm.Props{Metric: o.API.MetricServerErrorRate(), Threshold: failing})
	p.watch("ClientErrorAlarm", "half of the requests, or more, are refused",
		alarm.Props{Metric: o.API.MetricClientErrorRate(), Threshold: refusing, Periods: lasting})
	p.watch("SlowAlarm", "one of a hundred requests takes longer than a second",
		alarm.Props{Metric: o.API.MetricLatency(&awscloudwatch.MetricOptions{Statistic: jsii.String("p99")}), Threshold: slow, Periods: lasting, Percentile: true})
}

func (p *Platform) watchFunctions(l *lake.Lake) {
	for _, f := range p.functions {
		p.watch(f.id+"Alarm", "the function "+f.name+" failed", alarm.Props{Metric: f.function.MetricErrors(nil)})
	}
	all := slices.Clone(p.functions)
	if l != nil {
		all = append(all, function{function: l.Writer}, function{function: l.Compactor})
	}
	for i, some := range slices.Collect(slices.Chunk(all, mostMetrics)) {
		id := "ThrottlesAlarm"
		if i > 0 {
			id = fmt.Sprintf("Throttles%dAlarm", i+1)
		}
		p.watchThrottles(id, some)
	}
}

func (p *Platform) watchThrottles(id string, functions []function) {
	throttles := map[string]awscloudwatch.IMetric{}
	var terms []string
	for i, f := range functions {
		term := fmt.Sprintf("m%d", i)
		throttles[term] = f.function.MetricThrottles(nil)
		terms = append(terms, term)
	}
	p.watch(id, "functions were refused for want of concurrency", alarm.Props{
		Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("SUM([" + strings.Join(terms, ", ") + "])"), Label: jsii.String("throttles"), UsingMetrics: &throttles,
		}),
	})
}

func (p *Platform) watchTables() {
	for _, t := range p.Database.Tables {
		name := t.Schema.Name
		operations := p.Schema.Database.Operations(name)
		if len(operations) == 0 {
			// DynamoDB counts by operation. Without an operation there is nothing to watch.
			continue
		}
		p.watch(name+"TableThrottlesAlarm", "for a quarter of an hour, requests of the table "+name+" were throttled",
			alarm.Props{Metric: t.MetricThrottledRequests(operations...), Periods: lasting})
		p.watch(name+"TableSystemErrorsAlarm", "for a quarter of an hour, DynamoDB failed requests of the table "+name,
			alarm.Props{Metric: t.MetricSystemErrors(operations...), Periods: lasting})
	}
}

// watchSchedule watches that a function has been invoked in the last three of its
// intervals, which last five minutes at least.
func (p *Platform) watchSchedule(s ScheduledFunction) {
	period := max(s.Schedule.Every, alarm.Period)
	p.watch(s.ID+"NotRunAlarm", fmt.Sprintf("%s has not run for %s", s.ID, lasting*period), alarm.Props{
		Metric: s.Schedule.MetricRuns(&awscloudwatch.MetricOptions{Period: awscdk.Duration_Seconds(jsii.Number(period.Seconds()))}),
		Below:  true, Periods: lasting,
	})
}

// watchStream watches that no change waits much longer than records are gathered
// for a batch.
func (p *Platform) watchStream(s HandledStream) {
	longest := max(behind, 2*s.Mapping.BatchWindow)
	p.watch(s.ID+"AgeAlarm", fmt.Sprintf("%s wait longer than %s for %s", s.Changes, longest, s.Handler),
		alarm.Props{Metric: s.Mapping.MetricAge(nil), Threshold: float64(longest.Milliseconds())})
}

func (p *Platform) watchLake(l *lake.Lake) {
	p.watchStream(HandledStream{ID: "Lake", Mapping: l.Mapping, Changes: "changes", Handler: "the lake"})
	p.watch("LakeFailuresAlarm", "records that cannot become rows, or that came too late, are in the lake's failure queue",
		alarm.Props{Metric: l.MetricFailureQueue(nil)})
	p.watch("LakeWriteAlarm", "objects of the lake could not be written", alarm.Props{Metric: l.MetricWriteFailures(nil)})
	p.watch("LakeWriterAlarm", "the function writer failed", alarm.Props{Metric: l.Writer.MetricErrors(nil)})
	p.watch("LakeCompactionAlarm", "small objects of the lake could not be merged", alarm.Props{Metric: l.MetricCompactionFailures(nil)})
	p.watch("LakeCompactorAlarm", "runs of the compactor are in the dead-letter queue", alarm.Props{Metric: l.Schedule.MetricDeadLetters(nil)})
	p.watchSchedule(ScheduledFunction{ID: "LakeCompactor", Schedule: l.Schedule})
}

// show declares the dashboard.
func (p *Platform) show(o Operations) awscloudwatch.Dashboard {
	shown := dashboard.Props{Alarms: p.alarms, API: o.API}
	add := func(name, room string, f *gofunction.Function, metrics []schema.Metric) {
		shown.Functions = append(shown.Functions, dashboard.Function{
			Name: name, Function: f, Namespace: schema.MetricNamespace(room), Metrics: schema.MetricsOf(name, metrics),
		})
	}
	for _, f := range p.functions {
		add(f.name, p.Schema.Name, f.function, p.Schema.Metrics)
	}
	for _, t := range p.Database.Tables {
		shown.Tables = append(shown.Tables, dashboard.Table{Table: t, Operations: p.Schema.Database.Operations(t.Schema.Name)})
	}
	for _, s := range o.Streams {
		shown.Streams = append(shown.Streams, dashboard.Stream{Name: s.ID, Mapping: s.Mapping})
	}
	for _, q := range o.Queues {
		shown.Queues = append(shown.Queues, dashboard.Queue{Name: q.Holds, Queue: q.Queue})
	}
	if l := o.Lake; l != nil {
		add(schema.LakeWriter, schema.LakeRoom, l.Writer, schema.LakeMetrics())
		add(schema.LakeCompactor, schema.LakeRoom, l.Compactor, schema.LakeMetrics())
		shown.Streams = append(shown.Streams, dashboard.Stream{Name: "Lake", Mapping: l.Mapping})
		shown.Queues = append(shown.Queues,
			dashboard.Queue{Name: "records that are not in the lake", Queue: l.Failures},
			dashboard.Queue{Name: "runs of the compactor", Queue: l.Schedule.DeadLetters})
	}
	return dashboard.New(p.construct, "Dashboard", shown)
}

// function is a function of the platform, by construct id and by name.
type function struct {
	id, name string
	function *gofunction.Function
}
