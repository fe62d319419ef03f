package askahuman

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// keyLimit is how many writes of up to 1 KB one partition key takes in a second
// ("Best practices for designing and using partition keys effectively").
const keyLimit = 1000

// TestHottestKey drives the answers of one second through the key function, and compares the writes
// of the hottest index key, which is a leaderboard's, with the limit of one key.
func TestHottestKey(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.answer(t, person(0), text(p.ask(t, textAsk()).ID, "an answer"))
	// Neither the first answer nor the last one.
	q := p.ask(t, textAsk())
	p.answer(t, person(1), text(q.ID, "an answer"))
	perAnswer := map[string]float64{} // writes, by index
	for _, entry := range p.Tables.Writes(t, func() {
		p.answer(t, person(0), text(q.ID, "an answer"))
	}) {
		for index, writes := range entry.Indexes {
			perAnswer[index] += writes
		}
	}
	for index, writes := range perAnswer {
		if writes > 2 || index == "ByTotalPoints" && writes != 2 {
			t.Errorf("%s: got %v writes of an answer, want 2 of each leaderboard, one that takes the old points out "+
				"and one that puts the new ones in, and no more of another index", index, writes)
		}
	}

	const answers = 100_000
	random := rand.NewChaCha8([32]byte{})
	hottest := map[int]int{}
	var report strings.Builder
	fmt.Fprintf(&report, "%d answers a second by as many people:\n", answers)
	fmt.Fprintf(&report, "%7s %10s %16s\n", "shards", "writes/s", "of what it takes")
	people := make([]string, answers)
	for i := range people {
		id := must.Get(uuid.NewRandomFromReader(random))(t)
		people[i] = digest(id.String())
	}
	for _, n := range []int{1, 8, 64, 256} {
		load := map[string]int{}
		for _, person := range people {
			key := Shards{Write: n}.key(leaderboard, person)
			load[key] += 2
			hottest[n] = max(hottest[n], load[key])
		}
		fmt.Fprintf(&report, "%7d %10d %15.1f×\n", n, hottest[n], float64(hottest[n])/keyLimit)
	}
	t.Log(report.String())

	for n, writes := range hottest {
		if even := hottest[1] / n; writes < even || float64(writes) > 1.25*float64(even) {
			t.Errorf("%d shards: the hottest key has %d writes, want at most a quarter over the even share, %d", n,
				writes, even)
		}
	}
	if hottest[64] < keyLimit || hottest[256] > keyLimit {
		t.Errorf("got %d writes with 64 shards and %d with 256, want that 256 are needed and enough", hottest[64],
			hottest[256])
	}
}
