package lingible

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A sign-up creates the profile, before any request.
func TestSignUp(t *testing.T) {
	t.Parallel()
	on := shared(t)
	on.LocalOnly(t, "it reads the table")
	one := platform.NewCaller(t, on)
	if item := on.Item(t, "Users", "PK", "USER#"+one.ID, "SK", "PROFILE"); item["email"] != one.Email ||
		item["tier"] != "free" {
		t.Errorf("got profile %v of %s", item, one.Email)
	}
}

// A deleted account leaves nothing in any table, also if the function that removes it is killed, and
// a token from before opens no new one.
func TestDeletedAccount(t *testing.T) {
	t.Parallel()
	on := suite.OwnRun(t, run.Options{})
	suite.Load(t, on)
	one, other := newPremium(t, on), newPremium(t, on)
	// What others have: votes for the user's submission, and a submission with the user's vote.
	open := func(c platform.Caller) string {
		return submit(t, c, weak()).ID
	}
	ours, others := open(one), open(other)
	platform.Call(t, one, lingible.VoteForSubmission, lingible.SubmissionParams{ID: others})
	platform.Call(t, other, lingible.VoteForSubmission, lingible.SubmissionParams{ID: ours})
	submit(t, one, proposal()) // approved: it stays in the lexicon
	for i := range 30 {
		platform.Post(t, one, lingible.Translate, lingible.TranslationInput{Text: fmt.Sprintf("no cap, number %d", i)})
	}
	q := platform.Call(t, one, lingible.AskQuestion, lingible.QuestionParams{})
	onesynthtest.Call(t, one, lingible.AnswerQuestion, schema.None{},
		lingible.QuizSelection{SessionID: q.SessionID, QuestionID: q.ID, Selected: "a"})
	platform.Post(t, one, lingible.DeleteUser, lingible.AccountDeletion{Confirmation: "DELETE"})
	cleaner, kills := on.Function(t, "AccountCleaner"), 0
	left := func() (found []string) {
		for name := range on.Tables {
			for _, item := range on.Items(t, name) {
				if strings.Contains(fmt.Sprint(item), one.ID) || strings.Contains(fmt.Sprint(item), ours) {
					found = append(found, fmt.Sprint(name, " ", item))
				}
			}
		}
		return found
	}
	wait.Until(t, "nothing of the user is left", func() (any, bool) {
		if kills < 3 && on.Kill(t, cleaner) {
			kills++
		}
		found := left()
		return found, len(found) == 0
	}, wait.On(on))
	t.Logf("killed %d times", kills)
	suite.Refused(t, one.Try(t, http.MethodGet, "/user/profile", nil), http.StatusForbidden, "AUTH_003")
	on.Flush(t)
	if found := left(); len(found) != 0 {
		t.Errorf("left is %q", found)
	}
	for _, s := range own(t, other) {
		if s.ID == others && s.Upvotes != 0 {
			t.Errorf("got %v; want no vote", s)
		}
	}
}
