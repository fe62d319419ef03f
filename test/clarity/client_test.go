package clarity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a user with a token.
type caller struct{ platform.Caller }

func newUser(t testing.TB, on *target) caller {
	t.Helper()
	return caller{platform.NewCaller(t, on.Target)}
}

type question struct {
	QuestionID      string   `json:"questionId"`
	Text            string   `json:"text"`
	Type            string   `json:"type"`
	TargetWordCount int      `json:"targetWordCount"`
	FocusAreas      []string `json:"focusAreas"`
}

type scenario struct {
	ScenarioID       string     `json:"scenarioId"`
	Title            string     `json:"title"`
	Description      string     `json:"description"`
	Difficulty       string     `json:"difficulty"`
	Tags             []string   `json:"tags"`
	Questions        []question `json:"questions"`
	Active           bool       `json:"active"`
	CreatedAt        string     `json:"createdAt"`
	EstimatedMinutes int        `json:"estimatedMinutes"`
}

type answer struct {
	QuestionID   string `json:"questionId"`
	QuestionText string `json:"questionText,omitempty"`
	Answer       string `json:"answer"`
	WordCount    int    `json:"wordCount,omitempty"`
}

type input map[string]any

type score struct {
	Name      string   `json:"name"`
	Score     int      `json:"score"`
	Rationale []string `json:"rationale"`
	Uncertain bool     `json:"uncertain"`
}

type evaluation struct {
	OverallScore int     `json:"overallScore"`
	Dimensions   []score `json:"dimensions"`
	Feedback     string  `json:"feedback"`
	ModelID      string  `json:"modelId"`
	EvaluatedAt  string  `json:"evaluatedAt"`
}

type attempt struct {
	AttemptID         string      `json:"attemptId"`
	ScenarioID        string      `json:"scenarioId"`
	UserID            string      `json:"userId"`
	Timestamp         string      `json:"timestamp"`
	Status            string      `json:"status"`
	Version           int         `json:"version"`
	DurationSeconds   *int        `json:"durationSeconds"`
	Answers           []answer    `json:"answers"`
	Evaluation        *evaluation `json:"evaluation"`
	EvaluationStatus  string      `json:"evaluationStatus"`
	EvaluationFailure string      `json:"evaluationFailure"`
}

func (a attempt) path() string { return "/attempts/" + a.AttemptID }

// scenarios returns the active scenarios. The first call loads them.
func (c caller) scenarios(t testing.TB, on *target) []scenario {
	t.Helper()
	on.load(t)
	return onesynthtest.Read[struct{ Scenarios []scenario }](t, c.Try(t, http.MethodGet, "/scenarios", nil),
		http.StatusOK).Scenarios
}

// completed is a completed attempt at a scenario, with words of its own for each answer.
func completed(s scenario, words string) input {
	answers := []answer{}
	for _, q := range s.Questions {
		answers = append(answers, answer{QuestionID: q.QuestionID,
			Answer: fmt.Sprintf("To %s I would say: %s", q.QuestionID, words)})
	}
	return input{"scenarioId": s.ScenarioID, "answers": answers, "durationSeconds": 600}
}

// begin makes an attempt, which the API answers with 201.
func (c caller) begin(t testing.TB, body input) attempt {
	t.Helper()
	return onesynthtest.Read[attempt](t, c.Try(t, http.MethodPost, "/attempts", body), http.StatusCreated)
}

func (c caller) read(t testing.TB, id string) attempt {
	t.Helper()
	return onesynthtest.Read[attempt](t, c.Try(t, http.MethodGet, "/attempts/"+id, nil), http.StatusOK)
}

// all returns the caller's attempts, newest first, by pages.
func (c caller) all(t testing.TB, limit int) []attempt {
	t.Helper()
	var list []attempt
	for next := ""; ; {
		page := onesynthtest.Read[struct {
			Attempts  []attempt
			NextToken string
		}](t, c.Try(t, http.MethodGet, fmt.Sprintf("/attempts?limit=%d&nextToken=%s", limit, next), nil), http.StatusOK)
		if len(page.Attempts) > limit {
			t.Fatalf("got %d attempts on a page; want at most %d", len(page.Attempts), limit)
		}
		list = append(list, page.Attempts...)
		if next = page.NextToken; next == "" {
			return list
		}
	}
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
