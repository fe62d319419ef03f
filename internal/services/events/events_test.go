package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/internal/cloud/assembly/assemblytest"
	rules "github.com/onesynth-cdk/onesynth/internal/services/events"
	"github.com/onesynth-cdk/onesynth/internal/services/s3"
)

// functions remember what they get. The function broken takes nothing.
type functions map[string][]string

func (f functions) InvokeAsync(_ context.Context, name string, payload []byte) (string, error) {
	if name == "broken" {
		return "", errors.New("closed")
	}
	f[name] = append(f[name], string(payload))
	return "id", nil
}

// read reads a rule with the pattern on the functions worker, twice, and broken.
func read(t *testing.T, pattern, further string) rules.Rules {
	t.Helper()
	var resources []string
	for _, name := range []string{"worker", "broken"} {
		resources = append(resources, fmt.Sprintf(
			`%[1]q: {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": %[1]q}},
			"%[1]sPermission": {"Type": "AWS::Lambda::Permission", "Properties": {"Action": "lambda:InvokeFunction", "FunctionName": %[1]q, "Principal": "events.amazonaws.com"}}`, name))
	}
	resources = append(resources, fmt.Sprintf(
		`"Rule": {"Type": "AWS::Events::Rule", "Properties": {%s"EventPattern": %s, "Targets": [
		{"Id": "a", "Arn": {"Fn::GetAtt": ["worker", "Arn"]}}, {"Id": "b", "Arn": {"Fn::GetAtt": ["worker", "Arn"]}}, {"Id": "c", "Arn": {"Fn::GetAtt": ["broken", "Arn"]}}]}}`, further, pattern))
	read, err := rules.Read(assemblytest.Load(t, "{"+strings.Join(resources, ",")+"}"))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// A rule hears of the objects that its pattern names, of its own account and region.
func TestDeliver(t *testing.T) {
	t.Parallel()
	created := s3.Created{
		Bucket: "exports", ARN: "arn:aws:s3:::exports", Account: "000000000000", Region: "us-east-1", Sequence: 7,
		Object: s3.Object{Key: "lexicon/ä b.json", Size: 5, ETag: "e1",
			LastModified: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)},
	}
	elsewhere := created
	elsewhere.Region = "eu-west-1"
	const source = `{"source": ["aws.s3"], "detail": {"object": {"key": [{"prefix": "%s/"}]}}}`
	for name, test := range map[string]struct {
		pattern, further string
		created          s3.Created
		heard            bool
	}{
		"Matches":     {fmt.Sprintf(source, "lexicon"), "", created, true},
		"AnyObject":   {`{"source": ["aws.s3"]}`, "", created, true},
		"OtherPrefix": {fmt.Sprintf(source, "uploads"), "", created, false},
		"OtherType":   {`{"source": ["aws.s3"], "detail-type": ["Object Deleted"]}`, "", created, false},
		"OtherSource": {`{"source": ["aws.ec2"]}`, "", created, false},
		"Everything":  {`{"account": ["000000000000"]}`, "", created, false},
		"Disabled":    {`{"source": ["aws.s3"]}`, `"State": "DISABLED", `, created, false},
		"OtherBus":    {`{"source": ["aws.s3"]}`, `"EventBusName": "own", `, created, false},
		"Elsewhere":   {`{"source": ["aws.s3"]}`, "", elsewhere, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := functions{}
			var said []string
			read(t, test.pattern, test.further).Deliver(test.created, got, func(line string) {
				said = append(said, line)
			})
			if !test.heard {
				if len(got) > 0 || len(said) > 0 {
					t.Errorf("got %v and %q, want nothing", got, said)
				}
				return
			}
			var event events.EventBridgeEvent
			if len(got["worker"]) != 1 || json.Unmarshal([]byte(got["worker"][0]), &event) != nil {
				t.Fatalf("got %v, want an event", got)
			}
			want := events.EventBridgeEvent{
				Version: "0", ID: event.ID, DetailType: "Object Created", Source: "aws.s3", AccountID: "000000000000",
				Region: "us-east-1",
				Time:   created.Object.LastModified, Resources: []string{"arn:aws:s3:::exports"}, Detail: event.Detail,
			}
			if diff := cmp.Diff(want, event); diff != "" || event.ID == "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			for _, part := range []string{`"bucket":{"name":"exports"}`,
				`"key":"lexicon/ä b.json","size":5,"etag":"e1","sequencer":"0000000000000007"`} {
				if !strings.Contains(string(event.Detail), part) {
					t.Errorf("got the detail %s, want %s in it", event.Detail, part)
				}
			}
			if !slices.ContainsFunc(said, func(line string) bool {
				return strings.Contains(line, "did not reach broken: closed")
			}) {
				t.Errorf("said %q, want that broken did not take the event", said)
			}
		})
	}
}
