package platform

import (
	"cmp"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/dashboard"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	// failing and refusing are percentages of the requests.
	failing, refusing = 1, 50
	// slow is the time that one of a hundred requests may take, in milliseconds.
	slow = 1000
	// behind is the lowest age at which an alarm calls a waiting change late.
	behind = 5 * time.Minute
	// lasting is how many periods in a row a failure has to last before it alarms, where retries
	// get past a short one.
	lasting = 3
	// longestWatched is how far back an alarm can look ("Creating a CloudWatch alarm",
	// Amazon CloudWatch user guide).
	longestWatched = 7 * 24 * time.Hour
	// maxMetrics is how many metrics an alarm on an expression takes ("Limits that
	// apply to alarms based on metric math expressions", Amazon CloudWatch user guide).
	maxMetrics = 10
)

// addMonitoring declares the alarms and the dashboard, unless the props leave them out, after
// everything that they watch.
func (p *Platform) addMonitoring() {
	if !p.props.NoAlarms {
		p.addTopic()
		if p.API != nil {
			p.watchAPI()
		}
		p.watchFunctions()
		p.watchTables()
		for _, f := range p.Schema.Functions {
			for _, read := range aged(f) {
				if p.props.Standby {
					break
				}
				p.watchStream(read.id, p.Streams[read.name], read.changes, "the "+f.Name)
			}
			switch trigger := f.Trigger.(type) {
			case schema.OnSchedule:
				if p.props.Standby {
					break
				}
				p.watchSchedule(f.ConstructID(), p.Schedules[f.Name])
			case schema.OnQueue:
				p.watchQueue(trigger.WithDefaults(f), f.Name)
			}
		}
		for _, q := range p.queues() {
			p.watch(q.id+"Alarm", q.holds+" are in the queue of failures",
				alarm.Props{Metric: q.queue.MetricApproximateNumberOfMessagesVisible(nil)})
		}
		for _, l := range p.lakes() {
			p.watchLake(l)
		}
		p.refuseUnknownAlarms()
		p.warnOfSilence()
	}
	if !p.props.NoDashboard {
		p.Dashboard = p.addDashboard()
	}
}

// addTopic finds or declares the topic of all alarms, if they have one.
func (p *Platform) addTopic() {
	id := jsii.String("AlarmTopic")
	switch {
	case p.props.AlarmTopicARN != "":
		p.topic = awssns.Topic_FromTopicArn(p.construct, id, &p.props.AlarmTopicARN)
	case p.props.AlarmEmail != "":
		topic := awssns.NewTopic(p.construct, id,
			&awssns.TopicProps{MasterKey: p.props.Key, EnforceSSL: jsii.Bool(true)})
		// A topic with a policy accepts messages only from the principals that the policy names.
		topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
			Actions:    jsii.Strings("sns:Publish"),
			Resources:  jsii.Strings(*topic.TopicArn()),
			Conditions: &map[string]any{"ArnLike": map[string]any{
				"aws:SourceArn": props.ARN(p.construct, "cloudwatch", "alarm:*"),
			}},
		}))
		awssns.NewSubscription(topic, jsii.String("Email"), &awssns.SubscriptionProps{
			Topic: topic, Protocol: awssns.SubscriptionProtocol_EMAIL, Endpoint: &p.props.AlarmEmail,
		})
		p.topic = topic
	default:
		p.topic = p.props.AlarmTopic
	}
}

// watch declares an alarm, unless it is off. Its description begins with the platform's
// title, says what the props have changed, and ends with where it is explained.
func (p *Platform) watch(id, description string, own alarm.Props) {
	p.alarmIDs = append(p.alarmIDs, id)
	options := p.props.Alarms[id]
	if options.Off {
		return
	}
	if changes := options.Changes(); changes != "" {
		description += " (changed to " + changes + ")"
	}
	info, _ := debug.ReadBuildInfo()
	own.Description = fmt.Sprintf("%s: %s. What to do: %s, %s", p.Schema.Title, description,
		cmp.Or(p.props.Runbook, runbook(info)), id)
	own.Topic = p.topic
	own = own.With(p.construct, id, options)
	if own.Topic == nil {
		p.silent++
	}
	p.Alarms = append(p.Alarms, alarm.New(p.construct, id, own))
}

// refuseUnknownAlarms refuses options of alarms that the platform does not have.
func (p *Platform) refuseUnknownAlarms() {
	var f finding.List
	for _, id := range slices.Sorted(maps.Keys(p.props.Alarms)) {
		if !slices.Contains(p.alarmIDs, id) {
			f.Append(finding.Finding{
				Path: fmt.Sprintf("Props.Alarms[%q]", id), Got: "options of an unknown alarm",
				Allowed: "one of " + strings.Join(slices.Sorted(slices.Values(p.alarmIDs)), ", "),
				Remedy:  "respell it, or leave it out",
			})
		}
	}
	if err := f.Err(); err != nil {
		props.Fatal(fmt.Errorf("%s: %w", p.Schema.Name, err))
	}
}

// warnOfSilence says at the synth how many alarms notify no one.
func (p *Platform) warnOfSilence() {
	if p.silent == 0 {
		return
	}
	awscdk.Annotations_Of(p.construct).AddWarningV2(jsii.String("@onesynth/platform:alarmsNotifyNoOne"),
		jsii.String(fmt.Sprintf(
			"%d of %d alarms notify no one: set AlarmEmail, AlarmTopicARN or AlarmTopic, or leave the alarms out "+
				"with NoAlarms", p.silent, len(p.Alarms))))
}

func (p *Platform) watchAPI() {
	p.watch(cmp.Or(p.props.ServerErrorAlarm, "ServerErrorAlarm"),
		"one of a hundred requests, or more, fails on the server's side",
		alarm.Props{Metric: p.API.MetricServerErrorRate(), Threshold: failing})
	p.watch("ClientErrorAlarm", "half of the requests, or more, are refused",
		alarm.Props{Metric: p.API.MetricClientErrorRate(), Threshold: refusing, Periods: lasting})
	held := map[string]awscloudwatch.IMetric{}
	for _, f := range p.declared {
		for _, m := range schema.MetricsOf(f.name, p.Schema.Metrics) {
			if m.SlowOnPurpose {
				held[fmt.Sprintf("held%d", len(held))] = p.counted(f, m)
			}
		}
	}
	if len(held) > 0 {
		p.watch("SlowAlarm", "one of a hundred requests takes longer than a second, beside those that wait on purpose",
			alarm.Props{Metric: p.API.MetricSlowRate(slow*time.Millisecond, held), Threshold: failing,
				Periods: lasting})
		return
	}
	p.watch("SlowAlarm", "one of a hundred requests takes longer than a second",
		alarm.Props{Metric: p.API.MetricLatency(&awscloudwatch.MetricOptions{Statistic: jsii.String("p99")}),
			Threshold: slow, Periods: lasting, Percentile: true})
}

// counted is the sum of what a function reports.
func (p *Platform) counted(f function, m schema.Metric) awscloudwatch.Metric {
	return f.function.MetricReported(schema.MetricNamespace(p.props.MetricNamespace, p.Schema.Name),
		schema.MetricDimension, m.Name, "Sum")
}

func (p *Platform) watchFunctions() {
	for _, f := range p.declared {
		p.watch(f.id+"Alarm", "the function "+f.name+" failed", alarm.Props{Metric: f.function.MetricErrors(nil)})
		p.watchMetrics(f)
	}
	all := slices.Clone(p.declared)
	for _, l := range p.lakes() {
		all = append(all, function{function: l.Writer}, function{function: l.Compactor})
	}
	for i, some := range slices.Collect(slices.Chunk(all, maxMetrics)) {
		id := "ThrottlesAlarm"
		if i > 0 {
			id = fmt.Sprintf("Throttles%dAlarm", i+1)
		}
		p.watchThrottles(id, some)
	}
}

func (p *Platform) watchMetrics(f function) {
	for _, m := range schema.MetricsOf(f.name, p.Schema.Metrics) {
		if m.AlarmAt == 0 {
			continue
		}
		p.watch(f.id+m.Name+"Alarm", fmt.Sprintf("in five minutes, the function %s counted %d or more: %s", f.name,
			m.AlarmAt, m.Description), alarm.Props{
			Metric:    p.counted(f, m),
			Threshold: float64(m.AlarmAt),
		})
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
			Expression: jsii.String("SUM([" + strings.Join(terms, ", ") + "])"), Label: jsii.String("throttles"),
			UsingMetrics: &throttles,
		}),
	})
}

func (p *Platform) watchTables() {
	for _, t := range p.Database.Tables {
		name := t.Schema.Name
		operations := p.Schema.Database.Actions(name)
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

// watchSchedule watches that a function has been invoked: in the last three of its
// intervals, which last five minutes at least, or, if its interval is an hour or more,
// in the last one, and up to an hour more. Runs that can be almost a week apart are not
// watched.
func (p *Platform) watchSchedule(id string, s *schedule.Schedule) {
	period, periods := unmissed(s.Longest)
	if s.Longest == 0 || period*time.Duration(periods) > longestWatched {
		return
	}
	p.watch(id+"NotRunAlarm", fmt.Sprintf("%s has not run for %s", id, period*time.Duration(periods)), alarm.Props{
		// AWS Lambda reports no zero. Amazon CloudWatch looks further back past periods
		// without data, so that the alarm would be late.
		Metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
			Expression: jsii.String("FILL(runs, 0)"), Label: jsii.String("runs"),
			UsingMetrics: &map[string]awscloudwatch.IMetric{"runs": s.MetricRuns(nil)},
		}),
		Below: true, Period: period, Periods: periods,
	})
}

// unmissed are the periods in which a function with that interval runs at least once: one
// more than the interval has, for a run that is a little late. They are short, so that a
// missed run is noticed soon. Amazon CloudWatch takes a day of periods below an hour at
// most, so for an interval of a day they are hours.
func unmissed(every time.Duration) (period time.Duration, periods int) {
	if every < time.Hour {
		return max(every, alarm.Period), lasting
	}
	period = alarm.Period
	if every+period > 24*time.Hour {
		period = time.Hour
	}
	return period, int((every+period-1)/period) + 1
}

// age is what AWS Lambda reports the age of records of, by function.
type age struct{ id, name, changes string }

// aged are the streams whose age is watched, one for each function: AWS Lambda reports the age by function.
func aged(f schema.Function) []age {
	streams := f.Streams()
	if len(streams) == 0 {
		return nil
	}
	one := age{streams[0].ID, streamName(f, streams[0]), streams[0].Changes}
	if several, ok := f.Trigger.(schema.OnStreams); ok {
		one.id, one.changes = cmp.Or(several.ID, f.ConstructID()), "changes"
	}
	return []age{one}
}

// watchStream watches that no change waits much longer than records are gathered
// for a batch.
func (p *Platform) watchStream(id string, m *stream.Mapping, changes, handler string) {
	longest := max(behind, 2*m.BatchWindow)
	p.watch(id+"AgeAlarm", fmt.Sprintf("%s wait longer than %s for %s", changes, longest, handler),
		alarm.Props{Metric: m.MetricAge(nil), Threshold: float64(longest.Milliseconds())})
}

// watchQueue watches that no message waits much longer for its first attempts than the plan says.
func (p *Platform) watchQueue(trigger schema.OnQueue, handler string) {
	// Amazon SQS does not count the age of a message that it has handed out more than three times
	// ("Available CloudWatch metrics for Amazon SQS").
	var planned time.Duration
	for _, wait := range trigger.Retries[:min(3, len(trigger.Retries))] {
		planned += wait
	}
	longest := max(behind, 2*planned)
	p.watch(trigger.ID+"AgeAlarm", fmt.Sprintf("%s wait longer than %s for the %s", trigger.Messages, longest, handler),
		alarm.Props{Metric: p.Queues[handler].MetricAge(nil), Threshold: longest.Seconds()})
}

func (p *Platform) watchLake(l declaredLake) {
	if !p.props.Standby {
		p.watchStream(l.id, l.Mapping, "changes", "the lake"+l.name)
	}
	p.watch(l.id+"FailuresAlarm", "records that cannot become rows, or that came too late, are in the lake"+l.name+
		"'s failure queue",
		alarm.Props{Metric: l.MetricFailureQueue(nil)})
	p.watch(l.id+"WriteAlarm", "objects of the lake"+l.name+" could not be written",
		alarm.Props{Metric: l.MetricWriteFailures(nil)})
	p.watch(l.id+"WriterAlarm", "the function writer"+l.of()+" failed", alarm.Props{Metric: l.Writer.MetricErrors(nil)})
	p.watch(l.id+"CompactionAlarm", "small objects of the lake"+l.name+" could not be merged",
		alarm.Props{Metric: l.MetricCompactionFailures(nil)})
	p.watch(l.id+"CompactorAlarm", "runs of the compactor"+l.of()+" are in the dead-letter queue",
		alarm.Props{Metric: l.Schedule.MetricDeadLetters(nil)})
	p.watchSchedule(l.id+"Compactor", l.Schedule)
}

// addDashboard declares the dashboard.
func (p *Platform) addDashboard() awscloudwatch.Dashboard {
	contents := dashboard.Props{Alarms: p.Alarms, API: p.API}
	add := func(name, component string, f *gofunction.Function, metrics []schema.Metric) {
		contents.Functions = append(contents.Functions, dashboard.Function{
			Name: name, Function: f, Metrics: metrics,
			Namespace: schema.MetricNamespace(p.props.MetricNamespace, component),
		})
	}
	for _, f := range p.declared {
		add(f.name, p.Schema.Name, f.function, schema.MetricsOf(f.name, p.Schema.Metrics))
	}
	for _, t := range p.Database.Tables {
		contents.Tables = append(contents.Tables,
			dashboard.Table{Table: t, Actions: p.Schema.Database.Actions(t.Schema.Name)})
	}
	for _, f := range p.Schema.Functions {
		for _, read := range aged(f) {
			contents.Streams = append(contents.Streams,
				dashboard.Stream{Name: read.id, Mapping: p.Streams[read.name]})
		}
		if trigger, ok := f.Trigger.(schema.OnQueue); ok {
			contents.Messages = append(contents.Messages,
				dashboard.Queue{Name: trigger.WithDefaults(f).Messages, Queue: p.Queues[f.Name].Resource})
		}
	}
	for _, q := range p.queues() {
		contents.Queues = append(contents.Queues, dashboard.Queue{Name: q.holds, Queue: q.queue})
	}
	for _, l := range p.lakes() {
		add(schema.LakeWriter+l.of(), schema.LakeComponent, l.Writer,
			schema.MetricsOf(schema.LakeWriter, schema.LakeMetrics()))
		add(schema.LakeCompactor+l.of(), schema.LakeComponent, l.Compactor,
			schema.MetricsOf(schema.LakeCompactor, schema.LakeMetrics()))
		contents.Streams = append(contents.Streams, dashboard.Stream{Name: l.id, Mapping: l.Mapping})
		contents.Queues = append(contents.Queues,
			dashboard.Queue{Name: "records that are not in the lake" + l.name, Queue: l.Failures},
			dashboard.Queue{Name: "runs of the compactor" + l.of(), Queue: l.Schedule.DeadLetters})
	}
	return dashboard.New(p.construct, "Dashboard", contents)
}

// function is a function of the platform, by construct id and by name.
type function struct {
	id, name string
	function *gofunction.Function
}
