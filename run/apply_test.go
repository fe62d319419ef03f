package run_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

func apply(t *testing.T, r *run.Runner, template object) run.Applied {
	t.Helper()
	return must.Get(r.Apply(t.Context(), write(t, template)))(t)
}

func TestApply(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template(), nil)
	url, console := r.URL("Items"), r.ConsoleURL()
	token := must.Get(r.Token(t.Context(), run.TokenRequest{Subject: "alice"}))(t)
	want(t, 200, "null")(call(t, "PUT", url+"/items/a", "kept"))
	want(t, 200, "null")(call(t, "POST", url+"/messages", "kept"))
	want(t, 200, "null")(call(t, "PUT", url+"/objects/a", "kept"))
	_, secret := call(t, "GET", url+"/secret", "")
	must.OK(t, r.FlushStreams(t.Context()))
	invocations := r.Parts().Functions.Functions()[0].Invocations

	applied := apply(t, r, template("next"))
	if got := applied.String(); !strings.Contains(got, "added other; replaced worker") ||
		!strings.Contains(got, "adds index ByOwner to ") {
		t.Errorf("got %s", got)
	}
	if r.URL("Items") != url || r.ConsoleURL() != console {
		t.Errorf("addresses changed to %s and %s", r.URL("Items"), r.ConsoleURL())
	}
	want(t, 200, `"kept"`)(call(t, "GET", url+"/items/a", ""))
	want(t, 200, `"kept"`)(call(t, "GET", url+"/objects/a", ""))
	want(t, 200, "changed")(call(t, "GET", url+"/environment", ""))
	want(t, 404, "Not Found")(call(t, "GET", url+"/secret", ""))
	want(t, 502, "no route GET /new")(call(t, "GET", url+"/new", ""))
	want(t, 200, "alice")(call(t, "GET", url+"/me", "", "Authorization", "Bearer "+token))
	want(t, 502, "is not authorized to perform: sqs:SendMessage")(call(t, "POST", url+"/messages", "refused"))
	if messages := r.Parts().AWS.Queue(r.Parts().AWS.Queues()[1].ARN).Messages(); len(
		r.Parts().AWS.Queues()) != 3 || len(messages) != 1 || messages[0].Body != "kept" {
		t.Errorf("got queues %+v with messages %+v", r.Parts().AWS.Queues(), messages)
	}
	if rules := r.Parts().AWS.Events.Buses()[1].Rules; len(rules) != 1 ||
		string(rules[0].Pattern) != `{"detail-type":["Changed"]}` {
		t.Errorf("got rules %+v", rules)
	}
	if len(r.Parts().Schedules.Schedules()) != 0 {
		t.Errorf("got %+v", r.Parts().Schedules.Schedules())
	}
	tables, err := r.Parts().Databases.Tables(t.Context())
	if err != nil || len(tables) != 2 || len(tables[1].Indexes) != 1 || tables[1].Items == 0 {
		t.Errorf("got %+v, %v", tables, err)
	}
	if got, err := r.Invoke(t.Context(), "other", []byte(`{"routeKey":"GET /environment"}`)); err != nil ||
		!strings.Contains(string(got.Payload), "other") {
		t.Errorf("got %s, %v", got.Payload, err)
	}
	worker := r.Parts().Functions.Functions()[1]
	if worker.Name != "worker" || worker.Invocations <= invocations || worker.Deaths != 0 {
		t.Errorf("got %+v", worker)
	}
	// The stream goes on where it was: what was delivered before does not come again.
	want(t, 200, "null")(call(t, "PUT", url+"/items/b", "new"))
	// Each item has a record, and so has each change of the item that the function writes when it sees one.
	wait.Until(t, "the new item's record is seen", func() (any, bool) {
		_, seen := call(t, "GET", url+"/items/seen", "")
		state := r.Parts().Mappings.Streams()[0]
		return fmt.Sprint(seen, state), seen == `"INSERT b"` && state.Done >= 4
	}, wait.On(runtest.Of(r)))
	must.OK(t, r.FlushStreams(t.Context()))
	if got := r.Parts().Mappings.Streams()[0]; got.Done != 4 {
		t.Errorf("got %+v", got)
	}
	want(t, 200, "ByOwner")(call(t, "GET", console+"/tables", ""))

	// And back again: what is not declared any more goes, and the secret comes back as it was made, or new.
	applied = apply(t, r, template())
	if got := applied.String(); !strings.Contains(got, "replaced worker; removed other") ||
		!strings.Contains(got, "removes index ByOwner") {
		t.Errorf("got %s", got)
	}
	want(t, 200, `"kept"`)(call(t, "GET", url+"/items/a", ""))
	want(t, 200, "")(call(t, "GET", url+"/secret", ""))
	want(t, 200, secret)(call(t, "GET", url+"/secret", ""))
	want(t, 404, "Not Found")(call(t, "GET", url+"/new", ""))
	if _, err := r.Invoke(t.Context(), "other", nil); !errors.Is(err, lambda.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if got := r.Parts().Schedules.Schedules(); len(got) != 1 || got[0].Name != "tick" {
		t.Errorf("got %+v", got)
	}
	// The same again changes nothing: instances go on.
	pid := r.Parts().Functions.Functions()[0].Instances[0].PID
	if got := apply(t, r, template()).String(); got != "no function and no table has changed" {
		t.Errorf("got %s", got)
	}
	if got := r.Parts().Functions.Functions()[0].Instances[0].PID; got != pid {
		t.Errorf("instance %d became %d\n%s", pid, got, printed)
	}
}

// What cannot be applied changes nothing.
func TestApplyErrors(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), nil)
	url := r.URL("Items")
	want(t, 200, "null")(call(t, "PUT", url+"/items/a", "kept"))
	for name, test := range map[string]struct {
		// change is one of the next design, or of the present one if that alone has what changes.
		change, of string
		want       error
		text       string
	}{
		"Unsupported": {`{"Cluster": {"Type": "AWS::EKS::Cluster"}}`, "next", run.ErrUnsupported, "AWS::EKS::Cluster"},
		"Key": {`{"Table": {"Properties": {
			"AttributeDefinitions": [{"AttributeName": "key", "AttributeType": "S"}],
			"KeySchema": [{"AttributeName": "key", "KeyType": "HASH"}]}}}`,
			"next", dynamodb.ErrTableDiffers, "keys (id S HASH)"},
		"Items": {`{"Table": {"Properties": {
			"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
				{"AttributeName": "value", "AttributeType": "N"}],
			"GlobalSecondaryIndexes": [{"IndexName": "ByValue", "Projection": {"ProjectionType": "ALL"},
				"KeySchema": [{"AttributeName": "value", "KeyType": "HASH"}]}]}}}`,
			"next", dynamodb.ErrUnfitItems, "ByValue"},
		"Grant":    {`{"ReadsStream": null}`, "next", nil, "dynamodb:DescribeStream"},
		"Route":    {`{"Integration": {"Properties": {"PayloadFormatVersion": "1.0"}}}`, "next", nil, "Integration"},
		"Schedule": {`{"Schedule": {"Properties": {"ScheduleExpression": "cron(never)"}}}`, "{}", nil, "tick"},
		"Variable": {`{"Function": {"Properties": {"Environment": {"Variables": {"AWS_REGION": "x"}}}}}`,
			"next", nil, "reserved by Lambda"},
	} {
		_, err := r.Apply(t.Context(), write(t, template(test.of, test.change)))
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %v", name, err)
		}
		want(t, 200, `"kept"`)(call(t, "GET", url+"/items/a", ""))
		want(t, 404, "Not Found")(call(t, "GET", url+"/new", ""))
		if tables, err := r.Parts().Databases.Tables(t.Context()); err != nil || len(tables) != 1 ||
			len(tables[0].Indexes) != 0 {
			t.Errorf("%s: got %+v, %v", name, tables, err)
		}
	}
	if _, err := r.Apply(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no manifest.json") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Apply(ctx, write(t, template("next"))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	want(t, 200, `"kept"`)(call(t, "GET", url+"/items/a", ""))
}

// Requests are answered by the former design or by the next, and each item's record reaches its function.
func TestApplyUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("applies assemblies under load: go test without -short does")
	}
	t.Parallel()
	r, _ := start(t, template(), nil)
	url := r.URL("Items")
	ended := make(chan struct{})
	var working sync.WaitGroup
	counts := make([]int, 2)
	for client := range counts {
		working.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					counts[client] = n
					return
				default:
				}
				if status, body := call(t, http.MethodPut, fmt.Sprintf("%s/items/%d-%d", url, client, n),
					"x"); status != http.StatusOK {
					t.Errorf("got %d %s", status, body)
					counts[client] = n
					return
				}
			}
		})
	}
	for range 2 {
		apply(t, r, template("next"))
		apply(t, r, template())
	}
	close(ended)
	working.Wait()
	for client, count := range counts {
		for n := range count {
			want(t, 200, `"x"`)(call(t, http.MethodGet, fmt.Sprintf("%s/items/%d-%d", url, client, n), ""))
		}
	}
	if err := r.FlushStreams(t.Context()); err != nil {
		t.Error(err)
	}
	if status := r.Parts().Functions.Functions()[0]; status.Errors != 0 || status.Deaths != 0 {
		t.Errorf("got %+v", status)
	}
}
