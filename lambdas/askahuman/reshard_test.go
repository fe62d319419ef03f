package askahuman

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// changes of a live table's shards, each with the configurations that are deployed
// one after the other, as docs/operate/scale.md describes.
var changes = map[string][]Shards{
	"1 to 8":  {{}, {Read: 8}, {Write: 8}},
	"8 to 1":  {{Write: 8}, {Write: 1, Read: 8}},
	"8 to 16": {{Write: 8}, {Write: 8, Read: 16}, {Write: 16}},
	"5 to 3":  {{Write: 5}, {Write: 3, Read: 5}},
}

// TestChangeOfShards changes the number of shards of a live table: while one
// configuration is deployed after the other, functions of both write and read.
// Every reading in between, by either, is complete, with each entry once.
func TestChangeOfShards(t *testing.T) {
	t.Parallel()
	for name, configurations := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 7)
			// Each page reads all keys: the more there are, the longer it is.
			for _, c := range configurations {
				w.page = max(w.page, 4+max(c.Write, c.Read)/8)
			}
			for range 12 {
				w.step(w.with(configurations[0]))
			}
			for i, next := range configurations[1:] {
				before, after := w.with(configurations[i]), w.with(next)
				both := []*Service{before, after}
				for _, reader := range both {
					w.check(reader, both)
				}
				// The deployment is over.
				for range 10 {
					w.step(after)
				}
				w.check(after, both[1:])
			}
		})
	}
}

// TestFewerShardsDrain stops reading the keys of the old number when nothing is left under them:
// the old questions have ended, and every person has answered once more.
func TestFewerShardsDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 11)
	old, between := w.with(Shards{Write: 8}), w.with(Shards{Write: 1, Read: 8})
	last := w.with(Shards{})
	for range 20 {
		w.step(old)
	}
	for _, id := range w.openIDs() {
		w.end(between, id)
	}
	for person := range w.points {
		w.ask(between)
		w.answer(between, w.openIDs()[0], person)
	}
	for range 10 {
		w.step(between)
	}
	w.check(last, []*Service{between, last})
}

// A question that turns partial, and a person who gets the key of another number of shards, between the reads of two
// keys are in the lists of both, and come once.
func TestChangeBetweenReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 13)
	before, after := w.with(Shards{Write: 1, Read: 8}), w.with(Shards{Write: 8})
	w.ask(before)
	id := w.openIDs()[0]
	// between holds the read of the key that something moves to until the one of the key that it leaves is done, and
	// moves it in between.
	between := func(from, to string, move func()) {
		left := make(chan struct{})
		var once sync.Once
		reads := func(r dynamotest.Request, key string) bool {
			query, ok := r.Input.(*sdk.QueryInput)
			return ok && slices.ContainsFunc(slices.Collect(maps.Values(query.ExpressionAttributeValues)),
				func(v types.AttributeValue) bool {
					return reflect.DeepEqual(v, &types.AttributeValueMemberS{Value: key})
				})
		}
		w.tables.Recorder.FaultsOf(func(_ context.Context, r dynamotest.Request) error {
			if reads(r, to) {
				<-left
				once.Do(move)
			}
			return nil
		}, func(_ context.Context, r dynamotest.Request) error {
			if reads(r, from) {
				close(left)
			}
			return nil
		})
	}
	between("OPEN", "PARTIAL", func() { w.answer(before, id, "person") })
	page, _, err := before.openQuestions(w.ctx, 7, position{}, start)
	if must.OK(w.t, err); len(page) != 1 || page[0].ID != id {
		t.Errorf("the feed has %+v; want %s once", page, id)
	}
	w.tables.Recorder.FaultsOf(nil, nil)
	w.end(before, id)
	w.ask(before)
	between(leaderboard, after.Shards.key(leaderboard, "person"), func() { w.answer(after, w.openIDs()[0], "person") })
	entries, err := before.top(w.ctx, askahuman.PeriodAllTime, "", 100)
	want := []askahuman.BoardEntry{{PersonHash: "person", Points: w.points["person"], Answers: 2}}
	if diff := cmp.Diff(want, entries); diff != "" || err != nil {
		t.Errorf("the leaderboard: %v (-want +got):\n%s", err, diff)
	}
}

// world is what is in the tables, for a test that changes it at random.
type world struct {
	t      *testing.T
	ctx    context.Context
	tables *dynamotest.Tables
	random *rand.Rand
	asked  int
	read   time.Time // when due questions were read last
	page   int       // how many questions a page of the feed has
	// open is how many answers a question has; points are people's points.
	open, points map[string]int
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{
		t: t, ctx: t.Context(), tables: dynamotest.Open(t, askahuman.Platform().Database), read: start,
		random: rand.New(rand.NewPCG(seed, 0)), page: 4, open: map[string]int{}, points: map[string]int{},
	}
}

// with is a function with that configuration.
func (w *world) with(shards Shards) *Service {
	return &Service{DB: w.tables.DB, Shards: shards, Clock: func() time.Time { return start.Add(time.Minute) }}
}

func (w *world) openIDs() []string { return slices.Sorted(maps.Keys(w.open)) }

const answersWanted = 4

// step lets one function do something.
func (w *world) step(store *Service) {
	w.t.Helper()
	switch n := w.random.IntN(10); {
	case n < 4 || len(w.open) < 3:
		w.ask(store)
	case n < 9:
		open := w.openIDs()
		w.answer(store, open[w.random.IntN(len(open))], fmt.Sprintf("person%d", w.random.IntN(15)))
	default:
		open := w.openIDs()
		w.end(store, open[w.random.IntN(len(open))])
	}
}

func (w *world) ask(store *Service) {
	w.t.Helper()
	q := newQuestion("agent", answersWanted)
	// Several in one millisecond: their order is the index's own.
	q.CreatedAt = wire.Time(start.Add(time.Duration(w.asked/3) * time.Millisecond))
	w.asked++
	must.OK(w.t, store.createQuestion(w.ctx, q))
	w.open[q.ID] = 0
}

func (w *world) answer(store *Service, id, person string) {
	w.t.Helper()
	receipt, err := store.Answer(w.ctx, person, nil, text(id, "An answer."))
	if errors.Is(err, askahuman.ErrAlreadyAnswered) {
		return
	}
	must.OK(w.t, err)
	w.points[person] += receipt.PointsEarned
	if w.open[id]++; w.open[id] == answersWanted {
		delete(w.open, id)
	}
}

func (w *world) end(store *Service, id string) {
	w.t.Helper()
	must.OK(w.t, store.Close(w.ctx, "agent", id))
	delete(w.open, id)
}

// check reads the feed, the leaderboards and what is due. Meanwhile functions of the writers' kinds go on. What is open
// all the while comes once, wherever pages end.
func (w *world) check(reader *Service, writers []*Service) {
	w.t.Helper()
	before, seen := w.openIDs(), map[string]int{}
	last := start.Add(time.Hour)
	dynamotest.Pages(w.t, func(from string) ([]askahuman.Question, string, error) {
		page, next, err := reader.Feed(w.ctx, "reader", nil, w.page, from)
		for _, q := range page {
			if _, open := w.open[q.ID]; !open || time.Time(q.CreatedAt).After(last) {
				w.t.Errorf("feed: %s is not open, or newer than the one before it", q.ID)
			}
			seen[q.ID]++
			last = time.Time(q.CreatedAt)
		}
		for _, writer := range writers {
			w.step(writer)
		}
		return page, next, err
	})
	w.once("feed", seen, before)
	for _, period := range []askahuman.Period{askahuman.PeriodAllTime, askahuman.PeriodDaily, askahuman.PeriodWeekly} {
		for _, writer := range writers {
			w.step(writer)
		}
		w.checkBoard(reader, period)
	}
	before, seen = w.openIDs(), map[string]int{}
	// All that was put off is due again.
	w.read = w.read.Add(time.Minute)
	for id, err := range reader.dueQuestions(w.ctx, w.read) {
		must.OK(w.t, err)
		read := must.Get(reader.questionsByID(w.ctx, []string{id}))(w.t)
		if len(read) == 0 || read[0].DueAt.IsZero() || read[0].DueAt.After(w.read) {
			continue
		}
		seen[id]++
		writer := writers[len(seen)%len(writers)]
		if !must.Get(writer.claimQuestion(w.ctx, read[0], w.read, w.read.Add(time.Second)))(w.t) {
			w.t.Errorf("due: %s was not due as it was read", id)
		}
		if len(seen) <= 4 {
			w.step(writer)
		}
	}
	w.once("due", seen, before)
}

// checkBoard compares a leaderboard with the points that were given.
func (w *world) checkBoard(reader *Service, period askahuman.Period) {
	w.t.Helper()
	const day = "2026-02-02"
	entries := must.Get(reader.top(w.ctx, period, day, 100))(w.t)
	got := map[string]int{}
	for _, entry := range entries {
		got[entry.PersonHash] = entry.Points
	}
	descends := slices.IsSortedFunc(entries, func(a, b askahuman.BoardEntry) int { return b.Points - a.Points })
	if diff := cmp.Diff(w.points, got); diff != "" || len(entries) != len(got) || !descends {
		w.t.Errorf("%s board: %+v (-want +got):\n%s", period, entries, diff)
	}
	if top, err := reader.top(w.ctx, period, day, 2); err != nil || len(top) != min(2, len(entries)) ||
		len(top) > 0 && top[0].Points != entries[0].Points {
		w.t.Errorf("%s board: got %v, %v; want the first two of %v", period, top, err, entries)
	}
}

// once reports entries that were read twice, and those of before that are still open and were not read.
func (w *world) once(what string, seen map[string]int, before []string) {
	w.t.Helper()
	for id, n := range seen {
		if n > 1 {
			w.t.Errorf("%s: %s came %d times", what, id, n)
		}
	}
	for _, id := range before {
		if _, open := w.open[id]; open && seen[id] == 0 {
			w.t.Errorf("%s: %s is missing", what, id)
		}
	}
}
