package ratelimit

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// model is a counter in a table, the instances that count in it, and an exact count of the calls that they allowed.
type model struct {
	limit, made, writes int
	table               counted
	instances           []window
}

func newModel(limit, instances int) *model {
	return &model{limit: limit, instances: make([]window, instances)}
}

// call makes a call to an instance, at a time of its own, and reports whether it was allowed.
func (m *model) call(t rapid.TB, instance int, read bool) bool {
	w, state, now := &m.instances[instance], State{Limit: m.limit}, time.Unix(0, 0)
	w.reached = time.Time{}
	done, err := w.take(&state, now)
	if !done {
		err = w.count(&state, now, read, func(a addition) (counted, bool, error) {
			m.writes++
			if m.table.Requests > 0 && !a.admits(m.table, m.limit) {
				return m.table, false, nil
			}
			m.table.Requests += a.requests
			m.table.Ahead += a.ahead
			m.table.Instances += a.instances
			return m.table, true, nil
		})
	}
	if _, limited := errors.AsType[*LimitedError](err); err != nil && !limited {
		t.Fatal(err)
	}
	if err == nil {
		m.made++
	}
	return err == nil
}

// In any order of calls to any number of instances, reads or not, none is refused before 95 % of the limit is used, and
// no more than 105 % are allowed; a caller of one instance has exactly the limit, and each instance refuses in the end.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 1200).Draw(t, "limit")
		m := newModel(limit, rapid.IntRange(1, 60).Draw(t, "instances"))
		instance := rapid.IntRange(0, len(m.instances)-1)
		reads := rapid.IntRange(0, 10).Draw(t, "changes in 10 calls")
		refused := false
		call := func(i int) bool {
			allowed := m.call(t, i, reads == 0 || m.made%10 >= reads)
			if !allowed && !refused && 100*m.made < 95*limit {
				t.Fatalf("a call was refused after %d of %d", m.made, limit)
			}
			refused = refused || !allowed
			return allowed
		}
		for !refused {
			first, many := instance.Draw(t, "instance"), rapid.IntRange(1, 100).Draw(t, "calls")
			next := rapid.IntRange(0, 1).Draw(t, "next")
			for i := range many {
				if !call((first + i*next) % len(m.instances)) {
					break
				}
			}
		}
		for i := range m.instances {
			for call(i) {
			}
		}
		if 100*m.made > 105*limit || len(m.instances) == 1 && m.made != limit {
			t.Fatalf("%d calls were allowed of %d", m.made, limit)
		}
	})
}

// What a read costs, by the limit and the number of instances, in the most expensive of four spreads:
// docs/reference/costs/askahuman.md has the table.
func TestWritesPerRead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var table strings.Builder
	for _, limit := range []int{60, 300, 600, 1000} {
		fmt.Fprintf(&table, "| %d |", limit)
		for _, test := range []struct {
			instances int
			most      float64 // writes, of limits as high as the platforms'
		}{{1, 0.1}, {5, 0.3}, {20, 1}, {60, 1}} {
			worst := 0.0
			for name, next := range map[string]func(call int) int{
				"in turn":             func(call int) int { return call % test.instances },
				"at random":           func(int) int { return random.IntN(test.instances) },
				"one after the other": func(call int) int { return min(test.instances-1, call*test.instances/limit) },
				"one, then all": func(call int) int {
					if call < limit/4 {
						return 0
					}
					return call % test.instances
				},
			} {
				m := newModel(limit, test.instances)
				calls := 1
				for m.call(t, next(calls-1), true) {
					calls++
				}
				perRead := float64(m.writes) / float64(calls)
				worst = max(worst, perRead)
				if perRead > test.most && limit >= 300 {
					t.Errorf("limit %d, %d instances, %s: a read costs %.3f writes; want at most %.1f", limit,
						test.instances, name, perRead, test.most)
				}
			}
			fmt.Fprintf(&table, " %.2f |", worst)
		}
		table.WriteString("\n")
	}
	page := must.Get(os.ReadFile("../../../docs/reference/costs/askahuman.md"))(t)
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/reference/costs/askahuman.md does not have these lines:\n%s", table.String())
	}
}
