package page

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/browser"
)

// A page of another origin works against the API, with the requests that Ask-a-Human's original page makes
// (frontend-app-web/src/api of its repository, commit e9d12dd) and the fields that it reads.
func TestPageOfAnotherOrigin(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w,
			`<!doctype html><html lang="en"><head><title>Other</title><link rel="icon" href="data:,"></head><body><h1>Other</h1></body></html>`)
	}))
	t.Cleanup(other.Close)
	run, chromium := suite.Start(t)
	open := ask(t, unique("Which of these do you read first?"), 2, "The title", "The text")
	tab := chromium.Open(t, other.URL, browser.Options{})
	tab.Excuse("409")
	got := browser.Evaluate[struct {
		Listed, Detail, Submitted, Answered, Again bool
		Status                                     int
	}](tab, fmt.Sprintf(`(async () => {
		const headers = {'Content-Type': 'application/json', Accept: 'application/json', 'X-Fingerprint': crypto.randomUUID()};
		const call = (path, options) => fetch(%q + path, {headers, ...options});
		const id = %q;
		const {questions} = await (await call('/human/questions?limit=20')).json();
		const listed = questions.find((one) => one.question_id === id);
		const detail = await (await call('/human/questions/' + id)).json();
		const post = () => call('/human/responses', {method: 'POST', body: JSON.stringify({question_id: id, selected_option: 1})});
		const submitted = await (await post()).json();
		const answered = await (await call('/human/questions/' + id)).json();
		const again = await post();
		const open = (one) => typeof one.prompt === 'string' && one.type === 'multiple_choice' && one.options.length === 2 && one.responses_needed === 2;
		return {
			Listed: Boolean(listed) && open(listed) && !Number.isNaN(Date.parse(listed.created_at)),
			Detail: detail.question_id === id && open(detail) && detail.can_answer === true,
			Submitted: typeof submitted.response_id === 'string' && submitted.points_earned > 0,
			Answered: answered.can_answer === false,
			Again: typeof (await again.json()) === 'object',
			Status: again.status,
		};
	})()`, run.URL(""), open.id))
	if !got.Listed || !got.Detail || !got.Submitted || !got.Answered || !got.Again ||
		got.Status != http.StatusConflict {
		t.Errorf("got %+v; want each, and then 409", got)
	}
}
