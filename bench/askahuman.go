package main

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"sync/atomic"
)

// Ask-a-Human's rate limits would end a load within the first second. So each client acts as
// many agents and people at many addresses, each within its limits.
const (
	callsPerAgent   = 50
	callsPerPerson  = 25
	callsPerAddress = 250
)

// AskAHuman says what to measure of Ask-a-Human.
func (described) AskAHuman() platform {
	addresses := &atomic.Uint32{}
	begin := func(l *local) *asker { return &asker{caller: caller{base: l.api}, addresses: addresses} }
	return platform{
		routes: []route{
			{name: "warm   without DynamoDB", clients: []int{1}, client: client(begin, slowly, (*asker).refused)},
			{name: "ask    POST /agent/questions", clients: allClients, patterns: []string{"TakePlace", "StoreQuestion"}, inARow: true, client: client(begin, nil, (*asker).ask)},
			{name: "answer POST /human/responses", clients: allClients, patterns: []string{"GetQuestion", "GetUserStats", "ListRecentAnswers", "SubmitResponse"}, client: client(begin, (*asker).needQuestion, (*asker).answer)},
			{name: "poll   GET /agent/questions/{id}", clients: allClients, patterns: []string{"GetQuestion", "ListResponses"}, client: client(begin, (*asker).needOwnQuestion, (*asker).poll)},
			{name: "feed   GET /human/questions", clients: allClients, patterns: []string{"ListOpenQuestions", "ListRecentAnswers"}, client: client(begin, nil, (*asker).feed)},
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
	if err := a.caller.call(ctx, method, path, header, want, body, out); err != nil {
		return err
	}
	a.calls++
	return nil
}

func (a *asker) ask(ctx context.Context) error {
	var asked struct {
		ID string `json:"question_id"`
	}
	err := a.call(ctx, http.MethodPost, "/agent/questions", http.StatusCreated, map[string]any{
		"prompt": "Should an error message apologise to the person who reads it?", "type": "text", "min_responses": 50,
	}, &asked)
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

// refused makes a call without an agent id, which needs no DynamoDB: the response time is
// that of the warm handler.
func (a *asker) refused(ctx context.Context) error {
	a.unnamed = true
	return a.call(ctx, http.MethodGet, "/agent/questions", http.StatusBadRequest, nil, nil)
}
