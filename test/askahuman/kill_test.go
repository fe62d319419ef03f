package askahuman

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// Killing handlers in the middle of requests loses nothing that was acknowledged, and a request
// that is repeated until it is answered takes effect once.
func TestKilledHandlersLoseNothing(t *testing.T) {
	t.Parallel()
	target := ownRun(t, run.Options{})
	c := newClient(t, target)
	asker := c.newAgent()
	human, agentAPI := target.Function(t, "HumanAPI"), target.Function(t, "AgentAPI")

	const questions, people = 5, 40
	keys := make([]string, questions)
	for i := range keys {
		keys[i] = onesynthtest.Unique("key")
	}
	var kills, failures, replies, waits atomic.Int32
	// Every few replies an instance dies, a busy one if there is any.
	reap := func(function string) error {
		if replies.Add(1)%4 != 0 {
			return nil
		}
		_, err := target.Run.Kill(function)
		if errors.Is(err, run.ErrNotRunning) {
			return nil
		}
		kills.Add(1)
		return err
	}
	// until repeats a request until the platform itself answers. A killed attempt counts as running
	// until its function's time is up. Until then the answer to the next attempt says when to try
	// again.
	const maxWait = 3 * time.Minute
	until := func(function string, request func() (onesynthtest.Reply, error)) (onesynthtest.Reply, error) {
		for attempts, begun := 0, time.Now(); attempts < 25 && time.Since(begun) < maxWait; {
			r, err := request()
			if err != nil {
				return r, err
			}
			if p, err := suite.IsError(r); err == nil && p.Code == "REQUEST_IN_PROGRESS" {
				waits.Add(1)
				after, told := r.RetryAfter()
				if !told {
					return r, fmt.Errorf("got %v without the time to wait", r)
				}
				time.Sleep(after)
				continue
			}
			attempts++
			if err := reap(function); err != nil {
				return r, err
			}
			if r.Status < 500 {
				return r, nil
			}
			failures.Add(1)
		}
		return onesynthtest.Reply{}, fmt.Errorf("got no answer in 25 attempts and %v", maxWait)
	}

	// Asks repeated with their key are one question each.
	ids := make([]string, questions)
	if err := onesynthtest.Together(4*questions, func(i int) error {
		question := textQuestion(50)
		question.IdempotencyKey = &keys[i%questions]
		r, err := until(agentAPI, func() (onesynthtest.Reply, error) {
			return asker.Send(t.Context(), http.MethodPost, "/agent/questions", nil, question)
		})
		if err != nil {
			return err
		}
		if r.Status != http.StatusCreated {
			return fmt.Errorf("got %v; want 201", r)
		}
		if i < questions {
			ids[i] = onesynthtest.Field(r.Body, "question_id")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if stored := target.Items(t, "Questions"); len(stored) != questions {
		t.Fatalf("got %d questions stored; want %d", len(stored), questions)
	}

	// Answers repeated until they are acknowledged, or known to be stored, are stored
	// once each.
	var mutex sync.Mutex
	acknowledged := map[string]int{} // points by response
	if err := onesynthtest.Together(people, func(int) error {
		one := c.newPerson()
		for _, id := range ids {
			r, err := until(human, func() (onesynthtest.Reply, error) {
				return one.tryAnswer(t.Context(), textAnswer(id))
			})
			switch {
			case err != nil:
				return err
			case r.Status == http.StatusCreated:
				got := onesynthtest.Read[askahuman.Receipt](t, r, http.StatusCreated)
				mutex.Lock()
				acknowledged[got.ResponseID] = got.PointsEarned
				mutex.Unlock()
			case r.Status != http.StatusConflict:
				return fmt.Errorf("got %v; want 201, or 409 for one that was stored without an answer", r)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if kills.Load() == 0 || failures.Load() == 0 {
		t.Errorf("got %d kills and %d failed requests: the test has shown nothing", kills.Load(), failures.Load())
	}
	t.Logf("%d kills, %d requests failed, %d had to wait for a killed one, %d of %d answers acknowledged", kills.Load(),
		failures.Load(), waits.Load(), len(acknowledged), questions*people)

	stored, perQuestion, pointsOf, answersOf := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, item := range target.Items(t, "Responses") {
		points, person := int(item["points_earned"].(float64)), item["fingerprint_hash"].(string)
		stored[item["response_id"].(string)] = points
		perQuestion[item["question_id"].(string)]++
		pointsOf[person] += points
		answersOf[person]++
	}
	for id, points := range acknowledged {
		if got, ok := stored[id]; !ok || got != points {
			t.Errorf("response %s: acknowledged with %d points, stored: %v with %d", id, points, ok, got)
		}
	}
	for _, id := range ids {
		got := asker.question(t, id)
		if got.CurrentResponses != people || perQuestion[id] != people || got.Status != "PARTIAL" {
			t.Errorf("question %s: got %s with %d counted and %d stored; want PARTIAL with %d", id, got.Status,
				got.CurrentResponses, perQuestion[id], people)
		}
	}
	for _, item := range target.Items(t, "UserStats") {
		person := item["fingerprint_hash"].(string)
		if points, answers := int(item["total_points"].(float64)),
			int(item["total_answers"].(float64)); points != pointsOf[person] || answers != answersOf[person] ||
			answers != questions {
			t.Errorf("person %.8s: got %d points for %d answers in stats, %d for %d stored", person, points, answers,
				pointsOf[person], answersOf[person])
		}
	}
	if open := target.openQuestions(t); open != questions {
		t.Errorf("got %d places taken; want %d", open, questions)
	}
}

// openQuestions counts the places that questions have of their agents' quotas.
func (p *target) openQuestions(t testing.TB) int {
	t.Helper()
	open := 0
	for _, item := range p.Items(t, "Guards") {
		if ids, ok := item["open_question_ids"].([]string); ok {
			open += len(ids)
		}
	}
	return open
}
