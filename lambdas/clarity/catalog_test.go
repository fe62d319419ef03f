package clarity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// shelf is a store whose reads take a second, and fail with err.
type shelf struct {
	mu        sync.Mutex
	scenarios map[string]clarity.Scenario
	err       error
	reads     int
}

func newShelf(scenarios ...clarity.Scenario) *shelf {
	s := &shelf{scenarios: map[string]clarity.Scenario{}}
	for _, scenario := range scenarios {
		s.scenarios[scenario.ID] = scenario
	}
	return s
}

func (s *shelf) read(ctx context.Context) error {
	if err := retry.Pause(ctx, time.Second); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.err
}

func (s *shelf) Scenario(ctx context.Context, id string) (clarity.Scenario, error) {
	if err := s.read(ctx); err != nil {
		return clarity.Scenario{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	scenario, ok := s.scenarios[id]
	if !ok {
		return clarity.Scenario{}, clarity.ErrScenarioNotFound
	}
	return scenario, nil
}

func (s *shelf) Scenarios(ctx context.Context, difficulty clarity.Difficulty) ([]clarity.Scenario, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []clarity.Scenario
	for _, scenario := range s.scenarios {
		if difficulty == "" || scenario.Difficulty == difficulty {
			list = append(list, scenario)
		}
	}
	return list, nil
}

// change replaces a scenario, or removes it, and sets the error of later reads.
func (s *shelf) change(id string, scenario *clarity.Scenario, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.scenarios, id)
	if scenario != nil {
		s.scenarios[id] = *scenario
	}
	s.err = err
}

func (s *shelf) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.reads
	s.reads = 0
	return n
}

func scenarioOf(id string) clarity.Scenario {
	return clarity.Scenario{ID: id, Title: "Cargo bikes", Difficulty: clarity.Beginner}
}

func inBubble(t *testing.T, test func(t *testing.T, store *shelf, catalog *service.Catalog)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := scenarioOf("a"), scenarioOf("b"), scenarioOf("c")
		a.Difficulty, b.Difficulty = clarity.Advanced, clarity.Intermediate
		store := newShelf(a, b, c)
		test(t, store, &service.Catalog{Store: store})
	})
}

// What is loaded into an empty table is there at once.
func TestCatalogKeepsNoEmptyList(t *testing.T) {
	inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
		for _, id := range []string{"a", "b", "c"} {
			store.change(id, nil, nil)
		}
		if list, err := catalog.Scenarios(t.Context(), ""); err != nil || len(list) != 0 {
			t.Errorf("got %v, %v", list, err)
		}
		loaded := scenarioOf("d")
		store.change("d", &loaded, nil)
		if list, err := catalog.Scenarios(t.Context(), ""); err != nil || len(list) != 1 {
			t.Errorf("after the load: got %v, %v", list, err)
		}
	})
}

func TestCatalogKeepsForAMinute(t *testing.T) {
	inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
		title := func() string {
			scenario, err := catalog.Scenario(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			return scenario.Title
		}
		before, changed := title(), scenarioOf("a")
		changed.Title = "Another title"
		store.change("a", &changed, nil)
		time.Sleep(time.Minute - 1)
		if got, reads := title(), store.made(); got != before || reads != 1 {
			t.Errorf("within the minute: got %q after %d reads, want %q after 1", got, reads, before)
		}
		time.Sleep(time.Nanosecond)
		if got, reads := title(), store.made(); got != changed.Title || reads != 1 {
			t.Errorf("after the minute: got %q after %d reads, want %q after 1", got, reads, changed.Title)
		}
		store.change("a", nil, nil)
		time.Sleep(time.Minute)
		for range 2 {
			if _, err := catalog.Scenario(t.Context(), "a"); !errors.Is(err, clarity.ErrScenarioNotFound) {
				t.Errorf("removed: got %v", err)
			}
		}
	})
}

func TestCatalogOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
		for difficulty, want := range map[clarity.Difficulty]string{"": "[c b a]", clarity.Advanced: "[a]",
			clarity.Intermediate: "[b]", clarity.Beginner: "[c]"} {
			list, err := catalog.Scenarios(t.Context(), difficulty)
			var ids []string
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			if got := fmt.Sprint(ids); err != nil || got != want {
				t.Errorf("%q: got %s, %v; want %s", difficulty, got, err, want)
			}
		}
		store.made()
		if _, err := catalog.Scenarios(t.Context(), "expert"); err == nil || store.made() != 0 {
			t.Errorf("an unknown difficulty: got %v", err)
		}
	})
}

// Concurrent callers share a read, and it goes on when the first of them leaves.
func TestCatalogSharesReads(t *testing.T) {
	inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
		first, leave := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := catalog.Scenarios(first, ""); !errors.Is(err, context.Canceled) {
				t.Errorf("the first caller: got %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			callers.Go(func() {
				if list, err := catalog.Scenarios(t.Context(), ""); err != nil || len(list) != 3 {
					t.Errorf("got %d, %v", len(list), err)
				}
			})
		}
		synctest.Wait()
		leave()
		callers.Wait()
		if reads := store.made(); reads != 1 {
			t.Errorf("got %d reads, want 1", reads)
		}
	})
}

// Under full throttling a catalog answers with what it has, and asks again every five seconds; what
// it does not have is the error of the read.
func TestCatalogThrottled(t *testing.T) {
	for name, failure := range map[string]error{"Busy": retry.ErrBusy, "Unanswered": retry.ErrUnanswered,
		"TimedOut": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
				read := func() error {
					scenario, err := catalog.Scenario(t.Context(), "a")
					list, listErr := catalog.Scenarios(t.Context(), "")
					if err == nil && listErr == nil && (scenario.ID != "a" || len(list) != 3) {
						t.Errorf("got %+v and %d scenarios", scenario, len(list))
					}
					return errors.Join(err, listErr)
				}
				if err := read(); err != nil {
					t.Fatal(err)
				}
				store.change("a", nil, fmt.Errorf("read: %w", failure))
				time.Sleep(time.Hour)
				store.made()
				for range 10 {
					if err := read(); err != nil {
						t.Errorf("with an answer kept: %v", err)
					}
				}
				if reads := store.made(); reads != 2 {
					t.Errorf("got %d reads at one time, want 2", reads)
				}
				time.Sleep(5 * time.Second)
				if err := read(); err != nil || store.made() != 2 {
					t.Errorf("five seconds later: %v, or not 2 reads", err)
				}
				if _, err := catalog.Scenarios(t.Context(), clarity.Advanced); !errors.Is(err, failure) {
					t.Errorf("without an answer: got %v, want %v", err, failure)
				}
				store.change("a", nil, errors.New("denied"))
				time.Sleep(5 * time.Second)
				if err := read(); err == nil || err.Error() != "denied\ndenied" {
					t.Errorf("another error: got %v", err)
				}
			})
		})
	}
}

// A read that hangs ends, so that its callers get an answer.
func TestCatalogReadEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *shelf, catalog *service.Catalog) {
		catalog.Store = hanging{}
		began := time.Now()
		if _, err := catalog.Scenario(t.Context(), "a"); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
	})
}

type hanging struct{ service.ScenarioStore }

func (hanging) Scenario(ctx context.Context, _ string) (clarity.Scenario, error) {
	<-ctx.Done()
	return clarity.Scenario{}, ctx.Err()
}

// A catalog keeps 200 entries, the latest, and none for an id that does not exist.
func TestCatalogIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, store *shelf, catalog *service.Catalog) {
		read := func(ids ...string) (reads int) {
			for _, id := range ids {
				if _, err := catalog.Scenario(t.Context(), id); err != nil &&
					!errors.Is(err, clarity.ErrScenarioNotFound) {
					t.Fatal(err)
				}
			}
			return store.made()
		}
		var known, unknown []string
		for i := range 201 {
			known, unknown = append(known, fmt.Sprint("known-", i)), append(unknown, fmt.Sprint("unknown-", i))
			scenario := scenarioOf(known[i])
			store.change(scenario.ID, &scenario, nil)
		}
		now := time.Now()
		// all within the minute
		catalog.Clock = func() time.Time { return now.Add(time.Duration(time.Since(now) / 1000)) }
		for _, step := range []struct {
			ids  []string
			want int
		}{
			{known[:200], 200},
			{unknown, 201}, {unknown[:1], 1}, // none of them is kept
			{known[:200], 0},                                 // and none displaced another
			{known[200:], 1}, {known[1:], 0}, {known[:1], 1}, // one more displaces the oldest
			{[]string{"", string(slices.Repeat([]byte("a"), 101))}, 0}, // no ids
		} {
			if got := read(step.ids...); got != step.want {
				t.Errorf("%d from %q: got %d reads, want %d", len(step.ids), step.ids[0], got, step.want)
			}
		}
	})
}
