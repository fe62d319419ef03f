package lingible

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A good submission is approved by its validation, enters the lexicon and the next export, and is
// translated from then on. An invalid one never is.
func TestSubmission(t *testing.T) {
	t.Parallel()
	on := shared(t)
	free, one, proposed := platform.NewCaller(t, on), newPremium(t, on), proposal()
	made, term := submit(t, one, proposed), proposed.Term
	if made.Status != lingible.AutoApproved || made.ApprovalType != "llm_auto" {
		t.Fatalf("got %v; want it approved", made)
	}
	bad := submit(t, one, lingible.Proposal{Term: "zzxqwv", Meaning: "zzxqwv", Example: "www.example.com"})
	if bad.Status != lingible.Rejected {
		t.Errorf("got %v; want it rejected", bad)
	}
	wait.Until(t, "the term is in the language", func() (any, bool) {
		got := platform.Post(t, free, lingible.Translate, lingible.TranslationInput{Text: "a " + term + " day"})
		return got, got.Confidence > 0.9
	}, wait.On(on))
	if on.Run == nil {
		return
	}
	entry := on.Item(t, "Lexicon", "PK", "TERM#"+term, "SK", "METADATA#lexicon")
	if entry["source"] != "community" || strings.Contains(fmt.Sprint(entry), one.ID) {
		t.Errorf("got %v; want a term from the community that names no user", entry)
	}
	if none := on.Item(t, "Lexicon", "PK", "TERM#zzxqwv", "SK", "METADATA#lexicon"); none != nil {
		t.Errorf("got %v in the lexicon", none)
	}
}

// Only users in the group admin review submissions, as the gateway hands groups on.
func TestAdmin(t *testing.T) {
	t.Parallel()
	on := shared(t)
	id, groups := submit(t, newPremium(t, on), weak()).ID, []string{"admin"}
	intruders := map[string]*onesynthtest.Client{"None": platform.NewCaller(t, on).Client}
	if on.Run != nil { // A user pool has no other group, and chooses the claims.
		groups = []string{"staff", "admin"}
		for name, groups := range map[string]any{"Other": []string{"administrators", "staff"},
			"Blank": []string{"x", "site admin"}, "Bracket": []string{"[admin"}, "Text": "guest admin"} {
			intruders[name] = on.As(t, onesynthtest.Unique("user"), map[string]any{"cognito:groups": groups})
		}
	}
	for name, intruder := range intruders {
		t.Log(name)
		suite.Refused(t, intruder.Try(t, http.MethodPost, "/slang/admin/approve/"+id, nil), http.StatusForbidden,
			"AUTH_002")
	}
	admin := platform.NewCaller(t, on, groups...)
	got := platform.Call(t, admin, lingible.ApproveSubmission, lingible.SubmissionParams{ID: id})
	if got.Status != lingible.AdminApproved {
		t.Errorf("got %v", got)
	}
}
