package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// platform is Ask-a-Human with open agents, over HTTP.
type platform struct {
	*worldtest.World
	service *service.Service
	api     *api.AgentAPI
	handler *mcp.Handler
	url     string
	log     wait.Output
}

// pass lets time pass.
func (p *platform) pass(_ context.Context, d time.Duration) error {
	p.Advance(d)
	return nil
}

// newPlatform is a platform with its tables, and with changes.
func newPlatform(t testing.TB, changes ...func(*platform)) *platform {
	t.Helper()
	p := &platform{World: worldtest.New(t, askahuman.Platform(), time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC))}
	p.service = &service.Service{DB: p.DB, Clock: p.Now, Pause: p.pass}
	keys := p.service.Keys()
	keys.Clock = p.Now
	log := slog.New(slog.NewJSONHandler(&p.log, nil))
	p.api = &api.AgentAPI{Service: p.service, Keys: keys, OpenAgents: true,
		Options: api.Options{RateLimiter: httpapitest.Unlimited{}, Log: log, Clock: p.Now}}
	p.handler = &mcp.Handler{Log: log}
	for _, change := range changes {
		change(p)
	}
	p.handler.API = p.api.Handler()
	server := httptest.NewServer(p.handler.Serve())
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// agent carries requests of one agent.
type agent string

func (a agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(askahuman.AgentHeader, string(a))
	r.Close = true // the end of another test's server closes what http.DefaultTransport keeps
	return http.DefaultTransport.RoundTrip(r)
}

// connected is a session of the SDK's own client.
func connected(t testing.TB, transport sdk.Transport, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	session := must.Get(client.Connect(t.Context(), transport, nil))(t)
	t.Cleanup(func() { session.Close() })
	return session
}

// connect is a session of an agent over HTTP.
func connect(t testing.TB, url string, transport http.RoundTripper) *sdk.ClientSession {
	t.Helper()
	return connected(t, &sdk.StreamableClientTransport{Endpoint: url + askahuman.MCPPath,
		HTTPClient: &http.Client{Transport: transport}}, nil)
}

// callTool calls a tool, and checks that its structured content is what the tool promises.
func callTool(t testing.TB, session *sdk.ClientSession, name string, arguments map[string]any) *sdk.CallToolResult {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(result.Content) != 1 || text(result) == "" {
		t.Fatalf("%s: got the content %v; want one text", name, result.Content)
	}
	if result.IsError {
		return result
	}
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		if tool.Name == name {
			var form jsonschema.Schema
			recode(t, tool.OutputSchema, &form)
			resolved, err := form.Resolve(nil)
			if err != nil {
				t.Fatalf("%s: its output schema: %v", name, err)
			}
			var value any
			recode(t, result.StructuredContent, &value)
			if err := resolved.Validate(value); err != nil {
				t.Errorf("%s: got %v, which is not what its output schema says: %v", name, value, err)
			}
		}
	}
	return result
}

func recode(t testing.TB, from, into any) {
	t.Helper()
	content := must.Get(json.Marshal(from))(t)
	must.OK(t, json.Unmarshal(content, into))
}

func text(result *sdk.CallToolResult) string {
	if content, ok := result.Content[0].(*sdk.TextContent); ok {
		return content.Text
	}
	return ""
}

func field(t testing.TB, result *sdk.CallToolResult, name string) any {
	t.Helper()
	if result.IsError {
		t.Fatalf("got the error %s", text(result))
	}
	var object map[string]any
	recode(t, result.StructuredContent, &object)
	return object[name]
}

// says checks that a text has all of these parts.
func says(t testing.TB, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("got %q; want it to say %q", got, part)
		}
	}
}

func (p *platform) answer(t testing.TB, person, questionID, answer string) {
	t.Helper()
	must.Get(p.service.Answer(t.Context(), person, nil,
		askahuman.Answer{QuestionID: questionID, Text: &answer}))(t)
}

const prompt = "Should error messages apologise to people?"

// The tools are described as they were: models and their clients rely on it.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	session := connect(t, newPlatform(t).url, agent("me"))
	var tools []*sdk.Tool
	for tool, err := range session.Tools(t.Context(), nil) {
		must.OK(t, err)
		tools = append(tools, tool)
		var form jsonschema.Schema
		recode(t, tool.InputSchema, &form)
		if _, err := form.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
			t.Errorf("%s: its input schema: %v", tool.Name, err)
		}
	}
	got := must.Get(json.MarshalIndent(tools, "", "  "))(t)
	httpapitest.SameAsFile(t, "testdata/tools.json", append(got, '\n'))
}

// A question is asked, answered, waited for, listed and closed.
func TestLifeOfAQuestion(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	session := connect(t, p.url, agent("me"))
	asked := callTool(t, session, mcp.AskHuman, map[string]any{"prompt": prompt, "min_responses": 3})
	id, _ := field(t, asked, "question_id").(string)
	says(t, text(asked), id, "wait_for_answers")

	says(t, text(callTool(t, session, mcp.CheckQuestion, map[string]any{"question_id": id})), "OPEN, 0 of 3",
		"no one has answered yet")
	says(t, text(callTool(t, session, mcp.WaitForAnswers, map[string]any{"question_id": id})), "OPEN, 0 of 3")
	if waited := p.Now().Sub(time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)); waited != 20*time.Second {
		t.Errorf("waited %v; want 20s", waited)
	}
	p.answer(t, "ann", id, "Only if it is our fault.")
	news := callTool(t, session, mcp.WaitForAnswers, map[string]any{"question_id": id, "seen": 0, "wait_seconds": 5})
	says(t, text(news), "PARTIAL, 1 of 3", "Only if it is our fault.", "strangers", "seen 1")
	if got := field(t, news, "current_responses"); got != 1.0 {
		t.Errorf("got %v answers; want 1", got)
	}
	says(t, text(callTool(t, session, mcp.ListQuestions, nil)), id, "PARTIAL", prompt)
	says(t, text(callTool(t, session, mcp.ListQuestions, map[string]any{"status": "CLOSED"})), "no such questions")
	says(t, text(callTool(t, session, mcp.CloseQuestion, map[string]any{"question_id": id})), "no more answers")
	says(t, text(callTool(t, session, mcp.CheckQuestion, map[string]any{"question_id": id})), "CLOSED, 1 of 3",
		"has ended")

	// Another agent sees nothing of it.
	other := connect(t, p.url, agent("other"))
	says(t, text(callTool(t, other, mcp.ListQuestions, nil)), "no such questions")
	if result := callTool(t, other, mcp.CheckQuestion, map[string]any{"question_id": id}); !result.IsError {
		t.Errorf("another agent reads %s", text(result))
	}
}

// The answers to a choice are counted by option, and its type follows from the options.
func TestChoice(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	session := connect(t, p.url, agent("me"))
	asked := callTool(t, session, mcp.AskHuman,
		map[string]any{"prompt": "Which label is clearer?", "options": []string{"Zebra", "Ant"}, "min_responses": 2})
	id, _ := field(t, asked, "question_id").(string)
	for person, option := range map[string]int{"ann": 1, "bob": 1} {
		must.Get(p.service.Answer(t.Context(), person, nil,
			askahuman.Answer{QuestionID: id, Option: &option}))(t)
	}
	result := callTool(t, session, mcp.CheckQuestion, map[string]any{"question_id": id})
	says(t, text(result), "CLOSED, 2 of 2", "0 for Zebra\n2 for Ant", "answer 1: option 1")
}

// A call that is made again asks once, and says so. Another key asks again.
func TestAsksOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	session := connect(t, p.url, agent("me"))
	ask := func(arguments map[string]any) string {
		t.Helper()
		arguments["prompt"] = prompt
		id, _ := field(t, callTool(t, session, mcp.AskHuman, arguments), "question_id").(string)
		return id
	}
	first := ask(map[string]any{})
	for _, same := range []map[string]any{{}, {"type": "text"}, {"min_responses": 5},
		{"audience": []string{"general"}, "options": nil}, {"idempotency_key": nil}} {
		if again := ask(same); again != first {
			t.Errorf("asked again with %v: got %s; want %s", same, again, first)
		}
	}
	seen := map[string]bool{first: true}
	for _, other := range []map[string]any{{"min_responses": 4}, {"idempotency_key": "once more"},
		{"audience": []string{"technical"}}} {
		if id := ask(other); seen[id] {
			t.Errorf("asked %v: got %s, which is another question", other, id)
		} else {
			seen[id] = true
		}
	}
	result := callTool(t, connect(t, p.url, agent("other")), mcp.AskHuman, map[string]any{"prompt": prompt})
	if id, _ := field(t, result, "question_id").(string); seen[id] {
		t.Errorf("another agent got %s", id)
	}
}

// A call that is made again long after the first says so, and once the question has ended how it has, and what to do; a
// new question is read by no one.
func TestAskedAgainAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(t *testing.T, p *platform, id string)
		want string
		says []string
	}{
		"Open": {func(*testing.T, *platform, string) {}, "OPEN", []string{"wait_for_answers"}},
		"Partial": {func(t *testing.T, p *platform, id string) {
			p.answer(t, "ann", id, "Never.")
		}, "PARTIAL", []string{"wait_for_answers"}},
		"Long": {func(t *testing.T, p *platform, _ string) {
			p.Advance(time.Minute)
		}, "OPEN", []string{"was asked at 2026-02-02T09:30:00.000Z already", "another idempotency_key"}},
		"Closed": {func(t *testing.T, p *platform, id string) {
			must.OK(t, p.service.Close(t.Context(), "me", id))
		}, "CLOSED", []string{"CLOSED, 0 of 2", "takes no more answers", "another idempotency_key"}},
		"Answered": {func(t *testing.T, p *platform, id string) {
			p.answer(t, "ann", id, "Never.")
			p.answer(t, "bob", id, "Ever.")
		}, "CLOSED", []string{"CLOSED, 2 of 2", "check_question", "another idempotency_key"}},
		"Expired": {func(t *testing.T, p *platform, _ string) {
			p.Advance(time.Hour)
		}, "EXPIRED", []string{"EXPIRED, 0 of 2", "another idempotency_key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			reads := 0
			session := inMemory(t, &mcp.Server{Clock: p.Now, Client: func(context.Context, http.Header) *mcp.Client {
				return &mcp.Client{Header: http.Header{"X-Agent-Id": {"me"}},
					Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodGet {
							reads++
						}
						return apiOf(p).RoundTrip(r)
					})}
			}}, nil)
			ask := map[string]any{"prompt": prompt, "min_responses": 2}
			first := callTool(t, session, mcp.AskHuman, ask)
			if got := field(t, first, "status"); got != "OPEN" || reads != 0 ||
				strings.Contains(text(first), "already") {
				t.Fatalf("got %v after %d reads, %q; want OPEN without one", got, reads, text(first))
			}
			p.Advance(time.Second)
			id, _ := field(t, first, "question_id").(string)
			test.end(t, p, id)
			again := callTool(t, session, mcp.AskHuman, ask)
			if field(t, again, "question_id") != id || field(t, again, "status") != test.want || reads != 1 {
				t.Errorf("got %v after %d reads; want %s of %s after one", again.StructuredContent, reads, test.want,
					id)
			}
			says(t, text(again), append(test.says, id)...)
		})
	}
}

// A wait for several questions ends with the first news, and has that of all. A question without news is named.
func TestWaitsForSeveral(t *testing.T) {
	t.Parallel()
	p := newPlatform(t, func(p *platform) {
		p.service.Pause = func(ctx context.Context, _ time.Duration) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
	session := connect(t, p.url, agent("me"))
	var ids []string
	for i := range 8 {
		id, _ := field(t, callTool(t, session, mcp.AskHuman,
			map[string]any{"prompt": prompt, "idempotency_key": fmt.Sprint(i)}), "question_id").(string)
		ids = append(ids, id)
	}
	p.answer(t, "ann", ids[3], "First of all, no.")
	p.answer(t, "ann", ids[5], "I said that already.")
	must.OK(t, p.service.Close(t.Context(), "me", ids[7]))
	wait := func(seconds int, seen map[int]int) *sdk.CallToolResult {
		var questions []map[string]any
		for i, id := range ids {
			questions = append(questions, map[string]any{"question_id": id, "seen": seen[i]})
		}
		return callTool(t, session, mcp.WaitForAnswers, map[string]any{"questions": questions, "wait_seconds": seconds})
	}
	names := func(result *sdk.CallToolResult, list string) (all []string) {
		entries, _ := field(t, result, list).([]any)
		for _, entry := range entries {
			if fields, ok := entry.(map[string]any); ok {
				entry = fields["question_id"]
			}
			all = append(all, fmt.Sprint(entry))
		}
		return all
	}
	result := wait(20, map[int]int{5: 1})
	if got := names(result, "questions"); !slices.Equal(got, []string{ids[3], ids[7]}) {
		t.Errorf("got news of %v; want %s and %s", got, ids[3], ids[7])
	}
	if got := names(result, "waiting"); len(got) != 6 || slices.Contains(got, ids[3]) || !slices.Contains(got, ids[5]) {
		t.Errorf("got %d that wait: %v", len(got), got)
	}
	says(t, text(result), "First of all, no.", "CLOSED, 0 of 5", "No news yet of: "+ids[0],
		"call wait_for_answers again with these")
	if strings.Contains(text(result), "already") || strings.Contains(p.log.String(), `"ERROR"`) {
		t.Errorf("got %q, and the log %s", text(result), p.log.String())
	}
	if nothing := wait(0, map[int]int{3: 1, 5: 1}); len(names(nothing, "questions")) != 1 ||
		len(names(nothing, "waiting")) != 7 {
		t.Errorf("got %v", nothing.StructuredContent)
	}
}

// Answers that are too long for one result are left to the next call.
func TestWaitsForMoreThanFits(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	session := connect(t, p.url, agent("me"))
	var questions []map[string]any
	for i := range 2 {
		id, _ := field(t, callTool(t, session, mcp.AskHuman,
			map[string]any{"prompt": prompt, "idempotency_key": fmt.Sprint(i), "min_responses": 50}),
			"question_id").(string)
		for person := range 22 {
			p.answer(t, fmt.Sprint("p", person), id, strings.Repeat("a\U000e0041", 2500))
		}
		questions = append(questions, map[string]any{"question_id": id})
	}
	for calls := range 2 {
		result := callTool(t, session, mcp.WaitForAnswers, map[string]any{"questions": questions})
		got, _ := field(t, result, "questions").([]any)
		more, _ := field(t, result, "more").([]any)
		if len(got) != 1 || len(more) != 1-calls {
			t.Fatalf("call %d: got %d questions and %v more; want one, and what is left", calls+1, len(got), more)
		}
		if questions = nil; calls == 0 {
			says(t, text(result), "does not fit", fmt.Sprint(more[0]))
			questions = []map[string]any{{"question_id": more[0]}}
		}
	}
}

// apiOf carries requests to the platform's API of agents.
func apiOf(p *platform) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		p.handler.API.ServeHTTP(w, r)
		return w.Result(), nil
	}
}

// inMemory is a session with a server in this process, as over stdio.
func inMemory(t testing.TB, server *mcp.Server, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	must.Get(server.New().Connect(t.Context(), ours, nil))(t)
	return connected(t, theirs, options)
}

// Over a live connection, a client that asks hears how long a call has waited. An API that does not wait
// is read twice, with the wait between.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]bool{"Waiting": false, "WithoutWaiting": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t, func(p *platform) { p.api.Parts.WithoutWaiting = without })
			var reads, polls int
			counting := roundTripper(func(r *http.Request) (*http.Response, error) {
				reads++
				if !without && r.Method == http.MethodGet {
					// The reports are by the clock of the machine.
					if err := retry.Pause(r.Context(), 50*time.Millisecond); err != nil {
						return nil, err
					}
				}
				return apiOf(p).RoundTrip(r)
			})
			server := &mcp.Server{Live: true, Clock: p.Now, Client: func(context.Context, http.Header) *mcp.Client {
				return &mcp.Client{Transport: counting, Header: http.Header{"X-Agent-Id": {"me"}}}
			}, Pause: func(ctx context.Context, d time.Duration) error {
				if d < 5*time.Second {
					// A step of progress.
					return retry.Pause(ctx, time.Millisecond)
				}
				polls++
				if err := retry.Pause(ctx, 50*time.Millisecond); err != nil {
					return err
				}
				return p.pass(ctx, d)
			}}
			heard := make(chan *sdk.ProgressNotificationParams, 1000)
			session := inMemory(t, server, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					heard <- r.Params
				}})
			id, _ := field(t, callTool(t, session, mcp.AskHuman, map[string]any{"prompt": prompt}),
				"question_id").(string)
			reads = 0
			params := &sdk.CallToolParams{Name: mcp.WaitForAnswers,
				Arguments: map[string]any{"question_id": id, "wait_seconds": 10}}
			params.SetProgressToken("p")
			result, err := session.CallTool(t.Context(), params)
			if err != nil || result.IsError {
				t.Fatalf("got %v, %v", result, err)
			}
			if want := map[bool]int{false: 1, true: 2}[without]; reads != want || polls != want-1 {
				t.Errorf("got %d reads and %d waits of the tool; want %d and %d", reads, polls, want, want-1)
			}
			wait.Until(t, "progress is heard of", func() (any, bool) { return len(heard), len(heard) > 0 })
			if first := <-heard; first.ProgressToken != "p" || first.Total != 10 {
				t.Errorf("got %+v; want the token p and the total 10", first)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func askAnything() askahuman.Ask { return askahuman.Ask{Prompt: prompt, Type: askahuman.TypeText} }
