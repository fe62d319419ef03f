package askahuman

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// A repeated ask is answered as the first was, to the byte, also after the question
// has changed.
func TestRepeatedAskIsOneQuestion(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	asker := c.newAgent()
	question := textQuestion(2)
	question.IdempotencyKey = onesynthtest.Unique("key")
	// A refused ask does not use the key up.
	refused := question
	refused.Prompt = "Too short      "
	invalid(t, asker.try(t, http.MethodPost, "/agent/questions", refused), "prompt")
	answered := asker.try(t, http.MethodPost, "/agent/questions", question)
	first := onesynthtest.Read[submission](t, answered, http.StatusCreated)
	repeat := func(when string) {
		t.Helper()
		if again := asker.try(t, http.MethodPost, "/agent/questions", question); again.Status != http.StatusCreated || !bytes.Equal(again.Body, answered.Body) {
			t.Errorf("%s: got %v; want %v", when, again, answered)
		}
	}
	repeat("at once")
	c.newPerson().answer(t, textAnswer(first.QuestionID))
	repeat("after an answer")
	asker.close(t, first.QuestionID)
	repeat("after closing")

	// The header has the effect of the field.
	inHeader := question
	inHeader.IdempotencyKey = ""
	header := asker.header()
	header.Set("X-Idempotency-Key", question.IdempotencyKey)
	if got := onesynthtest.Read[submission](t, asker.MustSend(t, http.MethodPost, "/agent/questions", header, inHeader), http.StatusCreated); got.QuestionID != first.QuestionID {
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
	c.Retry = onesynthtest.Busy
	asker := c.newAgent()
	question := textQuestion(2)
	question.IdempotencyKey = onesynthtest.Unique("key")
	var mutex sync.Mutex
	ids := map[string]int{}
	if err := onesynthtest.Together(20, func(int) error {
		r, err := asker.Send(t.Context(), http.MethodPost, "/agent/questions", asker.header(), question)
		if err != nil {
			return err
		}
		if r.Status != http.StatusCreated {
			return fmt.Errorf("got %v; want 201", r)
		}
		mutex.Lock()
		defer mutex.Unlock()
		ids[onesynthtest.Field(r.Body, "question_id")]++
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

// An attempt that died in the middle counts as running until its function's time is
// up: repeats are told so. Then one of them carries the request out.
func TestDiedAskIsTakenOver(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	c := newClient(t, target)
	agentAPI := target.Function(t, "AgentAPI")
	faults := func(f awsapi.Faults) {
		t.Helper()
		if err := target.Run.AWS().SetFaults(f); err != nil {
			t.Fatal(err)
		}
	}
	claim := func() map[string]any {
		for _, item := range target.Items(t, "Guards") {
			if item["claim"] != nil {
				return item
			}
		}
		return nil
	}
	// until says when the attempt counts as dead. Time passes in the table, not on this
	// machine.
	until := func(end time.Time) {
		t.Helper()
		target.Set(t, "Guards", "guard_key", claim()["guard_key"].(string), map[string]any{"claimed_until": end.UnixMilli()})
	}
	// Conflicts hold the attempt up between its claim and its commit, most of the
	// time long enough to meet it there.
	var asker agent
	var question ask
	for attempt := 0; ; attempt++ {
		if attempt == 50 {
			t.Fatal("no attempt of 50 could be killed under its claim")
		}
		asker, question = c.newAgent(), textQuestion(2)
		question.IdempotencyKey = onesynthtest.Unique("key")
		faults(awsapi.Faults{TransactionConflict: 0.85})
		answered := make(chan error, 1)
		var r onesynthtest.Reply
		go func() {
			var err error
			r, err = asker.Send(t.Context(), http.MethodPost, "/agent/questions", asker.header(), question)
			answered <- err
		}()
		for len(answered) == 0 && claim() == nil {
			time.Sleep(time.Millisecond)
		}
		if _, err := target.Run.Kill(agentAPI); err != nil && !errors.Is(err, lambda.ErrNotRunning) {
			t.Fatal(err)
		}
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		faults(awsapi.Faults{})
		if r.Status >= http.StatusInternalServerError && claim() != nil {
			break
		}
	}

	// A second after the function's time, which is 10 s.
	if left := time.Until(time.UnixMilli(int64(claim()["claimed_until"].(float64)))); left > 11*time.Second {
		t.Errorf("got a claim for another %v; want at most 11 s", left)
	}
	until(time.Now().Add(time.Hour))
	waiting := asker.try(t, http.MethodPost, "/agent/questions", question)
	refused(t, waiting, http.StatusConflict, "REQUEST_IN_PROGRESS")
	if waiting.Header.Get("Retry-After") != "1" {
		t.Errorf("got %v with Retry-After %q; want 1", waiting, waiting.Header.Get("Retry-After"))
	}
	other := question
	other.Prompt = "Should error messages be shorter?"
	invalid(t, asker.try(t, http.MethodPost, "/agent/questions", other), "idempotency_key")
	if page := asker.list(t, nil); len(page.Questions) != 0 {
		t.Errorf("got %d questions of a request that died; want none", len(page.Questions))
	}

	until(time.Now())
	made := asker.try(t, http.MethodPost, "/agent/questions", question)
	onesynthtest.Read[submission](t, made, http.StatusCreated)
	if again := asker.try(t, http.MethodPost, "/agent/questions", question); !bytes.Equal(again.Body, made.Body) {
		t.Errorf("got %v; want %v", again, made)
	}
	if page := asker.list(t, nil); len(page.Questions) != 1 {
		t.Errorf("got %d questions; want 1", len(page.Questions))
	}
}

// Through failures of DynamoDB, asks that are repeated until they are answered are
// one question for each key, with one answer.
func TestRepeatsUnderFaults(t *testing.T) {
	t.Parallel()
	target := ownRun(t, local.Options{})
	c := newClient(t, target)
	if err := target.Run.AWS().SetFaults(awsapi.Faults{Throttle: 0.1, TransactionConflict: 0.1, DropResponse: 0.1, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	const keys, repeats = 10, 4
	asker := c.newAgent()
	questions := make([]ask, keys)
	for i := range questions {
		questions[i] = textQuestion(2)
		questions[i].IdempotencyKey = onesynthtest.Unique("key")
	}
	var mutex sync.Mutex
	bodies := map[string]bool{}
	if err := onesynthtest.Together(keys*repeats, func(i int) error {
		for range 20 {
			r, err := asker.Send(t.Context(), http.MethodPost, "/agent/questions", asker.header(), questions[i%keys])
			if err != nil {
				return err
			}
			switch {
			case r.Status == http.StatusCreated:
				mutex.Lock()
				bodies[fmt.Sprint(i%keys, string(r.Body))] = true
				mutex.Unlock()
				return nil
			case r.Status != http.StatusConflict && r.Status != http.StatusTooManyRequests && r.Status < http.StatusInternalServerError:
				return fmt.Errorf("got %v; want 201, or to be told to come again", r)
			}
			target.forgetRateLimit(t, "create", asker.id)
			time.Sleep(time.Second)
		}
		return errors.New("got no answer in 20 attempts")
	}); err != nil {
		t.Fatal(err)
	}
	if err := target.Run.AWS().SetFaults(awsapi.Faults{}); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != keys {
		t.Errorf("got %d different answers to %d requests", len(bodies), keys)
	}
	if stored := target.Items(t, "Questions"); len(stored) != keys {
		t.Errorf("got %d questions stored; want %d", len(stored), keys)
	}
	if open := target.openQuestions(t); open != keys {
		t.Errorf("got %d places taken; want %d", open, keys)
	}
}
