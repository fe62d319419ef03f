package askahuman

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// A text question is asked, answered until it has enough, and read by its agent at
// every step.
func TestTextQuestionIsAnsweredUntilClosed(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	question := textQuestion(2)
	question.Audience = []string{"product", "creative"}

	asked := asker.ask(t, question)
	switch {
	case asked.Status != "OPEN":
		t.Errorf("got status %s; want OPEN", asked.Status)
	case asked.PollURL != "/agent/questions/"+asked.QuestionID:
		t.Errorf("got poll_url %s for question %s", asked.PollURL, asked.QuestionID)
	case asked.ExpiresAt.Sub(asked.CreatedAt) != time.Hour:
		t.Errorf("got expires_at %v after created_at; want an hour", asked.ExpiresAt.Sub(asked.CreatedAt))
	}

	read := asker.question(t, asked.QuestionID)
	if read.Status != "OPEN" || read.CurrentResponses != 0 || read.RequiredResponses != 2 || read.Responses == nil ||
		len(read.Responses) != 0 {
		t.Errorf("got %+v; want OPEN with 0 of 2 and an empty list", read)
	}
	if read.Prompt != question.Prompt || read.Type != "text" || read.Options != nil || read.Summary != nil ||
		read.ClosedAt != nil {
		t.Errorf("got %+v; want the question as asked, without options, summary and closed_at", read)
	}
	if !slices.Equal(read.Audience, question.Audience) || !read.ExpiresAt.Equal(asked.ExpiresAt) {
		t.Errorf("got %+v; want the audience as asked and the same deadline", read)
	}

	first, second, late := c.newPerson(), c.newPerson(), c.newPerson()
	seen := first.question(t, asked.QuestionID)
	if seen.CanAnswer == nil || !*seen.CanAnswer || seen.ResponsesNeeded != 2 {
		t.Errorf("got %+v; want can_answer and 2 responses needed", seen)
	}
	given := textAnswer(asked.QuestionID)
	given.Confidence = 4
	// 10 for a text, 2 for the confidence, 5 for a question with under half of its answers.
	if got := first.answer(t, given); got.PointsEarned != 17 || got.TotalPoints != 17 {
		t.Errorf("got %+v; want 17 points", got)
	}
	if seen = first.question(t, asked.QuestionID); seen.CanAnswer == nil || *seen.CanAnswer ||
		seen.ResponsesNeeded != 1 {
		t.Errorf("got %+v; want no can_answer and 1 response needed", seen)
	}
	if read = asker.question(t, asked.QuestionID); read.Status != "PARTIAL" || read.CurrentResponses != 1 ||
		len(read.Responses) != 1 {
		t.Errorf("got %+v; want PARTIAL with 1", read)
	}
	if r := read.Responses[0]; r.Answer == nil || *r.Answer != given.Answer || r.Confidence == nil ||
		*r.Confidence != 4 || r.SelectedOption != nil {
		t.Errorf("got response %+v; want the answer as given", r)
	}

	long := answer{QuestionID: asked.QuestionID, Answer: strings.Repeat("Größe zählt. ", 9)}
	// 10 for a text, 5 for over 100 characters; half of the answers are there.
	if got := second.answer(t, long); got.PointsEarned != 15 {
		t.Errorf("got %+v; want 15 points", got)
	}
	if read = asker.question(t, asked.QuestionID); read.Status != "CLOSED" || read.CurrentResponses != 2 ||
		len(read.Responses) != 2 || read.ClosedAt == nil {
		t.Fatalf("got %+v; want CLOSED with 2 and closed_at", read)
	}
	if r := read.Responses[1]; r.Answer == nil || *r.Answer != long.Answer || r.Confidence != nil {
		t.Errorf("got response %+v; want the second answer, without confidence", r)
	}

	refused(t, late.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusGone,
		"QUESTION_CLOSED")
	refused(t, late.try(t, http.MethodGet, "/human/questions/"+asked.QuestionID, nil), http.StatusGone,
		"QUESTION_CLOSED")
	if got := late.stats(t); got.TotalPoints != 0 || got.TotalAnswers != 0 {
		t.Errorf("got %+v for a surplus answer; want nothing", got)
	}
	refused(t, first.try(t, http.MethodPost, "/human/responses", textAnswer(asked.QuestionID)), http.StatusConflict,
		"ALREADY_ANSWERED")
}

// A multiple choice question counts the votes for every option.
func TestMultipleChoiceQuestionHasSummary(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	asked := asker.ask(t, choiceQuestion(3))
	for i, option := range []int{0, 2, 0} {
		got := c.newPerson().answer(t, choice(asked.QuestionID, option))
		// 5 for a choice, 5 for a question with under half of its answers.
		if want := 5 + 5*(1-i/2); got.PointsEarned != want {
			t.Errorf("answer %d: got %d points; want %d", i, got.PointsEarned, want)
		}
	}
	read := asker.question(t, asked.QuestionID)
	if read.Status != "CLOSED" || !slices.Equal(read.Options, []string{"Submit", "Send", "Confirm"}) {
		t.Errorf("got %+v; want CLOSED with the options", read)
	}
	// In the order of the options.
	if raw, want := asker.try(t, http.MethodGet, "/agent/questions/"+asked.QuestionID, nil),
		`"summary":{"Submit":2,"Send":0,"Confirm":1}`; !strings.Contains(string(raw.Body), want) {
		t.Errorf("got %v; want %s", raw, want)
	}
	zeros := 0
	for _, r := range read.Responses {
		if r.SelectedOption == nil || r.Answer != nil {
			t.Fatalf("got response %+v; want selected_option alone", r)
		}
		if *r.SelectedOption == 0 {
			zeros++
		}
	}
	if zeros != 2 {
		t.Errorf("got %d choices of option 0; want 2", zeros)
	}
}

// An agent sees only its own questions.
func TestAgentSeesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker, other := c.newAgent(), c.newAgent()
	asked := asker.ask(t, textQuestion(2))
	refused(t, other.try(t, http.MethodGet, "/agent/questions/"+asked.QuestionID, nil), http.StatusNotFound,
		"QUESTION_NOT_FOUND")
	refused(t, other.try(t, http.MethodDelete, "/agent/questions/"+asked.QuestionID, nil), http.StatusNotFound,
		"QUESTION_NOT_FOUND")
	if page := other.list(t, nil); len(page.Questions) != 0 {
		t.Errorf("got %+v; want none", page.Questions)
	}
	for _, id := range []string{"00000000-0000-4000-8000-000000000000", "no-uuid", strings.Repeat("x", 3000), "%00",
		"%F0%9F%A6%80"} {
		refused(t, asker.try(t, http.MethodGet, "/agent/questions/"+id, nil), http.StatusNotFound, "QUESTION_NOT_FOUND")
	}
	if got := asker.question(t, asked.QuestionID); got.Status != "OPEN" {
		t.Errorf("got %s after another agent's DELETE; want OPEN", got.Status)
	}
}
