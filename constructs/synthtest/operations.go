package synthtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/schema"
)

// mostAlarmMetrics is how many metrics one alarm can watch ("CloudWatch service
// quotas": metric math expressions of alarms).
const mostAlarmMetrics = 10

// comparisons are how alarms are written in [Platform.Alarms].
var comparisons = map[string]string{"GreaterThanOrEqualToThreshold": ">=", "LessThanThreshold": "<"}

func checkAlarms(t *testing.T, p Platform, v Variant) {
	got, want := map[string]string{}, map[string]string{}
	for id, r := range v.Template.Named("AWS::CloudWatch::Alarm") {
		id = strings.TrimPrefix(id, p.ID)
		got[id] = watched(t, id, r)
		description := Text(r.Properties["AlarmDescription"])
		if !strings.HasPrefix(description, p.Schema.Title+": ") || !strings.HasSuffix(description, "docs/OPERATIONS.md, "+id) {
			t.Errorf("%s: its description is %q; want the platform's title first, and where it is explained last", id, description)
		}
		// Without data, all is well, unless the data is what is awaited.
		missing := "notBreaching"
		if r.Properties["ComparisonOperator"] == "LessThanThreshold" {
			missing = "breaching"
		}
		var topic any
		if v.AlarmTopic != "" {
			topic = []any{map[string]any{"Ref": topicOf(t, v)}}
		}
		compare(t, id, map[string][2]any{
			"missing data": {r.Properties["TreatMissingData"], missing},
			"actions":      {r.Properties["AlarmActions"], topic},
			"over":         {r.Properties["OKActions"], topic},
		})
	}
	if !v.NoAlarms {
		for id, value := range p.Alarms {
			if by, ok := value.(ByVariant); ok {
				value = by.of(v.name)
			}
			want[id] = value.(string)
		}
		for _, table := range p.Schema.Database.Tables {
			for kind, metric := range map[string]string{"Throttles": "ThrottledRequests", "SystemErrors": "SystemErrors"} {
				var terms []string
				for _, operation := range p.Schema.Database.Operations(table.Name) {
					terms = append(terms, strings.ToLower(table.Name)+metric+string(operation))
				}
				want[table.Name+"Table"+kind+"Alarm"] = fmt.Sprintf("SUM([%s]) of AWS/DynamoDB %s >= 1, 3 x 300", strings.Join(terms, ", "), metric)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
	if !v.NoAlarms {
		checkExplained(t, p, slices.Collect(maps.Keys(got)))
	}
}

func topicOf(t *testing.T, v Variant) string {
	id, _ := v.Template.One(t, "AWS::SNS::Topic", v.AlarmTopic)
	return id
}

// watched writes what an alarm watches as [Platform.Alarms] does.
func watched(t *testing.T, id string, r Resource) string {
	metric, period := "", r.Properties["Period"]
	if name := r.Properties["MetricName"]; name != nil {
		statistic := r.Properties["Statistic"]
		if statistic == nil {
			statistic = r.Properties["ExtendedStatistic"]
		}
		metric = fmt.Sprint(r.Properties["Namespace"], " ", name, " ", statistic)
	} else {
		var names []string
		metrics := List(r.Properties["Metrics"])
		for _, m := range metrics {
			if e, ok := At(m, "Expression").(string); ok {
				metric = e
				continue
			}
			stat := At(m, "MetricStat")
			period = At(stat, "Period")
			names = append(names, fmt.Sprint(At(stat, "Metric", "Namespace"), " ", At(stat, "Metric", "MetricName")))
		}
		if len(names) > mostAlarmMetrics {
			t.Errorf("%s: watches %d metrics; Amazon CloudWatch takes %d", id, len(names), mostAlarmMetrics)
		}
		slices.Sort(names)
		metric += " of " + strings.Join(slices.Compact(names), ", ")
	}
	return fmt.Sprintf("%s %s %v, %v x %v", metric, comparisons[fmt.Sprint(r.Properties["ComparisonOperator"])],
		r.Properties["Threshold"], r.Properties["EvaluationPeriods"], period)
}

// checkExplained checks that docs/OPERATIONS.md explains each alarm of the
// platform, and no other.
func checkExplained(t *testing.T, p Platform, alarms []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[1], "Alarm`") || !strings.Contains(cells[2], p.Schema.Title) {
			continue
		}
		pattern := strings.Trim(strings.TrimSpace(cells[1]), "`")
		before := len(explained)
		for _, id := range alarms {
			if ok, err := path.Match(pattern, id); err != nil {
				t.Fatalf("%s: %v", pattern, err)
			} else if ok {
				explained[id] = true
			}
		}
		if len(explained) == before {
			t.Errorf("docs/OPERATIONS.md explains %s, which %s does not have, or explains it twice", pattern, p.Schema.Title)
		}
		if strings.TrimSpace(cells[3]) == "" || strings.TrimSpace(cells[4]) == "" {
			t.Errorf("docs/OPERATIONS.md does not say what %s means and what to do", pattern)
		}
	}
	for _, id := range alarms {
		if !explained[id] {
			t.Errorf("docs/OPERATIONS.md does not explain the alarm %s of %s", id, p.Schema.Title)
		}
	}
}

// resource is the resource among the dimensions of a metric.
func resource(dimensions []string) string {
	for i := 0; i+1 < len(dimensions); i += 2 {
		if dimensions[i] != "Operation" {
			return dimensions[i+1]
		}
	}
	return ""
}

// checkDashboard checks that the dashboard shows everything that the platform has,
// and all that its functions report, and nothing else.
func checkDashboard(t *testing.T, p Platform, v Variant) {
	dashboards := v.Template.Named("AWS::CloudWatch::Dashboard")
	if v.NoDashboard {
		if len(dashboards) > 0 {
			t.Error("there is a dashboard, although the props leave it out")
		}
		return
	}
	if len(dashboards) != 1 {
		t.Fatalf("got %d dashboards, want one", len(dashboards))
	}
	var body struct {
		Widgets []struct {
			Type       string
			Properties struct {
				Title   string
				Metrics [][]any
				Alarms  []string
			}
		}
	}
	text := Text(dashboards[p.ID+"Dashboard"].Properties["DashboardBody"])
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("the dashboard is no JSON: %v\n%s", err, text)
	}
	shown := map[string]bool{}
	alarms := 0
	for _, w := range body.Widgets {
		alarms += len(w.Properties.Alarms)
		for _, metric := range w.Properties.Metrics {
			// A metric is its namespace, name, and dimensions as names and values in turn.
			var words []string
			for _, part := range metric {
				if word, ok := part.(string); ok {
					words = append(words, word)
				}
			}
			if len(words) < 4 {
				continue // an expression
			}
			shown[Stable(words[0]+" "+words[1]+" "+resource(words[2:]))] = true
		}
	}
	want := map[string]bool{}
	add := func(namespace, resource string, names ...string) {
		for _, name := range names {
			want[namespace+" "+name+" "+p.ID+resource] = true
		}
	}
	rooms := map[string][]schema.Metric{schema.MetricNamespace(p.Schema.Name): p.Schema.Metrics, schema.MetricNamespace(schema.LakeRoom): schema.LakeMetrics()}
	for id, f := range p.Functions {
		add("AWS/Lambda", id, "Invocations", "Errors", "Throttles", "Duration")
		for namespace, metrics := range rooms {
			if (namespace == schema.MetricNamespace(schema.LakeRoom)) == (f.Name == "") {
				for _, m := range schema.MetricsOf(strings.ToLower(strings.TrimPrefix(id, "Lake")), metrics) {
					add(namespace, id, m.Name)
				}
			}
		}
	}
	for _, table := range p.Schema.Database.Tables {
		add("AWS/DynamoDB", "Database"+table.Name, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ThrottledRequests", "SystemErrors")
	}
	for _, m := range p.Mappings {
		add("AWS/Lambda", m.Function, "IteratorAge")
	}
	for id := range p.Queues {
		add("AWS/SQS", id+".QueueName", "ApproximateNumberOfMessagesVisible")
	}
	add("AWS/ApiGateway", "API", "Count", "4xx", "5xx", "Latency")
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("metrics on the dashboard (-want +got):\n%s", diff)
	}
	if got := len(v.Template.OfType("AWS::CloudWatch::Alarm")); alarms != got {
		t.Errorf("the dashboard shows %d alarms, want all %d", alarms, got)
	}
}

// checkAccessLogReference checks that docs/OPERATIONS.md names the fields of the
// access log, and no other.
func checkAccessLogReference(t *testing.T, p Platform, v Variant) {
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(content), "access log (`AccessLogs`) has, for each request:")
	below, _, ended := strings.Cut(below, ".\n")
	if !found || !ended {
		t.Fatal("docs/OPERATIONS.md does not list the fields of the access log")
	}
	documented := map[string]bool{}
	for i, part := range strings.Split(below, "`") {
		if i%2 == 1 {
			documented[part] = true
		}
	}
	_, stage := v.Template.One(t, "AWS::ApiGatewayV2::Stage", p.ID+"API")
	var fields map[string]string
	if err := json.Unmarshal([]byte(Text(At(stage.Properties, "AccessLogSettings", "Format"))), &fields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("fields of the access log in docs/OPERATIONS.md (-logged +documented):\n%s", diff)
	}
}
