package lingible

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// A good submission is approved by its validation, enters the lexicon and the next export, and is
// translated from then on. An invalid one never is.
func TestSubmission(t *testing.T) {
	t.Parallel()
	on := shared(t)
	free, one := newUser(t, on), newPremium(t, on)
	term := newTerm()
	refused(t, free.Try(t, http.MethodPost, "/slang/submit", proposal(term)), http.StatusForbidden, "BIZ_004")
	made := one.submit(t, proposal(term))
	if made["status"] != "auto_approved" || made["approval_type"] != "llm_auto" {
		t.Fatalf("got %v; want it approved", made)
	}
	refused(t, one.Try(t, http.MethodPost, "/slang/submit", proposal(strings.ToUpper(term)+"!")), http.StatusConflict,
		"RES_002")
	bad := one.submit(t, input{"slang_term": "zzxqwv", "meaning": "zzxqwv", "example_usage": "www.example.com"})
	if bad["status"] != "rejected" {
		t.Errorf("got %v; want it rejected", bad)
	}
	onesynthtest.Settled(t, "the term is in the language", func() bool {
		got := free.translate(t, "a "+term+" day")
		return got["confidence_score"].(float64) > 0.9
	})
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

// Ten votes approve a submission, once.
func TestVotes(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newPremium(t, on)
	made := one.submit(t, weak(newTerm()))
	id := made["submission_id"].(string)
	if made["status"] != "validated" {
		t.Fatalf("got %v; want it open to votes", made)
	}
	pending := one.get(t, "/slang/pending?limit=100").list("submissions")
	found := false
	for _, s := range pending {
		found = found || s["submission_id"] == id && s["meaning"] == made["meaning"]
	}
	if !found {
		t.Errorf("got %v; want the submission among them", pending)
	}
	refused(t, one.Try(t, http.MethodPost, "/slang/upvote/"+id, nil), http.StatusConflict, "RES_002")
	const voters = 12
	var users []caller
	for range voters {
		users = append(users, newUser(t, on))
	}
	if err := onesynthtest.Together(2*voters, func(i int) error {
		r, err := users[i/2].Send(t.Context(), http.MethodPost, "/slang/upvote/"+id, nil, nil)
		if err == nil && r.Status != http.StatusOK && r.Status != http.StatusConflict {
			err = fmt.Errorf("got %v", r)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	refused(t, users[0].Try(t, http.MethodPost, "/slang/upvote/"+id, nil), http.StatusConflict, "RES_002")
	for _, s := range one.get(t, "/slang/mine").list("submissions") {
		if s["submission_id"] == id && (s["status"] != "community_approved" || s["approval_type"] != "community_vote" ||
			s["upvotes"] != float64(voters)) {
			t.Errorf("got %v; want it approved with %d votes", s, voters)
		}
	}
}

// Only users in the group admin review submissions, once each.
func TestAdmin(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one, admin := newPremium(t, on), newAdmin(t, on)
	var ids []string
	for range 2 {
		ids = append(ids, one.submit(t, weak(newTerm()))["submission_id"].(string))
	}
	intruders := map[string]caller{"None": newUser(t, on)}
	if on.Run != nil { // A user pool chooses the claims.
		for name, claims := range map[string]map[string]any{
			"Other":   {"cognito:groups": []string{"administrators", "staff"}},
			"Blank":   {"cognito:groups": []string{"x", "site admin"}},
			"Bracket": {"cognito:groups": []string{"[admin"}},
			"Text":    {"cognito:groups": "guest admin"},
			"Attribute": {"custom:groups": []string{"admin"}, "groups": "admin", "role": "admin", "scope": "admin",
				"custom:role": "admin"},
			"Username": {"username": "admin", "cognito:username": "admin", "email": "admin@example.com"},
		} {
			intruders[name] = newUser(t, on).with(t, on, claims)
		}
	}
	for name, intruder := range intruders {
		for _, path := range []string{"/slang/admin/approve/", "/slang/admin/reject/"} {
			t.Log(name)
			refused(t, intruder.Try(t, http.MethodPost, path+ids[0], nil), http.StatusForbidden, "AUTH_002")
		}
	}
	if got := admin.must(t, http.MethodPost, "/slang/admin/approve/"+ids[0], nil,
		http.StatusOK); got["status"] != "admin_approved" {
		t.Errorf("got %v", got)
	}
	if got := admin.must(t, http.MethodPost, "/slang/admin/reject/"+ids[1], nil,
		http.StatusOK); got["status"] != "admin_rejected" {
		t.Errorf("got %v", got)
	}
	for _, path := range []string{"/slang/admin/approve/" + ids[1], "/slang/admin/reject/" + ids[0],
		"/slang/upvote/" + ids[1]} {
		refused(t, admin.Try(t, http.MethodPost, path, nil), http.StatusConflict, "RES_002")
	}
	refused(t, admin.Try(t, http.MethodPost, "/slang/admin/approve/550e8400-e29b-41d4-a716-446655440000", nil),
		http.StatusNotFound, "RES_001")
}
