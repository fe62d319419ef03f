package clarity_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Every change of an attempt and of a profile keeps what a team has added to them, and they have it where they are
// read.
func TestWritesKeepExtra(t *testing.T) {
	t.Parallel()
	platform := dynamotest.Extended(clarity.Platform())
	w := claritytest.Of(t, platform)
	begin := func() clarity.Attempt {
		t.Helper()
		in := claritytest.Submission("A bridge that stands.")
		in.Status = clarity.InProgress
		return must.Get(w.Submit(t.Context(), "ann", "", in))(t)
	}
	attempt, added := begin(), ""
	completed := clarity.Save{Change: clarity.Change{Status: clarity.Completed}}
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		return clarity.Judgement{}, errors.New("down")
	})
	for _, change := range []func() error{
		func() error { return second(w.Save(t.Context(), "ann", attempt.ID, clarity.Save{}, 0, false)) },
		func() error { return second(w.Save(t.Context(), "ann", attempt.ID, completed, 0, false)) },
		func() error {
			w.Judge.Says(nil)
			return second(w.Evaluate(t.Context(), "ann", attempt.ID))
		},
	} {
		added = w.Tables.KeepsExtra(t, platform, "Attempt", []string{attempt.ID}, change)
	}
	read, err := w.Attempt(t.Context(), "ann", attempt.ID)
	want := `{"added_attempt":"` + added + `"}`
	if err != nil || string(read.Extra) != want || read.Evaluation == nil {
		t.Errorf("the attempt is %+v, %v, want it evaluated, with %s", read, err, want)
	}
	if listed := list(t, w, "ann"); len(listed) != 1 || string(listed[0].Extra) != want {
		t.Errorf("the list has %+v, want %s in it", listed, want)
	}

	addProfile(t, w.Service, evaluatedAttempt("ada", 1))
	latest := must.Get(w.LatestProfile(t.Context(), "ada"))(t)
	key := []string{"ada", latest.Timestamp.String() + "#" + latest.AttemptID}
	added = w.Tables.KeepsExtra(t, platform, "Profile", key, func() error {
		// One that comes out of order changes the later profile.
		return second(w.AddProfile(t.Context(), evaluatedAttempt("ada", 0), 7*24*time.Hour))
	})
	latest, err = w.LatestProfile(t.Context(), "ada")
	want = `{"added_profile":"` + added + `"}`
	if err != nil || string(latest.Extra) != want || latest.AttemptCount != 2 {
		t.Errorf("the profile is %+v, %v, want two attempts, and %s", latest, err, want)
	}
	if listed, err := w.Profiles(t.Context(), "ada", 10, ""); err != nil || string(listed.Profiles[0].Extra) != want {
		t.Errorf("the list has %+v, %v, want %s in it", listed, err, want)
	}
}
