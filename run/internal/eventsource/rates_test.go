package eventsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/lake"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// objects counts what a lake's writer puts.
type objects struct{ count int }

func (o *objects) Put(_ context.Context, _ string, body io.ReadSeeker) error {
	o.count++
	_, err := io.Copy(io.Discard, body)
	return err
}

func (o *objects) Send(_ context.Context, message string) error {
	return fmt.Errorf("a record does not convert: %s", message)
}

// gathering keeps the batches, and how old the oldest change was when its batch was delivered.
type gathering struct {
	batches []trigger.Records
	longest time.Duration
}

func (g *gathering) Invoke(_ context.Context, _ string, payload []byte) ([]byte, error) {
	var records struct {
		Records []struct {
			Change struct{ ApproximateCreationDateTime float64 } `json:"dynamodb"`
		}
	}
	var batch trigger.Records
	if err := errors.Join(json.Unmarshal(payload, &records), json.Unmarshal(payload, &batch)); err != nil {
		return nil, err
	}
	for _, r := range records.Records {
		g.longest = max(g.longest, time.Since(time.UnixMilli(
			int64(r.Change.ApproximateCreationDateTime*1000))).Truncate(time.Second))
	}
	g.batches = append(g.batches, batch)
	return nil, nil
}

// TestLakeObjectsByRate: a lake's batches adapt to the rate of changes. A few changes wait for the window, and share an
// object; many fill a batch sooner. The rates and objects are those of docs/platforms/todo.md, for one shard.
func TestLakeObjectsByRate(t *testing.T) {
	t.Parallel()
	const (
		// The mapping of a lake (constructs/lake), and how often Lambda reads a shard.
		window, batchSize, poll = 2 * time.Minute, 10000, 250 * time.Millisecond
	)
	platform := todo.Platform()
	definition := must.Get(platform.Lakes[0].Definition(platform.Database))(t)
	for _, test := range []struct {
		name          string
		every, during time.Duration
		// objects are the most, and longest is the longest that a change takes.
		objects int
		longest time.Duration
	}{
		{"a change in 10 minutes", 10 * time.Minute, 10 * time.Hour, 60, window},
		{"a change in 30 seconds", 30 * time.Second, 2 * time.Hour, 48, window},
		{"a change a second", time.Second, time.Hour, 30, window},
		{"100 changes a second", 10 * time.Millisecond, 50 * time.Second, 2, 46 * time.Second},
		{"1,000 changes a second", time.Millisecond, 5 * time.Second, 2, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			to := &gathering{}
			made := 0
			synctest.Test(t, func(t *testing.T) {
				places := must.Get(openCheckpoints(""))(t)
				m := &mapping{
					options: Options{
						Invoke: to, Redeliver: func() bool {
							return false
						}, RetryDelay: time.Second, Log: slog.New(slog.DiscardHandler),
					},
					function:  &assembly.Resource{Name: "writer"},
					from:      &assembly.Resource{Name: "table", Stack: &assembly.Stack{}},
					batchSize: batchSize, window: window, waiting: map[reader]waiting{},
				}
				r := &shardReader{stream: &stream{mapping: m, retries: -1, checkpoints: places}, id: "shard"}
				deliver := func() {
					for batch := r.batch(); len(batch) > 0; batch = r.batch() {
						r.deliver(t.Context(), batch)
					}
				}
				begun := time.Now()
				for now := begun; now.Sub(begun) < test.during; now = time.Now() {
					var page []json.RawMessage
					for at := begun.Add(time.Duration(made) * test.every); at.Sub(begun) < test.during &&
						!at.After(now); at = begun.Add(time.Duration(made) * test.every) {
						made++
						page = append(page, taskChange(made, at))
					}
					r.take(t.Context(), page)
					deliver()
					time.Sleep(poll)
				}
				r.page.all = true
				deliver()
			})
			put := &objects{}
			writer := lake.NewWriter(definition, put.Put, put)
			writer.Log = slog.New(slog.DiscardHandler)
			landed := 0
			for _, batch := range to.batches {
				must.OK(t, writer.Handle(t.Context(), batch))
				landed += len(batch.Records)
			}
			t.Logf("%d changes in %v: %d objects, after %v at most", made, test.during, put.count, to.longest)
			if landed != made {
				t.Errorf("%d of %d changes landed", landed, made)
			}
			if put.count > test.objects || to.longest > test.longest {
				t.Errorf("got %d objects, after %v at most; want %d, after %v", put.count, to.longest, test.objects,
					test.longest)
			}
		})
	}
}

// taskChange is the stream's record of the change of a task of some 0.5 KB.
func taskChange(n int, at time.Time) json.RawMessage {
	const record = `{"eventID":"%032[1]x","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-central-1","dynamodb":{` +
		`"ApproximateCreationDateTime":%[3]f,"SequenceNumber":"%[1]d","SizeBytes":1000,"StreamViewType":"NEW_AND_OLD_IMAGES","Keys":{"PK":{"S":"TASK#ann"},"SK":{"S":"TASK#%[1]d"}},` +
		`"NewImage":{"PK":{"S":"TASK#ann"},"SK":{"S":"TASK#%[1]d"},"title":{"S":"a"},"description":{"S":"%[2]s"},"status":{"S":"pending"},"version":{"N":"1"},"created_at":{"N":"1767225600"},"updated_at":{"N":"1767225600"}}` +
		`,"OldImage":{"PK":{"S":"TASK#ann"},"SK":{"S":"TASK#%[1]d"},"title":{"S":"a"},"description":{"S":"%[2]s"},"status":{"S":"pending"},"version":{"N":"1"},"created_at":{"N":"1767225600"},"updated_at":{"N":"1767225600"}}}}`
	return fmt.Appendf(nil, record, n, strings.Repeat("x", 300), float64(at.UnixMilli())/1000)
}
