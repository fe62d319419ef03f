package askahuman

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// keyLimit is how many writes of up to 1 KB one partition key takes in a second
// ("Best practices for designing and using partition keys effectively").
const keyLimit = 1000

// TestHottestKey drives the answers of one second through the key function, and compares the writes
// of the hottest index key with the limit of one key.
func TestHottestKey(t *testing.T) {
	t.Parallel()
	const answers, perQuestion = 100_000, 10
	random := rand.NewChaCha8([32]byte{})
	ids := func(n int) []string {
		ids := make([]string, n)
		for i := range ids {
			id, err := uuid.NewRandomFromReader(random)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = id.String()
		}
		return ids
	}
	people, questions := ids(answers), ids(answers/perQuestion)
	for i := range people {
		people[i] = digest(people[i])
	}
	ofPerson, ofQuestion := writesOfAnswer(t), writesOfQuestion(t, perQuestion)

	hottest := map[int]int{}
	var report strings.Builder
	fmt.Fprintf(&report, "%d answers a second by as many people to %d questions:\n", answers, len(questions))
	fmt.Fprintf(&report, "%7s %-38s %10s %16s\n", "shards", "hottest key", "writes/s", "of what it takes")
	for _, n := range []int{1, 8, 64, 256} {
		shards := Shards{Write: n}
		load := map[indexKey]int{}
		add := func(writes map[indexKey]int, ids []string) {
			for key, count := range writes {
				for _, id := range ids {
					load[indexKey{key.index, shards.key(key.value, id)}] += count
				}
			}
		}
		add(ofPerson, people)
		add(ofQuestion, questions)
		var hot indexKey
		for key, writes := range load {
			if writes > load[hot] || writes == load[hot] && key.value < hot.value {
				hot = key
			}
		}
		hottest[n] = load[hot]
		fmt.Fprintf(&report, "%7d %-38s %10d %15.1f×\n", n, hot.index+" "+hot.value, load[hot],
			float64(load[hot])/keyLimit)
	}
	t.Log(report.String())

	for n, writes := range hottest {
		if even := hottest[1] / n; writes < even || float64(writes) > 1.25*float64(even) {
			t.Errorf("%d shards: the hottest key has %d writes, want at most a quarter over the even share, %d", n,
				writes, even)
		}
	}
	if hottest[1] != 2*answers {
		t.Errorf("1 shard: got %d writes, want 2 of each answer: one takes the old points out of a board, one puts "+
			"the new ones in", hottest[1])
	}
	if hottest[64] < keyLimit || hottest[256] > keyLimit {
		t.Errorf("got %d writes with 64 shards and %d with 256, want that 256 are needed and enough", hottest[64],
			hottest[256])
	}
}

// indexKey is a partition key of an index; its value is without a shard's number
// unless it was made by the key function.
type indexKey struct{ index, value string }

// writesOfAnswer are the index writes of one person's answer, by key.
func writesOfAnswer(t *testing.T) map[indexKey]int {
	store := &Service{}
	before := askahuman.Stats{
		PersonHash: "person", TotalPoints: 100, TotalAnswers: 9, Version: 9, Day: "2026-02-02", DailyPoints: 20,
		DailyAnswers: 2,
		Week:         "2026-02-02", WeeklyPoints: 50, WeeklyAnswers: 5,
	}
	after := before
	after.TotalPoints, after.TotalAnswers, after.Version = 110, 10, 10
	after.DailyPoints, after.DailyAnswers, after.WeeklyPoints, after.WeeklyAnswers = 30, 3, 60, 6
	return indexWrites(t, "UserStats", store.storedStats(before), store.storedStats(after))
}

// writesOfQuestion are the index writes of a question from its beginning to its
// last answer, by key.
func writesOfQuestion(t *testing.T, answers int) map[indexKey]int {
	store := &Service{}
	at := time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	q := askahuman.Question{
		ID: "question", AgentID: "agent", Status: askahuman.StatusOpen, Prompt: strings.Repeat("a", 500),
		RequiredResponses: answers,
		CreatedAt:         wire.Time(at), Deadline: wire.Time(at.Add(time.Hour)),
		ExpiresAt: at.Add(25 * time.Hour), DueAt: at,
	}
	writes := indexWrites(t, "Questions", nil, store.stored(q))
	for n := range answers {
		before := store.stored(q)
		q.Status, q.CurrentResponses = askahuman.StatusPartial, n+1
		if n == answers-1 {
			q.Status, q.ClosedAt, q.DueAt = askahuman.StatusClosed, wire.Time(at), time.Time{}
		}
		for key, count := range indexWrites(t, "Questions", before, store.stored(q)) {
			writes[key] += count
		}
	}
	// One agent's own questions are no key that all share.
	maps.DeleteFunc(writes, func(key indexKey, _ int) bool { return key.index == "ByAgentId" })
	return writes
}

// indexWrites are the writes to a table's indexes, by key, when an item changes:
// one to put an entry in, one to take it out, both when its key changes, and one
// when only other attributes of the projection change ("Using Global Secondary
// Indexes in DynamoDB", write capacity units). nil is no item.
func indexWrites(t *testing.T, tableName string, before, after any) map[indexKey]int {
	t.Helper()
	table, _ := askahuman.Platform().Database.Table(tableName)
	writes := map[indexKey]int{}
	for _, index := range table.Indexes {
		entry := func(item any) (entry, key dynamo.Item, at indexKey) {
			all, err := dynamo.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			key = dynamo.Item{}
			for _, name := range index.Key.Attributes() {
				if all[name] == nil {
					return nil, nil, at
				}
				key[name] = all[name]
			}
			entry = dynamo.Item{}
			for name, value := range all {
				if table.Projects(index, name) {
					entry[name] = value
				}
			}
			partition, _ := key[index.Key.Partition].(*types.AttributeValueMemberS)
			return entry, key, indexKey{index.Name, partition.Value}
		}
		from, fromKey, fromAt := entry(before)
		to, toKey, toAt := entry(after)
		switch {
		case from == nil && to == nil, reflect.DeepEqual(from, to):
		case reflect.DeepEqual(fromKey, toKey):
			writes[toAt]++
		default:
			if from != nil {
				writes[fromAt]++
			}
			if to != nil {
				writes[toAt]++
			}
		}
	}
	return writes
}
