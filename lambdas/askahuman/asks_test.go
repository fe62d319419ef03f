package askahuman_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// However an agent's asks come, with a key, without one, or refused for their content, and to whatever instances, the
// limit counts each once, and a question is stored for each that is answered with 201.
func TestAsksRace(t *testing.T) {
	// Alone: with others at the same time, the engine is busy for longer than an ask may take.
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	limit, _ := askahuman.Platform().RateLimit("create")
	start := time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)
	clock := func() time.Time { return start }
	rules := askahuman.DefaultRules()
	rules.OpenQuestions = limit.Requests / 3
	asks := &service.Service{DB: tables.DB, Rules: &rules, Clock: clock}
	var handlers []*kit.API
	for range 3 {
		options := api.Options{RateLimiter: asks.Limiter(), Log: slog.New(slog.DiscardHandler), Clock: clock}
		handlers = append(handlers, (&api.AgentAPI{Service: asks, Keys: asks.Keys(), OpenAgents: true,
			Options: options}).Handler())
	}
	var mu sync.Mutex
	answers := map[int]int{}
	var group sync.WaitGroup
	for i := range limit.Requests * 3 / 2 {
		group.Go(func() {
			body := `{"prompt":"Is anybody out there?","type":"text"}`
			if i%3 == 0 {
				body = `{"prompt":"Is","type":"text"}`
			}
			r := httptest.NewRequest("POST", "/agent/questions", strings.NewReader(body))
			r.Header.Set("X-Agent-Id", "racer")
			if i%3 == 1 {
				r.Header.Set("X-Idempotency-Key", fmt.Sprint(i))
			}
			w := httptest.NewRecorder()
			handlers[i/3%len(handlers)].ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			answers[w.Code]++
		})
	}
	group.Wait()
	var questions []askahuman.Question
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := asks.List(t.Context(), "racer", askahuman.StatusOpen, 20, cursor)
		must.OK(t, err)
		questions, cursor = append(questions, page...), next
	}
	counted := 0
	for code, n := range answers {
		switch code {
		case 201, 400, 403:
			counted += n
		case 429, 503:
		default:
			t.Errorf("got %d answers with %d", n, code)
		}
	}
	if counted > limit.Requests || answers[503] == 0 && counted != limit.Requests || len(questions) < answers[201] ||
		len(questions) > answers[201]+answers[503] || answers[201] > rules.OpenQuestions {
		t.Errorf("got the answers %v and %d questions; want %d that are not limited, at most %d of them with 201",
			answers, len(questions), limit.Requests, rules.OpenQuestions)
	}
	t.Log(answers)
}
