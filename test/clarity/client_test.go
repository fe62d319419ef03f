package clarity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a user with a token.
type caller struct{ platform.Caller }

func newUser(t testing.TB, on *target) caller {
	t.Helper()
	return caller{platform.NewCaller(t, on.Target)}
}

type input map[string]any

// pathOf is the path of an attempt.
func pathOf(a clarity.Attempt) string { return "/attempts/" + a.ID }

// scenarios returns the active scenarios. The first call loads them.
func (c caller) scenarios(t testing.TB, on *target) []clarity.Scenario {
	t.Helper()
	on.load(t)
	return onesynthtest.Read[struct{ Scenarios []clarity.Scenario }](t, c.Try(t, http.MethodGet, "/scenarios", nil),
		http.StatusOK).Scenarios
}

// completed is a completed attempt at a scenario, with words of its own for each answer.
func completed(s clarity.Scenario, words string) input {
	answers := clarity.GivenAnswers{}
	for _, q := range s.Questions {
		answers = append(answers, clarity.GivenAnswer{QuestionID: q.ID,
			Text: fmt.Sprintf("To %s I would say: %s", q.ID, words)})
	}
	return input{"scenarioId": s.ID, "answers": answers, "durationSeconds": 600}
}

// begin makes an attempt, which the API answers with 201.
func (c caller) begin(t testing.TB, body input) clarity.Attempt {
	t.Helper()
	return onesynthtest.Read[clarity.Attempt](t, c.Try(t, http.MethodPost, "/attempts", body), http.StatusCreated)
}

func (c caller) read(t testing.TB, id string) clarity.Attempt {
	t.Helper()
	return onesynthtest.Read[clarity.Attempt](t, c.Try(t, http.MethodGet, "/attempts/"+id, nil), http.StatusOK)
}

// all returns the caller's attempts, newest first, by pages.
func (c caller) all(t testing.TB, limit int) []clarity.Attempt {
	t.Helper()
	var list []clarity.Attempt
	for next := ""; ; {
		page := onesynthtest.Read[clarity.AttemptList](t, c.Try(t, http.MethodGet,
			fmt.Sprintf("/attempts?limit=%d&nextToken=%s", limit, next), nil), http.StatusOK)
		if len(page.Attempts) > limit {
			t.Fatalf("got %d attempts on a page; want at most %d", len(page.Attempts), limit)
		}
		list = append(list, page.Attempts...)
		if next = page.NextToken; next == "" {
			return list
		}
	}
}

// profiles returns the caller's profiles, newest first.
func (c caller) profiles(t testing.TB) []clarity.Profile {
	t.Helper()
	return onesynthtest.Read[clarity.ProfileList](t,
		c.Try(t, http.MethodGet, "/users/me/profile/history?limit=100", nil),
		http.StatusOK).Profiles
}

type failure struct {
	Error   string
	Details []struct {
		Field   string
		Index   *int
		Message string
	}
}

// failureOf returns an error in the form of the contract: {error, details?}, and nothing else.
func failureOf(r onesynthtest.Reply) (failure, error) {
	var f failure
	decoder := json.NewDecoder(strings.NewReader(string(r.Body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil || f.Error == "" {
		return f, fmt.Errorf("got %v; want an error in the form of the contract: %v", r, err)
	}
	return f, nil
}

// refused checks that a request is refused with that status, in the form of the contract.
func refused(t testing.TB, r onesynthtest.Reply, status int) failure {
	t.Helper()
	f, err := failureOf(r)
	if err != nil || r.Status != status {
		t.Errorf("got %v, %v; want %d", r, err, status)
	}
	return f
}
