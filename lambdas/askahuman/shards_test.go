package askahuman

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shards, read string
		want         Shards
		fails        bool
	}{
		"Unset":       {"", "", Shards{1, 1}, false},
		"Alike":       {"8", "8", Shards{8, 8}, false},
		"OnlyWritten": {"8", "", Shards{8, 8}, false},
		"Growing":     {"8", "64", Shards{8, 64}, false},
		"ErrNone":     {"0", "", Shards{}, true},
		"ErrFewer":    {"8", "7", Shards{}, true},
		"ErrNumber":   {"8", "many", Shards{}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			variables := map[string]string{"SHARDS": test.shards, "READ_SHARDS": test.read}
			for _, table := range askahuman.Platform().Database.Tables {
				variables[table.EnvironmentVariable()] = table.PhysicalName
			}
			service, err := Open(kit.Environment{AWS: aws.Config{Region: "eu-central-1"},
				Getenv: func(name string) string {
					return variables[name]
				}}, "humanapi")
			if test.fails != (err != nil) {
				t.Fatalf("got %v, want an error: %v", err, test.fails)
			}
			if err == nil && service.Shards != test.want {
				t.Errorf("got %+v, want %+v", service.Shards, test.want)
			}
		})
	}
}

// Every number of shards reads what the same or a lower number writes.
func TestShardsKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		shards Shards
		want   []string
	}{
		{Shards{}, []string{"OPEN"}},
		{Shards{Write: 2}, []string{"OPEN", "OPEN#0", "OPEN#1"}},
		{Shards{Read: 2}, []string{"OPEN", "OPEN#0", "OPEN#1"}},
		{Shards{Write: 3, Read: 2}, []string{"OPEN", "OPEN#0", "OPEN#1", "OPEN#2"}},
	} {
		if diff := cmp.Diff(test.want, test.shards.keys("OPEN")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.shards, diff)
		}
	}
	for write := range 20 {
		shards := Shards{Write: write}
		for i := range 200 {
			key := shards.key("OPEN", fmt.Sprint(i))
			if unsharded(key) != "OPEN" {
				t.Fatalf("%s is not a key of OPEN", key)
			}
			for read := write; read <= 20; read++ {
				if !slices.Contains(Shards{Read: read}.keys("OPEN"), key) {
					t.Fatalf("%s, written by %d, is not read by %d", key, write, read)
				}
			}
		}
	}
}

// Items have the keys that earlier versions wrote.
func TestStoredShards(t *testing.T) {
	t.Parallel()
	s := &Service{Shards: Shards{Write: 8}}
	q := s.stored(askahuman.Question{ID: "q", Status: askahuman.StatusOpen, DueAt: start})
	st := s.storedStats(askahuman.Stats{PersonHash: "p", Day: "2026-02-02", Week: "2026-02-02"})
	if got, want := fmt.Sprint(q.Status, " ", q.Due, " ", st.Leaderboard, " ", st.Day, " ", st.Week),
		"OPEN#4 DUE#4 _leaderboard#7 2026-02-02#7 2026-02-02#7"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// Of few keys all that is wanted is read at once; of many no more of each than
// twice its part, and some to spare.
func TestShardsPageSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ read, limit, want int }{{1, 31, 31}, {2, 31, 31}, {4, 31, 19}, {64, 31, 4},
		{256, 100, 4}, {256, 1, 1}} {
		if got := (Shards{Read: test.read}).pageSize(test.limit); got != test.want {
			t.Errorf("%d of %d keys: got %d of each, want %d", test.limit, test.read, got, test.want)
		}
	}
}
