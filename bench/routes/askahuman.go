package routes

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Ask-a-Human's rate limits would end a load within the first second. So each client acts as
// many agents and people at many addresses, each within its limits.
const (
	callsPerAgent   = 50
	callsPerPerson  = 25
	callsPerAddress = 250
	// changesPerPerson are the changes of subscriptions in an hour, the first subscription aside.
	changesPerPerson = 9
)

// The names of routes that tools of the Model Context Protocol call.
const (
	askedOnce = "once   POST /agent/questions, with a key"
	polled    = "poll   GET /agent/questions/{id}"
)

// AskAHuman says what to measure of Ask-a-Human.
func (described) AskAHuman() Measured {
	addresses := &atomic.Uint32{}
	begin := func(l *Run) *asker { return &asker{caller: caller{run: l}, addresses: addresses} }
	// A subscription, its token and its person; or, of a renewal, the old token and the new one.
	moved := Transaction{Items: 3, Indexed: 1}
	// A question, its place in the quota, and the answer under the key.
	kept := Transaction{Items: 3, Indexed: 1}
	return Measured{
		Webhook: func(l *Run) func(context.Context, string) error {
			a := begin(l)
			return func(ctx context.Context, endpoint string) error {
				a.endpoint = endpoint
				return errors.Join(a.ask(ctx), a.close(ctx))
			}
		},
		Routes: []Route{
			{Name: "warm   without DynamoDB", Clients: []int{1}, Client: client(begin, slowly, (*asker).refused)},
			{Name: "ask    POST /agent/questions", Clients: allClients, Patterns: []string{"TakePlace", "StoreQuestion"}, InARow: true, Client: client(begin, nil, (*asker).ask)},
			{Name: askedOnce, Clients: allClients, Patterns: []string{"TakePlace", "StoreQuestion"}, Transaction: kept, Client: client(begin, nil, (*asker).askOnce)},
			{Name: "tool   POST /mcp, ask_human", Clients: allClients, Patterns: []string{"TakePlace", "StoreQuestion"}, Transaction: kept, Plain: askedOnce, Client: client(begin, nil, (*asker).askByTool)},
			{Name: "answer POST /human/responses", Clients: allClients, Patterns: []string{"GetAnswerState", "ListRecentAnswers", "SubmitResponse"}, Client: client(begin, (*asker).needQuestion, (*asker).answer)},
			{Name: polled, Clients: allClients, Patterns: []string{"GetQuestion", "ListResponses"}, Client: client(begin, (*asker).needOwnQuestion, (*asker).poll)},
			{Name: "tool   POST /mcp, check_question", Clients: allClients, Patterns: []string{"GetQuestion", "ListResponses"}, Plain: polled, Client: client(begin, (*asker).needOwnQuestion, (*asker).pollByTool)},
			{Name: "feed   GET /human/questions", Clients: allClients, Patterns: []string{"ListOpenQuestions", "ListRecentAnswers"}, Client: client(begin, nil, (*asker).feed)},
			{Name: "mine   GET /agent/questions, of 1", Clients: single, Patterns: []string{"ListAgentQuestions"}, Client: client(begin, (*asker).needOwnQuestion, (*asker).mine)},
			{Name: "close  DELETE /agent/questions/{id}", Clients: single, Patterns: []string{"GetQuestion", "EndQuestion"}, Client: client(begin, (*asker).ask, (*asker).close)},
			{Name: "verify GET /agent/webhook-secrets", Clients: single, Patterns: []string{"GetWebhookSecret"}, Client: client(begin, nil, (*asker).readSecrets)},
			{Name: "rotate POST /agent/webhook-secrets", Clients: single, Patterns: []string{"GetWebhookSecret", "RotateWebhookSecret"}, Client: client(begin, nil, (*asker).rotateSecret)},
			{Name: "try    POST /agent/webhook-tests", Clients: single, Client: client(begin, nil, (*asker).tryEndpoint)},
			{Name: "look   GET /human/questions/{id}", Clients: single, Patterns: []string{"GetQuestion", "GetOwnResponse"}, Client: client(begin, (*asker).needQuestion, (*asker).look)},
			{Name: "stats  GET /human/stats", Clients: single, Patterns: []string{"GetUserStats"}, Client: client(begin, (*asker).needAnswered, (*asker).stats)},
			{Name: "top    GET /human/leaderboard, of all time", Clients: single, Client: client(begin, (*asker).needAnswered, (*asker).leaderboard)},
			{Name: "notify POST /human/push/subscribe", Clients: single, Patterns: []string{"CreateSubscription"}, Transaction: moved, Client: client(begin, (*asker).unsubscribe, (*asker).subscribe)},
			{Name: "renew  PUT /human/push/subscribe", Clients: single, Patterns: []string{"UpdateSubscription"}, Transaction: moved, Client: client(begin, (*asker).needSubscription, (*asker).renew)},
			{Name: "change PUT /human/push/subscribe/{id}", Clients: single, Patterns: []string{"ChangeSubscription"}, Client: client(begin, (*asker).needSubscription, (*asker).change)},
			{Name: "end    DELETE /human/push/subscribe/{id}", Clients: single, Patterns: []string{"DeleteSubscription"}, Transaction: moved, Client: client(begin, (*asker).subscribe, (*asker).unsubscribe)},
			{Name: "report POST /human/reports", Clients: single, Patterns: []string{"GetQuestion", "GetUserStats", "KeepReport"}, Client: client(begin, (*asker).needReport, (*asker).report)},
			{Name: "accuse POST /agent/reports", Clients: single, Patterns: []string{"GetQuestion", "ListResponses", "KeepReport"}, Client: client(begin, (*asker).needResponse, (*asker).accuse)},
			{Name: "review GET /operator/reports", Clients: single, Patterns: []string{"ListReports"}, Client: client(begin, (*asker).needReported, (*asker).review)},
			{Name: "decide PUT /operator/reports/{id}", Clients: single, Patterns: []string{"DecideReport"}, Client: client(begin, (*asker).needReported, (*asker).decide)},
			{Name: "open   GET /operator/questions, of 1", Clients: single, Patterns: []string{"GetOpenQuestionIDs", "GetOpenQuestions"}, Client: client(begin, (*asker).askAlone, (*asker).listOpen)},
			{Name: "hide   PUT /operator/questions, of 1", Clients: single, Patterns: []string{"GetOpenQuestionIDs", "GetOpenQuestions", "GetQuestion", "HideQuestion"}, Transaction: Transaction{Items: 3, Indexed: 2}, Client: client(begin, (*asker).askAlone, (*asker).hideOpen)},
			{Name: "hide   PUT /operator/questions/{id}", Clients: single, Patterns: []string{"GetQuestion", "HideQuestion"}, Transaction: Transaction{Items: 3, Indexed: 2}, Client: client(begin, (*asker).ask, (*asker).hide)},
			{Name: "hide   PUT /operator/questions/{id}/responses/{id}", Clients: single, Patterns: []string{"HideResponse"}, Transaction: Transaction{Items: 2, Indexed: 1}, Client: client(begin, (*asker).needResponse, (*asker).hideResponse)},
			{Name: "block  PUT /operator/blocks", Clients: single, Patterns: []string{"BlockAgent"}, Client: client(begin, (*asker).operate, (*asker).block)},
		},
	}
}

// asker is one client, which asks and answers.
type asker struct {
	caller
	addresses *atomic.Uint32
	calls     int
	agent     string
	person    string

	unnamed  bool   // sends no agent id
	question string // to answer or to poll
	left     int    // answers that the question still takes
	device   string // subscription
	changes  int    // of the subscription
	token    string // of the device
	response string // to the question
	operator string // token
	endpoint string // for webhooks; empty: none
}

func (a *asker) call(ctx context.Context, method, path string, want int, body, out any) error {
	if a.calls%callsPerAgent == 0 || a.agent == "" {
		a.agent = "bench-" + rand.Text()
	}
	if a.calls%callsPerPerson == 0 || a.person == "" {
		a.person = rand.Text()
	}
	if a.calls%callsPerAddress == 0 || a.http == nil {
		// From a loopback address that no other client has.
		if a.http != nil {
			a.http.CloseIdleConnections()
		}
		n := a.addresses.Add(1)
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n))}}
		a.http = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	}
	header := http.Header{"X-Fingerprint": {a.person}}
	if !a.unnamed {
		header.Set("X-Agent-Id", a.agent)
	}
	if strings.HasPrefix(path, "/operator/") {
		header.Set("Authorization", "Bearer "+a.operator)
	}
	if path == schema.MCPPath {
		header.Set("Accept", "application/json, text/event-stream")
	}
	if err := a.caller.call(ctx, method, path, header, want, body, out); err != nil {
		return err
	}
	a.calls++
	return nil
}

func newQuestion() map[string]any {
	return map[string]any{"prompt": "Should an error message apologise to the person who reads it?", "type": "text", "min_responses": 50}
}

func (a *asker) askOnce(ctx context.Context) error {
	question := newQuestion()
	question["idempotency_key"] = rand.Text()
	return a.call(ctx, http.MethodPost, "/agent/questions", http.StatusCreated, question, nil)
}

// callTool calls a tool of the Model Context Protocol.
func (a *asker) callTool(ctx context.Context, tool string, arguments map[string]any) error {
	var answer struct {
		Result struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	err := a.call(ctx, http.MethodPost, schema.MCPPath, http.StatusOK, map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	}, &answer)
	if err == nil && answer.Result.StructuredContent == nil {
		err = fmt.Errorf("the tool %s has refused its call", tool)
	}
	return err
}

func (a *asker) askByTool(ctx context.Context) error {
	question := newQuestion()
	question["idempotency_key"] = rand.Text()
	return a.callTool(ctx, "ask_human", question)
}

func (a *asker) pollByTool(ctx context.Context) error {
	return a.callTool(ctx, "check_question", map[string]any{"question_id": a.question})
}

func (a *asker) ask(ctx context.Context) error {
	var asked struct {
		ID string `json:"question_id"`
	}
	question := newQuestion()
	if a.endpoint != "" {
		question["callback_url"] = a.endpoint
	}
	err := a.call(ctx, http.MethodPost, "/agent/questions", http.StatusCreated, question, &asked)
	a.question, a.left = asked.ID, 50
	return err
}

func (a *asker) needQuestion(ctx context.Context) error {
	a.person = rand.Text() // one person answers a question once
	if a.left == 0 {
		return a.ask(ctx)
	}
	return nil
}

func (a *asker) answer(ctx context.Context) error {
	a.left--
	return a.call(ctx, http.MethodPost, "/human/responses", http.StatusCreated, map[string]any{
		"question_id": a.question, "answer": "Only when the program is at fault, and then with what to do about it.", "confidence": 4,
	}, nil)
}

// needOwnQuestion: an agent reads its own questions only.
func (a *asker) needOwnQuestion(ctx context.Context) error {
	if a.question != "" && a.calls%callsPerAgent != 0 {
		return nil
	}
	a.agent = ""
	if err := a.ask(ctx); err != nil {
		return err
	}
	return a.answer(ctx)
}

func (a *asker) poll(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/agent/questions/"+a.question, http.StatusOK, nil, nil)
}

func (a *asker) feed(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/human/questions?limit=20", http.StatusOK, nil, nil)
}

// refused makes a call without an agent id. The call needs no DynamoDB, so it takes as long as the
// warm handler alone.
func (a *asker) refused(ctx context.Context) error {
	a.unnamed = true
	return a.call(ctx, http.MethodGet, "/agent/questions", http.StatusBadRequest, nil, nil)
}

func (a *asker) mine(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/agent/questions", http.StatusOK, nil, nil)
}

func (a *asker) readSecrets(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/agent/webhook-secrets", http.StatusOK, nil, nil)
}

func (a *asker) rotateSecret(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/agent/webhook-secrets", http.StatusOK, nil, nil)
}

// tryEndpoint tries one that there is not.
func (a *asker) tryEndpoint(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/agent/webhook-tests", http.StatusAccepted, map[string]any{"callback_url": "https://agent.invalid/"}, nil)
}

func (a *asker) close(ctx context.Context) error {
	a.left = 0
	return a.call(ctx, http.MethodDelete, "/agent/questions/"+a.question, http.StatusNoContent, nil, nil)
}

func (a *asker) look(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/human/questions/"+a.question, http.StatusOK, nil, nil)
}

// needAnswered makes the caller a person who has answered.
func (a *asker) needAnswered(ctx context.Context) error {
	if a.calls%callsPerPerson != 0 {
		return nil
	}
	if err := a.needQuestion(ctx); err != nil {
		return err
	}
	a.calls++ // not on another person
	return a.answer(ctx)
}

func (a *asker) stats(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/human/stats", http.StatusOK, nil, nil)
}

func (a *asker) leaderboard(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/human/leaderboard", http.StatusOK, nil, nil)
}

func (a *asker) subscribe(ctx context.Context) error {
	a.calls += callsPerPerson - a.calls%callsPerPerson // as another person
	a.changes = 0
	var made struct {
		ID string `json:"subscription_id"`
	}
	a.token = rand.Text()
	err := a.call(ctx, http.MethodPost, "/human/push/subscribe", http.StatusCreated, map[string]any{"fcm_token": a.token, "min_interval_minutes": 10}, &made)
	a.device = made.ID
	return err
}

func (a *asker) needSubscription(ctx context.Context) error {
	if a.changes++; a.device != "" && a.changes < changesPerPerson {
		return nil
	}
	return a.subscribe(ctx)
}

func (a *asker) renew(ctx context.Context) error {
	old := a.token
	a.token = rand.Text()
	return a.call(ctx, http.MethodPut, "/human/push/subscribe", http.StatusOK, map[string]any{"fcm_token": a.token, "old_fcm_token": old}, nil)
}

func (a *asker) change(ctx context.Context) error {
	return a.call(ctx, http.MethodPut, "/human/push/subscribe/"+a.device, http.StatusOK, map[string]any{"min_interval_minutes": 10 + a.calls%50}, nil)
}

func (a *asker) unsubscribe(ctx context.Context) error {
	if a.device == "" {
		return nil
	}
	id := a.device
	a.device = ""
	return a.call(ctx, http.MethodDelete, "/human/push/subscribe/"+id, http.StatusNoContent, nil, nil)
}

// needReport: one person reports a question once, and a question has 50 reports at most.
func (a *asker) needReport(ctx context.Context) error {
	a.calls += callsPerPerson - a.calls%callsPerPerson
	return a.ask(ctx)
}

func (a *asker) report(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/human/reports", http.StatusCreated, map[string]any{"question_id": a.question, "reason": "spam"}, nil)
}

// needResponse gives the agent a question with one answer.
func (a *asker) needResponse(ctx context.Context) error {
	a.agent, a.person = "", rand.Text()
	// The agent who asks has to be the one who reports: the calls between are three.
	if left := callsPerAgent - a.calls%callsPerAgent; left < 3 {
		a.calls += left
	}
	if err := a.ask(ctx); err != nil {
		return err
	}
	var answered struct {
		ID string `json:"response_id"`
	}
	err := a.call(ctx, http.MethodPost, "/human/responses", http.StatusCreated, map[string]any{"question_id": a.question, "answer": "Only when the program is at fault."}, &answered)
	if a.response = answered.ID; err != nil {
		return err
	}
	return a.operate(ctx)
}

func (a *asker) accuse(ctx context.Context) error {
	return a.call(ctx, http.MethodPost, "/agent/reports", http.StatusCreated, map[string]any{"question_id": a.question, "response_id": a.response, "reason": "abuse"}, nil)
}

// operate signs an operator in.
func (a *asker) operate(ctx context.Context) (err error) {
	if a.operator == "" {
		a.operator, err = a.run.Token(ctx, "bench-operator", "operators")
	}
	return err
}

func (a *asker) needReported(ctx context.Context) error {
	if err := a.operate(ctx); err != nil || a.response != "" {
		return err
	}
	if err := a.needResponse(ctx); err != nil {
		return err
	}
	return a.accuse(ctx)
}

func (a *asker) review(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/operator/reports", http.StatusOK, nil, nil)
}

func (a *asker) decide(ctx context.Context) error {
	return a.call(ctx, http.MethodPut, "/operator/reports/"+a.response, http.StatusNoContent, map[string]any{"dismissed": a.calls%2 == 0}, nil)
}

func (a *asker) hide(ctx context.Context) error {
	if err := a.operate(ctx); err != nil {
		return err
	}
	return a.call(ctx, http.MethodPut, "/operator/questions/"+a.question, http.StatusNoContent, map[string]any{"hidden": true}, nil)
}

// askAlone makes the caller an agent with one question.
func (a *asker) askAlone(ctx context.Context) error {
	a.agent = ""
	return errors.Join(a.operate(ctx), a.ask(ctx))
}

func (a *asker) listOpen(ctx context.Context) error {
	return a.call(ctx, http.MethodGet, "/operator/questions?agent_id="+a.agent, http.StatusOK, nil, nil)
}

func (a *asker) hideOpen(ctx context.Context) error {
	return a.call(ctx, http.MethodPut, "/operator/questions", http.StatusOK, map[string]any{"agent_id": a.agent, "hidden": true}, nil)
}

func (a *asker) hideResponse(ctx context.Context) error {
	return a.call(ctx, http.MethodPut, "/operator/questions/"+a.question+"/responses/"+a.response, http.StatusNoContent, map[string]any{"hidden": true}, nil)
}

func (a *asker) block(ctx context.Context) error {
	return a.call(ctx, http.MethodPut, "/operator/blocks", http.StatusNoContent, map[string]any{"agent_id": "bench-" + rand.Text(), "blocked": true}, nil)
}
