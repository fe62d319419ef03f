package test

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// A repeated ask is answered as the first was, to the byte, whatever has become of
// the question.
func TestRepeatedAskIsOneQuestion(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	question := textQuestion(2)
	question.IdempotencyKey = unique("key")
	answered := asker.try(t, http.MethodPost, "/agent/questions", question)
	first := read[submission](t, answered, http.StatusCreated)
	repeat := func(when string) {
		t.Helper()
		if again := asker.try(t, http.MethodPost, "/agent/questions", question); again.status != http.StatusCreated || !bytes.Equal(again.body, answered.body) {
			t.Errorf("%s: got %v; want %v", when, again, answered)
		}
	}
	repeat("at once")
	c.newPerson().answer(t, textAnswer(first.QuestionID))
	repeat("after an answer")
	asker.close(t, first.QuestionID)
	repeat("after closing")

	// The header is as good as the field.
	inHeader := question
	inHeader.IdempotencyKey = ""
	header := asker.header()
	header.Set("X-Idempotency-Key", question.IdempotencyKey)
	if got := read[submission](t, asker.mustSend(t, http.MethodPost, "/agent/questions", header, inHeader), http.StatusCreated); got.QuestionID != first.QuestionID {
		t.Errorf("got %s with the key in the header; want %s", got.QuestionID, first.QuestionID)
	}

	other := question
	other.Prompt = "Should error messages be shorter?"
	invalid(t, asker.try(t, http.MethodPost, "/agent/questions", other), "idempotency_key")

	// The key is the agent's own.
	if got := c.newAgent().ask(t, question); got.QuestionID == first.QuestionID {
		t.Error("another agent's key gave the same question")
	}
	if page := asker.list(t, nil); len(page.Questions) != 1 {
		t.Errorf("got %d questions; want 1", len(page.Questions))
	}
}

// The same ask twenty times at once makes one question.
func TestConcurrentAsksAreOneQuestion(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	question := textQuestion(2)
	question.IdempotencyKey = unique("key")
	var mutex sync.Mutex
	ids := map[string]int{}
	if err := together(20, func(int) error {
		r, err := asker.send(t.Context(), http.MethodPost, "/agent/questions", asker.header(), question)
		if err != nil {
			return err
		}
		if r.status != http.StatusCreated {
			return fmt.Errorf("got %v; want 201", r)
		}
		mutex.Lock()
		defer mutex.Unlock()
		ids[field(r.body, "question_id")]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 {
		t.Errorf("got %d questions: %v; want 1", len(ids), ids)
	}
	if page := asker.list(t, nil); len(page.Questions) != 1 {
		t.Errorf("got %d questions in the list; want 1", len(page.Questions))
	}
}
