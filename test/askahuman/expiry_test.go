package askahuman

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
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
	// The stored deadline is the one of the answer. Only time has to pass: it passes in the table.
	stored := target.Item(t, "Questions", "question_id", asked.QuestionID)
	if deadline, err := time.Parse(time.RFC3339, stored["deadline"].(string)); err != nil ||
		!deadline.Equal(asked.ExpiresAt) || asked.ExpiresAt.Sub(asked.CreatedAt) != time.Minute {
		t.Errorf("got deadline %v of a question asked at %v that is told to expire at %v; want a minute later",
			stored["deadline"], asked.CreatedAt, asked.ExpiresAt)
	}
	target.expire(t, asked.QuestionID)

	late := c.newPerson()
	refused(t, late.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusGone,
		"QUESTION_CLOSED")
	refused(t, early.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusConflict,
		"ALREADY_ANSWERED")
	refused(t, late.try(t, http.MethodGet, "/human/questions/"+asked.QuestionID, nil), http.StatusGone,
		"QUESTION_CLOSED")
	got := asker.question(t, asked.QuestionID)
	if got.Status != "EXPIRED" || got.CurrentResponses != 1 || len(got.Responses) != 1 || got.ClosedAt != nil ||
		got.ExpiredAt == nil || !got.ExpiredAt.Equal(got.ExpiresAt) {
		t.Errorf("got %+v; want EXPIRED at its deadline, with its one answer", got)
	}
	if page := asker.list(t, url.Values{"status": {"EXPIRED"}}); len(page.Questions) != 1 ||
		page.Questions[0].Status != "EXPIRED" {
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
	onesynthtest.Settled(t, "the schedule marks the question expired", func() bool {
		target.runNotifier(t)
		item := target.Item(t, "Questions", "question_id", asked.QuestionID)
		return item["status"] == "EXPIRED" && item["due"] == nil
	})
}

// expire lets a question's deadline pass.
func (p *target) expire(t testing.TB, questionID string) {
	t.Helper()
	for _, attribute := range []string{"deadline", "due_at"} {
		p.turnBack(t, "Questions", "question_id", questionID, attribute, time.Minute)
	}
}
