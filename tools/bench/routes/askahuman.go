package routes

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Ask-a-Human's rate limits would end a load within the first second. So each client acts as
// many agents and people at many addresses, each within its limits: less the ten calls of a preparation.
const (
	callsPerAgent, callsPerPerson, callsPerAddress = 50 - 10, 25 - 10, 250 - 10
	// changesPerPerson are the changes of subscriptions in an hour, with the first subscription.
	changesPerPerson = 10
)

// The names of who asks, of who answers, and of where both are.
const agent, person, address = "agent_id", askahuman.FingerprintHeader, "address"

// mcp is the route of the Model Context Protocol, which is no operation of the contract.
var mcp = schema.Operation[schema.None, map[string]any, schema.Document]{ID: "mcp", Route: askahuman.MCPRoute,
	Caller: askahuman.CallerAgent}

// AskAHuman says what to measure of Ask-a-Human.
func (described) AskAHuman() Measured {
	addresses := &atomic.Uint32{}
	answered, reported, subscribed := []string{"response_id"}, []string{"report_id"}, []string{"subscription_id"}
	anew := []string{person}
	// A subscription, its token and its person; or, of a renewal, the old token and the new one.
	moved := Transaction{Items: 3, Indexed: 1}
	// A question, its place in the quota, and the answer under the key.
	kept := Transaction{Items: 3, Indexed: 1}
	hidden := Transaction{Items: 3, Indexed: 2}
	return Measured{
		platform: askahuman.Platform(), Webhook: askahuman.CloseQuestion, WebhookField: "callback_url",
		identify: func(_ context.Context, c *caller) error { return identify(c, addresses) },
		limits:   map[string]int{agent: callsPerAgent, person: callsPerPerson, address: callsPerAddress},
		within: map[string][]string{
			agent: {"question_id"}, "question_id": {"response_id"}, "response_id": {"report_id"},
			person: {"response_id", "subscription_id", "person"},
		},
		makers: map[string]schema.Described{
			"question_id": askahuman.AskQuestion, "response_id": askahuman.AnswerQuestion,
			"report_id": askahuman.ReportAnswer, "subscription_id": askahuman.Subscribe,
			"person": askahuman.ExportData,
		},
		bodies: map[string]func(*caller, int) given{
			askahuman.AskQuestion.ID: func(c *caller, _ int) given {
				return given{"min_responses": 50, "callback_url": c.known["callback_url"]}
			},
			// An endpoint that there is not.
			askahuman.TestWebhook.ID: func(*caller, int) given {
				return given{"callback_url": "https://agent.invalid/"}
			},
			// Letters that spell no word that a name may not contain.
			askahuman.ChooseHandle.ID: func(*caller, int) given {
				return given{"handle": "Bench " + letters(12, "BDGHJKPT")}
			},
			askahuman.Subscribe.ID: func(c *caller, _ int) given {
				c.known["fcm_token"] = rand.Text()
				return nil
			},
			askahuman.RenewSubscription.ID: func(c *caller, _ int) given {
				old := c.known["fcm_token"]
				c.known["fcm_token"] = rand.Text()
				return given{"old_fcm_token": old}
			},
			askahuman.ChangeSubscription.ID: func(_ *caller, n int) given {
				return given{"min_interval_minutes": 10 + n%50}
			},
			askahuman.DecideReport.ID: func(_ *caller, n int) given { return given{"dismissed": n%2 == 1} },
			askahuman.ResetHandle.ID:  func(_ *caller, n int) given { return given{"reset": n%2 == 1} },
			askahuman.DecideBlock.ID:  func(*caller, int) given { return given{agent: "bench-" + rand.Text()} },
		},
		Routes: []Route{
			// It is refused, so that it needs no DynamoDB, and takes as long as the warm handler alone.
			{Name: "warm", Of: askahuman.ListQuestions, Note: ", without DynamoDB", Status: http.StatusBadRequest},
			{Name: "ask", Of: askahuman.AskQuestion, Clients: allClients, InARow: true},
			{Name: "once", Of: askahuman.AskQuestion, Note: ", with a key", Clients: allClients, Transaction: kept,
				body: askOnce},
			{Name: "tool", Of: mcp, Note: ", ask_human", Clients: allClients, Transaction: kept, Plain: "once",
				body: tool("ask_human", askByTool), then: toolAnswered},
			{Name: "answer", Of: askahuman.AnswerQuestion, Clients: allClients, fresh: anew},
			{Name: "poll", Of: askahuman.ReadQuestion, Clients: allClients, has: answered},
			{Name: "tool", Of: mcp, Note: ", check_question", Clients: allClients, Plain: "poll", has: answered,
				then: toolAnswered, body: tool("check_question", func(c *caller, _ int) given {
					return given{"question_id": c.known["question_id"]}
				})},
			{Name: "feed", Of: askahuman.ListOpenQuestions, Clients: allClients,
				Params: askahuman.FeedParams{PageParams: askahuman.PageParams{Limit: 20}}},
			{Name: "mine", Of: askahuman.ListQuestions, Note: ", of 1", has: answered},
			{Name: "close", Of: askahuman.CloseQuestion},
			{Name: "verify", Of: askahuman.ReadWebhookSecrets},
			{Name: "rotate", Of: askahuman.RotateWebhookSecret},
			{Name: "try", Of: askahuman.TestWebhook, Sends: true},
			{Name: "look", Of: askahuman.ReadOpenQuestion, fresh: anew},
			{Name: "stats", Of: askahuman.ReadStats, has: answered},
			{Name: "own", Of: askahuman.ListAnswers, Note: ", of 1", has: answered},
			{Name: "export", Of: askahuman.ExportData, Note: ", of 1 answer", has: answered},
			{Name: "erase", Of: askahuman.DeleteData, Note: ", of 1 answer", has: answered, fresh: anew},
			{Name: "top", Of: askahuman.ReadLeaderboard, Note: ", of all time", has: answered},
			{Name: "name", Of: askahuman.ChooseHandle, has: answered, fresh: anew},
			{Name: "unname", Of: askahuman.DropHandle, has: answered, fresh: anew},
			{Name: "notify", Of: askahuman.Subscribe, Transaction: moved, before: unsubscribe},
			{Name: "renew", Of: askahuman.RenewSubscription, Transaction: moved, has: subscribed,
				per: changesPerPerson},
			{Name: "change", Of: askahuman.ChangeSubscription, per: changesPerPerson},
			{Name: "end", Of: askahuman.Unsubscribe, Transaction: moved, fresh: anew},
			// One person reports a question once, and a question has 50 reports at most.
			{Name: "report", Of: askahuman.ReportQuestion, fresh: []string{person, "question_id"}},
			{Name: "accuse", Of: askahuman.ReportAnswer, fresh: []string{agent, person}},
			{Name: "review", Of: askahuman.ListReports, has: reported},
			{Name: "decide", Of: askahuman.DecideReport},
			{Name: "open", Of: askahuman.ListOpenOfAgent, Note: ", of 1", has: []string{"question_id"},
				fresh: []string{agent}},
			{Name: "hide", Of: askahuman.HideOpenOfAgent, Note: ", of 1", Transaction: hidden,
				has: []string{"question_id"}, fresh: []string{agent}},
			{Name: "hide", Of: askahuman.HideQuestion, Transaction: hidden, fresh: []string{"question_id"}},
			{Name: "hide", Of: askahuman.HideResponse, Transaction: Transaction{Items: 2, Indexed: 1},
				fresh: []string{agent, person}},
			{Name: "export", Of: askahuman.ExportDataOf, Note: ", of nothing"},
			{Name: "erase", Of: askahuman.DeleteDataOf, Note: ", of nothing"},
			{Name: "top", Of: askahuman.ReadBoard},
			{Name: "reset", Of: askahuman.ResetHandle, has: answered},
			{Name: "block", Of: askahuman.DecideBlock},
		},
	}
}

// identify makes the client an agent and a person, at a loopback address that no other client has.
func identify(c *caller, addresses *atomic.Uint32) error {
	for _, name := range []string{agent, person} {
		if c.known[name] == nil {
			c.known[name] = "bench-" + rand.Text()
		}
	}
	c.header.Set(askahuman.AgentHeader, c.known[agent].(string))
	c.header.Set(person, c.known[person].(string))
	c.header.Set("Accept", "application/json, text/event-stream") // as the Model Context Protocol has it
	if c.known[address] != nil {
		return nil
	}
	c.http.CloseIdleConnections()
	n := addresses.Add(1)
	from := net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n))
	c.known[address] = from.String()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	c.http = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	return nil
}

func askOnce(*caller, int) given { return given{"min_responses": 50, "idempotency_key": rand.Text()} }

// askByTool asks what the route asks that the tool stands for.
func askByTool(c *caller, n int) given {
	question, _ := Sample(askahuman.AskQuestion.Describe(), askOnce(c, n), c.known) // nil: the tool refuses it
	return question
}

// tool calls a tool of the Model Context Protocol.
func tool(name string, arguments func(*caller, int) given) func(*caller, int) given {
	return func(c *caller, n int) given {
		return given{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
			"params": given{"name": name, "arguments": arguments(c, n)}}
	}
}

// toolAnswered checks that a tool has not refused its call.
func toolAnswered(_ context.Context, _ *caller, reply client.Reply) error {
	if !bytes.Contains(reply.Body, []byte(`"structuredContent"`)) {
		return fmt.Errorf("got %v; want what the tool answers", reply)
	}
	return nil
}

// unsubscribe ends the subscription, and makes the client another person.
func unsubscribe(ctx context.Context, c *caller) error {
	var err error
	if c.known["subscription_id"] != nil {
		err = c.call(ctx, askahuman.Unsubscribe)
	}
	c.forget(person)
	return err
}
