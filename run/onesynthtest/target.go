package onesynthtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// Target is a platform that runs somewhere.
type Target struct {
	// URL is the base URL of its API.
	URL string
	// Tables are the physical names of its tables, by the names of the schema.
	Tables map[string]string
	// Outputs are the stack's outputs, by name without the construct's.
	Outputs map[string]string
	// Database reaches the tables directly.
	Database *dynamodb.Client
	// Run is the local run, or nil for a platform that runs elsewhere.
	Run *run.Runner
}

// NewTarget returns the target that a stack's outputs describe. construct is the id of the platform's construct.
func NewTarget(construct string, outputs map[string]string, database *dynamodb.Client) (*Target, error) {
	target := &Target{URL: strings.TrimSuffix(outputs[construct+"ApiUrl"], "/"), Tables: map[string]string{},
		Outputs: map[string]string{}, Database: database}
	if target.URL == "" {
		return nil, fmt.Errorf("the stack has no output %sApiUrl: it has %v", construct,
			slices.Sorted(maps.Keys(outputs)))
	}
	for name, value := range outputs {
		name = strings.TrimPrefix(name, construct)
		target.Outputs[name] = value
		if table, ok := strings.CutSuffix(name, "TableName"); ok {
			target.Tables[table] = value
		}
	}
	return target, nil
}

// Ended returns why the local run has ended, or nil before its end and for a platform that runs elsewhere. With it, a
// Target is a [wait.Watched].
func (p *Target) Ended() error {
	if p.Run == nil {
		return nil
	}
	return runtest.Of(p.Run).Ended()
}

// Printed returns the newest lines that functions have logged in a local run.
func (p *Target) Printed() string {
	if p.Run == nil {
		return ""
	}
	return runtest.Of(p.Run).Printed()
}

// Item reads an item of a table by its key, given as names and values in turn. It returns plain values, each number as
// a float64, or nil if there is no item.
func (p *Target) Item(t testing.TB, table string, key ...string) map[string]any {
	t.Helper()
	got, err := p.Database.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(p.Tables[table]), ConsistentRead: aws.Bool(true), Key: textKey(key),
	})
	if err != nil {
		t.Fatalf("read %s %s: %v", table, key, err)
	}
	if got.Item == nil {
		return nil
	}
	var item map[string]any
	if err := attributevalue.UnmarshalMap(got.Item, &item); err != nil {
		t.Fatalf("read %s %s: %v", table, key, err)
	}
	return item
}

// textKey is a key of texts, given as name and value by turns.
func textKey(key []string) map[string]types.AttributeValue {
	values := map[string]types.AttributeValue{}
	for i := 0; i+1 < len(key); i += 2 {
		values[key[i]] = &types.AttributeValueMemberS{Value: key[i+1]}
	}
	return values
}

// Set changes attributes of an item in the database, without the platform. key and value are its partition key.
func (p *Target) Set(t testing.TB, table, key, value string, attributes map[string]any) {
	t.Helper()
	changes := map[string]types.AttributeValueUpdate{}
	for name, value := range attributes {
		encoded := must.Get(attributevalue.Marshal(value))(t)
		changes[name] = types.AttributeValueUpdate{Action: types.AttributeActionPut, Value: encoded}
	}
	if _, err := p.Database.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(p.Tables[table]), AttributeUpdates: changes,
		Key: map[string]types.AttributeValue{key: &types.AttributeValueMemberS{Value: value}},
	}); err != nil {
		t.Fatalf("change %s %s: %v", table, value, err)
	}
}

// Items reads all items of a table.
func (p *Target) Items(t testing.TB, table string) []map[string]any {
	t.Helper()
	var all []map[string]any
	pages := dynamodb.NewScanPaginator(p.Database,
		&dynamodb.ScanInput{TableName: aws.String(p.Tables[table]), ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatalf("scan %s: %v", table, err)
		}
		for _, read := range page.Items {
			var item map[string]any
			if err := attributevalue.UnmarshalMap(read, &item); err != nil {
				t.Fatalf("scan %s: %v", table, err)
			}
			all = append(all, item)
		}
	}
	return all
}

// Function returns the name of the local run's function whose construct has that name.
func (p *Target) Function(t testing.TB, name string) string {
	t.Helper()
	for _, f := range p.Run.Parts().Functions.Functions() {
		if strings.Contains(f.Name, name) {
			return f.Name
		}
	}
	t.Fatalf("the run has no function %s", name)
	return ""
}

// Schedule returns the name of the local run's schedule whose construct has that name; "" means the
// only schedule.
func (p *Target) Schedule(t testing.TB, name string) string {
	t.Helper()
	var found []string
	for _, schedule := range p.Run.Parts().Schedules.Schedules() {
		if strings.Contains(schedule.Name, name) {
			found = append(found, schedule.Name)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got the schedules %v of the name %q; want 1", found, name)
	}
	return found[0]
}

// RunSchedule runs the local run's schedule whose construct has that name, "" for the only one, and waits until its
// function has succeeded.
func (p *Target) RunSchedule(t testing.TB, name string) {
	t.Helper()
	must.OK(t, p.Run.RunSchedule(t.Context(), p.Schedule(t, name)))
}

// SetFaults makes the local run fail requests of functions to AWS from now on. The zero value ends that.
func (p *Target) SetFaults(t testing.TB, faults runtest.Faults) {
	t.Helper()
	must.OK(t, runtest.Of(p.Run).SetFaults(faults))
}

// Kill kills an instance of a local run's function, a busy one if there is any, and reports whether there was one.
func (p *Target) Kill(t testing.TB, function string) bool {
	t.Helper()
	_, err := p.Run.Kill(function)
	if err != nil && !errors.Is(err, run.ErrNotRunning) {
		t.Error(err)
	}
	return err == nil
}

// Flush lets the functions that get the records of streams handle all earlier writes. The test fails if a minute passes
// without a delivery, and if a role refuses a request meanwhile: the batch would come again for ever.
func (p *Target) Flush(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := func() (times int) {
		for _, refusal := range p.Run.Parts().AWS.Refused() {
			times += refusal.Times
		}
		return times
	}
	before, flushed := refused(), make(chan error, 1)
	go func() { flushed <- p.Run.FlushStreams(ctx) }()
	wait.Until(t, "all records of streams are handled", func() (any, bool) {
		return p.Run.Parts().Mappings.Streams(), refused() > before || len(flushed) > 0
	}, wait.On(p))
	if refused() > before {
		t.Fatal("a role refused a request of a function")
	}
	must.OK(t, <-flushed)
}

// Delete deletes an item in the database, without the platform, by its key as for Item.
func (p *Target) Delete(t testing.TB, table string, key ...string) {
	t.Helper()
	if _, err := p.Database.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String(p.Tables[table]), Key: textKey(key)}); err != nil {
		t.Fatalf("delete %s %s: %v", table, key, err)
	}
}

// Token returns a token of the run's issuer, as its console makes it. request has sub and further claims.
func (p *Target) Token(t testing.TB, request map[string]any) string {
	t.Helper()
	issuer := NewClient(t, p)
	issuer.URL = p.Run.ConsoleURL()
	r := issuer.MustSend(t, http.MethodPost, "/token", http.Header{console.Header: {"test"}}, request)
	token := Field(r.Body, "access_token")
	if r.Status != http.StatusOK || token == "" {
		t.Fatalf("got %v; want a token", r)
	}
	return token
}
