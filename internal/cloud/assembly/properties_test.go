package assembly_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly/assemblytest"
)

var update = flag.Bool("update", false, "write the table of properties into docs/guide/run.md")

// A property counts where it asks for something, and not where it is empty or off.
func TestUnserved(t *testing.T) {
	t.Parallel()
	a := assemblytest.Load(t, `{
		"Layered": {"Type": "AWS::Lambda::Function", "Properties": {"Layers": ["arn:aws:lambda:eu-west-1:1:layer:x:1"],
			"VpcConfig": {"SubnetIds": ["subnet-1"]}}},
		"Plain": {"Type": "AWS::Lambda::Function", "Properties": {"Layers": [], "VpcConfig": {}}},
		"Sent": {"Type": "AWS::Lambda::EventInvokeConfig", "Properties": {"DestinationConfig": {"OnSuccess": {"Destination": "x"}}}},
		"Failed": {"Type": "AWS::Lambda::EventInvokeConfig", "Properties": {"DestinationConfig": {"OnFailure": {"Destination": "x"}}}},
		"Window": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"TumblingWindowInSeconds": 5}},
		"None": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"TumblingWindowInSeconds": 0}},
		"Fifo": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": true}},
		"Standard": {"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": "false"}},
		"Told": {"Type": "AWS::S3::Bucket", "Properties": {"NotificationConfiguration": {"QueueConfigurations": [{"Queue": "x"}]}}},
		"Bridged": {"Type": "AWS::S3::Bucket", "Properties": {"NotificationConfiguration": {"EventBridgeConfiguration": {}}}}}`)
	got := []string{}
	for _, unserved := range a.Unserved() {
		got = append(got, fmt.Sprint(unserved.Resource.LogicalID, " ", unserved.Property.Name, " ",
			unserved.Property.Refused))
	}
	want := []string{"Layered Layers true", "Layered VpcConfig false", "Sent DestinationConfig.OnSuccess true",
		"Window TumblingWindowInSeconds true", "Told NotificationConfiguration.QueueConfigurations true",
		"Fifo FifoQueue true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unserved (-want +got):\n%s", diff)
	}
}

// The documents have the properties that a run does not honour.
func TestUnhonouredAreDocumented(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../../../docs/guide/run.md", "| Property | A run | Instead, or why |\n", "\n\n"
	table := begin + "| --- | --- | --- |"
	for _, p := range assembly.Unhonoured() {
		does := "goes on, and says that it has no effect"
		if p.Refused {
			does = "ends, unless it is allowed"
		}
		table += fmt.Sprintf("\n| `%s` | %s | %s |", p, does, p.Instead)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table that begins with %s", file, begin)
	}
	if now := before + table + end + after; *update {
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if now != string(text) {
		t.Errorf("%s has another table of properties: run this test with -update", file)
	}
}
