package clarity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events/eventstest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	eventstest.CheckSchemas(t, clarity.Platform(), "../../docs/reference/events/clarity")
}

// A history of attempts yields exactly its events, however its changes are cut into batches, and whatever the bus
// refuses: each evaluated attempt one, and each profile that was added one, in whichever order they were added.
func TestHistoriesYieldTheirEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w, random := claritytest.New(t), rand.New(rand.NewPCG(seed, 2))
			attempts := eventstest.Stream(t, clarity.Platform(), w.Tables, "Attempts")
			profiles := eventstest.Stream(t, clarity.Platform(), w.Tables, "Profiles")
			ctx := t.Context()
			users := []string{"ada", "bob"}
			for i := range 20 {
				w.Advance(time.Duration(random.IntN(90)) * time.Minute)
				w.Judge.Says(nil)
				if random.IntN(3) == 0 {
					w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
						return clarity.Judgement{}, errors.New("down")
					})
				}
				in := claritytest.Submission(fmt.Sprint("Bridge ", i))
				if random.IntN(4) == 0 {
					in.Status = clarity.InProgress
				}
				if _, err := w.Submit(ctx, users[random.IntN(2)], "", in); err != nil {
					t.Fatal(err)
				}
				if random.IntN(3) == 0 {
					if _, err := w.EvaluatePending(ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := profiled(t, w, random, users)
			bus := eventstest.NewBus(t, clarity.Platform())
			publisher := eventstest.NewPublisher(clarity.Platform(), bus, service.Happened, nil)
			var got []string
			for _, e := range publisher.Tell(t, bus, random, slices.Concat(attempts(), profiles())) {
				var f struct {
					User    string `json:"user_id"`
					Attempt string `json:"attempt_id"`
					Score   int    `json:"overall_score"`
					Count   int    `json:"attempt_count"`
				}
				if err := json.Unmarshal([]byte(e.Detail), &f); err != nil {
					t.Fatal(err)
				}
				if e.DetailType == clarity.ProfileChanged {
					f.Attempt = "" // that of the latest attempt, whichever was added
				}
				got = append(got, fmt.Sprint(e.DetailType, f))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || len(want) < 10 {
				t.Errorf("- want, + got:\n%s", diff)
			}
		})
	}
}

// profiled adds the profiles of the attempts that have been evaluated, in a random order and twice, and returns their
// events.
func profiled(t *testing.T, w *claritytest.World, random *rand.Rand, users []string) (want []string) {
	t.Helper()
	for _, user := range users {
		all := slices.DeleteFunc(list(t, w, user, 100), func(a clarity.Attempt) bool { return a.Evaluation == nil })
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, a := range slices.Concat(all, all) {
			added, err := w.AddProfile(t.Context(), a, 0)
			if err != nil || added != (i < len(all)) {
				t.Fatalf("add a profile: %t, %v", added, err)
			}
			if added {
				want = append(want, fmt.Sprint(clarity.AttemptEvaluated, struct {
					User, Attempt string
					Score, Count  int
				}{user, a.ID, a.Evaluation.OverallScore, 0}),
					fmt.Sprint(clarity.ProfileChanged, struct {
						User, Attempt string
						Score, Count  int
					}{user, "", 0, i + 1}))
			}
		}
	}
	return want
}
