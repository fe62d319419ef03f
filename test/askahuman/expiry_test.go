package askahuman

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// The schedule marks a question expired whose deadline has passed; what it has got stays readable.
func TestQuestionExpires(t *testing.T) {
	t.Parallel()
	target := shared(t)
	c := newClient(t, target)
	asker := newAgent(c)
	asked := asker.ask(t, textQuestion(3))
	answer(t, newPerson(c), textAnswer(asked.QuestionID))
	target.expire(t, asked.QuestionID)
	suite.Refused(t, newPerson(c).Try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)),
		http.StatusGone, "QUESTION_CLOSED")
	wait.Until(t, "the schedule marks the question expired", func() (any, bool) {
		target.runNotifier(t)
		item := target.Item(t, "Questions", "question_id", asked.QuestionID)
		return item, item["status"] == "EXPIRED" && item["due"] == nil
	}, wait.On(target))
	if got := asker.question(t, asked.QuestionID); got.Status != "EXPIRED" || len(got.Responses) != 1 {
		t.Errorf("got %+v; want EXPIRED, with its one answer", got)
	}
}

// expire lets a question's deadline pass.
func (p *target) expire(t testing.TB, questionID string) {
	t.Helper()
	for _, attribute := range []string{"deadline", "due_at"} {
		p.turnBack(t, "Questions", "question_id", questionID, attribute, time.Minute)
	}
}
