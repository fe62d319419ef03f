package figures

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// List prices of us-east-1 in US$, November 2026, for a month of 730 hours.
const (
	hours = 730
	// A secret ("AWS Secrets Manager pricing"); a metric of an alarm of standard resolution, a dashboard, and a GB of
	// logs ("Amazon CloudWatch pricing").
	priceOfSecret, priceOfAlarm, priceOfDashboard, priceOfLogs = 0.40, 0.10, 3.00, 0.50
	// A unit of provisioned capacity for an hour, and a million read units on demand ("Amazon DynamoDB pricing").
	priceOfReadHour, priceOfWriteHour, priceOfReads = 0.00013, 0.00065, 0.125
	// A million invocations of a schedule ("Amazon EventBridge pricing"), and of a function, and a GB-second on arm64
	// ("AWS Lambda pricing").
	priceOfSchedules, priceOfInvocations, priceOfGBSecond = 1.00, 0.20, 0.0000133334
	// A million requests to a queue ("Amazon SQS pricing").
	priceOfRequests = 0.40
	// A custom metric ("Amazon CloudWatch pricing").
	priceOfMetric = 0.30
	// alarmsOfScaling is how many alarms Application Auto Scaling makes for each capacity that it scales.
	alarmsOfScaling = 4
	// pollsOfQueue are the requests a month with which AWS Lambda asks an empty queue: five pollers, 20 seconds each.
	pollsOfQueue = 5 * hours * 3600 / 20
	// accessLog are the bytes of a request's line in the access log.
	accessLog = 450
	// What a run with nothing to do takes at most: time, units, and bytes of log at the levels info and debug.
	idleSeconds, idleReads, idleLog, idleDebug = 0.025, 3, 300, 800
)

// cost is a line of the table of costs at rest.
type cost struct {
	what string
	of   func(t testing.TB, v Variant) float64
}

// polls is what queues cost that nobody sends to: AWS Lambda asks them.
var polls = cost{"Polls of queues by functions", func(_ testing.TB, v Variant) float64 {
	polled := 0
	for _, mapping := range v.Template.OfType("AWS::Lambda::EventSourceMapping") {
		if mapping.Properties["StartingPosition"] == nil { // not of a stream
			polled++
		}
	}
	return pollsOfQueue * priceOfRequests / 1e6 * float64(polled)
}}

var costs = []cost{
	{"Secrets", func(_ testing.TB, v Variant) float64 {
		return priceOfSecret * float64(len(v.Template.OfType("AWS::SecretsManager::Secret")))
	}},
	{"Alarms", func(_ testing.TB, v Variant) float64 {
		_, metrics := v.Watched()
		return priceOfAlarm * float64(metrics)
	}},
	{"Dashboard", func(_ testing.TB, v Variant) float64 {
		return priceOfDashboard * float64(len(v.Template.OfType("AWS::CloudWatch::Dashboard")))
	}},
	{"Provisioned capacity of tables", func(_ testing.TB, v Variant) float64 {
		reads, writes, _ := v.capacity()
		return hours * (reads*priceOfReadHour + writes*priceOfWriteHour)
	}},
	{"Alarms by which it scales", func(_ testing.TB, v Variant) float64 {
		_, _, scaled := v.capacity()
		return alarmsOfScaling * priceOfAlarm * float64(scaled)
	}},
	{"Runs of schedules with nothing to do", func(t testing.TB, v Variant) float64 {
		return v.runs(t) * ((priceOfSchedules+priceOfInvocations+idleReads*priceOfReads)/1e6 +
			idleSeconds*v.memory()/1024*priceOfGBSecond)
	}},
	{"Their logs", func(t testing.TB, v Variant) float64 {
		size := float64(idleLog)
		if v.Common().LogLevel == "debug" {
			size = idleDebug
		}
		return v.runs(t) * size * priceOfLogs / 1e9
	}},
	polls,
}

// stages are the environments of cdk.json that the table has: what is in use, and what developers and pull requests
// get.
var stages = []string{"prod", "dev"}

// atRest is the table of what each platform costs a month without a request.
func (all Variants) atRest(t testing.TB) reference.Table {
	t.Helper()
	table := reference.Table{{"US$ a month at rest"}}
	for _, p := range platforms.All() {
		for _, stage := range stages {
			table[0] = append(table[0], p.Schema.Title+", `"+stage+"`")
		}
	}
	for _, c := range costs {
		r := reference.Row{c.what}
		for _, p := range platforms.All() {
			for _, stage := range stages {
				r = append(r, dollars(c.of(t, all[p.Name()][stage])))
			}
		}
		table = append(table, r)
	}
	sums := reference.Row{"**Sum**"}
	for _, p := range platforms.All() {
		for _, stage := range stages {
			sums = append(sums, fmt.Sprintf("**%.2f**", all[p.Name()][stage].rest(t)))
		}
	}
	return append(table, sums)
}

// events is the table of what Props.Events adds to each platform at rest, to the zero props.
func (all Variants) events(t testing.TB) reference.Table {
	t.Helper()
	table := reference.Table{{"US$ a month that events add at rest"}}
	parts := reference.Table{{"Alarms"}, {polls.what}, {"Metrics, once the publisher reports"}, {"**Sum**"}}
	for _, p := range platforms.All() {
		table[0] = append(table[0], p.Schema.Title)
		before, after := all[p.Name()][platformtest.Zero], all[p.Name()]["events"]
		_, watchedBefore := before.Watched()
		_, watchedAfter := after.Watched()
		alarms := priceOfAlarm * float64(watchedAfter-watchedBefore)
		polled := polls.of(t, after) - polls.of(t, before)
		metrics := priceOfMetric * float64(len(after.Described.Metrics)-len(before.Described.Metrics))
		for i, price := range []float64{alarms, polled, metrics, alarms + polled + metrics} {
			parts[i] = append(parts[i], dollars(price))
		}
	}
	return append(table, parts...)
}

// rest returns what the platform costs a month without a request.
func (v Variant) rest(t testing.TB) (sum float64) {
	t.Helper()
	for _, c := range costs {
		sum += c.of(t, v)
	}
	return sum
}

func dollars(price float64) string {
	if price == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", price)
}

// Watched counts the alarms, and the metrics that they watch.
func (v Variant) Watched() (alarms, metrics int) {
	for _, alarm := range v.Template.OfType("AWS::CloudWatch::Alarm") {
		alarms++
		metrics += strings.Count(fmt.Sprint(alarm.Properties), "MetricName:")
	}
	return alarms, metrics
}

// capacity sums up the least provisioned units of tables and indexes, and counts the capacities that scale.
func (v Variant) capacity() (reads, writes float64, scaled int) {
	var add func(value any)
	add = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				settings, _ := member.(map[string]any)
				least, _ := settings["MinCapacity"].(float64)
				switch name {
				case "ReadCapacityAutoScalingSettings":
					reads, scaled = reads+least, scaled+1
				case "WriteCapacityAutoScalingSettings":
					writes, scaled = writes+least, scaled+1
				default:
					add(member)
				}
			}
		case []any:
			for _, member := range value {
				add(member)
			}
		}
	}
	for _, table := range v.Template.OfType("AWS::DynamoDB::GlobalTable") {
		add(table.Properties)
	}
	return reads, writes, scaled
}

// runs are those of the schedules in a month.
func (v Variant) runs(t testing.TB) (n float64) {
	t.Helper()
	begin := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	for _, schedule := range v.Template.OfType("AWS::Scheduler::Schedule") {
		e := must.Get(cron.Parse(synthtest.Text(schedule.Properties["ScheduleExpression"]), time.UTC, begin))(t)
		for at := e.Next(begin); !at.IsZero() && at.Sub(begin) <= hours*time.Hour; at = e.Next(at) {
			n++
		}
	}
	return n
}

// memory is the most that a function has, in MB.
func (v Variant) memory() (most float64) {
	for _, f := range v.Template.OfType("AWS::Lambda::Function") {
		size, _ := f.Properties["MemorySize"].(float64)
		most = max(most, size)
	}
	return most
}

// abuse is the table of what 1,000 requests a second cost, which the throttle of an API lets through.
func abuse() reference.Table {
	table := reference.Table{{"US$ for 1,000 requests a second that", "an hour", "a day"}}
	refused := runtest.Price{Gateway: runtest.PriceOf(0, 0, 0, 0).Gateway, Logs: accessLog * priceOfLogs / 1e3}
	for _, of := range []struct {
		what  string
		price runtest.Price
	}{
		{"API Gateway refuses, with its line in the access log", refused},
		{"a function refuses, or answers from memory", runtest.PriceOf(0, 0, 1, runtest.DefaultMemory)},
		{"a function refuses after one read, as of an unknown key", runtest.PriceOf(1, 0, 2, runtest.DefaultMemory)},
	} {
		hour := 3.6 * of.price.Sum()
		table = append(table, reference.Row{of.what, fmt.Sprintf("%.2f", hour), fmt.Sprintf("%.2f", 24*hour)})
	}
	return table
}

// monthly is the table of what platforms cost a month.
func (all Variants) monthly(t testing.TB) reference.Table {
	t.Helper()
	table := reference.Table{{"US$ a month"}, {"1,000 people, without alarms and dashboard"}}
	for _, stage := range stages {
		table = append(table, reference.Row{"`" + stage + "` without a request"})
	}
	sums := regexp.MustCompile(`\| \*\*Sum\*\* \| \| \| \*\*([0-9.]+)\*\* \|`)
	for _, p := range platforms.All() {
		match := sums.FindStringSubmatch(Page(t, CostsOf(p)))
		if match == nil {
			t.Fatalf("docs/%s has no sum", CostsOf(p))
		}
		table[0], table[1] = append(table[0], p.Schema.Title), append(table[1], match[1])
		for i, stage := range stages {
			table[2+i] = append(table[2+i], fmt.Sprintf("%.2f", all[p.Name()][stage].rest(t)))
		}
	}
	return table
}
