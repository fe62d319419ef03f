package platforms_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference/figures"
)

// Each alarm names its platform and links to the explanation of what to do. Missing data means that all is well, except
// for alarms that expect data.
func TestAlarms(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		explained := v.Common().Runbook
		if explained == "" {
			explained = "https://github.com/onesynth-cdk/onesynth/blob/main/docs/operate/alarms.md#alarms"
		}
		var ids []string
		for id, r := range v.Template.Named("AWS::CloudWatch::Alarm") {
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
		case v.Environment == platformtest.Zero:
			checkAlarmCost(t, v)
		}
	})
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
func TestDashboard(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		dashboards := v.Template.Named("AWS::CloudWatch::Dashboard")
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
		if v.Environment == platformtest.Zero {
			checkDashboardCost(t, v.Platform, len(priced))
		}
		want := map[string]bool{}
		add := func(namespace, resource string, names ...string) {
			for _, name := range names {
				want[namespace+" "+name+" "+resource] = true
			}
		}
		lakes := schema.MetricNamespace(v.Common().MetricNamespace, schema.LakeComponent)
		namespaces := map[string][]schema.Metric{schema.MetricNamespace(v.Common().MetricNamespace,
			v.Described.Name): v.Described.Metrics, lakes: schema.LakeMetrics()}
		for id := range v.Template.Named("AWS::Lambda::Function") {
			add("AWS/Lambda", id, "Invocations", "Errors", "Throttles", "Duration")
			name := strings.TrimPrefix(id, v.ID)
			for namespace, metrics := range namespaces {
				if (namespace == lakes) == strings.HasPrefix(name, "Lake") {
					for _, m := range schema.MetricsOf(strings.ToLower(strings.TrimPrefix(name, "Lake")), metrics) {
						add(namespace, id, m.Name)
					}
				}
			}
		}
		for id := range v.Template.Named("AWS::DynamoDB::GlobalTable") {
			add("AWS/DynamoDB", id, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ThrottledRequests",
				"SystemErrors")
		}
		for _, m := range v.Template.OfType("AWS::Lambda::EventSourceMapping") {
			if m.Properties["StartingPosition"] != nil { // of a stream
				add("AWS/Lambda", synthtest.Stable(synthtest.Text(m.Properties["FunctionName"])), "IteratorAge")
			}
		}
		for id := range v.Template.Named("AWS::SQS::Queue") {
			add("AWS/SQS", id+".QueueName", "ApproximateNumberOfMessagesVisible")
		}
		add("AWS/ApiGateway", v.ID+"API", "Count", "4xx", "5xx", "Latency")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics on the dashboard (-want +got):\n%s", diff)
		}
		if want := len(v.Template.OfType("AWS::CloudWatch::Alarm")); alarms != want {
			t.Errorf("the dashboard shows %d alarms, want all %d", alarms, want)
		}
	})
}

// checkAlarmCost checks that docs/reference/costs says what the alarms cost: US$ 0.10 for each metric.
func checkAlarmCost(t *testing.T, v variant) {
	t.Helper()
	alarms, metrics := v.Watched()
	want := fmt.Sprintf("The %d alarms watch %d metrics: US$ %.2f.", alarms, metrics, 0.10*float64(metrics))
	if said := strings.ReplaceAll(strings.Join(strings.Fields(figures.Page(t, figures.CostsOf(v.Platform))), " "),
		" of `prod` watch", " watch"); !strings.Contains(said, want) {
		t.Errorf("docs/%s does not say: %s", figures.CostsOf(v.Platform), want)
	}
}

// checkDashboardCost checks that docs/reference/costs says how many metrics the dashboard shows, on
// which its price depends.
func checkDashboardCost(t *testing.T, p *platforms.Platform, metrics int) {
	t.Helper()
	section := figures.Page(t, figures.CostsOf(p))
	_, dashboard, _ := strings.Cut(strings.ReplaceAll(section, "\n", " "), "The dashboard ")
	said := regexp.MustCompile(`\d+`).FindAllString(dashboard, 2)
	if !slices.Contains(said, strconv.Itoa(metrics)) {
		t.Errorf("docs/%s says that the dashboard shows %v metrics, and it shows %d", figures.CostsOf(p), said, metrics)
	}
}
