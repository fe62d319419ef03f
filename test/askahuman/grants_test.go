package askahuman

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	s := newScene(t, &target{platform.Local(on)})
	return s.probes(), func() { s.end(t) }
}

// scene is what the probes need before grants are taken away.
type scene struct {
	*visitor
	asker agent
	// toClose needs one answer, and toPart many.
	toClose, toPart string
	one             person
	// toCloseByTool is open until a tool closes it.
	toCloseByTool string
	// delivered has ended, and an endpoint.
	delivered string
	// blocked is a person who has answered, as operators see them.
	blocked string
	olga    operator
	// leaver and asked have answered and subscribed, and are forgotten.
	leaver, asked person
	// own is a subscription of one, taken the token of another's.
	own, others             string
	ownToken, othersToken   string
	subscribed              []string
	dueToken, deadToken     string
	failingToken, overdueID string
}

func newScene(t testing.TB, target *target) *scene {
	t.Helper()
	c := newClient(t, target)
	s := &scene{visitor: c, asker: c.newAgent(), one: c.newPerson()}
	s.toPart, s.toClose = s.asker.ask(t, textQuestion(50)).QuestionID, s.asker.ask(t, textQuestion(1)).QuestionID
	s.toCloseByTool = s.asker.ask(t, textQuestion(1)).QuestionID
	ended := textQuestion(1)
	ended.CallbackURL = new(target.Run.WebhooksURL() + "delivered")
	s.delivered = s.asker.ask(t, ended).QuestionID
	s.asker.close(t, s.delivered)
	s.olga = c.newOperator(t)
	bad := c.newPerson().answer(t, textAnswer(s.toPart)).ResponseID
	onesynthtest.Call(t, s.asker, askahuman.ReportAnswer, schema.None{},
		askahuman.ResponseReport{ResponseID: bad,
			QuestionReport: askahuman.QuestionReport{QuestionID: s.toPart, Reason: "spam"}})
	for _, r := range onesynthtest.Call(t, s.olga, askahuman.ListReports,
		askahuman.ReportListParams{PageParams: askahuman.PageParams{Limit: 50}}, schema.None{}).Value.Reports {
		if r.ID == bad {
			s.blocked = r.Person
		}
	}

	s.leaver, s.asked = c.newPerson(), c.newPerson()
	for _, one := range []person{s.leaver, s.asked} {
		one.answer(t, textAnswer(s.toPart))
		one.subscribe(t, onesynthtest.Unique("leaves"))
	}
	s.ownToken, s.othersToken = onesynthtest.Unique("token"), onesynthtest.Unique("token")
	s.dueToken, s.deadToken, s.failingToken = onesynthtest.Unique("token"), onesynthtest.Unique("unregistered"),
		onesynthtest.Unique("third-party")
	for _, token := range []string{s.ownToken, s.othersToken, s.dueToken, s.deadToken, s.failingToken} {
		s.subscribed = append(s.subscribed, c.newPerson().subscribe(t, token))
	}
	s.own, s.others = s.subscribed[0], s.subscribed[1]

	s.overdueID = s.asker.ask(t, textQuestion(1)).QuestionID
	target.expire(t, s.overdueID)
	return s
}

// end removes what would disturb a later scene's notifications.
func (s *scene) end(t testing.TB) {
	t.Helper()
	for _, id := range s.subscribed {
		s.MustSend(t, http.MethodDelete, "/human/push/subscribe/"+id, nil, nil)
	}
	for _, id := range []string{s.toPart, s.toClose} {
		s.asker.close(t, id)
	}
}

// sendWebhook ends a question whose endpoint fails, puts a message that is no webhook into the queue, and waits until
// the first attempt at both has ended, or until a request was refused.
func (s *scene) sendWebhook(t testing.TB) (onesynthtest.Reply, error) {
	t.Helper()
	runner := runtest.Of(s.target.Run)
	deliveries := func() []runtest.Delivery {
		return slices.DeleteFunc(runner.Deliveries(), func(d runtest.Delivery) bool { return d.Queue == "" })
	}
	tried := func() (messages int) {
		for _, delivery := range deliveries() {
			messages += delivery.Returned + delivery.Done
		}
		return messages
	}
	before := tried()
	if err := runner.FailWebhooks("/grants", true); err != nil {
		return onesynthtest.Reply{}, err
	}
	question := textQuestion(1)
	question.CallbackURL = new(s.target.Run.WebhooksURL() + "grants")
	s.asker.close(t, s.asker.ask(t, question).QuestionID)
	if err := s.target.FlushUntilRefused(t); err != nil {
		return onesynthtest.Reply{}, err
	}
	if err := runner.Send(deliveries()[0].Queue, "no webhook", nil); err != nil {
		return onesynthtest.Reply{}, err
	}
	wait.Until(t, "the webhook has failed, and the other message is given up", func() (any, bool) {
		now := tried()
		return now, now > before+1
	}, wait.On(s.target))
	return onesynthtest.Reply{}, nil
}

// forgets sends a deletion of a person's data until it is complete, or until a request fails.
func (s *scene) forgets(function string, by *visitor, path string, header http.Header) onesynthtest.Probe {
	return onesynthtest.Probe{Function: function, Name: "Forget", Do: func(t testing.TB) (onesynthtest.Reply, error) {
		for {
			r, err := by.Send(t.Context(), http.MethodDelete, path, header, nil)
			var left struct {
				More bool `json:"more"`
				Wait int  `json:"wait_seconds"`
			}
			if err != nil || r.Status != http.StatusOK || json.Unmarshal(r.Body, &left) != nil || !left.More {
				return r, err
			}
			time.Sleep(time.Duration(left.Wait) * time.Second)
		}
	}}
}

// probes do what the requests of package routes do not.
func (s *scene) probes() []onesynthtest.Probe {
	request := func(function, name string, by *visitor, method, path string, header http.Header,
		body any) onesynthtest.Probe {
		return onesynthtest.Probe{Function: function, Name: name, Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return by.Send(t.Context(), method, path, header, body)
		}}
	}
	agent := func(name, method, path string, body any) onesynthtest.Probe {
		return request("AgentAPI", name, s.asker.visitor, method, path, nil, body)
	}
	human := func(name, method, path string, body any) onesynthtest.Probe {
		return request("HumanAPI", name, s.one.visitor, method, path, nil, body)
	}
	operator := func(name, method, path string, body any) onesynthtest.Probe {
		return request("ModerationAPI", name, s.olga.visitor, method, path, nil, body)
	}
	about := http.Header{askahuman.FingerprintHeader: {s.asked.fingerprint}}
	runner := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, s.target.Run.RunSchedule(t.Context(), s.target.Schedule(t, ""))
	}
	return []onesynthtest.Probe{
		request("WebPage", "Page", s.visitor, http.MethodGet, "/", nil, nil),
		request("OperatorPage", "Page", s.visitor, http.MethodGet, "/operator", nil, nil),
		agent("ListOpen", "GET", "/agent/questions?status=OPEN", nil),
		agent("Delivery", "GET", "/agent/questions/"+s.delivered, nil),
		human("LastAnswer", "POST", "/human/responses", textAnswer(s.toClose)),
		human("Daily", "GET", "/human/leaderboard?period=daily", nil),
		human("Weekly", "GET", "/human/leaderboard?period=weekly", nil),
		human("TakeToken", "PUT", "/human/push/subscribe/"+s.own, askahuman.SubscriptionChange{Token: &s.othersToken}),
		request("HumanAPI", "Export", s.leaver.visitor, http.MethodGet, "/human/data", nil, nil),
		s.forgets("HumanAPI", s.leaver.visitor, "/human/data", nil),
		request("ModerationAPI", "Export", s.olga.visitor, http.MethodGet, "/operator/data", about, nil),
		s.forgets("ModerationAPI", s.olga.visitor, "/operator/data", about),
		operator("BoardOfDay", "GET", "/operator/leaderboard?period=daily", nil),
		operator("BoardOfWeek", "GET", "/operator/leaderboard?period=weekly", nil),
		operator("BlockPerson", "PUT", "/operator/blocks", map[string]any{"person": s.blocked, "blocked": true}),
		s.mcpProbe("Delivery", "check_question", map[string]any{"question_id": s.delivered}),
		s.mcpProbe("List", "list_questions", map[string]any{}),
		s.mcpProbe("ListOpen", "list_questions", map[string]any{"status": "OPEN"}),
		s.mcpProbe("Close", "close_question", map[string]any{"question_id": s.toCloseByTool}),
		{Function: "WebhookQueuer", Name: "Queue", Do: s.sendWebhook},
		{Function: "WebhookSender", Name: "Send", Do: s.sendWebhook},
		{Function: "Notifier", Name: "Run", Do: runner},
		{Function: "Schedule", Name: "Deliver", Do: runner},
	}
}
