package platforms_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The figures in the documents are those of the templates. make golden writes them.
func TestGoldenFigures(t *testing.T) {
	t.Parallel()
	figuresIn(t, "operate/cost.md", func(text string) string {
		for _, table := range [][]row{atRest(t), abuse(), monthly(t), events(t), ways()} {
			text = withTable(t, text, table)
		}
		return text
	})
	figuresIn(t, "reference/alarms.md", func(string) string { return alarmReference(t) })
	figuresIn(t, "reference/provisioned.md", func(string) string { return provisioned(t) })
}

// figuresIn compares a document of the folder docs with what change makes of it, or writes that with -update.
func figuresIn(t *testing.T, name string, change func(string) string) {
	t.Helper()
	text := document(t, name)
	want := change(text)
	if flag.Lookup("update").Value.String() == "true" {
		file := filepath.Join("..", "..", "docs", filepath.FromSlash(name))
		must.OK(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("docs/%s has other figures than the templates (-templates +document): make golden writes them\n%s",
			name, diff)
	}
}

// row is a row of a table in Markdown. Its first cell names it.
type row []string

func (r row) String() string { return "| " + strings.Join(r, " | ") + " |" }

// withTable replaces the table that begins with the heading of this one.
func withTable(t *testing.T, text string, table []row) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	begin := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+table[0][0]+" |") })
	if begin < 0 {
		t.Fatalf("there is no table that begins with %q", table[0][0])
	}
	end := begin
	for end < len(lines) && strings.HasPrefix(lines[end], "|") {
		end++
	}
	return strings.Join(slices.Replace(lines, begin, end, markdown(table)...), "\n")
}

// markdown returns the lines of a table, whose first row is its heading.
func markdown(table []row) []string {
	lines := []string{table[0].String(), "|" + strings.Repeat(" --- |", len(table[0]))}
	for _, r := range table[1:] {
		lines = append(lines, r.String())
	}
	return lines
}

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
	// A custom metric ("Amazon CloudWatch pricing"), and a million events ("Amazon EventBridge pricing").
	priceOfMetric, priceOfEvents = 0.30, 1.00
	// A web ACL, a rule of it, and a million requests ("AWS WAF pricing").
	priceOfACL, priceOfRule, priceOfInspections = 5.00, 1.00, 0.60
	// A million requests over HTTPS from the United States ("Amazon CloudFront pricing"), and to a REST API ("Amazon API
	// Gateway pricing").
	priceOfDelivery, priceOfREST = 1.00, 3.50
	// An hour of an interface endpoint in an Availability Zone ("AWS PrivateLink pricing"), and of a NAT gateway
	// ("Amazon VPC pricing").
	priceOfEndpointHour, priceOfGatewayHour = 0.01, 0.045
	// A million write units replicated to a region ("Amazon DynamoDB pricing": replicated write request units).
	priceOfReplicatedWrites = 0.625
	// A million traces that are recorded ("AWS X-Ray pricing").
	priceOfTraces = 5.00
	// zones are how many Availability Zones a VPC has here. rulesOfFirewall are those of constructs/edge: two groups that
	// AWS manages, and the rate of an address.
	zones, rulesOfFirewall = 2, 3
	// initSeconds is how long an instance takes to start, which AWS Lambda bills ("AWS Lambda standardizes billing for
	// INIT Phase", AWS Compute Blog), and sharedStarts the share of requests that find no instance: both are assumed.
	initSeconds, sharedStarts = 0.3, 0.01
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
	of   func(t *testing.T, v variant) float64
}

var costs = []cost{
	{"Secrets", func(_ *testing.T, v variant) float64 {
		return priceOfSecret * float64(len(v.template.OfType("AWS::SecretsManager::Secret")))
	}},
	{"Alarms", func(_ *testing.T, v variant) float64 {
		_, metrics := watched(v)
		return priceOfAlarm * float64(metrics)
	}},
	{"Dashboard", func(_ *testing.T, v variant) float64 {
		return priceOfDashboard * float64(len(v.template.OfType("AWS::CloudWatch::Dashboard")))
	}},
	{"Provisioned capacity of tables", func(_ *testing.T, v variant) float64 {
		reads, writes, _ := capacity(v)
		return hours * (reads*priceOfReadHour + writes*priceOfWriteHour)
	}},
	{"Alarms by which it scales", func(_ *testing.T, v variant) float64 {
		_, _, scaled := capacity(v)
		return alarmsOfScaling * priceOfAlarm * float64(scaled)
	}},
	{"Runs of schedules with nothing to do", func(t *testing.T, v variant) float64 {
		return runs(t, v) * ((priceOfSchedules+priceOfInvocations+idleReads*priceOfReads)/1e6 +
			idleSeconds*memory(v)/1024*priceOfGBSecond)
	}},
	{"Their logs", func(t *testing.T, v variant) float64 {
		size := float64(idleLog)
		if v.Common().LogLevel == "debug" {
			size = idleDebug
		}
		return runs(t, v) * size * priceOfLogs / 1e9
	}},
	{"Polls of queues by functions", func(_ *testing.T, v variant) float64 {
		polled := 0
		for _, mapping := range v.template.OfType("AWS::Lambda::EventSourceMapping") {
			if mapping.Properties["StartingPosition"] == nil { // not of a stream
				polled++
			}
		}
		return pollsOfQueue * priceOfRequests / 1e6 * float64(polled)
	}},
}

// stages are the environments of cdk.json that the table has: what is in use, and what developers and pull requests
// get.
var stages = []string{"prod", "dev"}

// atRest is the table of what each platform costs a month without a request.
func atRest(t *testing.T) []row {
	t.Helper()
	table := []row{{"US$ a month at rest"}}
	for _, p := range platforms.All() {
		for _, stage := range stages {
			table[0] = append(table[0], p.Schema.Title+", `"+stage+"`")
		}
	}
	for _, c := range costs {
		r := row{c.what}
		for _, p := range platforms.All() {
			for _, stage := range stages {
				r = append(r, dollars(c.of(t, variants[p.Name()][stage])))
			}
		}
		table = append(table, r)
	}
	sums := row{"**Sum**"}
	for _, p := range platforms.All() {
		for _, stage := range stages {
			sums = append(sums, fmt.Sprintf("**%.2f**", restOf(t, p, stage)))
		}
	}
	return append(table, sums)
}

// events is the table of what Props.Events adds to each platform at rest, to the zero props.
func events(t *testing.T) []row {
	t.Helper()
	table := []row{{"US$ a month that events add at rest"}}
	polls := costs[len(costs)-1]
	parts := []row{{"Alarms"}, {polls.what}, {"Metrics, once the publisher reports"}, {"**Sum**"}}
	for _, p := range platforms.All() {
		table[0] = append(table[0], p.Schema.Title)
		before, after := variants[p.Name()][platformtest.Zero], variants[p.Name()]["events"]
		_, watchedBefore := watched(before)
		_, watchedAfter := watched(after)
		alarms := priceOfAlarm * float64(watchedAfter-watchedBefore)
		polled := polls.of(t, after) - polls.of(t, before)
		metrics := priceOfMetric * float64(len(after.described.Metrics)-len(before.described.Metrics))
		for i, price := range []float64{alarms, polled, metrics, alarms + polled + metrics} {
			parts[i] = append(parts[i], dollars(price))
		}
	}
	return append(table, parts...)
}

// ways is the table of what stands before and around a platform, by the list prices.
func ways() []row {
	table := []row{{"What is added", "US$ a month", "US$ a million requests"}}
	for _, way := range []struct {
		what              string
		month, ofRequests float64
	}{
		{"a firewall: web ACL with three rules, CloudFront", priceOfACL + rulesOfFirewall*priceOfRule,
			priceOfInspections + priceOfDelivery},
		{"a private entry: REST API, endpoint in two zones", zones * hours * priceOfEndpointHour, priceOfREST},
		{"a VPC with a NAT gateway in each of two zones", zones * hours * priceOfGatewayHour, 0},
		{"each service's interface endpoint, in place of the gateways", zones * hours * priceOfEndpointHour, 0},
		{"a replica, for each write unit of a request", 0, priceOfReplicatedWrites},
		{"`Tracing`, if all requests are traced", 0, priceOfTraces},
		{"Lambda's INIT phase: one request of a hundred starts an instance, 0.3 s at 256 MB", 0,
			1e6 * sharedStarts * initSeconds * runtest.DefaultMemory / 1024 * priceOfGBSecond},
		{"each rule of `On`: its alarm", priceOfAlarm, 0},
	} {
		requests := dollars(way.ofRequests)
		if exact := fmt.Sprintf("%.3f", way.ofRequests); !strings.HasSuffix(exact, "0") {
			requests = exact
		}
		table = append(table, row{way.what, dollars(way.month), requests})
	}
	return table
}

func restOf(t *testing.T, p *platforms.Platform, stage string) (sum float64) {
	t.Helper()
	for _, c := range costs {
		sum += c.of(t, variants[p.Name()][stage])
	}
	return sum
}

func dollars(price float64) string {
	if price == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", price)
}

// watched counts the alarms, and the metrics that they watch.
func watched(v variant) (alarms, metrics int) {
	for _, alarm := range v.template.OfType("AWS::CloudWatch::Alarm") {
		alarms++
		metrics += strings.Count(fmt.Sprint(alarm.Properties), "MetricName:")
	}
	return alarms, metrics
}

// capacity sums up the least provisioned units of tables and indexes, and counts the capacities that scale.
func capacity(v variant) (reads, writes float64, scaled int) {
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
	for _, table := range v.template.OfType("AWS::DynamoDB::GlobalTable") {
		add(table.Properties)
	}
	return reads, writes, scaled
}

// runs are those of the schedules in a month.
func runs(t *testing.T, v variant) (n float64) {
	t.Helper()
	begin := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	for _, schedule := range v.template.OfType("AWS::Scheduler::Schedule") {
		e := must.Get(cron.Parse(synthtest.Text(schedule.Properties["ScheduleExpression"]), time.UTC, begin))(t)
		for at := e.Next(begin); !at.IsZero() && at.Sub(begin) <= hours*time.Hour; at = e.Next(at) {
			n++
		}
	}
	return n
}

// memory is the most that a function has, in MB.
func memory(v variant) (most float64) {
	for _, f := range v.template.OfType("AWS::Lambda::Function") {
		size, _ := f.Properties["MemorySize"].(float64)
		most = max(most, size)
	}
	return most
}

// abuse is the table of what 1,000 requests a second cost, which the throttle of an API lets through.
func abuse() []row {
	table := []row{{"US$ for 1,000 requests a second that", "an hour", "a day"}}
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
		table = append(table, row{of.what, fmt.Sprintf("%.2f", hour), fmt.Sprintf("%.2f", 24*hour)})
	}
	return table
}

// alarmsOfProd is the table of what the alarms of prod cost.
func alarmsOfProd(t *testing.T) []row {
	t.Helper()
	table := []row{{"Alarms in `prod`", "How many", "Metrics that they watch", "US$ a month"}}
	for _, p := range platforms.All() {
		alarms, metrics := watched(variants[p.Name()]["prod"])
		table = append(table, row{p.Schema.Title, fmt.Sprint(alarms), fmt.Sprint(metrics),
			fmt.Sprintf("%.2f", priceOfAlarm*float64(metrics))})
	}
	return table
}

// provisioned is the page of what each platform has without props: how many resources of each type, and their names
// where these fit.
func provisioned(t *testing.T) string {
	t.Helper()
	const longest = 150
	var b strings.Builder
	b.WriteString("# What a platform has\n\n`make golden` writes this page from the templates of zero props: every " +
		"resource, by type.\n\n" + sizesOfStacks(t) + "\n")
	for _, p := range platforms.All() {
		zero := variants[p.Name()][platformtest.Zero]
		fmt.Fprintf(&b, "\n## %s\n\nMemory of functions: %s.\n\n", p.Schema.Title, sizes(t, zero))
		if mappings := handed(p.Schema); mappings != "" {
			fmt.Fprintf(&b, "What streams and queues invoke: %s.\n\n", mappings)
		}
		fmt.Fprintf(&b, "%s\n%s\n", row{"Type", "How many", "Which"}, row{"---", "---", "---"})
		names := map[string][]string{}
		for id, r := range zero.template.Resources {
			names[r.Type] = append(names[r.Type], "`"+strings.TrimPrefix(synthtest.Stable(id), p.ID)+"`")
		}
		for _, kind := range slices.Sorted(maps.Keys(names)) {
			slices.Sort(names[kind])
			which := strings.Join(names[kind], ", ")
			if len(which) > longest {
				which = ""
			}
			fmt.Fprintln(&b, row{"`" + kind + "`", fmt.Sprint(len(names[kind])), which})
		}
	}
	return b.String()
}

// sizes lists the functions of a template, with the memory of each.
func sizes(t *testing.T, v variant) string {
	t.Helper()
	of := func(construct string) int {
		for id, f := range v.template.Named("AWS::Lambda::Function") {
			if id == v.ID+construct {
				size, _ := f.Properties["MemorySize"].(float64)
				return int(size)
			}
		}
		t.Fatalf("%s has no function %s", v.Name(), construct)
		return 0
	}
	bySize := map[int][]string{}
	for _, f := range v.described.Functions {
		bySize[of(f.ConstructID())] = append(bySize[of(f.ConstructID())], "`"+f.Name+"`")
	}
	for range v.described.Lakes {
		for _, name := range []string{"Writer", "Compactor"} {
			bySize[of("Lake"+name)] = append(bySize[of("Lake"+name)], "the lake's `"+strings.ToLower(name)+"`")
		}
	}
	var parts []string
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		parts = append(parts, fmt.Sprintf("%s (%d MB)", strings.Join(bySize[size], ", "), size))
	}
	return strings.Join(parts, "; ")
}

// handed says what streams and queues hand to functions.
func handed(p schema.Platform) string {
	var parts []string
	for _, f := range p.Functions {
		switch trigger := f.Trigger.(type) {
		case schema.OnStream:
			parts = append(parts, fmt.Sprintf("`%s`, for changes of %s", f.Name, trigger.Table))
		case schema.OnQueue:
			parts = append(parts, fmt.Sprintf("`%s`, for messages of a queue", f.Name))
		}
	}
	for _, lake := range p.Lakes {
		parts = append(parts, "the lake's `writer`, for changes of "+lake.Table)
	}
	return strings.Join(parts, "; ")
}

// monthly is the table of what platforms cost a month.
func monthly(t *testing.T) []row {
	t.Helper()
	table := []row{{"US$ a month"}, {"1,000 people, without alarms and dashboard"}}
	for _, stage := range stages {
		table = append(table, row{"`" + stage + "` without a request"})
	}
	sums := regexp.MustCompile(`\| \*\*Sum\*\* \| \| \| \*\*([0-9.]+)\*\* \|`)
	for _, p := range platforms.All() {
		match := sums.FindStringSubmatch(document(t, costsOf(p)))
		if match == nil {
			t.Fatalf("docs/%s has no sum", costsOf(p))
		}
		table[0], table[1] = append(table[0], p.Schema.Title), append(table[1], match[1])
		for i, stage := range stages {
			table[2+i] = append(table[2+i], fmt.Sprintf("%.2f", restOf(t, p, stage)))
		}
	}
	return table
}
