package main

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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// accounts is busy for bob, has no time for cy, and cannot read what gil has.
type accounts struct{ cleaned []string }

func (a *accounts) CleanAccount(_ context.Context, user string) (bool, error) {
	a.cleaned = append(a.cleaned, user)
	switch user {
	case "bob":
		return false, fmt.Errorf("the table: %w", retry.ErrBusy)
	case "cy":
		return false, nil
	case "gil":
		return false, errors.New("an item of the account is not readable")
	}
	return true, nil
}

func record(sequence, image string) string {
	return fmt.Sprintf(
		`{"eventID":"e%[1]s","eventName":"MODIFY","dynamodb":{"Keys":{},"NewImage":{%[2]s},"SequenceNumber":"%[1]s"}}`,
		sequence, image)
}

func profile(user, sk, status string) string {
	return fmt.Sprintf(`"PK":{"S":"USER#%[1]s"},"SK":{"S":%[2]q},"user_id":{"S":%[1]q},"status":{"S":%[3]q}`, user, sk,
		status)
}

// Each deletion in a batch is cleaned. Those that are not finished come again, and those that cannot be are in the
// queue of failures; other records are passed over, with any content.
func TestBatch(t *testing.T) {
	t.Parallel()
	records := []string{
		record("1", profile("ann", "PROFILE", "deleting")), record("2", profile("bob", "PROFILE", "deleting")),
		record("3", profile("cy", "PROFILE", "deleting")),
		record("4", profile("dee#", "PROFILE", "deleting")), record("5", profile("ed", "PROFILE", "active")),
		record("6", profile("flo", "USAGE#LIMITS", "deleting")),
		record("7", `"SK":{"S":"PROFILE"},"status":{"S":"deleting"},"user_id":{"N":"1"}`), record("8", ""),
		`{"eventID":"e9","dynamodb":{}}`,
		record("10", profile("gil", "PROFILE", "deleting")), record("11", profile("hal", "PROFILE", "deleting")),
	}
	var output bytes.Buffer
	log, err := kit.NewLogger(&output, "", "accountcleaner")
	if err != nil {
		t.Fatal(err)
	}
	store := &accounts{}
	failures := &triggertest.Queue{}
	f := &function{clean: store.CleanAccount, batch: &trigger.Stream{Failures: failures, Log: log},
		metrics: &kit.Metrics{Namespace: "Onesynth/lingible", Function: "accountcleaner", Writer: &output}}
	answer, err := kit.NewResponder(log, f.handle).Invoke(t.Context(),
		[]byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	var response events.DynamoDBEventResponse
	if err := json.Unmarshal(answer, &response); err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	if diff := cmp.Diff([][]string{{"2", "3"}, {"ann", "bob", "cy", "dee#", "gil", "hal"}},
		[][]string{failed, store.cleaned}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if logged := output.String(); !strings.Contains(logged, `"AccountsCleaned":3`) ||
		strings.Count(logged, "a change of a table is not handled") != 3 ||
		!strings.Contains(logged, "too much is going on") {
		t.Errorf("wrote %s", logged)
	}
	if f := failures.Failures(); len(f) != 2 || !strings.Contains(f["7"].Cause, "no user_id") ||
		string(f["7"].Record) != records[6] || !strings.Contains(f["10"].Cause, "not readable") {
		t.Errorf("the queue of failures has %+v", f)
	}
	metricstest.Complete(t, output.String(), schema.MetricsOf("accountcleaner", lingible.Platform().Metrics))
}
