package askahuman

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A question expires the moment its deadline passes, before anything has marked it
// so; what it has got stays readable.
func TestQuestionExpires(t *testing.T) {
	t.Parallel()
	target := shared(t)
	c := newClient(t, target)
	asker := c.newAgent()
	question := textQuestion(3)
	question.TimeoutSeconds = 60
	asked := asker.ask(t, question)
	early := c.newPerson()
	early.answer(t, textAnswer(asked.QuestionID))

	waitUntil(t, asked.ExpiresAt.Add(time.Second))

	late := c.newPerson()
	refused(t, late.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusGone, "QUESTION_CLOSED")
	refused(t, early.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusConflict, "ALREADY_ANSWERED")
	refused(t, late.try(t, http.MethodGet, "/human/questions/"+asked.QuestionID, nil), http.StatusGone, "QUESTION_CLOSED")
	got := asker.question(t, asked.QuestionID)
	if got.Status != "EXPIRED" || got.CurrentResponses != 1 || len(got.Responses) != 1 || got.ClosedAt != nil {
		t.Errorf("got %+v; want EXPIRED with its one answer", got)
	}
	if page := asker.list(t, url.Values{"status": {"EXPIRED"}}); len(page.Questions) != 1 || page.Questions[0].Status != "EXPIRED" {
		t.Errorf("got %+v; want the expired question", page.Questions)
	}
	for _, q := range late.wholeFeed(t, nil) {
		if q.QuestionID == asked.QuestionID {
			t.Error("the feed has a question whose deadline has passed")
		}
	}
	if got := late.stats(t); got.TotalAnswers != 0 || got.TotalPoints != 0 {
		t.Errorf("got %+v for a late answer; want nothing", got)
	}

	// The schedule marks it within its minute and the next.
	platform.Settled(t, "the schedule marks the question expired", func() bool {
		target.runNotifier(t)
		item := target.Item(t, "Questions", "question_id", asked.QuestionID)
		return item["status"] == "EXPIRED" && item["due"] == nil
	})
}

// waitUntil waits for a moment by the platform's clock, which is this machine's or
// in step with it.
func waitUntil(t testing.TB, moment time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
