// Package claritytest gives tests Clarity on tables of their own, with an evaluator and a clock that
// they hold.
package claritytest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Judge is an evaluator that counts what it is asked. Its zero value finds every attempt good.
type Judge struct {
	mu    sync.Mutex
	calls int
	asked map[string]int
	says  func(ctx context.Context, call int) (clarity.Judgement, error)
}

// Evaluate is a [service.Evaluator].
func (j *Judge) Evaluate(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement,
	error) {
	j.mu.Lock()
	if j.asked == nil {
		j.asked = map[string]int{}
	}
	j.calls++
	j.asked[answers[0].Text]++
	call, says := j.calls, j.says
	j.mu.Unlock()
	for i, answer := range answers {
		if q := scenario.Questions[i]; q.ID != answer.QuestionID || q.Text != answer.QuestionText {
			return clarity.Judgement{}, fmt.Errorf("answer %d is to %q, but the question is %q", i, answer.QuestionText,
				q.Text)
		}
	}
	if says == nil {
		return Good(), nil
	}
	return says(ctx, call)
}

// Calls is how often it was asked.
func (j *Judge) Calls() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.calls
}

// Asked is how often it was asked about answers that begin with this one.
func (j *Judge) Asked(answer string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.asked[answer]
}

// Says sets what it says from now on; nil: that every attempt is good. call counts from 1.
func (j *Judge) Says(says func(ctx context.Context, call int) (clarity.Judgement, error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.says = says
}

// Good is a judgement of 3 in every dimension, of which the last is uncertain.
func Good() clarity.Judgement {
	judgement := clarity.Judgement{Feedback: "Good.", ModelID: "judge"}
	for _, d := range clarity.Dimensions() {
		judgement.Dimensions = append(judgement.Dimensions,
			clarity.DimensionScore{Name: d, Score: 3, Rationale: []string{"It is clear."},
				Uncertain: d == clarity.Humility})
	}
	return judgement
}

// Began is the moment at which the clock of a [World] begins.
func Began() time.Time { return time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC) }

// World is Clarity on tables of its own, with the scenarios of [Scenario].
type World struct {
	*service.Service
	*worldtest.World
	Judge *Judge

	metrics bytes.Buffer
}

// New makes a world.
func New(t testing.TB) *World {
	t.Helper()
	return Of(t, clarity.Platform())
}

// Of makes a world of the platform with what a team has added.
func Of(t testing.TB, platform schema.Platform) *World {
	t.Helper()
	w := &World{World: worldtest.New(t, platform, Began()), Judge: &Judge{}}
	scenarios := service.NewScenarios(w.Tables.DB, w.Read)
	for _, id := range []string{"bridge", "inactive"} {
		must.Get(scenarios.Add(t.Context(), Scenario(id)))(t)
	}
	w.Service = &service.Service{
		DB: w.Tables.DB, CursorKey: []byte("the key of these tests"),
		Scenarios: scenarios, Evaluator: w.Judge.Evaluate,
		EvaluationsPerDay: 20, Clock: w.Read, Log: slog.New(slog.DiscardHandler),
		Metrics: &kit.Metrics{Namespace: "Onesynth/clarity", Function: "test", Writer: &w.metrics},
	}
	return w
}

// Scenario is a scenario with the questions q1 and q2, active unless its id says otherwise.
func Scenario(id string) clarity.Scenario {
	question := func(id string) clarity.Question {
		return clarity.Question{ID: id, Text: "What follows from " + id + "?", Type: "long", TargetWordCount: 100,
			FocusAreas: []clarity.Dimension{clarity.Logic}}
	}
	return clarity.Scenario{
		ID: id, Title: "A bridge", Description: strings.Repeat("A bridge over the river. ", 3),
		Difficulty: clarity.Beginner, Tags: []string{"city"},
		Questions: []clarity.Question{question("q1"), question("q2")}, Active: id != "inactive",
		CreatedAt: wire.Time(Began()), EstimatedMinutes: 10,
	}
}

// Answers are good answers to a [Scenario], which begin with a text.
func Answers(text string) clarity.GivenAnswers {
	return clarity.GivenAnswers{{QuestionID: "q1", Text: text + " carries ten tons."},
		{QuestionID: "q2", Text: text + " was built in 1911."}}
}

// Submission is a completed attempt with these answers.
func Submission(text string) clarity.Submission {
	return clarity.Submission{ScenarioID: "bridge", Answers: Answers(text)}
}

// Read is the clock.
func (w *World) Read() time.Time { return w.Now() }

// Metrics are the lines with the metrics so far.
func (w *World) Metrics() string { return w.metrics.String() }

// API is the handler of the routes.
func (w *World) API() *kit.API {
	keys := service.Keys(w.DB)
	keys.Clock = w.Read
	return api.Handler(w.Service, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys}, WorkTime: w.WorkTime(),
		Log: slog.New(slog.DiscardHandler), Clock: w.Read})
}
