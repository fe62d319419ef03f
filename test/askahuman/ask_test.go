package askahuman

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A text question is asked, answered until it has enough, and read by its agent with what people wrote.
func TestTextQuestionIsAnsweredUntilClosed(t *testing.T) {
	t.Parallel()
	c := platform.NewClient(t, suite.Shared(t))
	asker := newAgent(c)
	asked := asker.ask(t, textQuestion(2))
	if read := asker.question(t, asked.QuestionID); read.Status != "OPEN" || len(read.Responses) != 0 {
		t.Errorf("got %+v; want OPEN without answers", read)
	}
	texts := []string{"naïve — 日本語 🇩🇪 👩‍👩‍👧", `  quotes " and \ and </script>` + "\nand a tab\t"}
	for i, status := range []askahuman.Status{askahuman.StatusPartial, askahuman.StatusClosed} {
		one := newPerson(c)
		if seen := platform.Call(t, one, askahuman.ReadOpenQuestion,
			askahuman.QuestionParams{ID: asked.QuestionID}); !seen.CanAnswer || seen.ResponsesNeeded != 2-i {
			t.Errorf("got %+v; want can_answer and %d responses needed", seen, 2-i)
		}
		got := answer(t, one, askahuman.Answer{QuestionID: asked.QuestionID, Text: &texts[i]})
		if has := platform.Call(t, one, askahuman.ReadStats, askahuman.ZoneParams{}); got.PointsEarned == 0 ||
			has.TotalPoints != got.TotalPoints || has.TotalAnswers != 1 {
			t.Errorf("got %+v, and then %+v; want the points of one answer", got, has)
		}
		read := asker.question(t, asked.QuestionID)
		if read.Status != status || len(read.Responses) != i+1 || *read.Responses[i].Answer != texts[i] {
			t.Errorf("got %+v; want %s with %q", read, status, texts[i])
		}
	}
	suite.Refused(t, newPerson(c).Try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)),
		http.StatusGone, "QUESTION_CLOSED")
}
