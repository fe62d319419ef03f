package lingible

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// A sign-up creates the profile, before any request.
func TestSignUp(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "it reads the table")
	one := newUser(t, on)
	if item := on.Item(t, "Users", "PK", "USER#"+one.ID, "SK", "PROFILE"); item["email"] != one.Email ||
		item["tier"] != "free" {
		t.Errorf("got profile %v of %s", item, one.Email)
	}
}

// A deleted account leaves nothing in any table, also if the function that removes it is killed, and
// a token from before opens no new one.
func TestDeletedAccount(t *testing.T) {
	t.Parallel()
	on := ownRun(t, run.Options{})
	on.load(t)
	one, other := newPremium(t, on), newPremium(t, on)
	// What others have: votes for the user's submission, and a submission with the user's vote.
	open := func(c caller) string {
		return c.submit(t, weak(newTerm()))["submission_id"].(string)
	}
	own, others := open(one), open(other)
	one.must(t, http.MethodPost, "/slang/upvote/"+others, nil, http.StatusOK)
	other.must(t, http.MethodPost, "/slang/upvote/"+own, nil, http.StatusOK)
	one.submit(t, proposal(newTerm())) // approved: it stays in the lexicon
	for i := range 30 {
		one.translate(t, fmt.Sprintf("no cap, number %d", i))
	}
	q := one.get(t, "/quiz/question")
	one.must(t, http.MethodPost, "/quiz/answer",
		input{"session_id": q["session_id"], "question_id": q["question_id"], "selected_option": "a"}, http.StatusOK)
	one.must(t, http.MethodDelete, "/user/account", input{"confirmation": "DELETE"}, http.StatusAccepted)
	cleaner, kills := on.Function(t, "AccountCleaner"), 0
	left := func() (found []string) {
		for name := range on.Tables {
			for _, item := range on.Items(t, name) {
				if strings.Contains(fmt.Sprint(item), one.ID) || strings.Contains(fmt.Sprint(item), own) {
					found = append(found, fmt.Sprint(name, " ", item))
				}
			}
		}
		return found
	}
	wait.Until(t, "nothing of the user is left", func() (any, bool) {
		if kills < 3 {
			if _, err := on.Run.Kill(cleaner); err == nil {
				kills++
			} else if !errors.Is(err, run.ErrNotRunning) {
				t.Fatal(err)
			}
		}
		found := left()
		return found, len(found) == 0
	}, wait.On(on))
	t.Logf("killed %d times", kills)
	refused(t, one.Try(t, http.MethodGet, "/user/profile", nil), http.StatusForbidden, "AUTH_003")
	if err := on.Flush(t); err != nil {
		t.Error(err)
	}
	if found := left(); len(found) != 0 {
		t.Errorf("left is %q", found)
	}
	for _, s := range other.get(t, "/slang/mine").list("submissions") {
		if s["submission_id"] == others && s["upvotes"] != 0.0 {
			t.Errorf("got %v; want no vote", s)
		}
	}
}
