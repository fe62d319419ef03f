package platforms_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/platforms"
	"github.com/onesynth-cdk/onesynth/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// document returns a document of the folder docs.
func document(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "docs", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Each alarm names its platform and links to the explanation of what to do, which
// docs/operate/alarms.md has. Missing data means that all is well, except for alarms that expect data.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		explained := v.Common().Runbook
		if explained == "" {
			explained = "https://github.com/onesynth-cdk/onesynth/blob/main/docs/operate/alarms.md#alarms"
		}
		var ids []string
		watched := 0
		for id, r := range v.template.Named("AWS::CloudWatch::Alarm") {
			watched += strings.Count(fmt.Sprint(r.Properties), "MetricName:")
			id = strings.TrimPrefix(id, v.ID)
			ids = append(ids, id)
			description := synthtest.Text(r.Properties["AlarmDescription"])
			if !strings.HasPrefix(description, v.Schema.Title+": ") ||
				!strings.HasSuffix(description, ". What to do: "+explained+", "+id) {
				t.Errorf("%s: its description is %q; want the platform's title first, and last where it is "+
					"explained, %s", id, description, explained)
			}
			missing := "notBreaching"
			if r.Properties["ComparisonOperator"] == "LessThanThreshold" {
				missing = "breaching"
			}
			if r.Properties["TreatMissingData"] != missing {
				t.Errorf("%s: missing data is %v, want %s", id, r.Properties["TreatMissingData"], missing)
			}
		}
		switch {
		case v.Common().NoAlarms:
			if len(ids) > 0 {
				t.Errorf("got the alarms %v, although the props leave them out", ids)
			}
		case v.environment == platformtest.Zero:
			checkExplained(t, v.Platform, ids)
			checkAlarmCost(t, v.Platform, len(ids), watched)
		case v.environment == "events":
			checkExplainedWithEvents(t, v.Platform, ids)
		}
	})
}

// checkExplained checks that docs/operate/alarms.md explains each alarm of the
// platform, and no other.
func checkExplained(t *testing.T, p *platforms.Platform, alarms []string) {
	t.Helper()
	explained := map[string]bool{}
	for line := range strings.Lines(document(t, "operate/alarms.md")) {
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
			t.Errorf("docs/operate/alarms.md explains %s, which %s does not have, or explains it twice", pattern,
				p.Schema.Title)
		}
		if strings.TrimSpace(cells[3]) == "" || strings.TrimSpace(cells[4]) == "" {
			t.Errorf("docs/operate/alarms.md does not say what %s means and what to do", pattern)
		}
	}
	for _, id := range alarms {
		if !explained[id] {
			t.Errorf("docs/operate/alarms.md does not explain the alarm %s of %s", id, p.Schema.Title)
		}
	}
}

// checkExplainedWithEvents checks that docs/operate/alarms.md explains each alarm of the platform with events.
func checkExplainedWithEvents(t *testing.T, p *platforms.Platform, alarms []string) {
	t.Helper()
	for line := range strings.Lines(document(t, "operate/alarms.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[2], p.Schema.Title) && !strings.Contains(cells[2], "`Events`") {
			continue
		}
		alarms = slices.DeleteFunc(alarms, func(id string) bool {
			explained, _ := path.Match(strings.Trim(strings.TrimSpace(cells[1]), "`"), id)
			return explained
		})
	}
	if len(alarms) > 0 {
		t.Errorf("docs/operate/alarms.md does not explain the alarms %v of %s with events", alarms, p.Schema.Title)
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

// The dashboard shows all parts of the platform and all metrics that its functions report, and
// nothing else.
func TestDashboard(t *testing.T) { each(t, checkDashboard) }

func checkDashboard(t *testing.T, v variant) {
	dashboards := v.template.Named("AWS::CloudWatch::Dashboard")
	if want := map[bool]int{false: 1}[v.Common().NoDashboard]; len(dashboards) != want || want == 0 {
		if len(dashboards) != want {
			t.Errorf("got %d dashboards, want %d", len(dashboards), want)
		}
		return
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
	text := synthtest.Text(dashboards[v.ID+"Dashboard"].Properties["DashboardBody"])
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("the dashboard is no JSON: %v\n%s", err, text)
	}
	got, priced := map[string]bool{}, map[string]bool{}
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
			got[synthtest.Stable(words[0]+" "+words[1]+" "+resource(words[2:]))] = true
		}
	}
	if v.environment == platformtest.Zero {
		checkDashboardCost(t, v.Platform, len(priced))
	}
	want := map[string]bool{}
	add := func(namespace, resource string, names ...string) {
		for _, name := range names {
			want[namespace+" "+name+" "+resource] = true
		}
	}
	lakes := schema.MetricNamespace(v.Common().MetricNamespace, schema.LakeRoom)
	rooms := map[string][]schema.Metric{schema.MetricNamespace(v.Common().MetricNamespace,
		v.described.Name): v.described.Metrics, lakes: schema.LakeMetrics()}
	for id := range v.template.Named("AWS::Lambda::Function") {
		add("AWS/Lambda", id, "Invocations", "Errors", "Throttles", "Duration")
		name := strings.TrimPrefix(id, v.ID)
		for namespace, metrics := range rooms {
			if (namespace == lakes) == strings.HasPrefix(name, "Lake") {
				for _, m := range schema.MetricsOf(strings.ToLower(strings.TrimPrefix(name, "Lake")), metrics) {
					add(namespace, id, m.Name)
				}
			}
		}
	}
	for id := range v.template.Named("AWS::DynamoDB::GlobalTable") {
		add("AWS/DynamoDB", id, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ThrottledRequests",
			"SystemErrors")
	}
	for _, m := range v.template.OfType("AWS::Lambda::EventSourceMapping") {
		if m.Properties["StartingPosition"] != nil { // of a stream
			add("AWS/Lambda", synthtest.Stable(synthtest.Text(m.Properties["FunctionName"])), "IteratorAge")
		}
	}
	for id := range v.template.Named("AWS::SQS::Queue") {
		add("AWS/SQS", id+".QueueName", "ApproximateNumberOfMessagesVisible")
	}
	add("AWS/ApiGateway", v.ID+"API", "Count", "4xx", "5xx", "Latency")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics on the dashboard (-want +got):\n%s", diff)
	}
	if want := len(v.template.OfType("AWS::CloudWatch::Alarm")); alarms != want {
		t.Errorf("the dashboard shows %d alarms, want all %d", alarms, want)
	}
}

// costsOf is the page of what a platform costs, in the folder docs.
func costsOf(p *platforms.Platform) string { return "reference/costs/" + p.Name() + ".md" }

// checkAlarmCost checks that docs/reference/costs says what the alarms cost: US$ 0.10 for each metric.
func checkAlarmCost(t *testing.T, p *platforms.Platform, alarms, metrics int) {
	t.Helper()
	section := document(t, costsOf(p))
	want := fmt.Sprintf("The %d alarms watch %d metrics: US$ %.2f.", alarms, metrics, 0.10*float64(metrics))
	if said := strings.ReplaceAll(strings.Join(strings.Fields(section), " "), " of `prod` watch",
		" watch"); !strings.Contains(said, want) {
		t.Errorf("docs/%s does not say: %s", costsOf(p), want)
	}
}

// checkDashboardCost checks that docs/reference/costs says how many metrics the dashboard shows, on
// which its price depends.
func checkDashboardCost(t *testing.T, p *platforms.Platform, metrics int) {
	t.Helper()
	section := document(t, costsOf(p))
	_, dashboard, _ := strings.Cut(strings.ReplaceAll(section, "\n", " "), "The dashboard ")
	said := regexp.MustCompile(`\d+`).FindAllString(dashboard, 2)
	if !slices.Contains(said, strconv.Itoa(metrics)) {
		t.Errorf("docs/%s says that the dashboard shows %v metrics, and it shows %d", costsOf(p), said, metrics)
	}
}

// documentedAccessLog returns the fields of the access log that docs/operate/alarms.md names.
func documentedAccessLog(t *testing.T) []string {
	t.Helper()
	_, below, found := strings.Cut(document(t, "operate/alarms.md"), "access log (`AccessLogs`) has, for each request:")
	below, _, ended := strings.Cut(below, ".\n")
	if !found || !ended {
		t.Fatal("docs/operate/alarms.md does not list the fields of the access log")
	}
	var fields []string
	for i, part := range strings.Split(below, "`") {
		if i%2 == 1 {
			fields = append(fields, part)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}
