package askahuman

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// uses makes every function do its work, but for what the requests of package routes do.
func uses(t testing.TB, on *platform.Target) {
	c := platform.NewClient(t, on)
	asker, one, olga := newAgent(c), newPerson(c), on.As(t, "olga", onesynthtest.Groups("operators"))
	for _, path := range []string{"/", "/operator"} {
		platform.Succeeded(t, c.Try(t, http.MethodGet, path, nil))
	}
	open, delivered := asker.ask(t, textQuestion(50)).QuestionID,
		asker.ask(t, withWebhook(on, "delivered", textQuestion(1))).QuestionID
	answer(t, one, textAnswer(asker.ask(t, textQuestion(1)).QuestionID)) // the last one
	platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: delivered})
	asker.question(t, delivered)
	onesynthtest.Call(t, asker, askahuman.ListQuestions, askahuman.AgentListParams{Status: "OPEN"}, schema.None{})
	for _, call := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"check_question", map[string]any{"question_id": delivered}},
		{"list_questions", map[string]any{}},
		{"list_questions", map[string]any{"status": "OPEN"}},
		{"close_question", map[string]any{"question_id": asker.ask(t, textQuestion(1)).QuestionID}},
	} {
		if reply, result, err := asker.callTool(t.Context(), call.tool, call.arguments); err != nil || result == nil ||
			result.IsError {
			t.Errorf("%s: got %v, %v", call.tool, reply, err)
		}
	}
	for _, period := range []string{"daily", "weekly"} {
		board := askahuman.BoardParams{Period: period}
		onesynthtest.Call(t, one, askahuman.ReadLeaderboard, askahuman.LeaderboardParams{BoardParams: board},
			schema.None{})
		onesynthtest.Call(t, olga, askahuman.ReadBoard, board, schema.None{})
	}

	bad := answer(t, newPerson(c), textAnswer(open)).ResponseID
	onesynthtest.Call(t, asker, askahuman.ReportAnswer, schema.None{}, askahuman.ResponseReport{ResponseID: bad,
		QuestionReport: askahuman.QuestionReport{QuestionID: open, Reason: "spam"}})
	for _, r := range onesynthtest.Call(t, olga, askahuman.ListReports,
		askahuman.ReportListParams{PageParams: askahuman.PageParams{Limit: 50}}, schema.None{}).Value.Reports {
		if r.ID == bad {
			onesynthtest.Call(t, olga, askahuman.DecideBlock, schema.None{},
				askahuman.Block{Person: &r.Person, Blocked: true})
		}
	}

	subscribed := map[string]string{}
	for _, token := range []string{"own", "due", "others", "unregistered", "third-party"} {
		subscribed[token] = subscribe(t, newPerson(c), onesynthtest.Unique(token))
	}
	others := on.Item(t, "Subscriptions", "subscription_id", subscribed["others"])["fcm_token"].(string)
	onesynthtest.Call(t, one, askahuman.ChangeSubscription, askahuman.SubscriptionParams{ID: subscribed["own"]},
		askahuman.SubscriptionChange{Token: &others})
	expire(t, on, asker.ask(t, textQuestion(1)).QuestionID)
	runNotifier(t, on)

	for _, asked := range []bool{false, true} {
		leaver := newPerson(c)
		answer(t, leaver, textAnswer(open))
		subscribe(t, leaver, onesynthtest.Unique("leaves"))
		params := askahuman.PersonParams{Fingerprint: leaver.Header.Get(askahuman.FingerprintHeader)}
		forget := func() client.Answer[askahuman.Deleted] {
			return onesynthtest.Call(t, leaver, askahuman.DeleteData, schema.None{}, schema.None{})
		}
		if asked {
			onesynthtest.Call(t, olga, askahuman.ExportDataOf, askahuman.DataParams{PersonParams: params},
				schema.None{})
			forget = func() client.Answer[askahuman.Deleted] {
				return onesynthtest.Call(t, olga, askahuman.DeleteDataOf, params, schema.None{})
			}
		} else {
			onesynthtest.Call(t, leaver, askahuman.ExportData, askahuman.CursorParams{}, schema.None{})
		}
		for left := forget().Value; left.More; left = forget().Value {
			time.Sleep(time.Duration(left.Wait) * time.Second)
		}
	}
	failWebhooks(t, on, asker)
}

// failWebhooks ends a question whose endpoint fails, puts a message that is no webhook into the queue, and waits until
// the first attempt at both has ended.
func failWebhooks(t testing.TB, p *platform.Target, asker agent) {
	t.Helper()
	runner := runtest.Of(p.Run)
	deliveries := func() []runtest.Delivery {
		return slices.DeleteFunc(runner.Deliveries(), func(d runtest.Delivery) bool { return d.Queue == "" })
	}
	tried := func() (messages int) {
		for _, delivery := range deliveries() {
			messages += delivery.Returned + delivery.Done
		}
		return messages
	}
	p.Flush(t)
	before := tried()
	must.OK(t, runner.FailWebhooks("/grants", true))
	asked := asker.ask(t, withWebhook(p, "grants", textQuestion(1)))
	platform.Call(t, asker, askahuman.CloseQuestion, askahuman.QuestionParams{ID: asked.QuestionID})
	p.Flush(t)
	must.OK(t, runner.Send(deliveries()[0].Queue, "no webhook", nil))
	wait.Until(t, "the webhook has failed, and the other message is given up", func() (any, bool) {
		now := tried()
		return now, now > before+1
	}, wait.On(p))
}
