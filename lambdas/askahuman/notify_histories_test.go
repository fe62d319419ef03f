package askahuman_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/inmem"
)

// device is a subscription as its owner sees it.
type device struct {
	id, person, token string
	interval          time.Duration
	dead              bool // the push service does not know the token
}

// arrival is a notification that reached a device, or may have.
type arrival struct {
	device   device
	question string
	at       time.Time
	known    bool // the notifier has remembered that it was sent
}

// outside is the notifier's environment: devices, and a push service and a store that fail at
// random. Devices change between runs only.
type outside struct {
	*notifying
	devices map[string]device // by id

	mu       sync.Mutex // guards what follows
	fate     *rand.Rand
	arrivals []arrival
	calm     bool // nothing fails but dead tokens
}

// Send implements [askahuman.Push].
func (o *outside) Send(_ context.Context, m askahuman.PushMessage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.devices {
		if d.token != m.Token {
			continue
		}
		if d.dead {
			return askahuman.ErrDeadToken
		}
		arrived := arrival{device: d, question: m.QuestionID, at: o.now}
		switch n := o.fate.IntN(10); {
		case o.calm || n > 3:
			o.arrivals = append(o.arrivals, arrived)
			return nil
		case n == 0:
			o.arrivals = append(o.arrivals, arrived)
			return fmt.Errorf("post: %w", context.DeadlineExceeded)
		case n == 1:
			return unavailable(0)
		default:
			return errBroken
		}
	}
	return askahuman.ErrDeadToken
}

// forgetful loses some marks, as a run that dies does.
type forgetful struct {
	*inmem.Store
	o *outside
}

func (f forgetful) MarkNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error {
	f.o.mu.Lock()
	defer f.o.mu.Unlock()
	if !f.o.calm && f.o.fate.IntN(5) == 0 {
		return errBroken
	}
	for i, a := range f.o.arrivals {
		if a.device.person == personHash && a.at.Equal(claimedAt) {
			f.o.arrivals[i].known = true
		}
	}
	return f.Store.MarkNotified(ctx, personHash, questionID, claimedAt)
}

func (o *outside) person(d device) string {
	if d.person == "" {
		return d.id
	}
	return d.person
}

// last is when something last arrived at a person.
func (o *outside) last(person string) (last time.Time) {
	for _, a := range o.arrivals {
		if o.person(a.device) == person {
			last = a.at
		}
	}
	return last
}

func (o *outside) run(t *rapid.T, runs int) {
	before := len(o.arrivals)
	var group sync.WaitGroup
	for range runs {
		group.Go(func() {
			if _, err := o.notifier.Run(context.Background()); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	group.Wait()
	for i, later := range o.arrivals[before:] {
		person := o.person(later.device)
		for _, earlier := range o.arrivals[:before+i] {
			if o.person(earlier.device) != person {
				continue
			}
			if gap := later.at.Sub(earlier.at); gap < later.device.interval {
				t.Fatalf("%s was notified on %s %v after a notification on %s; that device wants %v", person, later.device.token, gap, earlier.device.token, later.device.interval)
			}
		}
	}
	// Only a notification that is known to have arrived earns the points of a quick answer.
	for _, a := range o.arrivals {
		if a.device.person == "" {
			continue
		}
		state, err := o.store.AnswerState(context.Background(), a.question, a.device.person, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		at := state.NotifiedAt
		if a.known && a.at.Equal(o.last(a.device.person)) && !at.Equal(a.at) {
			t.Fatalf("%s was notified of %s at %v; the mark says %v", a.device.person, a.question, a.at, at)
		}
	}
	for _, d := range o.devices {
		for _, q := range o.arrivals {
			state, _ := o.store.AnswerState(context.Background(), q.question, d.person, time.Time{})
			at := state.NotifiedAt
			if !at.IsZero() && !o.arrived(d.person, q.question, at) {
				t.Fatalf("%s has a mark of %s at %v, when nothing arrived", d.person, q.question, at)
			}
		}
	}
}

func (o *outside) arrived(person, question string, at time.Time) bool {
	for _, a := range o.arrivals {
		if a.device.person == person && a.question == question && a.at.Equal(at) && a.known {
			return true
		}
	}
	return false
}

// TestRunRandomHistories has people with several devices, dead tokens, lost answers and overlapping
// runs: they are never notified more often than they chose, marks record what arrived, and people
// whose interval has passed are notified.
func TestRunRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := &outside{notifying: newNotifying(), devices: map[string]device{}, fate: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "fate"), 0))}
		o.now = o.now.Truncate(time.Millisecond)
		o.notifier.Rand = nil
		o.notifier.Push, o.notifier.Store = o, forgetful{o.store, o}
		tokens := 0
		token := func() string { tokens++; return fmt.Sprint("token-", tokens) }
		asked := 0
		ask := func(responses int) {
			ask := textAsk()
			ask.MinResponses, ask.TimeoutSeconds = &responses, new(seconds(askahuman.MaxTimeout))
			asked++
			if _, err := o.Ask(context.Background(), fmt.Sprint("agent ", asked), ask); err != nil {
				t.Fatal(err)
			}
		}
		one := func() (device, bool) {
			var ids []string
			for i := 1; i <= tokens; i++ {
				for id, d := range o.devices {
					if d.token == fmt.Sprint("token-", i) {
						ids = append(ids, id)
					}
				}
			}
			if len(ids) == 0 {
				return device{}, false
			}
			return o.devices[rapid.SampledFrom(ids).Draw(t, "device")], true
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				o.now = o.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "minutes")) * time.Minute)
			},
			"ask": func(t *rapid.T) {
				ask(rapid.IntRange(1, 3).Draw(t, "responses"))
			},
			"subscribe": func(t *rapid.T) {
				d := device{
					person: rapid.SampledFrom([]string{"", "alice", "bob"}).Draw(t, "person"), token: token(),
					interval: rapid.SampledFrom([]time.Duration{5 * time.Minute, 30 * time.Minute, time.Hour}).Draw(t, "interval"),
					dead:     rapid.IntRange(0, 3).Draw(t, "dead") == 0,
				}
				sub, err := o.people.Subscribe(context.Background(), d.person, askahuman.NewSubscription{Token: d.token, Interval: new(int(d.interval / time.Minute))})
				if err != nil {
					t.Fatal(err)
				}
				d.id = sub.ID
				o.devices[d.id] = d
			},
			"renew": func(t *rapid.T) {
				d, ok := one()
				if !ok {
					t.Skip("no device")
				}
				d.token, d.dead = token(), false
				if _, err := o.people.ChangeSubscription(context.Background(), d.id, askahuman.SubscriptionChange{Token: &d.token}); err != nil {
					t.Fatal(err)
				}
				o.devices[d.id] = d
			},
			"unsubscribe": func(t *rapid.T) {
				d, ok := one()
				if !ok {
					t.Skip("no device")
				}
				if err := o.people.Unsubscribe(context.Background(), d.id); err != nil {
					t.Fatal(err)
				}
				delete(o.devices, d.id)
			},
			"run": func(t *rapid.T) { o.run(t, rapid.IntRange(1, 3).Draw(t, "runs")) },
		})

		// Once all works again, only notifications that arrived make people wait. While a run tries
		// a dead device, it may pass over the person's other ones.
		o.calm = true
		may := map[string]bool{}
		for _, d := range o.devices {
			if person := o.person(d); !d.dead && !o.last(person).Add(d.interval).After(o.now) {
				may[person] = true
			}
		}
		for range 1 + len(o.devices) {
			ask(50)
			o.run(t, 1)
		}
		for person := range may {
			if !o.last(person).Equal(o.now) {
				t.Fatalf("%s was last notified at %v and not at %v, though an interval of theirs has passed", person, o.last(person), o.now)
			}
		}
	})
}
