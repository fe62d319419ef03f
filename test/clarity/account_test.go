package clarity

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A user exports what is kept, and deletes it: meanwhile they add nothing, afterwards there is nothing, and they begin
// anew. Another user keeps all.
func TestAccount(t *testing.T) {
	t.Parallel()
	on := suite.OwnRun(t, run.Options{NoSchedules: true})
	one, some := newUser(t, on)
	neighbour := platform.NewCaller(t, on)
	for _, c := range []platform.Caller{one, one, neighbour} {
		platform.Post(t, c, clarity.CreateAttempt, completed(some, "a word of one's own"))
	}
	on.Flush(t)
	export := func(c platform.Caller) clarity.Data {
		t.Helper()
		return platform.Call(t, c, clarity.ExportData, clarity.PageParams{})
	}
	if got := export(one); len(got.Attempts) != 2 || len(got.Profiles) != 2 || got.UserID != one.ID {
		t.Errorf("got %+v", got)
	}
	for range 2 {
		platform.Call(t, one, clarity.DeleteUser, schema.None{})
		if r := one.Try(t, http.MethodPost, "/attempts", completed(some, "too late")); r.Status != http.StatusConflict {
			t.Errorf("got %v; want a refusal", r)
		}
	}
	on.Flush(t)
	if got := export(one); len(got.Attempts)+len(got.Profiles) != 0 {
		t.Errorf("left is %+v", got)
	}
	for _, table := range []string{"Attempts", "Profiles"} {
		for _, item := range on.Items(t, table) {
			if item["userId"] == one.ID {
				t.Errorf("%s has %v", table, item)
			}
		}
	}
	if got := export(neighbour); len(got.Attempts) != 1 || len(got.Profiles) != 1 {
		t.Errorf("the other user has %+v", got)
	}
	platform.Post(t, one, clarity.CreateAttempt, completed(some, "a new beginning"))
	if got := export(one); len(got.Attempts) != 1 {
		t.Errorf("after a new beginning, got %+v", got)
	}
}
