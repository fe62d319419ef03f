package todo

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// lake is To-Do's lake in a local run, and what fills it.
type lake struct {
	*platform.Target
	writer, compactor string // functions
}

func lakeOf(t testing.TB, target *platform.Target) *lake {
	t.Helper()
	return &lake{target, target.Function(t, "LakeWriter"), target.Function(t, "LakeCompactor")}
}

// objects returns the keys of the lake's objects.
func (l *lake) objects(t testing.TB) []string {
	t.Helper()
	return must.Get(runtest.Of(l.Run).Objects(l.Outputs["LakeBucketName"], ""))(t)
}

// copied returns a copy of the lake as it is now, for queries.
func (l *lake) copied(t testing.TB) *laketest.Lake {
	t.Helper()
	return laketest.Open(t, l.Target.Target)
}

// storedTask is a task as the lake has it, and a user's as the API has it.
type storedTask struct {
	UserID string `json:"user_id"`
	todo.Task
}

// version identifies the version of a task.
func (s storedTask) version() string { return fmt.Sprint(s.UserID, " ", s.ID, " ", s.Version) }

// failure is a message of the failure queue.
type failure struct {
	Cause          string                     `json:"cause"`
	EventID        string                     `json:"event_id"`
	EventName      string                     `json:"event_name"`
	Entity         string                     `json:"entity"`
	SequenceNumber string                     `json:"sequence_number"`
	Record         events.DynamoDBEventRecord `json:"record"`
}

// failed returns the messages of the failure queue by event. A message may be there several times,
// because a batch may be written several times.
func (l *lake) failed(t testing.TB) map[string]failure {
	t.Helper()
	all := map[string]failure{}
	for _, m := range must.Get(runtest.Of(l.Run).Messages(l.Outputs["LakeFailureQueueUrl"]))(t) {
		var f failure
		if err := json.Unmarshal([]byte(m.Body), &f); err != nil {
			t.Fatalf("a message of the failure queue: %s: %v", m.Body, err)
		}
		if f.EventID == "" || f.Record.EventID != f.EventID {
			t.Errorf("a message without its record: %s", m.Body)
		}
		all[f.EventID] = f
	}
	return all
}

// count is the answer to a SELECT of one number n.
func count(t testing.TB, from *laketest.Lake, text string) int {
	t.Helper()
	rows := laketest.Query[struct{ N int }](t, from, text)
	if len(rows) != 1 {
		t.Fatalf("%s: got %d rows; want 1", text, len(rows))
	}
	return rows[0].N
}

// onceInFiles checks that the files themselves have each event once.
func onceInFiles(t testing.TB, from *laketest.Lake) {
	t.Helper()
	for _, table := range []string{"task_changes", "user_changes"} {
		if more := count(t, from, "SELECT count(*) - count(DISTINCT event_id) AS n FROM "+table); more != 0 {
			t.Errorf("%s: got %d more rows than events after compaction", table, more)
		}
	}
}
