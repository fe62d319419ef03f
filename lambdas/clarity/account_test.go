package clarity_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/ownershiptest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// trained lets a user evaluate three attempts, which have profiles, and begin one. It returns the evaluated ones.
func trained(t *testing.T, w *claritytest.World, user string) (evaluated []clarity.Attempt) {
	t.Helper()
	for i := range 4 {
		in := claritytest.Submission("This bridge")
		if i == 3 {
			in.Status = clarity.InProgress
		}
		w.Advance(time.Second)
		attempt := must.Get(w.Submit(t.Context(), user, "", in))(t)
		if i < 3 {
			addProfile(t, w.Service, attempt)
			evaluated = append(evaluated, attempt)
		}
	}
	return evaluated
}

// told are the deletions that the stream of the guards tells of.
func told(t *testing.T, records []json.RawMessage) (deletions []service.Deletion) {
	t.Helper()
	for _, record := range records {
		var read events.DynamoDBEventRecord
		must.OK(t, json.Unmarshal(record, &read))
		deletion := must.Get(service.DeletionIn(read.Change))(t)
		if deletion.ID != "" {
			deletions = append(deletions, deletion)
		}
	}
	return deletions
}

// A deletion of a user that dies before any of its requests is finished by the next one. Meanwhile the user can add
// nothing, and what comes late for the profiler makes no profile. Nothing but what the contract says is left, and
// another user has all of theirs. Then the user begins anew, and the old deletion touches nothing of that.
func TestDeletionOfUser(t *testing.T) {
	t.Parallel()
	for survived := 0; ; survived += 6 {
		w := claritytest.New(t)
		ctx, platform := t.Context(), clarity.Platform()
		records := triggertest.Stream(t, platform, w.Tables, "Guards")
		evaluated := trained(t, w, "ann-1")
		trained(t, w, "bob-1")
		others := ownershiptest.Named(t, w.Tables, platform, "bob-1")
		for range 2 { // A repeat is the same deletion.
			w.Advance(time.Second)
			must.OK(t, w.DeleteUser(ctx, "ann-1"))
		}
		deletions := told(t, records())
		if len(deletions) != 2 || deletions[0] != deletions[1] || deletions[0].User != "ann-1" {
			t.Fatalf("the stream tells of %+v", deletions)
		}
		if err := w.Admit(ctx, "ann-1"); !errors.Is(err, clarity.ErrBeingDeleted) {
			t.Errorf("the user is admitted: %v", err)
		}
		eraser := &service.Service{DB: w.As(t, "accounteraser"), Clock: w.Read}
		profiler := &service.Service{DB: w.As(t, "profiler"), Clock: w.Read}
		w.Kill(survived, false)
		complete, err := eraser.Erase(ctx, deletions[0])
		w.Heal()
		if complete != (err == nil) || err != nil && !errors.Is(err, worldtest.ErrKilled) {
			t.Fatalf("died after %d requests: got %t, %v", survived, complete, err)
		}
		died := err != nil
		late := func(when string) {
			t.Helper()
			if added, err := profiler.AddProfiles(ctx, evaluated, 0); err != nil || added != 0 {
				t.Errorf("died after %d requests: %s the profiler adds %d profiles, %v", survived, when, added, err)
			}
		}
		if died {
			late("meanwhile")
			if complete, err := eraser.Erase(ctx, deletions[0]); err != nil || !complete {
				t.Fatalf("died after %d requests: then got %t, %v", survived, complete, err)
			}
		}
		late("afterwards")
		if left := ownershiptest.Named(t, w.Tables, platform, "ann-1"); len(left) > 0 {
			t.Errorf("died after %d requests: left are %v", survived, left)
		}
		if diff := cmp.Diff(others, ownershiptest.Named(t, w.Tables, platform, "bob-1")); diff != "" {
			t.Errorf("died after %d requests: another user's, - before, + after:\n%s", survived, diff)
		}
		if err := w.Admit(ctx, "ann-1"); err != nil {
			t.Errorf("the user cannot begin anew: %v", err)
		}
		trained(t, w, "ann-1")
		anew := ownershiptest.Named(t, w.Tables, platform, "ann-1")
		if complete, err := eraser.Erase(ctx, deletions[0]); err != nil || !complete {
			t.Errorf("again: got %t, %v", complete, err)
		}
		if diff := cmp.Diff(anew, ownershiptest.Named(t, w.Tables, platform, "ann-1")); diff != "" || len(anew) != 8 {
			t.Errorf("of the user who began anew, - before, + after:\n%s", diff)
		}
		for _, item := range w.Tables.Stored(t, "Guards") {
			if _, expires := item["expiresAt"]; !expires {
				t.Errorf("%s stays for ever", dynamo.Text(item, "guardKey"))
			}
		}
		if !died {
			if survived < 12 {
				t.Errorf("it makes %d requests", survived)
			}
			return
		}
	}
}

// A change of the guards without a deletion has an empty one. A deletion without its user is an error.
func TestDeletionIn(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		`{"deletion":{"S":"id"},"deletedUser":{"S":"ann"}}`: "id ann", `{"deletedUser":{"S":"ann"}}`: " ", `{}`: " ",
		`{"deletion":{"S":"id"}}`: "error", `{"deletion":{"S":"id"},"deletedUser":{"N":"1"}}`: "error",
	} {
		var change events.DynamoDBStreamRecord
		must.OK(t, json.Unmarshal([]byte(`{"NewImage":`+image+`}`), &change))
		deletion, err := service.DeletionIn(change)
		got := deletion.ID + " " + deletion.User
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", image, got, want)
		}
	}
}
