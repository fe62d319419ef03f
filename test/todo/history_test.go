package todo

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// Users act at once, DynamoDB and Amazon S3 refuse requests or answer too late, handlers die, and items that cannot be
// rows are written directly. In the end the items of the table agree, and the lake has each change of the table's
// stream once, before and after it is compacted.
//
// member_test.go generates the requests, and oracle_test.go compares stream, table and lake. Package todotest and the
// histories of package lambdas/todo say more of single items. ONESYNTH_TEST_SEED repeats a history, as far as what
// happens at once can be repeated.
func TestHistory(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if given := os.Getenv("ONESYNTH_TEST_SEED"); given != "" {
		seed = must.Get(strconv.ParseUint(given, 10, 64))(t)
	}
	t.Logf("ONESYNTH_TEST_SEED=%d", seed)
	const members, most = 6, 30
	const period = 35 * time.Second
	h := &history{lake: lakeOf(t, suite.OwnRun(t, run.Options{}))}
	var all []*member
	for i := range members {
		all = append(all, &member{history: h, Caller: newCaller(t, h.Target),
			random: rand.New(rand.NewPCG(seed, uint64(i))), tasks: map[string]bool{}, answers: map[string]storedTask{}})
	}

	done := make(chan struct{})
	disturbed := make(chan error, 1)
	go func() { disturbed <- h.disturb(t, rand.New(rand.NewPCG(seed, members)), done) }()
	trouble := makeTrouble(t, h)
	begun := time.Now()
	var living sync.WaitGroup
	for _, m := range all {
		living.Go(func() {
			// On a slow machine it takes longer until all has happened.
			for bursts := 0; bursts < 3 || bursts < most &&
				(time.Since(begun) < period || len(h.missing(t)) > 0); bursts++ {
				if err := m.burst(t.Context()); err != nil {
					t.Errorf("user %s, burst %d: %v", m.ID, bursts+1, err)
					return
				}
			}
		})
	}
	lived := make(chan struct{})
	go func() {
		living.Wait()
		close(lived)
	}()
	poison(t, h.lake)
	var landed map[string]bool
	for working := true; working; landed = h.stillThere(t, landed) {
		select {
		case <-lived:
			working = false
		case <-time.After(time.Second):
		}
	}
	close(done)
	must.OK(t, <-disturbed)
	trouble()
	// Once more for what the eraser wrote meanwhile.
	for range 2 {
		h.Flush(t)
	}
	compareTable(t, h.lake, all)
	for queue, messages := range runtest.Of(h.Run).AllMessages() {
		if n := len(messages); n != 0 && !strings.HasSuffix(h.Outputs["LakeFailureQueueUrl"], "/"+queue) {
			t.Errorf("got %d messages in %s; want none", n, queue)
		}
	}
	missing := h.missing(t)
	compareLake(t, h.lake, all)
	before := len(h.objects(t))
	h.RunSchedule(t, "")
	compareLake(t, h.lake, all)
	onceInFiles(t, h.copied(t))
	d := h.delivery(t)
	t.Logf("%d requests had to come again; %d handlers killed; %d edits; %d users deleted", h.again.Load(),
		h.kills.Load(), h.edits.Load(), h.deletions.Load())
	t.Logf("%d changes in %d batches; %d came again, %d failed; killed %d writers and %d compactors; %d compactions; "+
		"%d objects, %d after the last one", d.Done, d.Invocations, d.Redelivered, d.Failures, h.killedWriters.Load(),
		h.killedCompactors.Load(), h.compactions.Load(), before, len(h.objects(t)))
	if len(missing) > 0 {
		t.Errorf("the history had no %s: it has shown nothing of them", strings.Join(missing, ", no "))
	}
}

// history is what several users do at once on one run.
type history struct {
	*lake
	again, kills, edits, deletions atomic.Int64
	// What happened to the lake's functions; compactions are those that end well.
	killedWriters, killedCompactors, compactions atomic.Int64
}

// missing is what has not happened yet.
func (h *history) missing(t testing.TB) (missing []string) {
	d := h.delivery(t)
	for what, times := range map[string]int64{
		"requests that had to come again": h.again.Load(), "kills": h.kills.Load(), "edits": h.edits.Load(),
		"deletions": h.deletions.Load(), "killed writers": h.killedWriters.Load(), "compactions": h.compactions.Load(),
		"batches that came again": int64(d.Redelivered), "batches that failed": int64(d.Failures),
	} {
		if times == 0 {
			missing = append(missing, what)
		}
	}
	return missing
}

// disturb injects faults and kills handlers until done is closed.
func (h *history) disturb(t testing.TB, random *rand.Rand, done chan struct{}) error {
	functions := runtest.Of(h.Run).Functions()
	for moment := 0; ; moment++ {
		faults := runtest.Faults{Seed: random.Uint64()}
		if moment%3 != 2 {
			faults.Throttle, faults.TransactionConflict, faults.DropResponse = 0.06*random.Float64(),
				0.12*random.Float64(), 0.06*random.Float64()
			faults.Redeliver = 0.4 * random.Float64()
		}
		if err := runtest.Of(h.Run).SetFaults(faults); err != nil {
			return err
		}
		select {
		case <-done:
			return runtest.Of(h.Run).SetFaults(runtest.Faults{})
		case <-t.Context().Done():
			return t.Context().Err()
		case <-time.After(time.Duration(500+random.IntN(1500)) * time.Millisecond):
		}
		if moment%3 == 1 {
			name := functions[random.IntN(len(functions))].Name
			if moment%2 == 1 {
				name = functions[slices.IndexFunc(functions, func(f runtest.Function) bool {
					return strings.Contains(f.Name, "TodoAPI")
				})].Name
			}
			if h.Kill(t, name) {
				h.kills.Add(1)
			}
		}
	}
}

// delivery is how far the stream's delivery to the lake is.
func (l *lake) delivery(t testing.TB) (found runtest.Delivery) {
	t.Helper()
	for _, d := range runtest.Of(l.Run).Deliveries() {
		if d.Function == l.writer {
			return d
		}
	}
	t.Fatal("no stream is delivered to the lake")
	return found
}

// makeTrouble delivers in small batches, compacts again and again, and kills writer and compactor while they work.
func makeTrouble(t *testing.T, l *history) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	schedule := l.Schedule(t, "")
	var troubles sync.WaitGroup
	t.Cleanup(cancel)
	repeat := func(pause time.Duration, do func()) {
		troubles.Go(func() {
			for ctx.Err() == nil {
				do()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	busy := func(function string) bool {
		for _, f := range runtest.Of(l.Run).Functions() {
			if f.Name == function {
				return slices.ContainsFunc(f.Instances, func(i runtest.Instance) bool { return i.Ready && i.Busy })
			}
		}
		return false
	}
	// A batch that failed comes again after a while, and every time after a longer
	// one: some have to succeed in between, and some compactions, however slow the
	// machine is.
	kill := func(function string, pause time.Duration, succeeded func() int64, killed *atomic.Int64) func() {
		next, before := time.Now(), int64(-1)
		return func() {
			if time.Now().Before(next) || succeeded() <= before || !busy(function) {
				return
			}
			before = succeeded()
			if _, err := l.Run.Kill(function); err == nil {
				killed.Add(1)
			}
			next = time.Now().Add(pause)
		}
	}
	repeat(50*time.Millisecond, func() { _ = l.Run.FlushStreams(ctx) })
	repeat(time.Second, func() {
		// Not with ctx: a compactor works on without a waiting caller.
		if l.Run.RunSchedule(t.Context(), schedule) == nil {
			l.compactions.Add(1)
		}
	})
	repeat(10*time.Millisecond, kill(l.writer, time.Second, func() int64 { return int64(l.delivery(t).Done) },
		&l.killedWriters))
	repeat(10*time.Millisecond, kill(l.compactor, 2500*time.Millisecond, l.compactions.Load, &l.killedCompactors))
	return func() {
		cancel()
		troubles.Wait()
	}
}
