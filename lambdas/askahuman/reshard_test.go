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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
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
				w.step(&Service{DB: w.tables.DB, Shards: configurations[0]})
			}
			for i, next := range configurations[1:] {
				before, after := &Service{DB: w.tables.DB, Shards: configurations[i]},
					&Service{DB: w.tables.DB, Shards: next}
				both := []*Service{before, after}
				for _, reader := range both {
					w.walkFeed(reader, both)
					w.checkBoards(reader, both)
					w.checkDue(reader, both)
				}
				// The deployment is over.
				for range 10 {
					w.step(after)
				}
				w.walkFeed(after, both[1:])
				w.checkBoards(after, both[1:])
				w.checkDue(after, both[1:])
			}
		})
	}
}

// TestFewerShardsDrain stops reading the keys of the old number when nothing is left under them:
// the old questions have ended, and every person has answered once more.
func TestFewerShardsDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 11)
	old, between := &Service{DB: w.tables.DB, Shards: Shards{Write: 8}},
		&Service{DB: w.tables.DB, Shards: Shards{Write: 1, Read: 8}}
	last := &Service{DB: w.tables.DB}
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
	both := []*Service{between, last}
	w.walkFeed(last, both)
	w.checkBoards(last, both)
	w.checkDue(last, both)
}

// A question that turns partial, and a person who gets the key of another number of shards, between the reads of two
// keys are in the lists of both, and come once.
func TestChangeBetweenReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 13)
	before, after := &Service{DB: w.tables.DB, Shards: Shards{Write: 1, Read: 8}},
		&Service{DB: w.tables.DB, Shards: Shards{Write: 8}}
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

// once reports entries that were read twice, and entries that were missing.
func once(t *testing.T, what string, seen map[string]int, there []string) {
	t.Helper()
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s: %s came %d times", what, id, n)
		}
	}
	for _, id := range there {
		if seen[id] == 0 {
			t.Errorf("%s: %s is missing", what, id)
		}
	}
}

// world is what is in the tables, for a test that changes it at random.
type world struct {
	t      *testing.T
	ctx    context.Context
	tables *dynamotest.Tables
	random *rand.Rand
	asked  int
	page   int // how many questions a page of the feed has
	// open is how many answers a question has; points are people's points.
	open, points map[string]int
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{
		t: t, ctx: t.Context(), tables: dynamotest.Open(t, askahuman.Platform().Database),
		random: rand.New(rand.NewPCG(seed, 0)), page: 4, open: map[string]int{}, points: map[string]int{},
	}
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
	q := newQuestion(fmt.Sprintf("agent%d", w.asked%5), answersWanted)
	// Several in one millisecond: their order is the index's own.
	q.CreatedAt = wire.Time(start.Add(time.Duration(w.asked/3) * time.Millisecond))
	w.asked++
	must.OK(w.t, store.createQuestion(w.ctx, q))
	w.open[q.ID] = 0
}

func (w *world) answer(store *Service, id, person string) {
	w.t.Helper()
	points, err := submit(w.ctx, store, id, person)
	if errors.Is(err, askahuman.ErrAlreadyAnswered) {
		return
	}
	must.OK(w.t, err)
	w.points[person] += points
	if w.open[id]++; w.open[id] == answersWanted {
		delete(w.open, id)
	}
}

func (w *world) end(store *Service, id string) {
	w.t.Helper()
	q := must.Get(store.question(w.ctx, id, start))(w.t)
	ended := must.Get(store.endQuestion(w.ctx, q, start))(w.t)
	if !ended {
		w.t.Fatalf("question %s was not open", id)
	}
	delete(w.open, id)
}

// submit answers a question as a handler does: it reads, and tries again when
// something changed meanwhile.
func submit(ctx context.Context, store *Service, id, person string) (points int, err error) {
	for range 100 {
		q, err := store.question(ctx, id, start)
		if err != nil {
			return 0, err
		}
		before, err := store.stats(ctx, person)
		if err != nil {
			return 0, err
		}
		r, st := newAnswer(q, person)
		points := 5 + len(person)%2 + q.CurrentResponses
		st.Version = before.Version
		st.TotalAnswers, st.DailyAnswers, st.WeeklyAnswers = before.TotalAnswers+1, before.DailyAnswers+1,
			before.WeeklyAnswers+1
		st.TotalPoints, st.DailyPoints, st.WeeklyPoints = before.TotalPoints+points, before.DailyPoints+points,
			before.WeeklyPoints+points
		if _, err = store.submitResponse(ctx, q, r, st); !errors.Is(err, retry.ErrStale) {
			return points, err
		}
	}
	return 0, retry.ErrStale
}

// walkFeed reads the feed page by page, while functions of the writers' kinds
// change it between pages. What is open all the while comes once.
func (w *world) walkFeed(reader *Service, writers []*Service) {
	w.t.Helper()
	before := w.openIDs()
	seen := map[string]int{}
	var after position
	var last time.Time
	for more := true; more; {
		var page []askahuman.Question
		var err error
		page, more, err = reader.openQuestions(w.ctx, w.page, after, start)
		must.OK(w.t, err)
		for _, q := range page {
			if _, open := w.open[q.ID]; !open {
				w.t.Errorf("feed: %s is not open", q.ID)
			}
			if !last.IsZero() && time.Time(q.CreatedAt).After(last) {
				w.t.Errorf("feed: %s is newer than the one before it", q.ID)
			}
			seen[q.ID]++
			last, after = time.Time(q.CreatedAt), position{CreatedAt: time.Time(q.CreatedAt), ID: q.ID}
		}
		for _, writer := range writers {
			w.step(writer)
		}
	}
	there := slices.DeleteFunc(before, func(id string) bool { _, open := w.open[id]; return !open })
	once(w.t, "feed", seen, there)
}

// checkBoards compares leaderboards and ranks with the points that were given.
func (w *world) checkBoards(reader *Service, writers []*Service) {
	w.t.Helper()
	for _, period := range []askahuman.Period{askahuman.PeriodAllTime, askahuman.PeriodDaily, askahuman.PeriodWeekly} {
		for _, writer := range writers {
			w.step(writer)
		}
		const day = "2026-02-02"
		entries := must.Get(reader.top(w.ctx, period, day, 100))(w.t)
		got := map[string]int{}
		for i, entry := range entries {
			if i > 0 && entry.Points > entries[i-1].Points {
				w.t.Errorf("%s board: %d points after %d", period, entry.Points, entries[i-1].Points)
			}
			got[entry.PersonHash] = entry.Points
		}
		if diff := cmp.Diff(w.points, got); diff != "" || len(entries) != len(got) {
			w.t.Errorf("%s board: %d entries (-want +got):\n%s", period, len(entries), diff)
		}
		if top, err := reader.top(w.ctx, period, day, 2); err != nil || len(top) != min(2, len(entries)) ||
			len(top) > 0 && top[0].Points != entries[0].Points {
			w.t.Errorf("%s board: got %v, %v; want the first two of %v", period, top, err, entries)
		}
	}
}

// checkDue reads what is due for the notifier, while what was read is put off by
// functions of all kinds, and other things happen.
func (w *world) checkDue(reader *Service, writers []*Service) {
	w.t.Helper()
	before := w.openIDs()
	seen := map[string]int{}
	now := start.Add(time.Duration(w.random.IntN(30)) * time.Second)
	next := now.Add(time.Second)
	for id, err := range reader.dueQuestions(w.ctx, now) {
		must.OK(w.t, err)
		read := must.Get(reader.questionsByID(w.ctx, []string{id}))(w.t)
		if len(read) == 0 || read[0].DueAt.IsZero() || read[0].DueAt.After(now) {
			continue
		}
		q := read[0]
		seen[q.ID]++
		claimed := must.Get(writers[len(seen)%len(writers)].claimQuestion(w.ctx, q, now, next))(w.t)
		if !claimed {
			w.t.Errorf("due: %s was not due as it was read", q.ID)
		}
		if len(seen) <= 4 {
			w.step(writers[len(seen)%len(writers)])
		}
	}
	for id := range seen {
		// It must be due again for the next reading.
		if _, open := w.open[id]; open {
			q := must.Get(reader.question(w.ctx, id, start))(w.t)
			must.Get(reader.claimQuestion(w.ctx, q, now, start))(w.t)
		}
	}
	there := slices.DeleteFunc(before, func(id string) bool { _, open := w.open[id]; return !open })
	once(w.t, "due", seen, there)
}
