package ownership_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
)

// record is a change of a person's item, as a table's stream tells it.
func record(sequence, person string) string {
	return fmt.Sprintf(`{"eventID":"e%[1]s","dynamodb":{"NewImage":{"leaving":{"S":%[2]q}},"SequenceNumber":"%[1]s"}}`,
		sequence, person)
}

// Each deletion in a batch is carried out. Those that are not finished come again, and those that cannot be are in the
// queue of failures. A record that tells of no deletion is passed over. A queue passes deletions on, too.
func TestEraser(t *testing.T) {
	t.Parallel()
	spoiled := errors.New("the change does not say whose it is")
	for name, test := range map[string]struct {
		records        []string
		again, erased  []string
		failures       map[string]string
		complete, fail int
	}{
		"Stream": {
			records: []string{record("1", "ann"), record("2", "busy"), record("3", "hurried"), record("4", ""),
				record("5", "spoiled"), `{"eventID":"e9","dynamodb":{"SequenceNumber":"9"}}`, record("6", "unreadable"),
				record("7", "bob")},
			again: []string{"2", "3"}, erased: []string{"ann", "busy", "hurried", "unreadable", "bob"},
			failures: map[string]string{"5": "whose it is", "6": "not readable"}, complete: 2, fail: 2,
		},
		"Queue": {
			records: []string{fmt.Sprintf(`{"eventSource":"aws:sqs","messageId":"m","receiptHandle":"r","body":%q}`,
				record("1", "hurried"))},
			again: []string{"m"}, erased: []string{"hurried"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var output bytes.Buffer
			log := must.Get(kit.NewLogger(&output, "", "eraser"))(t)
			var failures triggertest.Queue
			var erased []string
			eraser := ownership.Eraser[string]{
				Of: func(change events.DynamoDBStreamRecord) (string, error) {
					person := trigger.Text(change.NewImage, "leaving")
					if person == "spoiled" {
						return "", spoiled
					}
					return person, nil
				},
				Erase: func(_ context.Context, person string) (bool, error) {
					erased = append(erased, person)
					switch person {
					case "busy":
						return false, fmt.Errorf("the table: %w", retry.ErrBusy)
					case "unreadable":
						return false, errors.New("an item is not readable")
					}
					return person != "hurried", nil
				},
				Batch:   &trigger.Stream{Failures: &failures, Log: log},
				Metrics: &kit.Metrics{Namespace: "test", Function: "eraser", Writer: &output},
				Names:   []string{"Erased", "Failed"},
			}
			answer := must.Get(kit.NewResponder(log, eraser.Handle).Invoke(t.Context(),
				[]byte(`{"Records":[`+strings.Join(test.records, ",")+`]}`)))(t)
			var response events.DynamoDBEventResponse
			must.OK(t, json.Unmarshal(answer, &response))
			var again []string
			for _, failure := range response.BatchItemFailures {
				again = append(again, failure.ItemIdentifier)
			}
			if diff := cmp.Diff([][]string{test.again, test.erased}, [][]string{again, erased}); diff != "" {
				t.Errorf("- want, + got:\n%s", diff)
			}
			sums := metricstest.Sums(t, output.String())
			if int(sums["Erased"]) != test.complete || int(sums["Failed"]) != test.fail {
				t.Errorf("counted %v", sums)
			}
			if len(failures.Failures()) != len(test.failures) {
				t.Errorf("the queue of failures has %+v", failures.Failures())
			}
			for sequence, cause := range test.failures {
				if got := failures.Failures()[sequence]; !strings.Contains(got.Cause, cause) {
					t.Errorf("%s: the queue of failures has %+v", sequence, got)
				}
			}
		})
	}
}
