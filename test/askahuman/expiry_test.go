package askahuman

import (
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The schedule marks a question expired whose deadline has passed; what it has got stays readable.
func TestQuestionExpires(t *testing.T) {
	t.Parallel()
	target := suite.Shared(t)
	c := platform.NewClient(t, target)
	asker := newAgent(c)
	asked := asker.ask(t, textQuestion(3))
	answer(t, newPerson(c), textAnswer(asked.QuestionID))
	expire(t, target, asked.QuestionID)
	suite.Refused(t, newPerson(c).Try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)),
		http.StatusGone, "QUESTION_CLOSED")
	wait.Until(t, "the schedule marks the question expired", func() (any, bool) {
		runNotifier(t, target)
		item := target.Item(t, "Questions", "question_id", asked.QuestionID)
		return item, item["status"] == "EXPIRED" && item["due"] == nil
	}, wait.On(target))
	if got := asker.question(t, asked.QuestionID); got.Status != "EXPIRED" || len(got.Responses) != 1 {
		t.Errorf("got %+v; want EXPIRED, with its one answer", got)
	}
}

// expire lets a question's deadline pass.
func expire(t testing.TB, p *platform.Target, questionID string) {
	t.Helper()
	past := time.Now().Add(-time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
	p.Set(t, "Questions", "question_id", questionID, map[string]any{"deadline": past, "due_at": past})
}
