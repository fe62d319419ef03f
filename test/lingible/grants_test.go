package lingible

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// uncounted is the request of a probe whose work was not done although it was answered: a use of a
// term that is not counted is no failure of the translation.
const uncounted = "POST /translate, and look at the count"

// probes make every function do its work, but for what the requests of package routes do.
func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	at := &target{platform.Local(on)}
	at.load(t)
	one := newPremium(t, at)
	// A function that a probe ends in the middle of its run would keep its claims until their leases end.
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	get := func(function, path string) onesynthtest.Probe {
		return onesynthtest.Probe{Function: function, Name: path,
			Do: func(t testing.TB) (onesynthtest.Reply, error) {
				return one.Send(t.Context(), http.MethodGet, path, nil, nil)
			}}
	}
	probe := func(function string, do func(t testing.TB) error) onesynthtest.Probe {
		return onesynthtest.Probe{Function: function, Name: "Run", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return onesynthtest.Reply{}, do(t)
		}}
	}
	count := func() any {
		return on.Item(t, "Trending", "PK", "TERM#sus", "SK", "METADATA#trending")["translation_count"]
	}
	revalidate := func(t testing.TB) error {
		at.store(t, "pending")
		return on.Run.RunSchedule(t.Context(), on.Schedule(t, "RevalidatorSchedule"))
	}
	score := func(t testing.TB) error {
		return on.Run.RunSchedule(t.Context(), on.Schedule(t, "TrendingJobSchedule"))
	}
	submit := func(t testing.TB) error {
		one.propose(t, proposal(newTerm()))
		return on.FlushUntilRefused(t)
	}
	return []onesynthtest.Probe{
		{Function: "LingibleAPI", Name: "Count", Do: func(t testing.TB) (onesynthtest.Reply, error) {
			before := count()
			r, err := one.Send(t.Context(), http.MethodPost, "/translate", nil, map[string]any{"text": "it looks sus"})
			if err == nil && r.Status == http.StatusOK && count() == before {
				r = onesynthtest.Reply{Request: uncounted, Status: http.StatusInternalServerError}
			}
			return r, err
		}},
		get("LingibleAPI", "/trending?category=slang"), get("LingibleAPI", "/quiz/question?category=food"),
		get("WebPage", "/"),
		probe("ProfileCreator", func(t testing.TB) error {
			event := events.CognitoEventUserPoolsPostConfirmation{
				CognitoEventUserPoolsHeader: events.CognitoEventUserPoolsHeader{
					TriggerSource: "PostConfirmation_ConfirmSignUp"}}
			event.Request.UserAttributes = map[string]string{"sub": onesynthtest.Unique("user"),
				"email": "new@example.com"}
			payload, err := json.Marshal(event)
			if err != nil {
				return err
			}
			result, err := on.Run.Invoke(t.Context(), on.Function(t, "ProfileCreator"), payload)
			if err == nil && result.FunctionError != "" {
				err = fmt.Errorf("%s", result.Payload)
			}
			return err
		}),
		probe("SubmissionValidator", func(t testing.TB) error {
			bad := proposal(newTerm())
			bad.Example = "www.example.com"
			one.propose(t, bad)
			return submit(t)
		}),
		probe("Revalidator", revalidate),
		probe("RevalidatorSchedule", revalidate),
		probe("Exporter", submit),
		probe("TrendingJob", score),
		probe("TrendingJobSchedule", score),
		probe("AccountCleaner", func(t testing.TB) error {
			gone, other := newPremium(t, at), newUser(t, at)
			gone.translate(t, "no cap")
			gone.vote(t, at.store(t, "validated"))
			own := gone.propose(t, weak(newTerm()))
			if err := on.FlushUntilRefused(t); err != nil {
				return err
			}
			other.Try(t, http.MethodPost, "/slang/upvote/"+own.ID, nil)
			gone.leave(t)
			return on.FlushUntilRefused(t)
		}),
		probe("LexiconSeeder", func(t testing.TB) error { return suite.Seed(t, at.Target) }),
	}, func() {}
}

// store stores a submission of someone as it is some minutes later: open to votes, or still without
// a validation. It returns its id.
func (p *target) store(t testing.TB, status string) string {
	t.Helper()
	id, term := uuid.NewString(), newTerm()
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
