package clarity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Loads of the initial scenarios, at the same time and one after the other, add each scenario once,
// and leave one unchanged that is there.
func TestSeedScenarios(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, clarity.Platform().Database)
	store := service.NewScenarios(tables.DB, nil)
	initial := must.Get(scenarios.Initial())(t)
	changed := initial[3]
	changed.Title, changed.Active, changed.Tags = "A title of the team's own", false, nil
	if added, err := store.Add(ctx, changed); err != nil || !added {
		t.Fatalf("got %t, %v", added, err)
	}
	load := seed.Load(initial, store.Add)
	added := make([]int, 4)
	var loads errgroup.Group
	for i := range added {
		loads.Go(func() error {
			progress, err := load(ctx, seed.Request{})
			added[i] = progress.Added
			return err
		})
	}
	must.OK(t, loads.Wait())
	if sum := added[0] + added[1] + added[2] + added[3]; sum != len(initial)-1 {
		t.Errorf("concurrent loads added %v, want %d in all", added, len(initial)-1)
	}
	if progress, err := load(ctx, seed.Request{}); err != nil ||
		progress != (seed.Progress{Next: len(initial), Total: len(initial)}) {
		t.Errorf("a further load: got %+v, %v", progress, err)
	}
	for i, want := range initial {
		if i == 3 {
			want = changed
			want.Tags = []string{}
		}
		if got, err := store.Scenario(ctx, want.ID); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v, %s", err, cmp.Diff(want, got))
		}
	}
}

// The item has its keys as text, no empty set, and a version.
func TestScenarioItem(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, clarity.Platform().Database)
	store := service.NewScenarios(tables.DB, nil)
	initial := must.Get(scenarios.Initial())(t)
	for i, tags := range [][]string{{"risk", "art"}, {}, nil} {
		scenario := initial[i]
		scenario.Tags = tags
		if added, err := store.Add(t.Context(), scenario); err != nil || !added {
			t.Fatalf("got %t, %v", added, err)
		}
		item := tables.Item(t, "Scenarios", scenario.ID)
		for name, want := range map[string]string{"active": "true", "schemaVersion": "1.0",
			"createdAt": "2026-11-22T00:00:00.000Z"} {
			if got := dynamo.Text(item, name); got != want {
				t.Errorf("%s: got %#v, want the String %q", name, item[name], want)
			}
		}
		set, ok := item["tags"].(*types.AttributeValueMemberSS)
		if _, written := item["tags"]; written != (len(tags) > 0) || ok != written ||
			ok && len(set.Value) != len(tags) {
			t.Errorf("tags %q: got %#v", tags, item["tags"])
		}
	}
}

// They are read once a minute, the easiest first and then by id. What is loaded into an empty table is there at once.
func TestActiveScenarios(t *testing.T) {
	t.Parallel()
	now := claritytest.Began()
	tables := dynamotest.Open(t, clarity.Platform().Database)
	scenarios := service.NewScenarios(tables.DB, func() time.Time { return now })
	check := func(difficulty clarity.Difficulty, want string, requests int) {
		t.Helper()
		tables.Recorder.Requests()
		list, err := scenarios.Active(t.Context(), difficulty)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		if got, made := fmt.Sprint(ids), len(tables.Recorder.Requests()); err != nil || got != want ||
			made != requests {
			t.Errorf("%q: got %s by %d requests, %v; want %s by %d", difficulty, got, made, err, want, requests)
		}
	}
	check("", "[]", 1)
	for id, difficulty := range map[string]clarity.Difficulty{"a": clarity.Advanced, "b": clarity.Intermediate,
		"d": clarity.Beginner, "c": clarity.Beginner} {
		scenario := claritytest.Scenario(id)
		scenario.Difficulty = difficulty
		must.Get(scenarios.Add(t.Context(), scenario))(t)
	}
	check("", "[c d b a]", 1)
	check(clarity.Beginner, "[c d]", 1)
	must.Get(scenarios.Add(t.Context(), claritytest.Scenario("e")))(t)
	now = now.Add(time.Minute - 1)
	check("", "[c d b a]", 0)
	now = now.Add(1)
	check("", "[c d e b a]", 1)
	for _, id := range []string{"", strings.Repeat("a", clarity.MaxScenarioID+1)} {
		if _, err := scenarios.Scenario(t.Context(), id); !errors.Is(err, clarity.ErrScenarioNotFound) {
			t.Errorf("%.5q: got %v", id, err)
		}
	}
}
