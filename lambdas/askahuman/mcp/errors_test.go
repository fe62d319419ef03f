package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// limited refuses every call that writes.
type limited struct {
	httpapitest.Unlimited
	until time.Time
}

func (l limited) CountRequest(context.Context, schema.RateLimit, string, time.Time) (ratelimit.State, error) {
	state := ratelimit.State{Limit: 60, Reset: l.until}
	return state, &ratelimit.LimitedError{State: state}
}

// An error says what is wrong and what a model is to do about it.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	const id = "6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"
	for name, test := range map[string]struct {
		change    func(*platform)
		agent     agent
		tool      string
		arguments map[string]any
		says      []string
	}{
		"Short": {tool: mcp.AskHuman, arguments: map[string]any{"prompt": "Why?"},
			says: []string{"prompt has 4 characters; it needs 10 to 2000",
				"Next: correct these arguments and call ask_human again"}},
		"NoPrompt": {tool: mcp.AskHuman, arguments: map[string]any{}, says: []string{"prompt"}},
		"Audience": {tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt,
			"audience": []string{"experts"}}, says: []string{"audience[0]", "technical", "general"}},
		"Several": {tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt, "min_responses": 51,
			"timeout_seconds": 1}, says: []string{"min_responses", "50", "timeout_seconds", "60"}},
		"WrongType": {tool: mcp.AskHuman, arguments: map[string]any{"prompt": 7}, says: []string{"prompt"}},
		"Unknown": {tool: mcp.AskHuman, arguments: map[string]any{"question": prompt},
			says: []string{`"question" is no argument of ask_human`, "allowed are audience, callback_url, " +
				"idempotency_key, min_responses, options, prompt, timeout_seconds, type"}},
		"OneOption": {tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt, "options": []string{"yes"}},
			says: []string{"options", "2"}},
		"NoID": {tool: mcp.CheckQuestion, says: []string{"question_id is missing", "list_questions"}},
		"IDOfNoType": {tool: mcp.CheckQuestion, arguments: map[string]any{"question_id": 7},
			says: []string{"question_id is 7"}},
		"NotFound": {tool: mcp.CheckQuestion, arguments: map[string]any{"question_id": id},
			says: []string{"No question of yours", "list_questions"}},
		"OddID": {tool: mcp.CheckQuestion, arguments: map[string]any{"question_id": "../questions?limit=1"},
			says: []string{"question_id is", "list_questions"}},
		"CloseNotFound": {tool: mcp.CloseQuestion, arguments: map[string]any{"question_id": id},
			says: []string{"No question of yours"}},
		"WaitTooLong": {tool: mcp.WaitForAnswers, arguments: map[string]any{"question_id": id, "wait_seconds": 60},
			says: []string{"wait_seconds is 60; allowed are 0 to 20", "call again"}},
		"WaitSeen": {tool: mcp.WaitForAnswers, arguments: map[string]any{"question_id": id, "seen": 51},
			says: []string{"seen", "50"}},
		"WaitNone": {tool: mcp.WaitForAnswers, arguments: map[string]any{"questions": []any{}},
			says: []string{"questions has 0 entries; allowed are 1 to 20"}},
		"WaitMany": {tool: mcp.WaitForAnswers, arguments: map[string]any{"questions": make([]struct{}, 21)},
			says: []string{"questions has 21 entries; allowed are 1 to 20"}},
		"WaitBoth": {tool: mcp.WaitForAnswers,
			arguments: map[string]any{"question_id": id, "questions": []any{map[string]any{"question_id": id}}},
			says:      []string{"question_id is given together with questions"}},
		"WaitTwice": {tool: mcp.WaitForAnswers,
			arguments: map[string]any{"questions": []any{map[string]any{"question_id": id},
				map[string]any{"question_id": id}}}, says: []string{"questions[1].question_id is there twice"}},
		"WaitOddID": {tool: mcp.WaitForAnswers,
			arguments: map[string]any{"questions": []any{map[string]any{"question_id": "../x"}}},
			says:      []string{"questions[0].question_id is none"}},
		"WaitOddSeen": {tool: mcp.WaitForAnswers,
			arguments: map[string]any{"questions": []any{map[string]any{"question_id": id, "seen": 51}}},
			says:      []string{"questions[0].seen is 51; allowed are 0 to 50"}},
		"WaitOddList": {tool: mcp.WaitForAnswers, arguments: map[string]any{"questions": id},
			says: []string{"questions is", "inputSchema"}},
		"WaitNotFound": {tool: mcp.WaitForAnswers,
			arguments: map[string]any{"questions": []any{map[string]any{"question_id": id}}},
			says:      []string{"questions[0].question_id is " + id, "No question of yours"}},
		"Status": {tool: mcp.ListQuestions, arguments: map[string]any{"status": "DONE"},
			says: []string{"status", "OPEN", "EXPIRED"}},
		"Cursor": {tool: mcp.ListQuestions, arguments: map[string]any{"cursor": "x"}, says: []string{"cursor"}},
		"Limit":  {tool: mcp.ListQuestions, arguments: map[string]any{"limit": 1.5}, says: []string{"limit"}},
		"NoAgent": {agent: " ", tool: mcp.ListQuestions,
			says: []string{"X-Agent-Id", "do not try again", "agent's id"}},
		"NoKey": {change: withKeys(t), tool: mcp.ListQuestions,
			says: []string{"does not know this agent", "do not try again"}},
		"NoToken": {change: func(p *platform) {
			p.api.OpenAgents = false
		}, tool: mcp.ListQuestions, says: []string{"does not know this agent", "do not try again"}},
		"Limited": {change: func(p *platform) {
			p.api.RateLimiter = limited{until: p.Now().Add(90 * time.Second)}
		}, tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt},
			says: []string{"call ask_human again in 90 seconds", "not before"}},
		"Quota": {change: func(p *platform) {
			p.fails(askahuman.ErrQuotaExceeded)
		}, tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt},
			says: []string{"100 questions", "close_question"}},
		"Failure": {change: func(p *platform) {
			p.fails(errors.New("a secret of the store"))
		}, tool: mcp.AskHuman, arguments: map[string]any{"prompt": prompt},
			says: []string{"could not answer for now", "call ask_human again with the same arguments",
				"nothing is done twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(*platform)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			who := test.agent
			if who == "" {
				who = "me"
			}
			session := connect(t, newPlatform(t, changes...).url, agent(strings.TrimSpace(string(who))))
			result := callTool(t, session, test.tool, test.arguments)
			if !result.IsError {
				t.Fatalf("got %s; want an error", text(result))
			}
			says(t, text(result), append(test.says, "Next: ")...)
			if strings.Contains(text(result), "secret of the store") {
				t.Errorf("got %q, which tells of the store", text(result))
			}
		})
	}
}

// withKeys has agents show keys, and has issued none.
func withKeys(t *testing.T) func(*platform) {
	keys := &service.AgentKeys{DB: dynamotest.Open(t, askahuman.AgentKeys()).DB}
	return func(p *platform) { p.api.OpenAgents, p.api.AgentKeys = false, keys }
}

// fails has all requests to the tables fail.
func (p *platform) fails(err error) {
	p.Recorder.Faults(func(schema.Action) error { return err }, nil)
}

// faults break some of the requests of a client: before the API carries them out, after, or instead.
func faults(api http.RoundTripper, kinds ...string) (http.RoundTripper, *atomic.Int32) {
	var sent atomic.Int32
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		n := int(sent.Add(1)) - 1
		if n >= len(kinds) {
			return api.RoundTrip(r)
		}
		if status, err := strconv.Atoi(kinds[n]); err == nil {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}, nil
		}
		if kinds[n] == "lost" {
			if _, err := api.RoundTrip(r); err != nil {
				return nil, err
			}
		}
		return nil, errors.New("the connection is " + kinds[n])
	}), &sent
}

// Lost answers and failures of the API cost nothing: an ask asks once, and a model that calls again gets the same
// question.
func TestAsksOnceThroughFaults(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]string{
		"None": nil, "Refused": {"refused"}, "Lost": {"lost"}, "Twice": {"lost", "503"}, "ServerError": {"500", "lost"},
		"GivesUp": {"lost", "500", "refused"}, "GivesUpTwice": {"refused", "500", "503", "lost", "lost", "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			transport, sent := faults(apiOf(p), kinds...)
			session := inMemory(t, &mcp.Server{Client: func(context.Context, http.Header) *mcp.Client {
				return &mcp.Client{Transport: transport, Header: http.Header{"X-Agent-Id": {"me"}}, Attempts: 3}
			}}, nil)
			var id string
			for calls := 0; id == ""; calls++ {
				if calls == 5 {
					t.Fatal("5 calls failed")
				}
				if result := callTool(t, session, mcp.AskHuman, map[string]any{"prompt": prompt}); result.IsError {
					says(t, text(result), "Next: call ask_human again with the same arguments")
				} else {
					id, _ = field(t, result, "question_id").(string)
				}
			}
			questions, _, err := p.service.List(t.Context(), "me", "", 20, "")
			if err != nil || len(questions) != 1 || questions[0].ID != id {
				t.Errorf("got the questions %v, %v after %d requests; want %s alone", questions, err, sent.Load(), id)
			}
		})
	}
}

// A tool waits for no time that is longer than an answer takes, and no number of seconds becomes another one.
func TestRetryAfterOfAnyLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"11": 11 * time.Second, "9223372036854775807": 24 * time.Hour,
		strings.Repeat("9", 400): 24 * time.Hour} {
		sent := 0
		agent := &mcp.Client{Attempts: 3, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {text}}, Body: http.NoBody}, nil
		})}
		_, err := agent.Ask(t.Context(), []byte(`{"prompt":"Why?","type":"text"}`))
		if refusal, ok := errors.AsType[*client.Refusal](err); !ok || sent != 1 {
			t.Errorf("Retry-After: %.30s: got %+v after %d requests; want a refusal after 1", text, err, sent)
		} else if after, _ := refusal.RetryAfter(); after != want {
			t.Errorf("Retry-After: %.30s: got %v; want %v", text, after, want)
		}
	}
}

// A refusal that no repetition helps is not repeated.
func TestDoesNotRepeatRefusals(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	transport, sent := faults(apiOf(p))
	agent := &mcp.Client{Transport: transport, Header: http.Header{"X-Agent-Id": {"me"}}, Attempts: 3}
	_, err := agent.Ask(t.Context(), []byte(`{"prompt":"Why?","type":"text"}`))
	refusal, ok := errors.AsType[*client.Refusal](err)
	if !ok || refusal.Code != "VALIDATION_ERROR" || sent.Load() != 1 {
		t.Errorf("got %v after %d requests; want VALIDATION_ERROR after 1", err, sent.Load())
	}
}
