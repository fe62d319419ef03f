package lingible

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// uses makes every function do its work, but for what the requests of package routes do.
func uses(t testing.TB, on *platform.Target) {
	one, gone := newPremium(t, on), newPremium(t, on)
	platform.Post(t, one, lingible.Translate, lingible.TranslationInput{Text: "it looks sus"}) // a use that is counted
	for _, path := range []string{"/trending?category=slang", "/quiz/question?category=food", "/"} {
		platform.Succeeded(t, one.Try(t, http.MethodGet, path, nil))
	}
	bad := proposal()
	bad.Example = "www.example.com"
	platform.Post(t, one, lingible.SubmitTerm, bad)
	platform.Post(t, one, lingible.SubmitTerm, proposal()) // approved, and exported
	store(t, on, "pending")
	on.Flush(t)
	on.RunSchedule(t, "RevalidatorSchedule")
	on.RunSchedule(t, "TrendingJobSchedule")
	// Who leaves has voted, and others have voted for their term.
	platform.Post(t, gone, lingible.Translate, lingible.TranslationInput{Text: "no cap"})
	platform.Call(t, gone, lingible.VoteForSubmission, lingible.SubmissionParams{ID: store(t, on, "validated")})
	platform.Call(t, one, lingible.VoteForSubmission, lingible.SubmissionParams{ID: submit(t, gone, weak()).ID})
	platform.Post(t, gone, lingible.DeleteUser, lingible.AccountDeletion{Confirmation: "DELETE"})
	on.Flush(t)
}

// store stores a submission of someone as it is some minutes later: open to votes, or still without
// a validation. It returns its id.
func store(t testing.TB, p *platform.Target, status string) string {
	t.Helper()
	id, term := uuid.NewString(), routes.NewWord()
	item := map[string]any{
		"PK": "TERM#" + term, "SK": "SUBMISSION#" + id, "submission_id": id, "user_id": "someone", "slang_term": term,
		"meaning":       "to wait for a long time in bad weather",
		"example_usage": "We had to " + term + " outside the station for an hour.",
		"status":        status, "llm_validation_status": "validated", "upvotes": 0,
		"created_at": time.Now().Add(-10 * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	// The validator gets new items alone: this one is changed to wait for the revalidator.
	for _, validation := range []string{"validated", status} {
		item["llm_validation_status"] = validation
		p.Put(t, "Submissions", item)
	}
	return id
}
