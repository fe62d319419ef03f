package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// failing is both services; each of its methods fails with err.
type failing struct{ err error }

func (f failing) Ask(context.Context, string, askahuman.Ask) (askahuman.Question, error) {
	return askahuman.Question{}, f.err
}

func (f failing) Read(context.Context, string, string) (askahuman.QuestionWithResponses, error) {
	return askahuman.QuestionWithResponses{}, f.err
}

func (f failing) List(context.Context, string, askahuman.Status, int, string) ([]askahuman.Question, string, error) {
	return nil, "", f.err
}

func (f failing) Close(context.Context, string, string) error { return f.err }

func (f failing) Feed(context.Context, string, []string, int, string) ([]askahuman.Question, string, error) {
	return nil, "", f.err
}

func (f failing) Question(context.Context, string, string) (askahuman.Question, bool, error) {
	return askahuman.Question{}, false, f.err
}

func (f failing) Answer(context.Context, string, *time.Location, askahuman.Answer) (askahuman.Receipt, error) {
	return askahuman.Receipt{}, f.err
}

func (f failing) Stats(context.Context, string, *time.Location) (askahuman.Standing, error) {
	return askahuman.Standing{}, f.err
}

func (f failing) Leaderboard(context.Context, string, askahuman.Period, int) (askahuman.Leaderboard, error) {
	return askahuman.Leaderboard{}, f.err
}

func (f failing) Subscribe(context.Context, string, askahuman.NewSubscription) (askahuman.Subscription, error) {
	return askahuman.Subscription{}, f.err
}

func (f failing) ChangeSubscription(context.Context, string, askahuman.SubscriptionChange) (askahuman.Subscription, error) {
	return askahuman.Subscription{}, f.err
}

func (f failing) RenewSubscription(context.Context, string, askahuman.SubscriptionRenewal) (askahuman.Subscription, error) {
	return askahuman.Subscription{}, f.err
}

func (f failing) Unsubscribe(context.Context, string) error { return f.err }

// panicking panics where failing fails.
type panicking struct{ api.AgentService }

// operations are a good request for every operation.
func operations() []request {
	return []request{
		asAgent("POST /agent/questions", `{"prompt":"Is anybody out there?","type":"text"}`),
		asAgent("GET /agent/questions", ""),
		asAgent("GET /agent/questions/x", ""),
		asAgent("DELETE /agent/questions/x", ""),
		asPerson("ann", "GET /human/questions", ""),
		asPerson("ann", "GET /human/questions/x", ""),
		asPerson("ann", "POST /human/responses", `{"question_id":"x","answer":"Yes."}`),
		asPerson("ann", "POST /human/push/subscribe", `{"fcm_token":"token"}`),
		asPerson("ann", "PUT /human/push/subscribe", `{"fcm_token":"token"}`),
		asPerson("ann", "PUT /human/push/subscribe/x", `{"fcm_token":"token"}`),
		asPerson("ann", "DELETE /human/push/subscribe/x", ""),
		asPerson("ann", "GET /human/stats", ""),
		asPerson("ann", "GET /human/leaderboard", ""),
	}
}

// Every error of the domain, from every operation, has its code.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err        error
		status     int
		code       string
		retryAfter string
		logged     bool
	}{
		{err: &validate.Error{Problems: []validate.Problem{{Field: "prompt", Message: "is odd"}}}, status: 400, code: "VALIDATION_ERROR"},
		{err: askahuman.ErrQuotaExceeded, status: 403, code: "AGENT_QUOTA_EXCEEDED"},
		{err: askahuman.ErrQuestionNotFound, status: 404, code: "QUESTION_NOT_FOUND"},
		{err: askahuman.ErrSubscriptionNotFound, status: 404, code: "SUBSCRIPTION_NOT_FOUND"},
		{err: askahuman.ErrAlreadyAnswered, status: 409, code: "ALREADY_ANSWERED"},
		{err: &idempotency.RunningError{Until: began().Add(time.Minute)}, status: 409, code: "REQUEST_IN_PROGRESS", retryAfter: "1"},
		{err: idempotency.ErrClaimLost, status: 409, code: "REQUEST_IN_PROGRESS", retryAfter: "1"},
		{err: idempotency.ErrOtherRequest, status: 400, code: "VALIDATION_ERROR"},
		{err: askahuman.ErrQuestionClosed, status: 410, code: "QUESTION_CLOSED"},
		{err: &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: began().Add(1500 * time.Millisecond)}}, status: 429, code: "RATE_LIMITED", retryAfter: "2"},
		{err: &ratelimit.LimitedError{State: ratelimit.State{Limit: 60, Reset: began().Add(-time.Second)}}, status: 429, code: "RATE_LIMITED", retryAfter: "1"},
		{err: retry.ErrBusy, status: 429, code: "RATE_LIMITED", retryAfter: "1"},
		{err: askahuman.ErrStale, status: 429, code: "RATE_LIMITED", retryAfter: "1"},
		{err: errors.New("table aah-questions has a secret"), status: 500, code: "SERVER_ERROR", logged: true},
		{err: retry.ErrUnanswered, status: 503, code: "SERVER_ERROR", retryAfter: "1", logged: true},
		{err: context.DeadlineExceeded, status: 503, code: "SERVER_ERROR", retryAfter: "1", logged: true},
	} {
		t.Run(fmt.Sprintf("%s/%T", test.code, test.err), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			log := slog.New(slog.NewJSONHandler(&out, nil))
			service := failing{fmt.Errorf("doing it: %w", test.err)}
			now := func() time.Time { return began() }
			agents := (&api.AgentAPI{Service: service, OpenAgents: true, Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Log: log, Now: now}}).Handler()
			people := (&api.HumanAPI{Service: service, Hasher: testHasher(), Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Log: log, Now: now}}).Handler()
			for _, r := range operations() {
				handler := agents
				if strings.Contains(r.line, " /human/") {
					handler = people
				}
				out.Reset()
				w := r.do(handler)
				var body api.ErrorResponse
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
					t.Fatalf("%s: %v: %s", r.line, err, w.Body)
				}
				if w.Code != test.status || string(body.Error.Code) != test.code || body.Error.Message == "" {
					t.Errorf("%s: got %d %s", r.line, w.Code, w.Body)
				}
				if got := w.Header().Get("Retry-After"); got != test.retryAfter {
					t.Errorf("%s: Retry-After is %q; want %q", r.line, got, test.retryAfter)
				}
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: Content-Type is %q", r.line, got)
				}
				if (body.Error.Details != nil) != (test.status == 400) {
					t.Errorf("%s: details are %v", r.line, body.Error.Details)
				}
				if strings.Contains(w.Body.String(), "doing it") || strings.Contains(w.Body.String(), "secret") {
					t.Errorf("%s: tells the caller what happened inside: %s", r.line, w.Body)
				}
				if logged := strings.Contains(out.String(), "doing it: "+test.err.Error()); logged != test.logged {
					t.Errorf("%s: logged %s", r.line, &out)
				}
			}
		})
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	agents := (&api.AgentAPI{Service: panicking{}, OpenAgents: true, Options: api.Options{RateLimiter: &limiter{used: map[string]int{}}, Log: slog.New(slog.NewJSONHandler(&out, nil))}}).Handler()
	w := asAgent("GET /agent/questions", "").do(agents)
	if want := `{"error":{"code":"SERVER_ERROR","message":"something went wrong on this side: try again; if it lasts, tell the operator when it happened"}}` + "\n"; w.Code != 500 || w.Body.String() != want {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if !strings.Contains(out.String(), "nil pointer") {
		t.Errorf("logged %s", &out)
	}
}

// Bodies that are no good request are VALIDATION_ERROR, with the fields that are
// wrong, and are not stored.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	const (
		asking     = "POST /agent/questions"
		answering  = "POST /human/responses"
		subscribed = "POST /human/push/subscribe"
	)
	for _, test := range []struct {
		name, line, body string
		headers          []string
		fields           string // those of the details, in order
	}{
		{name: "Empty", line: asking, fields: "body"},
		{name: "Null", line: asking, body: `null`, fields: "body"},
		{name: "List", line: asking, body: `[]`, fields: "body"},
		{name: "String", line: asking, body: `"x"`, fields: "body"},
		{name: "Truncated", line: asking, body: `{"prompt":"Is anybody`, fields: "body"},
		{name: "Trailing", line: asking, body: `{"prompt":"Is anybody out there?","type":"text"} x`, fields: "body"},
		{name: "Nested", line: asking, body: strings.Repeat("[", 100000), fields: "body"},
		{name: "NestedInUnknown", line: asking, body: `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, fields: "body"},
		{name: "InvalidUTF8", line: asking, body: "{\"prompt\":\"Is anybody \xff out there?\",\"type\":\"text\"}", fields: "body"},
		{name: "ByteOrderMark", line: asking, body: "\ufeff" + `{"prompt":"Is anybody out there?","type":"text"}`, fields: "body"},
		{name: "UTF16", line: asking, body: "{\x00\"\x00}\x00", fields: "body"},
		{name: "TooLarge", line: asking, body: `{"prompt":"` + strings.Repeat("x", 1<<20) + `"}`, fields: "body"},
		{name: "ContentType", line: asking, headers: []string{"Content-Type: text/plain"}, body: `{"prompt":"Is anybody out there?","type":"text"}`, fields: "Content-Type"},
		{name: "Form", line: asking, headers: []string{"Content-Type: application/x-www-form-urlencoded"}, body: `prompt=x`, fields: "Content-Type"},
		{name: "ContentTypeGarbage", line: asking, headers: []string{"Content-Type: ;+/"}, body: `{"prompt":"Is anybody out there?","type":"text"}`, fields: "Content-Type"},
		{name: "Nothing", line: asking, body: `{}`, fields: "prompt type"},
		{name: "NullRequired", line: asking, body: `{"prompt":null,"type":null}`, fields: "prompt type"},
		{name: "WrongTypes", line: asking, body: `{"prompt":1,"type":[],"options":"a","audience":{},"min_responses":"5","timeout_seconds":true,"idempotency_key":7}`, fields: "audience idempotency_key min_responses options prompt timeout_seconds type"},
		{name: "OutOfRange", line: asking, body: `{"prompt":"short","type":"x","min_responses":51,"timeout_seconds":59}`, fields: "min_responses prompt timeout_seconds type"},
		{name: "Zero", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":0,"timeout_seconds":0}`, fields: "min_responses timeout_seconds"},
		{name: "Negative", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":-1}`, fields: "min_responses"},
		{name: "Fraction", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":2.5}`, fields: "min_responses"},
		{name: "Exponent", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":1e1}`, fields: "body"},
		{name: "Infinite", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":1e400}`, fields: "body"},
		{name: "InfiniteInUnknown", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","x":1e400}`, fields: "body"},
		{name: "Huge", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","min_responses":99999999999999999999}`, fields: "min_responses"},
		{name: "LastOfTwoCounts", line: asking, body: `{"prompt":"Is anybody out there?","prompt":"short","type":"text"}`, fields: "prompt"},
		{name: "OtherCase", line: asking, body: `{"prompt":"Is anybody out there?","PROMPT":"short","type":"text"}`, fields: "prompt"},
		{name: "Blank", line: asking, body: `{"prompt":"                ","type":"text"}`, fields: "prompt"},
		{name: "NUL", line: asking, body: `{"prompt":"Is anybody \u0000 out there?","type":"text"}`, fields: "prompt"},
		{name: "OptionsOfText", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","options":["a","b"]}`, fields: "options"},
		{name: "OneOption", line: asking, body: `{"prompt":"Is anybody out there?","type":"multiple_choice","options":["a"]}`, fields: "options"},
		{name: "SameOptions", line: asking, body: `{"prompt":"Is anybody out there?","type":"multiple_choice","options":["a","b","a"]}`, fields: "options[2]"},
		{name: "LongOption", line: asking, body: `{"prompt":"Is anybody out there?","type":"multiple_choice","options":["a","` + strings.Repeat("é", 201) + `"]}`, fields: "options[1]"},
		{name: "Audience", line: asking, body: `{"prompt":"Is anybody out there?","type":"text","audience":["general","everyone"]}`, fields: "audience[1]"},
		{name: "LongKey", line: asking, headers: []string{"X-Idempotency-Key: " + strings.Repeat("k", 256)}, body: `{"prompt":"Is anybody out there?","type":"text"}`, fields: "X-Idempotency-Key"},
		{name: "AnswerNothing", line: answering, body: `{}`, fields: "question_id"},
		{name: "AnswerWrongTypes", line: answering, body: `{"question_id":{},"answer":1,"selected_option":"0","confidence":"5","response_time_ms":"1"}`, fields: "answer confidence question_id response_time_ms selected_option"},
		{name: "AnswerOutOfRange", line: answering, body: `{"question_id":"x","answer":"` + strings.Repeat("é", 5001) + `","confidence":6,"response_time_ms":-1}`, fields: "answer confidence response_time_ms"},
		{name: "AnswerZero", line: answering, body: `{"question_id":"x","answer":"","selected_option":-1,"confidence":0}`, fields: "answer confidence selected_option"},
		{name: "SubscribeNothing", line: subscribed, body: `{}`, fields: "fcm_token"},
		{name: "SubscribeOutOfRange", line: subscribed, body: `{"fcm_token":"","min_interval_minutes":4}`, fields: "fcm_token min_interval_minutes"},
		{name: "RenewNothing", line: "PUT /human/push/subscribe", body: `{"old_fcm_token":""}`, fields: "fcm_token old_fcm_token"},
		{name: "RenewBroken", line: "PUT /human/push/subscribe", body: `{"fcm_token":"a b","old_fcm_token":"c d"}`, fields: "fcm_token old_fcm_token"},
		{name: "SubscribeZero", line: subscribed, body: `{"fcm_token":"t","min_interval_minutes":0}`, fields: "min_interval_minutes"},
		{name: "ListLimit", line: "GET /agent/questions?limit=51&status=open", fields: "status"},
		{name: "ListLimitWord", line: "GET /agent/questions?limit=many", fields: "limit"},
		{name: "ListLimitHuge", line: "GET /agent/questions?limit=99999999999999999999", fields: "limit"},
		{name: "ListCursor", line: "GET /agent/questions?cursor=x", fields: "cursor"},
		{name: "FeedLimit", line: "GET /human/questions?limit=0&cursor=x", fields: "limit"},
		{name: "FeedCursor", line: "GET /human/questions?cursor=%00", fields: "cursor"},
		{name: "FeedAudience", line: "GET /human/questions?audience=technical,everyone", fields: "audience[1]"},
		{name: "BoardLimit", line: "GET /human/leaderboard?limit=0&period=monthly", fields: "period limit"},
		{name: "BadQuery", line: "GET /human/leaderboard?limit=%zz", fields: "query"},
		{name: "Semicolon", line: "GET /human/leaderboard?limit=1;period=daily", fields: "query"},
		{name: "Timezone", line: "GET /human/stats", headers: []string{"X-Timezone: Mars/Olympus"}, fields: "X-Timezone"},
		{name: "TimezonePath", line: "GET /human/stats", headers: []string{"X-Timezone: ../../etc/passwd"}, fields: "X-Timezone"},
		{name: "TimezoneLocal", line: "GET /human/stats", headers: []string{"X-Timezone: Local"}, fields: "X-Timezone"},
		{name: "TimezoneLong", line: "GET /human/stats", headers: []string{"X-Timezone: " + strings.Repeat("x", 65)}, fields: "X-Timezone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			r := request{line: test.line, headers: append([]string{"X-Agent-Id: a", "X-Fingerprint: ann"}, test.headers...), body: test.body}
			body := p.do(t, r, http.StatusBadRequest)["error"].(map[string]any)
			if body["code"] != "VALIDATION_ERROR" {
				t.Errorf("code is %v", body["code"])
			}
			var fields []string
			for _, detail := range body["details"].(map[string]any)["problems"].([]any) {
				detail := detail.(map[string]any)
				fields = append(fields, detail["field"].(string))
				if message := detail["message"].(string); message == "" || len(message) > 300 {
					t.Errorf("%s: the message is %q", detail["field"], message)
				}
			}
			if got := strings.Join(fields, " "); got != test.fields {
				t.Errorf("fields are %q; want %q: %v", got, test.fields, body["message"])
			}
			if stored := p.do(t, asAgent("GET /agent/questions", ""), 200)["questions"].([]any); len(stored) != 0 {
				t.Errorf("stored %v", stored)
			}
		})
	}
}

// Requests that the wire format leaves open are accepted.
func TestLenientBodies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, contentType, body string }{
		{"Unknown", "application/json", `{"prompt":"Is anybody out there?","type":"text","model":"x","x":{"y":[]}}`},
		{"Nulls", "application/json", `{"prompt":"Is anybody out there?","type":"text","options":null,"audience":null,"min_responses":null,"timeout_seconds":null,"idempotency_key":null}`},
		{"EmptyLists", "application/json", `{"prompt":"Is anybody out there?","type":"text","options":[],"audience":[]}`},
		{"Charset", "Application/JSON ; charset=UTF-8", `{"prompt":"Is anybody out there?","type":"text"}`},
		{"NoContentType", "", `{"prompt":"Is anybody out there?","type":"text"}`},
		{"Escapes", "application/json", `{"prompt":"\u0049s anybody \ud83d\ude00 out there?","type":"te\u0078t"}`},
		{"LoneSurrogate", "application/json", `{"prompt":"Is anybody \ud83d out there?","type":"text"}`},
		{"LongestInCodePoints", "application/json", `{"prompt":"` + strings.Repeat("😀", 2000) + `","type":"text"}`},
		{"WholeNumber", "application/json", `{"prompt":"Is anybody out there?","type":"text","min_responses":50,"timeout_seconds":86400}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			r := asAgent("POST /agent/questions", test.body)
			r.headers = append(r.headers, "Content-Type: "+test.contentType, "Accept: application/xml")
			p.do(t, r, http.StatusCreated)
		})
	}
}

// An unknown route is answered in the form of the wire format.
func TestNoRoute(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	for line, want := range map[string]int{
		"GET /":                         404,
		"GET /agent/questions/":         404,
		"GET /agent/questions/a/b":      404,
		"GET /docs":                     404,
		"GET /schemas/Submission.json":  404,
		"GET /openapi.yaml":             404,
		"PUT /agent/questions":          405,
		"HEAD /agent/questions":         405,
		"OPTIONS /agent/questions":      405,
		"PATCH /agent/questions/x":      405,
		"POST /human/questions":         405,
		"GET /human/push/subscribe":     405,
		"GET /human/push/subscribe/x":   405,
		"DELETE /human/responses":       405,
		"DELETE /human/push/subscribe/": 404,
	} {
		r := request{line: line}
		body := p.do(t, r, want)["error"].(map[string]any)
		if code := map[int]string{404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}[want]; body["code"] != code {
			t.Errorf("%s: got %v", line, body)
		}
	}
}
