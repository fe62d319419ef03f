package routes

import (
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Calls are in one stage when none of them waited for another.
func TestStage(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	for name, test := range map[string]struct {
		calls  []Call
		stages []int
	}{
		"none":        {nil, nil},
		"in sequence": {[]Call{{began: at(0), ended: at(5)}, {began: at(6), ended: at(9)}}, []int{1, 2}},
		"in parallel": {[]Call{{began: at(1), ended: at(5)}, {began: at(0), ended: at(9)}}, []int{1, 1}},
		"two, and one after both": {[]Call{{began: at(0), ended: at(5)}, {began: at(1), ended: at(6)},
			{began: at(7), ended: at(9)}}, []int{1, 1, 2}},
		"one beside two in sequence": {[]Call{{began: at(0), ended: at(9)}, {began: at(0), ended: at(3)},
			{began: at(4), ended: at(8)}}, []int{1, 1, 2}},
		"one that never ended": {[]Call{{began: at(0)}, {began: at(4), ended: at(8)}}, []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage(test.calls)
			for i, c := range test.calls {
				if c.Stage != test.stages[i] {
					t.Errorf("call %d is in stage %d, want %d", i, c.Stage, test.stages[i])
				}
			}
		})
	}
}

// The description of a call has the names of tables in the schema. A stack may name its tables otherwise.
func TestDescribe(t *testing.T) {
	t.Parallel()
	database := schema.Database{Tables: []schema.Table{{Name: "Users"}, {Name: "UserStats"}}}
	for want, c := range map[string]Call{
		"GetItem Users": {Operation: "GetItem", Body: []byte(`{"TableName":"app-Users1A2B"}`)},
		"Query UserStats/ByTotal": {Operation: "Query",
			Body: []byte(`{"TableName":"app-UserStats1A2B","IndexName":"ByTotal"}`)},
		"BatchGetItem Users": {Operation: "BatchGetItem",
			Body: []byte(`{"RequestItems":{"app-Users1A2B":{"Keys":[]}}}`)},
		"TransactWriteItems (2 Put Users, Update UserStats)": {Operation: "TransactWriteItems", Body: []byte(
			`{"TransactItems":[{"Put":{"TableName":"Users"}},{"Update":{"TableName":"UserStats"}},{"Put":{"TableName":"Users"}}]}`)},
	} {
		if got := c.describe(database); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
