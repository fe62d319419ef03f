package synthtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
		explained := v.Runbook
		if explained == "" {
			explained = "https://github.com/onesynth-cdk/onesynth/blob/main/docs/OPERATIONS.md#alarms"
		}
		if !strings.HasPrefix(description, p.Schema.Title+": ") || !strings.HasSuffix(description, ". What to do: "+explained+", "+id) {
			t.Errorf("%s: its description is %q; want the platform's title first, and last where it is explained, %s", id, description, explained)
		}
		if changed := v.AlarmsChanged[id]; changed != "" && !strings.Contains(description, " (changed to "+changed+")") {
			t.Errorf("%s: its description is %q; want that it says %q", id, description, changed)
		}
		// Without data, all is well, unless the data is what is awaited.
		missing := "notBreaching"
		if r.Properties["ComparisonOperator"] == "LessThanThreshold" {
			missing = "breaching"
		}
		topic := v.topic(t, p)
		if own := v.AlarmTopics[id]; own != "" {
			topic = []any{own}
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
					terms = append(terms, "FILL("+strings.ToLower(table.Name)+metric+string(operation)+", 0)")
				}
				// Alarms of DynamoDB's metrics keep their state while data is missing.
				want[table.Name+"Table"+kind+"Alarm"] = fmt.Sprintf("SUM([%s]) of AWS/DynamoDB %s >= 1, 3 x 300", strings.Join(terms, ", "), metric)
			}
		}
	}
	ids := slices.Collect(maps.Keys(want))
	for _, id := range v.AlarmsOff {
		delete(want, id)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
	var warnings []string
	if !v.NoAlarms {
		checkExplained(t, p, ids)
		if v.topic(t, p) == nil {
			warnings = []string{fmt.Sprintf("%d of %d alarms notify no one: set AlarmEmail, AlarmTopicARN or AlarmTopic, or leave the alarms out with NoAlarms [ack: @onesynth/platform:alarmsNotifyNoOne]", len(got), len(got))}
		}
	}
	if diff := cmp.Diff(warnings, v.Template.Warnings["/"+v.name+"/"+p.ID]); diff != "" {
		t.Errorf("warnings at the synth (-want +got):\n%s", diff)
	}
}

// topic is what all alarms notify, or nil.
func (v Variant) topic(t *testing.T, p Platform) any {
	t.Helper()
	switch {
	case v.AlarmTopicARN != "":
		return []any{v.AlarmTopicARN}
	case v.AlarmEmail != "":
		return []any{map[string]any{"Ref": v.emailTopic(t, p)}}
	case v.AlarmTopic != "":
		id, _ := v.Template.One(t, "AWS::SNS::Topic", v.AlarmTopic)
		return []any{map[string]any{"Ref": id}}
	}
	return nil
}

// emailTopic checks the topic that writes emails: alarms may notify it, and no one
// without TLS.
func (v Variant) emailTopic(t *testing.T, p Platform) string {
	t.Helper()
	id, _ := v.Template.One(t, "AWS::SNS::Topic", p.ID+"AlarmTopic")
	_, subscription := v.Template.One(t, "AWS::SNS::Subscription", p.ID+"AlarmTopicEmail")
	_, policy := v.Template.One(t, "AWS::SNS::TopicPolicy", p.ID+"AlarmTopicPolicy")
	topic := map[string]any{"Ref": id}
	var publishes any
	for _, s := range List(At(policy.Properties, "PolicyDocument", "Statement")) {
		if At(s, "Effect") == "Allow" {
			publishes = []any{At(s, "Action"), At(s, "Resource"), At(s, "Principal"), Text(At(s, "Condition", "ArnLike", "aws:SourceArn"))}
		}
	}
	compare(t, id, map[string][2]any{
		"subscription": {subscription.Properties, map[string]any{"Protocol": "email", "Endpoint": v.AlarmEmail, "TopicArn": topic}},
		"publishes": {publishes, []any{
			"sns:Publish", topic, map[string]any{"Service": "cloudwatch.amazonaws.com"}, "arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:*",
		}},
		"TLS": {v.Template.overTLS("AWS::SNS::TopicPolicy", "Topics"), map[string]string{Stable(id): "Delete"}},
	})
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
	shown, priced := map[string]bool{}, map[string]bool{}
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
			priced[strings.Join(words, " ")] = true
			shown[Stable(words[0]+" "+words[1]+" "+resource(words[2:]))] = true
		}
	}
	checkDashboardCost(t, p, len(priced))
	want := map[string]bool{}
	add := func(namespace, resource string, names ...string) {
		for _, name := range names {
			want[namespace+" "+name+" "+p.ID+resource] = true
		}
	}
	rooms := map[string][]schema.Metric{schema.MetricNamespace(v.MetricNamespace, p.Schema.Name): p.Schema.Metrics, schema.MetricNamespace(v.MetricNamespace, schema.LakeRoom): schema.LakeMetrics()}
	for id, f := range p.Functions {
		add("AWS/Lambda", id, "Invocations", "Errors", "Throttles", "Duration")
		for namespace, metrics := range rooms {
			if (namespace == schema.MetricNamespace(v.MetricNamespace, schema.LakeRoom)) == (f.Name == "") {
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

// checkDashboardCost checks that docs/COST.md says how many metrics the dashboard shows, on
// which its price depends.
func checkDashboardCost(t *testing.T, p Platform, metrics int) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "COST.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n## "+p.Schema.Title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, dashboard, _ := strings.Cut(strings.ReplaceAll(section, "\n", " "), "The dashboard ")
	said := regexp.MustCompile(`\d+`).FindAllString(dashboard, 2)
	if !slices.Contains(said, strconv.Itoa(metrics)) {
		t.Errorf("docs/COST.md says that the dashboard of %s shows %v metrics, and it shows %d", p.Schema.Title, said, metrics)
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
