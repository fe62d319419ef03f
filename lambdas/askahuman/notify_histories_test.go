package askahuman

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// device is a subscription as its owner sees it.
type device struct {
	id, person, token string
	who               string // the person, or the device of no one
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

// outside is the notifier's environment: devices, and a push service and tables that fail at
// random. Devices change between runs only.
type outside struct {
	*notifying
	devices map[string]device // by id

	mu       sync.Mutex // guards what follows
	fate     *rand.Rand
	arrivals []arrival
	calm     bool // nothing fails but dead tokens
}

// Send implements [Push].
func (o *outside) Send(_ context.Context, m PushMessage) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.devices {
		if d.token != m.Token {
			continue
		}
		if d.dead {
			return ErrDeadToken
		}
		arrived := arrival{device: d, question: m.QuestionID, at: o.Now()}
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
	return ErrDeadToken
}

// mark loses some marks, as a run that dies does, and notes the others.
func (o *outside) mark(r dynamotest.Request) error {
	if !sets(r, "Guards", "notified_at") {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.calm && o.fate.IntN(5) == 0 {
		return errBroken
	}
	key, _ := r.Input.(*sdk.UpdateItemInput).Key["guard_key"].(*types.AttributeValueMemberS)
	for i, a := range o.arrivals {
		if notifiedKey(a.device.person)[0] == key.Value && a.at.Equal(o.Now()) {
			o.arrivals[i].known = true
		}
	}
	return nil
}

// marks reads when each person was last notified, and of which question, from the tables.
func (o *outside) marks(t *testing.T) map[string]askahuman.PersonNotified {
	t.Helper()
	marks := map[string]askahuman.PersonNotified{}
	for _, mark := range dynamotest.All[struct {
		Key string `dynamodbav:"guard_key"`
		askahuman.PersonNotified
	}](t, o.Tables, "Guards") {
		if person, ok := strings.CutPrefix(mark.Key, "NOTIFIED#"); ok && !mark.NotifiedAt.IsZero() {
			marks[person] = mark.PersonNotified
		}
	}
	return marks
}

// last is when something last arrived at someone.
func (o *outside) last(who string) (last time.Time) {
	for _, a := range o.arrivals {
		if a.device.who == who {
			last = a.at
		}
	}
	return last
}

func (o *outside) run(t *testing.T, runs int) {
	t.Helper()
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
		for _, earlier := range o.arrivals[:before+i] {
			gap := later.at.Sub(earlier.at)
			if earlier.device.who == later.device.who && gap < later.device.interval {
				t.Fatalf("%s was notified on %s %v after a notification on %s; that device wants %v", later.device.who,
					later.device.token, gap, earlier.device.token, later.device.interval)
			}
		}
	}
	// Only a notification that is known to have arrived earns the points of a quick answer.
	marks := o.marks(t)
	for _, a := range o.arrivals {
		if a.device.person == "" || !a.known || !a.at.Equal(o.last(a.device.person)) {
			continue
		}
		if mark := marks[a.device.person]; mark.QuestionID != a.question || !time.Time(mark.NotifiedAt).Equal(a.at) {
			t.Fatalf("%s was notified of %s at %v; the mark says %+v", a.device.person, a.question, a.at, mark)
		}
	}
	for person, mark := range marks {
		at := time.Time(mark.NotifiedAt)
		if !slices.ContainsFunc(o.arrivals, func(a arrival) bool {
			return a.device.person == person && a.question == mark.QuestionID && a.at.Equal(at) && a.known
		}) {
			t.Fatalf("%s has a mark of %s at %v, when nothing arrived", person, mark.QuestionID, at)
		}
	}
}

// People with several devices, dead tokens, lost answers and overlapping runs: they are never notified more often than
// they chose, marks record what arrived, and people whose interval has passed are notified.
func TestRunRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			o := &outside{notifying: newNotifying(t), devices: map[string]device{},
				fate: rand.New(rand.NewPCG(seed, 0))}
			o.MoveTo(o.Now().Truncate(time.Millisecond))
			o.notifier.Push = o.Send
			o.faults(o.mark)
			o.history(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// history has things happen at random.
func (o *outside) history(t *testing.T, random *rand.Rand) {
	tokens, asked := 0, 0
	token := func() string { tokens++; return fmt.Sprint("token-", tokens) }
	ask := func(responses int) {
		ask := textAsk()
		ask.MinResponses, ask.TimeoutSeconds = &responses, new(seconds(askahuman.MaxTimeout))
		asked++
		must.Get(o.Ask(t.Context(), fmt.Sprint("agent ", asked), ask))(t)
	}
	one := func() device {
		return o.devices[slices.Sorted(maps.Keys(o.devices))[random.IntN(len(o.devices))]]
	}
	for range 40 {
		switch action := random.IntN(8); {
		case action == 0:
			o.MoveTo(o.Now().Add(time.Duration(1+random.IntN(40)) * time.Minute))
		case action == 1:
			ask(1 + random.IntN(3))
		case action == 2 || len(o.devices) == 0:
			d := device{
				person: []string{"", "alice", "bob"}[random.IntN(3)], token: token(), dead: random.IntN(4) == 0,
				interval: []time.Duration{5 * time.Minute, 30 * time.Minute, time.Hour}[random.IntN(3)],
			}
			d.id = o.device(t, d.person, d.token, int(d.interval/time.Minute)).ID
			d.who = cmp.Or(d.person, d.id)
			o.devices[d.id] = d
		case action == 3:
			d := one()
			d.token, d.dead = token(), false
			must.Get(o.people.ChangeSubscription(t.Context(), d.id, askahuman.SubscriptionChange{Token: &d.token}))(t)
			o.devices[d.id] = d
		case action == 4:
			d := one()
			must.OK(t, o.people.Unsubscribe(t.Context(), d.id))
			delete(o.devices, d.id)
		default:
			o.run(t, 1+random.IntN(3))
		}
	}

	// Once all works again, only notifications that arrived make people wait. While a run tries
	// a dead device, it may pass over the person's other ones.
	o.calm = true
	may := map[string]bool{}
	for _, d := range o.devices {
		if !d.dead && !o.last(d.who).Add(d.interval).After(o.Now()) {
			may[d.who] = true
		}
	}
	for range 1 + len(o.devices) {
		ask(50)
		o.run(t, 1)
	}
	for person := range may {
		if !o.last(person).Equal(o.Now()) {
			t.Fatalf("%s was last notified at %v and not at %v, though an interval of theirs has passed", person,
				o.last(person), o.Now())
		}
	}
}
