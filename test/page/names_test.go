package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// A person reports a name below the leaderboard. The operator sees it, and takes it away, which settles the report.
func TestReportedName(t *testing.T) {
	named := onesynthtest.NewClient(t, suite.Target(t))
	named.Header = http.Header{"X-Fingerprint": {onesynthtest.Unique("named")}}
	for range 3 { // The page shows the first twenty people.
		q := ask(t, unique("Who is on the board?"), 2)
		if got := named.Try(t, http.MethodPost, "/human/responses", map[string]any{"question_id": q.id,
			"answer": "I am, with this answer."}); got.Status != http.StatusCreated {
			t.Fatalf("got %v", got)
		}
	}
	var stats struct{ Handle string }
	must.OK(t, json.Unmarshal(named.Try(t, http.MethodGet, "/human/stats", nil).Body, &stats))
	tab := open(t, "/leaderboard", browser.Options{})
	// A function answers from the board that it has read for half a minute: the page reads it again, for another period.
	option := fmt.Sprintf("document.querySelector('#name option[value=%q]')", stats.Handle)
	tab.Until(option + ` || (Date.now() > (window.again ?? 0) && (window.again = Date.now() + 5000,
		document.querySelector('.chips a:not([aria-current])').click()), false)`)
	tab.Click("Report a name")
	tab.Until(option + ".selected = true")
	tab.Until("document.querySelector('#reason').value = 'abuse'")
	tab.Click("Send report")
	tab.See("Thank you. Someone will look at it.")
	tab = operating(t, browser.Options{})
	card := "[...document.querySelectorAll('[data-report]')].find((one) => " +
		"one.querySelector('h2').textContent === 'A name')"
	tab.Until(card)
	tab.See(stats.Handle)
	tab.Click("Take the name away")
	tab.Until("!" + card)
	tab.Click("Dismissed")
	tab.Until(card)
	tab.See("The name is taken away.")
	if got := named.Try(t, http.MethodPut, "/human/handle", map[string]any{"handle": "Another Name"}); got.Status !=
		http.StatusForbidden {
		t.Errorf("got %v", got)
	}
}
