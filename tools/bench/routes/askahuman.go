package routes

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
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

// AskAHuman says what to measure of Ask-a-Human.
func (described) AskAHuman() Measured {
	addresses := &atomic.Uint32{}
	begin := func(run *Run) *asker {
		a := &asker{caller: newCaller(run), addresses: addresses}
		a.Header.Set("Accept", "application/json, text/event-stream") // as the Model Context Protocol has it
		a.before = a.turn
		return a
	}
	as := func(prepare, request func(*asker, context.Context) error) starter {
		return steps(begin, prepare, request)
	}
	anyone := as(nil, nil)
	// A subscription, its token and its person; or, of a renewal, the old token and the new one.
	moved := Transaction{Items: 3, Indexed: 1}
	// A question, its place in the quota, and the answer under the key.
	kept := Transaction{Items: 3, Indexed: 1}
	return Measured{
		Webhook: func(l *Run) func(context.Context, string) error {
			a := begin(l)
			return func(ctx context.Context, endpoint string) error {
				a.endpoint = endpoint
				return errors.Join(a.ask(ctx), a.call(ctx, "DELETE /agent/questions/{question_id}", nil, nil))
			}
		},
		Routes: []Route{
			{Name: "warm", Method: "GET", Path: "/agent/questions", Note: ", without DynamoDB",
				Status: http.StatusBadRequest, start: as((*asker).hideName, nil)},
			{Name: "ask", Method: "POST", Path: "/agent/questions", Clients: allClients, InARow: true,
				start: as(nil, (*asker).ask)},
			{Name: "once", Method: "POST", Path: "/agent/questions", Note: ", with a key", Clients: allClients,
				Transaction: kept, start: as(nil, with(askOnce))},
			{Name: "tool", Method: "POST", Path: askahuman.MCPPath, Note: ", ask_human", Clients: allClients,
				Transaction: kept, Plain: "once", start: as(nil, (*asker).askByTool)},
			{Name: "answer", Method: "POST", Path: "/human/responses", Clients: allClients,
				start: as((*asker).needQuestion, (*asker).answer)},
			{Name: "poll", Method: "GET", Path: "/agent/questions/{question_id}", Clients: allClients,
				start: as((*asker).needOwnQuestion, nil)},
			{Name: "tool", Method: "POST", Path: askahuman.MCPPath, Note: ", check_question", Clients: allClients,
				Plain: "poll", start: as((*asker).needOwnQuestion, (*asker).pollByTool)},
			{Name: "feed", Method: "GET", Path: "/human/questions", Query: "limit=20", Clients: allClients,
				start: anyone},
			{Name: "mine", Method: "GET", Path: "/agent/questions", Note: ", of 1",
				start: as((*asker).needOwnQuestion, nil)},
			{Name: "close", Method: "DELETE", Path: "/agent/questions/{question_id}", start: as((*asker).ask, nil)},
			{Name: "verify", Method: "GET", Path: "/agent/webhook-secrets", start: anyone},
			{Name: "rotate", Method: "POST", Path: "/agent/webhook-secrets", start: anyone},
			{Name: "try", Method: "POST", Path: "/agent/webhook-tests", Sends: true,
				start: as(nil, with(tryEndpoint))},
			{Name: "look", Method: "GET", Path: "/human/questions/{question_id}",
				start: as((*asker).needQuestion, nil)},
			{Name: "stats", Method: "GET", Path: "/human/stats", start: as((*asker).needAnswered, nil)},
			{Name: "own", Method: "GET", Path: "/human/responses", Note: ", of 1",
				start: as((*asker).needAnswered, nil)},
			{Name: "export", Method: "GET", Path: "/human/data", Note: ", of 1 answer",
				start: as((*asker).needAnswered, nil)},
			{Name: "erase", Method: "DELETE", Path: "/human/data", Note: ", of 1 answer",
				start: as((*asker).answerAnew, nil)},
			{Name: "top", Method: "GET", Path: "/human/leaderboard", Note: ", of all time",
				start: as((*asker).needAnswered, nil)},
			{Name: "name", Method: "PUT", Path: "/human/handle", start: as((*asker).answerAnew, with(name))},
			{Name: "unname", Method: "DELETE", Path: "/human/handle", start: as((*asker).answerAnew, nil)},
			{Name: "notify", Method: "POST", Path: "/human/push/subscribe", Transaction: moved,
				start: as((*asker).unsubscribe, (*asker).subscribe)},
			{Name: "renew", Method: "PUT", Path: "/human/push/subscribe", Transaction: moved,
				start: as((*asker).needSubscription, with((*asker).renew))},
			{Name: "change", Method: "PUT", Path: "/human/push/subscribe/{subscription_id}",
				start: as((*asker).needSubscription, with((*asker).change))},
			{Name: "end", Method: "DELETE", Path: "/human/push/subscribe/{subscription_id}", Transaction: moved,
				start: as((*asker).subscribe, nil)},
			{Name: "report", Method: "POST", Path: "/human/reports", start: as((*asker).needReport, nil)},
			{Name: "accuse", Method: "POST", Path: "/agent/reports", start: as((*asker).needResponse, (*asker).accuse)},
			{Name: "review", Method: "GET", Path: "/operator/reports", start: as((*asker).needReported, nil)},
			{Name: "decide", Method: "PUT", Path: "/operator/reports/{report_id}",
				start: as((*asker).needReported, with((*asker).decide))},
			{Name: "open", Method: "GET", Path: "/operator/questions", Note: ", of 1",
				start: as((*asker).askAlone, nil)},
			{Name: "hide", Method: "PUT", Path: "/operator/questions", Note: ", of 1",
				Transaction: Transaction{Items: 3, Indexed: 2}, start: as((*asker).askAlone, nil)},
			{Name: "hide", Method: "PUT", Path: "/operator/questions/{question_id}",
				Transaction: Transaction{Items: 3, Indexed: 2}, start: as((*asker).askOperated, nil)},
			{Name: "hide", Method: "PUT", Path: "/operator/questions/{question_id}/responses/{response_id}",
				Transaction: Transaction{Items: 2, Indexed: 1}, start: as((*asker).needResponse, nil)},
			{Name: "export", Method: "GET", Path: "/operator/data", Note: ", of nothing",
				start: as((*asker).operate, nil)},
			{Name: "erase", Method: "DELETE", Path: "/operator/data", Note: ", of nothing",
				start: as((*asker).operate, nil)},
			{Name: "top", Method: "GET", Path: "/operator/leaderboard", start: as((*asker).operate, nil)},
			{Name: "reset", Method: "PUT", Path: "/operator/handles",
				start: as((*asker).needPerson, with((*asker).reset))},
			{Name: "block", Method: "PUT", Path: "/operator/blocks", start: as((*asker).operate, with(block))},
		},
	}
}

// asker is one client, which asks and answers.
type asker struct {
	caller
	addresses *atomic.Uint32
	calls     int
	// agent and person are who asks and who answers; empty: another one from the next call on.
	agent, person string
	address       net.IP // nil: that of all

	unnamed    bool // sends no agent id
	left       int  // answers that the question still takes
	changes    int  // of the subscription
	isOperator bool
	endpoint   string // for webhooks; empty: none
}

// turn makes the client another agent, person and address where those have made their calls.
func (a *asker) turn() {
	if a.calls%callsPerAgent == 0 || a.agent == "" {
		a.agent = "bench-" + rand.Text()
	}
	if a.calls%callsPerPerson == 0 || a.person == "" {
		a.person = rand.Text()
	}
	if a.calls%callsPerAddress == 0 || a.address == nil {
		// From a loopback address that no other client has.
		a.HTTP.CloseIdleConnections()
		n := a.addresses.Add(1)
		a.address = net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n))
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: a.address}}
		a.HTTP = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	}
	a.calls++
	a.known["agent_id"] = a.agent
	a.Header.Set("X-Fingerprint", a.person)
	a.Header.Set("X-Agent-Id", a.agent)
	if a.unnamed {
		a.Header.Del("X-Agent-Id")
	}
}

// another makes the next call one of another person.
func (a *asker) another() { a.calls += callsPerPerson - a.calls%callsPerPerson }

func askOnce(*asker) given { return given{"min_responses": 50, "idempotency_key": rand.Text()} }

// callTool calls a tool of the Model Context Protocol.
func (a *asker) callTool(ctx context.Context, tool string, arguments map[string]any) error {
	var answer struct {
		Result struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	err := a.call(ctx, "POST "+askahuman.MCPPath, given{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	}, &answer)
	if err == nil && answer.Result.StructuredContent == nil {
		err = fmt.Errorf("the tool %s has refused its call", tool)
	}
	return err
}

// askByTool asks what the route asks that the tool stands for.
func (a *asker) askByTool(ctx context.Context) error {
	question, err := a.body("POST", "/agent/questions", askOnce(a))
	if err != nil {
		return err
	}
	return a.callTool(ctx, "ask_human", question)
}

func (a *asker) pollByTool(ctx context.Context) error {
	return a.callTool(ctx, "check_question", map[string]any{"question_id": a.known["question_id"]})
}

func (a *asker) ask(ctx context.Context) error {
	question := given{"min_responses": 50}
	if a.endpoint != "" {
		question["callback_url"] = a.endpoint
	}
	a.left = 50
	return a.call(ctx, "POST /agent/questions", question, nil)
}

func (a *asker) needQuestion(ctx context.Context) error {
	a.person = "" // one person answers a question once
	if a.left == 0 {
		return a.ask(ctx)
	}
	return nil
}

func (a *asker) answer(ctx context.Context) error {
	a.left--
	return a.call(ctx, "POST /human/responses", nil, nil)
}

// needOwnQuestion: an agent reads its own questions only.
func (a *asker) needOwnQuestion(ctx context.Context) error {
	if a.knows("question_id") && a.calls%callsPerAgent != 0 {
		return nil
	}
	a.agent = ""
	return errors.Join(a.ask(ctx), a.answer(ctx))
}

// hideName makes calls go without an agent id, so that they are refused. They need no DynamoDB, and take as long as the
// warm handler alone.
func (a *asker) hideName(ctx context.Context) error {
	a.unnamed = true
	return slowly(a, ctx)
}

// tryEndpoint tries one that there is not.
func tryEndpoint(*asker) given { return given{"callback_url": "https://agent.invalid/"} }

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

// answerAnew makes the caller a person with one answer.
func (a *asker) answerAnew(ctx context.Context) error {
	a.another()
	if err := a.needQuestion(ctx); err != nil {
		return err
	}
	if a.calls%callsPerPerson == 0 {
		a.calls++ // not on another person
	}
	return a.answer(ctx)
}

func (a *asker) subscribe(ctx context.Context) error {
	a.another()
	a.changes = 0
	a.known["fcm_token"] = rand.Text()
	return a.call(ctx, "POST /human/push/subscribe", nil, nil)
}

func (a *asker) needSubscription(ctx context.Context) error {
	if a.changes++; a.knows("subscription_id") && a.changes < changesPerPerson {
		return nil
	}
	return a.subscribe(ctx)
}

func (a *asker) renew() given {
	old := a.known["fcm_token"]
	a.known["fcm_token"] = rand.Text()
	return given{"old_fcm_token": old}
}

func (a *asker) change() given { return given{"min_interval_minutes": 10 + a.calls%50} }

func (a *asker) unsubscribe(ctx context.Context) error {
	if !a.knows("subscription_id") {
		return nil
	}
	err := a.call(ctx, "DELETE /human/push/subscribe/{subscription_id}", nil, nil)
	if err == nil {
		delete(a.known, "subscription_id")
	}
	return err
}

// needReport: one person reports a question once, and a question has 50 reports at most.
func (a *asker) needReport(ctx context.Context) error {
	a.another()
	return a.ask(ctx)
}

// needResponse gives the agent a question with one answer.
func (a *asker) needResponse(ctx context.Context) error {
	a.agent, a.person = "", ""
	// The agent who asks has to be the one who reports: the calls between are three.
	if left := callsPerAgent - a.calls%callsPerAgent; left < 3 {
		a.calls += left
	}
	return errors.Join(a.ask(ctx), a.answer(ctx), a.operate(ctx))
}

func (a *asker) accuse(ctx context.Context) error {
	return a.call(ctx, "POST /agent/reports", nil, nil)
}

// operate signs an operator in.
func (a *asker) operate(ctx context.Context) error {
	if a.isOperator {
		return nil
	}
	a.isOperator = true
	return a.as(ctx, "bench-operator", "operators")
}

func (a *asker) needReported(ctx context.Context) error {
	if a.knows("report_id") {
		return nil
	}
	return errors.Join(a.needResponse(ctx), a.accuse(ctx))
}

func (a *asker) decide() given { return given{"dismissed": a.calls%2 == 0} }

// askOperated asks as one who is an operator, too.
func (a *asker) askOperated(ctx context.Context) error {
	return errors.Join(a.operate(ctx), a.ask(ctx))
}

// askAlone makes the caller an agent with one question.
func (a *asker) askAlone(ctx context.Context) error {
	a.agent = ""
	return a.askOperated(ctx)
}

// name is one that nobody has, of letters of which there are neither numbers nor words that a name may not have.
func name(*asker) given {
	letters := []byte(rand.Text()[:12])
	for i, b := range letters {
		letters[i] = "BDGHJKPT"[b%8]
	}
	return given{"handle": "Bench " + string(letters)}
}

// needPerson makes the caller an operator who knows a person.
func (a *asker) needPerson(ctx context.Context) error {
	if a.knows("person") {
		return nil
	}
	var data struct{ Person string }
	err := errors.Join(a.operate(ctx), a.answerAnew(ctx), a.call(ctx, "GET /human/data", nil, &data))
	a.known["person"] = data.Person
	return err
}

func (a *asker) reset() given { return given{"person": a.known["person"], "reset": a.calls%2 == 0} }

func block(*asker) given { return given{"agent_id": "bench-" + rand.Text()} }
