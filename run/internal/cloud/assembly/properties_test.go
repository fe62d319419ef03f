package assembly_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
)

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
