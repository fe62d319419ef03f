package console

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

const (
	manyRequests = 10_000
	manyItems    = 50_000
	// maxElements and maxBytes bound what a view makes and reads, however much there is.
	maxElements = 6000
	maxBytes    = 600 << 10
)

// fill writes many items, past all functions.
func fill(ctx context.Context, runner *run.Runner, table runtest.Table) error {
	const atOnce = 25
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for first := 0; first < manyItems; first += atOnce {
		group.Go(func() error {
			var requests []types.WriteRequest
			for i := first; i < first+atOnce; i++ {
				requests = append(requests, types.WriteRequest{
					PutRequest: &types.PutRequest{Item: item(table, fmt.Sprintf("many-%05d", i), map[string]string{
						"note": fmt.Sprintf("the note of item %d", i), "state": "open",
						"text": "a text of some length, as items have it",
					})}})
			}
			_, err := runner.DynamoDB().BatchWriteItem(ctx,
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table.Name: requests}})
			return err
		})
	}
	return group.Wait()
}

// record writes many requests into the run's record, each with an invocation, calls and a line.
func record(runner *run.Runner) {
	put := runtest.Call{Service: "dynamodb", Operation: "PutItem", AccessPatterns: []string{"PutThing"},
		Table: "things", WriteUnits: 1, Status: 200,
		Body: []byte(`{"TableName": "things", "Item": {"id": {"S": "1"}}}`)}
	for i := range manyRequests {
		runtest.Of(runner).Make(runtest.Made{
			Request: runtest.Request{ID: fmt.Sprintf("many-%05d", i), Method: "POST",
				Path: fmt.Sprintf("/things/%d", i), Route: "POST /things/{id}", Status: 201},
			Function: "many", Label: "things", Invocation: fmt.Sprintf("1-%08x-%024x", i, i),
			Calls: []runtest.Call{put, put, put}, Lines: []string{`{"level": "INFO", "msg": "put a thing"}`},
		})
	}
}

// With many requests and items, every view makes a page of bounded size from answers of bounded size. How long that
// took is printed: it depends on the machine.
func TestManyRequestsAndItems(t *testing.T) {
	runner, tab := open(t, "#/requests", browser.Options{})
	quiet := quietTables(t, runner)
	table := quiet[len(quiet)-1]
	began := time.Now()
	must.OK(t, fill(t.Context(), runner, table))
	t.Logf("%d items written in %s", manyItems, time.Since(began).Round(time.Millisecond))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	record(runner)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d requests recorded: %d KiB", manyRequests, (int64(after.HeapAlloc)-int64(before.HeapAlloc))>>10)

	// The last item that a scan finds may be far behind the first page.
	goTo(tab, tableView(table, "&text=item+12345"))
	tab.Click("Look further")
	// The page says each thousand that it has read, and each is waited for: all together take as long as the machine
	// needs.
	for found := "document.body.innerText.includes('many-12345')"; !browser.Evaluate[bool](tab, found); {
		tab.Until(fmt.Sprintf("%s || document.querySelector('#said').innerText !== %q", found, tab.Text("#said")))
	}

	all := append(views(t, runner), "#/requests?search=things%2F99", "#/requests/many-09999", tableView(table, ""),
		tableView(table, "&partition=many-12345"),
		tableView(table, "&text=item+12345"), tableView(table, "&text=nowhere"))
	for _, view := range all {
		browser.Evaluate[bool](tab, "performance.clearResourceTimings(), true")
		milliseconds := goTo(tab, view)
		if problem := tab.Text(".problem"); problem != "" {
			t.Errorf("%s: %s", view, problem)
		}
		elements := browser.Evaluate[int](tab, "document.querySelectorAll('*').length")
		bytes := browser.Evaluate[int](tab, "performance.getEntriesByType('resource').filter((one) => "+
			"one.initiatorType === 'fetch').reduce((sum, one) => sum + one.decodedBodySize, 0)")
		t.Logf("%6.0f ms %6d elements %7d bytes  %s", milliseconds, elements, bytes, view)
		if elements > maxElements {
			t.Errorf("%s: got %d elements, want %d at the most", view, elements, maxElements)
		}
		// The form of a request reads the API's OpenAPI document, which grows with neither.
		if bytes > maxBytes && view != "#/try" {
			t.Errorf("%s: read %d bytes, want %d at the most", view, bytes, maxBytes)
		}
	}
}
