package askahuman

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// client reaches the platform from one address.
type client struct {
	*onesynthtest.Client
	target *target
}

func newClient(t testing.TB, target *target) *client {
	t.Helper()
	return &client{platform.NewClient(t, target.Target), target}
}

// problem is the form of every error.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details struct {
		violation
		Problems []struct {
			violation
			Message string `json:"message"`
		} `json:"problems"`
	} `json:"details"`
	// Decision is who has decided what meanwhile.
	Decision *struct {
		Version   int       `json:"version"`
		Decision  string    `json:"decision"`
		DecidedBy string    `json:"decided_by"`
		DecidedAt time.Time `json:"decided_at"`
	} `json:"decision"`
}

// violation is a rule that a field breaks.
type violation struct {
	Field      string   `json:"field"`
	Index      *int     `json:"index"`
	Constraint string   `json:"constraint"`
	Min        *int     `json:"min"`
	Max        *int     `json:"max"`
	Allowed    []string `json:"allowed"`
}

// problem decodes a reply that is an error of the platform's own form.
func problemOf(r onesynthtest.Reply) (problem, error) {
	var body struct {
		Error *problem `json:"error"`
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&body); {
	case err != nil:
		return problem{}, fmt.Errorf("got %v, which has not the form of an error: %w", r, err)
	case body.Error == nil || body.Error.Code == "" || body.Error.Message == "":
		return problem{}, fmt.Errorf("got %v, which has not the form of an error", r)
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return problem{}, fmt.Errorf("got %v of content type %q", r, r.Header.Get("Content-Type"))
	}
	return *body.Error, nil
}

// refused checks that a reply is the error of that status and code.
func refused(t testing.TB, r onesynthtest.Reply, status int, code string) problem {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %v; want %d %s", r, status, code)
	}
	p, err := problemOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if p.Code != code {
		t.Fatalf("got %v; want code %s", r, code)
	}
	return p
}

// invalid checks that a reply is VALIDATION_ERROR and names the field.
func invalid(t testing.TB, r onesynthtest.Reply, field string) {
	t.Helper()
	p := refused(t, r, http.StatusBadRequest, "VALIDATION_ERROR")
	for _, detail := range p.Details.Problems {
		if strings.EqualFold(detail.Field, field) && detail.Constraint != "" && detail.Message != "" {
			return
		}
	}
	t.Fatalf("got %v; want details that name %s", r, field)
}

// limits are the headers of a rate limit.
type limits struct{ limit, remaining, reset int }

func parseLimits(r onesynthtest.Reply) (limits, error) {
	var l limits
	for name, into := range map[string]*int{"X-RateLimit-Limit": &l.limit, "X-RateLimit-Remaining": &l.remaining,
		"X-RateLimit-Reset": &l.reset} {
		n, err := strconv.Atoi(r.Header.Get(name))
		if err != nil {
			return l, fmt.Errorf("got %v with %s %q; want a number", r, name, r.Header.Get(name))
		}
		*into = n
	}
	return l, nil
}

func readLimits(t testing.TB, r onesynthtest.Reply) limits {
	t.Helper()
	l, err := parseLimits(r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// agent is an AI agent.
type agent struct {
	*client
	id string
	// key is what it shows where agents have keys.
	key string
}

func (c *client) newAgent() agent { return agent{client: c, id: onesynthtest.Unique("agent")} }

// ask is a question as an agent asks it.
type ask struct {
	Prompt         string   `json:"prompt"`
	Type           string   `json:"type"`
	Options        []string `json:"options,omitempty"`
	Audience       []string `json:"audience,omitempty"`
	MinResponses   int      `json:"min_responses,omitempty"`
	TimeoutSeconds int      `json:"timeout_seconds,omitempty"`
	IdempotencyKey string   `json:"idempotency_key,omitempty"`
	CallbackURL    string   `json:"callback_url,omitempty"`
}

// operator is someone who moderates.
type operator struct {
	*client
	token string
}

// newOperator signs an operator in, with a token that the local run makes.
func (c *client) newOperator(t testing.TB) operator {
	t.Helper()
	return operator{c, c.target.Token(t, map[string]any{"sub": onesynthtest.Unique("operator"),
		"claims": map[string]any{"cognito:groups": []string{"operators"}}})}
}

func (o operator) header() http.Header { return http.Header{"Authorization": {"Bearer " + o.token}} }

// about is the header of an operator's request about a person.
func (o operator) about(p person) http.Header {
	header := o.header()
	header.Set("X-Fingerprint", p.fingerprint)
	return header
}

func (o operator) try(t testing.TB, method, path string, body any) onesynthtest.Reply {
	t.Helper()
	return o.MustSend(t, method, path, o.header(), body)
}

// textQuestion is a question that needs so many texts.
func textQuestion(answers int) ask {
	return ask{Prompt: "Should error messages apologise to people?", Type: "text", MinResponses: answers}
}

// choiceQuestion is a question that needs so many choices.
func choiceQuestion(answers int) ask {
	return ask{Prompt: "Which button label is clearer?", Type: "multiple_choice",
		Options: []string{"Submit", "Send", "Confirm"}, MinResponses: answers}
}

type submission struct {
	QuestionID string    `json:"question_id"`
	Status     string    `json:"status"`
	PollURL    string    `json:"poll_url"`
	ExpiresAt  time.Time `json:"expires_at"`
	CreatedAt  time.Time `json:"created_at"`
}

type agentQuestion struct {
	QuestionID        string         `json:"question_id"`
	Status            string         `json:"status"`
	Prompt            string         `json:"prompt"`
	Type              string         `json:"type"`
	Options           []string       `json:"options"`
	Audience          []string       `json:"audience"`
	RequiredResponses int            `json:"required_responses"`
	CurrentResponses  int            `json:"current_responses"`
	CreatedAt         time.Time      `json:"created_at"`
	ExpiresAt         time.Time      `json:"expires_at"`
	ClosedAt          *time.Time     `json:"closed_at"`
	ExpiredAt         *time.Time     `json:"expired_at"`
	Responses         []response     `json:"responses"`
	Summary           map[string]int `json:"summary"`
	Hidden            bool           `json:"hidden"`
	HiddenResponses   int            `json:"hidden_responses"`
	Webhook           delivery       `json:"webhook"`
}

// delivery is how far the webhook of a question is; zero: its agent wants none.
type delivery struct {
	State         string     `json:"state"`
	Attempts      int        `json:"attempts"`
	AttemptedAt   *time.Time `json:"attempted_at"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
}

type response struct {
	ResponseID     string   `json:"response_id"`
	Answer         *string  `json:"answer"`
	SelectedOption *int     `json:"selected_option"`
	Confidence     *int     `json:"confidence"`
	Flags          []string `json:"flags"`
}

type agentPage struct {
	Questions  []agentQuestion `json:"questions"`
	NextCursor string          `json:"next_cursor"`
}

// shows returns what the agent sends as X-Agent-Id.
func (a agent) shows() string { return cmp.Or(a.key, a.id) }

func (a agent) header() http.Header { return http.Header{"X-Agent-Id": {a.shows()}} }

func (a agent) try(t testing.TB, method, path string, body any) onesynthtest.Reply {
	t.Helper()
	return a.MustSend(t, method, path, a.header(), body)
}

// ask asks a question; with a key, if the client makes requests again.
func (a agent) ask(t testing.TB, question ask) submission {
	t.Helper()
	if len(a.Retry) > 0 && question.IdempotencyKey == "" {
		question.IdempotencyKey = onesynthtest.Unique("key")
	}
	return onesynthtest.Read[submission](t, a.try(t, http.MethodPost, "/agent/questions", question), http.StatusCreated)
}

func (a agent) question(t testing.TB, id string) agentQuestion {
	t.Helper()
	return onesynthtest.Read[agentQuestion](t, a.try(t, http.MethodGet, "/agent/questions/"+id, nil), http.StatusOK)
}

func (a agent) list(t testing.TB) agentPage {
	t.Helper()
	return onesynthtest.Read[agentPage](t, a.try(t, http.MethodGet, "/agent/questions", nil), http.StatusOK)
}

func (a agent) close(t testing.TB, id string) {
	t.Helper()
	onesynthtest.Read[struct{}](t, a.try(t, http.MethodDelete, "/agent/questions/"+id, nil), http.StatusNoContent)
}

// person is someone who answers.
type person struct {
	*client
	fingerprint string
}

func (c *client) newPerson() person { return person{c, onesynthtest.Unique("person")} }

func (c *client) newPeople(n int) []person {
	people := make([]person, n)
	for i := range people {
		people[i] = c.newPerson()
	}
	return people
}

// answer is an answer as a person gives it.
type answer struct {
	QuestionID     string `json:"question_id"`
	Answer         string `json:"answer,omitempty"`
	SelectedOption *int   `json:"selected_option,omitempty"`
	Confidence     int    `json:"confidence,omitempty"`
	ResponseTimeMS int    `json:"response_time_ms,omitempty"`
}

func textAnswer(questionID string) answer {
	return answer{QuestionID: questionID, Answer: "Only if it is our fault."}
}

type receipt struct {
	ResponseID   string  `json:"response_id"`
	PointsEarned int     `json:"points_earned"`
	NewBadges    []badge `json:"new_badges"`
	TotalPoints  int     `json:"total_points"`
	Answers      int     `json:"answers"`
	Completed    bool    `json:"completed"`
	NextBadge    *next   `json:"next_badge"`
}

type next struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Have int    `json:"have"`
	Need int    `json:"need"`
}

type badge struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	EarnedAt time.Time `json:"earned_at"`
}

type humanQuestion struct {
	QuestionID      string    `json:"question_id"`
	Prompt          string    `json:"prompt"`
	Type            string    `json:"type"`
	Options         []string  `json:"options"`
	Audience        []string  `json:"audience"`
	ResponsesNeeded int       `json:"responses_needed"`
	CreatedAt       time.Time `json:"created_at"`
	ExpiresAt       time.Time `json:"expires_at"`
	CanAnswer       *bool     `json:"can_answer"`
}

type stats struct {
	Handle            string         `json:"handle"`
	TotalPoints       int            `json:"total_points"`
	TotalAnswers      int            `json:"total_answers"`
	StreakDays        int            `json:"streak_days"`
	Badges            []badge        `json:"badges"`
	Rank              *int           `json:"rank"`
	AnswersByCategory map[string]int `json:"answers_by_category"`
	NextBadges        []next         `json:"next_badges"`
}

type subscribe struct {
	Token    string `json:"fcm_token,omitempty"`
	Interval int    `json:"min_interval_minutes,omitempty"`
}

type subscription struct {
	SubscriptionID string `json:"subscription_id"`
	Status         string `json:"status"`
}

func (p person) header() http.Header { return http.Header{"X-Fingerprint": {p.fingerprint}} }

func (p person) try(t testing.TB, method, path string, body any) onesynthtest.Reply {
	t.Helper()
	return p.MustSend(t, method, path, p.header(), body)
}

// tryAnswer is an attempt to answer that may fail; it can be made by any goroutine.
func (p person) tryAnswer(ctx context.Context, a answer) (onesynthtest.Reply, error) {
	return p.Send(ctx, http.MethodPost, "/human/responses", p.header(), a)
}

func (p person) answer(t testing.TB, a answer) receipt {
	t.Helper()
	return onesynthtest.Read[receipt](t, p.try(t, http.MethodPost, "/human/responses", a), http.StatusCreated)
}

type reported struct {
	ReportID string `json:"report_id"`
	Status   string `json:"status"`
}

func (p person) question(t testing.TB, id string) humanQuestion {
	t.Helper()
	return onesynthtest.Read[humanQuestion](t, p.try(t, http.MethodGet, "/human/questions/"+id, nil), http.StatusOK)
}

func (p person) stats(t testing.TB) stats {
	t.Helper()
	return onesynthtest.Read[stats](t, p.try(t, http.MethodGet, "/human/stats", nil), http.StatusOK)
}

func (p person) subscribe(t testing.TB, s subscribe) subscription {
	t.Helper()
	return onesynthtest.Read[subscription](t, p.try(t, http.MethodPost, "/human/push/subscribe", s), http.StatusCreated)
}
