package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/wire"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

// answer is what a request got.
type answer struct {
	*httptest.ResponseRecorder
	clarity.Attempt
	Attempts  []clarity.Attempt
	Profiles  []clarity.Profile
	NextToken string
	Error     string
	Details   []struct {
		Field   string
		Index   *int
		Message string
	}
}

// send makes a request of a user, "METHOD path", with headers as "Name: value", and checks the
// answer against the document.
func send(t *testing.T, handler http.Handler, user, line string, body any, headers ...string) answer {
	return sendIn(t, t.Context(), handler, user, line, body, headers...)
}

func sendIn(t *testing.T, ctx context.Context, handler http.Handler, user, line string, body any,
	headers ...string) answer {
	t.Helper()
	content := ""
	if body != nil {
		written, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = string(written)
	}
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(content))
	r = r.WithContext(kit.WithInvocation(ctx, kit.Invocation{Claims: map[string]string{"sub": user}}))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	got := answer{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(got, r)
	described(t).IsKept(t, r, got.ResponseRecorder)
	if err := json.Unmarshal(got.Body.Bytes(), &got); err != nil {
		t.Errorf("%s: got %s: %v", line, got.Body, err)
	}
	return got
}

// attempts are all attempts of a user.
func attempts(t *testing.T, handler http.Handler, user string) []clarity.Attempt {
	t.Helper()
	return send(t, handler, user, "GET /attempts?limit=100", nil).Attempts
}

// 50 submissions with one key at once make one attempt, evaluated once. Each has the same answer in
// the end.
func TestOneKey(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	const key = "Idempotency-Key: one"
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			got := send(t, api, "ann", "POST /attempts", claritytest.Submission("This bridge"), key)
			if got.Code != http.StatusCreated && (got.Code != http.StatusConflict ||
				got.Header().Get("Retry-After") == "") {
				t.Errorf("got %d %v %s", got.Code, got.Header(), got.Body)
			}
		})
	}
	all.Wait()
	last := send(t, api, "ann", "POST /attempts", claritytest.Submission("This bridge"), key)
	if last.Code != http.StatusCreated || last.Header().Get("Idempotency-Replayed") != "true" ||
		last.Evaluation == nil || last.Header().Get("Location") != "/attempts/"+last.ID {
		t.Errorf("the repeat: got %d %v %s", last.Code, last.Header(), last.Body)
	}
	if found := attempts(t, api, "ann"); len(found) != 1 || found[0].ID != last.ID || w.Judge.Calls() != 1 {
		t.Errorf("got %d attempts, evaluated %d times", len(found), w.Judge.Calls())
	}
	if sums := metricstest.Sums(t, w.Metrics()); sums["AttemptsCompleted"] != 1 || sums["Evaluations"] != 1 {
		t.Errorf("the metrics are %v", sums)
	}
	// A key belongs to its user and its request, for a day.
	if got := send(t, api, "ann", "POST /attempts", claritytest.Submission("That bridge"),
		key); got.Code != http.StatusBadRequest || got.Details[0].Field != "Idempotency-Key" {
		t.Errorf("another request: got %d %s", got.Code, got.Body)
	}
	if got := send(t, api, "bob", "POST /attempts", claritytest.Submission("This bridge"),
		key); got.Code != http.StatusCreated || got.ID == last.ID {
		t.Errorf("another user: got %d %s", got.Code, got.Body)
	}
	w.Advance(25 * time.Hour)
	if got := send(t, api, "ann", "POST /attempts", claritytest.Submission("That bridge"),
		key); got.Code != http.StatusCreated || got.ID == last.ID {
		t.Errorf("another request a day later: got %d %s", got.Code, got.Body)
	}
	if got := send(t, api, "ann", "POST /attempts", claritytest.Submission("This bridge"),
		key+"2"); got.Code != http.StatusCreated || got.ID == last.ID {
		t.Errorf("another key: got %d %s", got.Code, got.Body)
	}
}

// Without a key each submission is an attempt.
func TestNoKey(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	for range 2 {
		if got := send(t, api, "ann", "POST /attempts",
			claritytest.Submission("This bridge")); got.Code != http.StatusCreated || got.Evaluation == nil {
			t.Errorf("got %d %s", got.Code, got.Body)
		}
	}
	if found := attempts(t, api, "ann"); len(found) != 2 || w.Judge.Calls() != 2 {
		t.Errorf("got %d attempts, evaluated %d times", len(found), w.Judge.Calls())
	}
}

// A function that is killed between any two of its steps, or whose context ends there, loses no
// attempt, and no attempt is evaluated again after its evaluation is stored. The next attempt at the
// request, or the schedule, goes on.
func TestKilled(t *testing.T) {
	t.Parallel()
	errDead := errors.New("the process is dead")
	for name, begin := range map[string]func(*testing.T, http.Handler) (line string, body any){
		"POST": func(*testing.T, http.Handler) (string, any) {
			return "POST /attempts", claritytest.Submission("This bridge")
		},
		"PUT": func(t *testing.T, api http.Handler) (string, any) {
			in := claritytest.Submission("This bridge")
			in.Status = clarity.InProgress
			begun := send(t, api, "ann", "POST /attempts", in)
			return "PUT /attempts/" + begun.ID, clarity.Save{Answers: in.Answers,
				Change: clarity.Change{Status: clarity.Completed}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := claritytest.New(t)
			w.EvaluationsPerDay = 1000
			api := w.API()
			var survived bool
			for step := 1; !survived; step++ {
				for _, kill := range []string{"before", "after", "context"} {
					line, body := begin(t, api)
					key := fmt.Sprintf("Idempotency-Key: %s-%d", kill, step)
					ctx, cancel := context.WithCancel(t.Context())
					had, called := len(attempts(t, api, "ann")), w.Judge.Calls()
					var made atomic.Int64 // scenario and attempt are read at the same time
					var dead atomic.Bool
					count := func(schema.Operation) error {
						if made.Add(1) == int64(step) {
							dead.Store(true)
							cancel()
						}
						if dead.Load() && kill != "context" {
							return errDead
						}
						return nil
					}
					if kill == "after" {
						w.Tables.Recorder.Faults(func(schema.Operation) error {
							if dead.Load() {
								return errDead
							}
							return nil
						}, count)
					} else {
						w.Tables.Recorder.Faults(count, nil)
					}
					first := sendIn(t, ctx, api, "ann", line, body, key)
					w.Tables.Recorder.Faults(nil, nil)
					cancel()
					if survived = !dead.Load(); survived {
						break
					}
					where := fmt.Sprintf("killed %s request %d (%d %s)", kill, step, first.Code, first.Error)
					want := had + 1
					if name == "PUT" {
						want = had
					}
					left := attempts(t, api, "ann")
					settled := len(left) == want && left[0].Evaluation != nil
					judged := w.Judge.Calls()
					w.Advance(6 * time.Minute)
					if kill != "before" {
						if _, err := w.EvaluatePending(t.Context()); err != nil {
							t.Errorf("%s: the schedule: %v", where, err)
						}
						for _, a := range attempts(t, api, "ann") {
							if a.Status == clarity.Completed && a.Evaluation == nil {
								t.Errorf("%s: the schedule left %+v", where, a)
							}
						}
					}
					again := send(t, api, "ann", line, body, key)
					if again.Code >= 300 {
						t.Fatalf("%s: the next attempt got %d %s", where, again.Code, again.Body)
					}
					found := attempts(t, api, "ann")
					if len(found) != want || found[0].ID != again.ID || found[0].Evaluation == nil ||
						found[0].Status != clarity.Completed {
						t.Errorf("%s: got %d attempts, want %d; the last is %+v", where, len(found), want, found[0])
					}
					if settled && w.Judge.Calls() != judged || w.Judge.Calls() > called+2 {
						t.Errorf("%s: evaluated %d times before and %d times after, settled: %t", where, judged-called,
							w.Judge.Calls()-judged, settled)
					}
					w.Advance(25 * time.Hour)
					judged = w.Judge.Calls()
					if run, err := w.EvaluatePending(t.Context()); err != nil || run != (service.Run{}) ||
						w.Judge.Calls() != judged {
						t.Errorf("%s: later the schedule found %+v, %v", where, run, err)
					}
				}
				if step > 12 {
					t.Fatal("the request makes ever more requests")
				}
			}
		})
	}
}

// After a function was killed, the next attempt at the request need wait no longer than an operation may take,
// and is told how long.
func TestLease(t *testing.T) {
	t.Parallel()
	errDead := errors.New("the process is dead")
	for name, test := range map[string]struct{ evaluation, longest time.Duration }{
		"Rubric": {2 * time.Second, 11 * time.Second},
		"Model":  {0, 30 * time.Second}, // as long as the invocation
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := claritytest.New(t)
			w.EvaluationTime = test.evaluation
			keys := service.Keys(w.DB)
			keys.Clock = w.Read
			handler := (&api.API{Service: w.Service, Keys: keys, WorkTime: w.WorkTime(),
				Log: slog.New(slog.DiscardHandler), Clock: w.Read}).Handler()
			ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
			defer cancel()
			var dead atomic.Bool
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
				dead.Store(true)
				return claritytest.Good(), nil
			})
			w.Tables.Recorder.Faults(func(schema.Operation) error {
				if dead.Load() {
					return errDead
				}
				return nil
			}, nil)
			body := claritytest.Submission("This bridge")
			sendIn(t, ctx, handler, "ann", "POST /attempts", body, "Idempotency-Key: k")
			w.Tables.Recorder.Faults(nil, nil)
			again := send(t, handler, "ann", "POST /attempts", body, "Idempotency-Key: k")
			after, err := strconv.Atoi(again.Header().Get("Retry-After"))
			if again.Code != http.StatusConflict || err != nil || time.Duration(after)*time.Second > test.longest {
				t.Errorf("got %d %s, Retry-After %s; want 409, and %s at most", again.Code, again.Body,
					again.Header().Get("Retry-After"), test.longest)
			}
			w.Advance(time.Duration(after) * time.Second)
			if last := send(t, handler, "ann", "POST /attempts", body,
				"Idempotency-Key: k"); last.Code != http.StatusCreated || last.Evaluation == nil {
				t.Errorf("then: got %d %s", last.Code, last.Body)
			}
		})
	}
}

// What earlier releases have stored is evaluated, in each way: they claimed the key of a request alone,
// stored the attempt without a claim, and claimed the evaluation after that.
func TestEarlierReleases(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	for name, evaluate := range map[string]func(id string) answer{
		"repeat": func(string) answer {
			return send(t, api, "ann", "POST /attempts", claritytest.Submission("repeat"), "Idempotency-Key: repeat")
		},
		"request": func(id string) answer { return send(t, api, "ann", "POST /attempts/"+id+"/evaluate", nil) },
		"schedule": func(id string) answer {
			w.Advance(time.Minute)
			if run, err := w.EvaluatePending(t.Context()); err != nil || run != (service.Run{Evaluated: 1}) {
				t.Errorf("the schedule: got %+v, %v", run, err)
			}
			return send(t, api, "ann", "GET /attempts/"+id, nil)
		},
	} {
		// The attempt's id follows from the request, so the request is sent, and then taken back.
		w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
			return clarity.Judgement{}, errors.New("down")
		})
		made := send(t, api, "ann", "POST /attempts", claritytest.Submission(name), "Idempotency-Key: "+name)
		w.Judge.Says(nil)
		change := func(table, name, key, expression string, values map[string]types.AttributeValue) {
			t.Helper()
			if _, err := w.Tables.Client.UpdateItem(t.Context(), &awsdynamodb.UpdateItemInput{
				TableName: &table, Key: map[string]types.AttributeValue{name: &types.AttributeValueMemberS{Value: key}},
				UpdateExpression: &expression, ExpressionAttributeValues: values,
			}); err != nil {
				t.Fatal(err)
			}
		}
		change("Attempts", "attemptId", made.ID, "REMOVE evaluationTries, evaluationFailure", nil)
		claim, _, err := service.Keys(w.DB).Begin(t.Context(), "ann", name, nil, idempotency.Deferred)
		if err != nil {
			t.Fatal(err)
		}
		change("Guards", "guardKey", claim.Key()[0].(string),
			"SET claim = :claim, claimed_until = :until REMOVE http_status_code, response_data",
			map[string]types.AttributeValue{
				":claim": &types.AttributeValueMemberS{Value: "DEAD"},
				":until": &types.AttributeValueMemberN{Value: "0"},
			})
		if got := evaluate(made.ID); got.Code >= 300 || got.ID != made.ID || got.Evaluation == nil {
			t.Errorf("%s: got %d %s; want %s evaluated", name, got.Code, got.Body, made.ID)
		}
	}
}

// Two users never see each other's attempts and profiles, by any route, id or cursor. A subject may
// be any text.
func TestUsers(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	users := []string{"us-east-1:12345678-1234-1234-1234-123456789012", "auth0|ann#", strings.Repeat("s", 255)}
	tokens := map[string]string{}
	ids := map[string]string{}
	for _, user := range users {
		for range 3 {
			in := claritytest.Submission("The bridge of " + user[:5])
			in.Status = clarity.InProgress
			got := send(t, api, user, "POST /attempts", in)
			if got.Code != http.StatusCreated {
				t.Fatalf("%s: got %d %s", user, got.Code, got.Body)
			}
			ids[user] = got.ID
			w.Advance(time.Second)
		}
		page := send(t, api, user, "GET /attempts?limit=2", nil)
		if len(page.Attempts) != 2 || page.NextToken == "" {
			t.Fatalf("%s: got %s", user, page.Body)
		}
		tokens[user] = page.NextToken
		for _, attempt := range attempts(t, api, user) {
			if attempt.UserID != user {
				t.Errorf("%s: got an attempt of %s", user, attempt.UserID)
			}
		}
	}
	for i, user := range users {
		other := users[(i+1)%len(users)]
		for line, want := range map[string]int{
			"GET /attempts/" + ids[other]:                                  403,
			"PUT /attempts/" + ids[other]:                                  403,
			"POST /attempts/" + ids[other] + "/evaluate":                   403,
			"GET /attempts?nextToken=" + tokens[other]:                     400,
			"GET /users/me/profile/history?nextToken=" + tokens[user]:      400,
			"GET /attempts?nextToken=" + tokens[user]:                      200,
			"GET /attempts/" + strings.ToUpper(ids[user]):                  404,
			"GET /attempts/00000000-0000-4000-8000-000000000000":           404,
			"GET /attempts/" + strings.Repeat("x", 3000):                   404,
			"PUT /attempts/00000000-0000-4000-8000-000000000000":           404,
			"POST /attempts/00000000-0000-4000-8000-000000000000/evaluate": 404,
			"GET /users/me/profile":                                        404,
			"GET /users/me/profile/history":                                200,
			"GET /scenarios/none":                                          404,
			"GET /scenarios/" + strings.Repeat("x", 3000):                  404,
			"GET /scenarios/inactive":                                      200,
			"GET /attempts?limit=0":                                        400,
			"GET /attempts?limit=101":                                      400,
			"GET /users/me/profile/history?limit=101":                      400,
			"GET /scenarios?difficulty=hard":                               400,
		} {
			var body any
			if strings.HasPrefix(line, "PUT") {
				body = clarity.Save{Answers: claritytest.Answers("My bridge")}
			}
			got := send(t, api, user, line, body)
			if got.Code != want || strings.Contains(got.Body.String(), "The bridge of "+other[:5]) {
				t.Errorf("%.60s: got %d %s, want %d", line, got.Code, got.Body, want)
			}
			if want == 400 && (len(got.Details) != 1 || !strings.Contains(line, got.Details[0].Field+"=")) {
				t.Errorf("%.60s: the details are %v", line, got.Details)
			}
		}
	}
}

// What a submission has to be, and what the errors name.
func TestSubmissions(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 1000
	api := w.API()
	type object = map[string]any
	answers := func(texts ...string) []object {
		var list []object
		for i, text := range texts {
			list = append(list, object{"questionId": fmt.Sprintf("q%d", i+1), "answer": text, "wordCount": 99,
				"colour": "blue"})
		}
		return list
	}
	const good = "Ten tons…!"
	longest := strings.Repeat("🌉", clarity.MaxAnswerLength)
	for name, test := range map[string]struct {
		body   any
		status int
		fields string
	}{
		"Shortest": {object{"scenarioId": "bridge", "answers": answers(good, good), "colour": "blue"}, 201, ""},
		"Longest":  {object{"scenarioId": "bridge", "answers": answers(longest, longest)}, 201, ""},
		"AnyOrder": {object{"scenarioId": "bridge",
			"answers": []object{answers(good, good)[1], answers(good)[0]}}, 201, ""},
		"Null": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": nil,
			"status": nil}, 201, ""},
		"Duration0": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": 0}, 201,
			""},
		"DurationDay": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": 86400},
			201, ""},
		"Begun":      {object{"scenarioId": "bridge", "answers": []object{}, "status": "in-progress"}, 201, ""},
		"BegunShort": {object{"scenarioId": "bridge", "answers": answers(""), "status": "in-progress"}, 201, ""},
		"Abandoned":  {object{"scenarioId": "bridge", "answers": answers("?"), "status": "abandoned"}, 201, ""},
		"NegativeSeconds": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": -1}, 400,
			"durationSeconds"},
		"OverADay": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": 86401},
			400, "durationSeconds"},
		"PartOfASecond": {object{"scenarioId": "bridge", "answers": answers(good, good), "durationSeconds": 0.5}, 400,
			"durationSeconds"},
		"OtherStatus": {object{"scenarioId": "bridge", "answers": answers(good, good), "status": "done"}, 400,
			"status"},
		"NoScenario":      {object{"answers": answers(good, good)}, 400, "scenarioId"},
		"EmptyScenario":   {object{"scenarioId": "", "answers": answers(good, good)}, 400, "scenarioId"},
		"UnknownScenario": {object{"scenarioId": "tunnel", "answers": answers(good, good)}, 404, ""},
		"Inactive":        {object{"scenarioId": "inactive", "answers": answers(good, good)}, 409, ""},
		"NoAnswers":       {object{"scenarioId": "bridge"}, 400, "answers"},
		"EmptyAnswers":    {object{"scenarioId": "bridge", "answers": []object{}}, 400, "answers answers"},
		"OneMissing":      {object{"scenarioId": "bridge", "answers": answers(good)}, 400, "answers"},
		"OneTooMany": {object{"scenarioId": "bridge", "answers": answers(good, good, good)}, 400,
			"answers.questionId[2]"},
		"Repeated": {object{"scenarioId": "bridge", "answers": append(answers(good, good), answers(good)...)}, 400,
			"answers.questionId[2]"},
		"UnknownBegun": {object{"scenarioId": "bridge", "answers": []object{{"questionId": "q9", "answer": good}},
			"status": "in-progress"}, 400, "answers.questionId[0]"},
		"NoText": {object{"scenarioId": "bridge", "answers": []object{{"questionId": "q1"}}}, 400,
			"answers.answer[0]"},
		"Nul": {object{"scenarioId": "bridge", "answers": answers(good+"\x00", good)}, 400,
			"answers.answer[0]"},
		"TooShort": {object{"scenarioId": "bridge", "answers": answers(good[1:], good)}, 400, "answers.answer[0]"},
		"BothTooShort": {object{"scenarioId": "bridge", "answers": answers("?", "")}, 400,
			"answers.answer[0] answers.answer[1]"},
		"Blank": {object{"scenarioId": "bridge", "answers": answers(strings.Repeat(" ", 20), good)}, 400,
			"answers.answer[0]"},
		"Invisible": {object{"scenarioId": "bridge",
			"answers": answers("\u200b\u2060 nine char\ufeff\u00a0\u200b", good)}, 400, "answers.answer[0]"},
		"TooLong": {object{"scenarioId": "bridge", "answers": answers(good, longest+"x")}, 400,
			"answers.answer[1]"},
		"TooLongBegun": {object{"scenarioId": "bridge", "answers": answers(longest + "x"), "status": "in-progress"},
			400, "answers.answer[0]"},
	} {
		got := send(t, api, name, "POST /attempts", test.body)
		var fields []string
		for _, detail := range got.Details {
			if detail.Index != nil {
				detail.Field += fmt.Sprintf("[%d]", *detail.Index)
			}
			fields = append(fields, detail.Field)
		}
		if got.Code != test.status || strings.Join(fields, " ") != test.fields ||
			test.status >= 400 && got.Error == "" {
			t.Errorf("%s: got %d %.500s; want %d %s", name, got.Code, got.Body, test.status, test.fields)
		}
		if stored := attempts(t, api, name); len(stored) != 0 != (test.status == 201) {
			t.Errorf("%s: stored are %d", name, len(stored))
		}
		if test.status != 201 {
			continue
		}
		read := send(t, api, name, "GET /attempts/"+got.ID, nil)
		for i, a := range read.Answers {
			if a.QuestionID != fmt.Sprintf("q%d", i+1) || a.QuestionText != "What follows from "+a.QuestionID+"?" ||
				a.WordCount != len(strings.Fields(a.Text)) {
				t.Errorf("%s: the answer %d is %+v", name, i, a)
			}
		}
		wants := strings.HasPrefix(name, "Duration")
		if read.Header().Get("ETag") != `"1"` || (read.DurationSeconds != nil) != wants ||
			(read.Evaluation != nil) != (read.Status == clarity.Completed) {
			t.Errorf("%s: read is %s", name, read.Body)
		}
	}
}

// An attempt in progress is saved, completed and abandoned.
func TestSave(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	api := w.API()
	begin := func(body clarity.Submission) string {
		body.Status = clarity.InProgress
		return "PUT /attempts/" + send(t, api, "ann", "POST /attempts", body).ID
	}
	completed := clarity.Change{Status: clarity.Completed}

	put := begin(clarity.Submission{ScenarioID: "bridge", Answers: claritytest.Answers("This bridge")[1:]})
	w.Advance(90 * time.Second)
	for _, step := range []struct {
		body    any
		headers []string
		status  int
		want    string
	}{
		{clarity.Save{Change: completed}, nil, 400, ""},
		{clarity.Save{}, []string{`If-Match: "2"`}, 412, ""},
		{clarity.Save{Answers: claritytest.Answers("My bridge")}, []string{`If-Match: "1"`}, 200, "in-progress 2 -"},
		{map[string]any{"answers": nil, "status": nil, "durationSeconds": 7}, nil, 200, "in-progress 3 7"},
		{clarity.Save{}, nil, 200, "in-progress 4 7"},
		{clarity.Save{Change: completed}, []string{`If-Match: "3", "4"`}, 200, "completed 5 90"},
		{clarity.Save{Change: completed}, nil, 409, ""},
		{clarity.Save{}, []string{"If-Match: *"}, 409, ""},
	} {
		got := send(t, api, "ann", put, step.body, step.headers...)
		took := "-"
		if got.DurationSeconds != nil {
			took = fmt.Sprint(*got.DurationSeconds)
		}
		if is := fmt.Sprint(got.Status, " ", got.Version, " ", took); got.Code != step.status ||
			got.Code == 200 && (is != step.want ||
				got.Header().Get("ETag") != fmt.Sprintf("%q", fmt.Sprint(got.Version))) {
			t.Errorf("%+v: got %d %s %s; want %d %s", step.body, got.Code, is, got.Body, step.status, step.want)
		}
	}
	read := send(t, api, "ann", strings.Replace(put, "PUT", "GET", 1), nil)
	if read.Evaluation == nil || !strings.HasPrefix(read.Answers[0].Text, "My bridge") ||
		!read.Timestamp.Equal(wire.At(w.Read())) {
		t.Errorf("got %s", read.Body)
	}

	put = begin(claritytest.Submission("This bridge"))
	w.Advance(48 * time.Hour)
	if got := send(t, api, "ann", put, clarity.Save{
		Change: clarity.Change{Status: clarity.Abandoned}}); got.Status != clarity.Abandoned ||
		*got.DurationSeconds != clarity.MaxDurationSeconds || got.EvaluationStatus != "" {
		t.Errorf("abandoned: got %d %s", got.Code, got.Body)
	}
	if got := send(t, api, "ann", strings.Replace(put, "PUT", "POST", 1)+"/evaluate",
		nil); got.Code != http.StatusConflict {
		t.Errorf("evaluating an abandoned attempt: got %d %s", got.Code, got.Body)
	}

	// Of those who change one version, or complete one attempt, one wins.
	for name, header := range map[string]string{"complete": "X: y", "version": `If-Match: "1"`} {
		put, calls := begin(claritytest.Submission("This bridge")), w.Judge.Calls()
		var all sync.WaitGroup
		var mu sync.Mutex
		var winners []string
		for i := range 8 {
			all.Go(func() {
				body := clarity.Save{Answers: claritytest.Answers(fmt.Sprintf("Bridge %d", i))}
				refusal := http.StatusPreconditionFailed
				if name == "complete" {
					body.Change, refusal = completed, http.StatusConflict
				}
				got := send(t, api, "ann", put, body, header)
				mu.Lock()
				defer mu.Unlock()
				if got.Code == http.StatusOK {
					winners = append(winners, body.Answers[0].Text)
				} else if got.Code != refusal {
					t.Errorf("%s: got %d %s", name, got.Code, got.Body)
				}
			})
		}
		all.Wait()
		read := send(t, api, "ann", strings.Replace(put, "PUT", "GET", 1), nil)
		if len(winners) != 1 || read.Answers[0].Text != winners[0] || read.Version != 2 || w.Judge.Calls() > calls+1 {
			t.Errorf("%s: %q won; stored is %s", name, winners, read.Body)
		}
	}
}

// The limit of a day is 429 with the time until midnight, a running evaluation 409.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 1
	api := w.API()
	first := send(t, api, "ann", "POST /attempts", claritytest.Submission("This bridge"))
	second := send(t, api, "ann", "POST /attempts", claritytest.Submission("That bridge"))
	if second.Code != http.StatusCreated || second.EvaluationFailure != clarity.Limited ||
		!strings.Contains(second.Body.String(), `"evaluation":null`) {
		t.Errorf("got %d %s", second.Code, second.Body)
	}
	evaluate := func(of answer) answer { return send(t, api, "ann", "POST /attempts/"+of.ID+"/evaluate", nil) }
	if got := evaluate(first); got.Code != http.StatusOK || got.Evaluation == nil || w.Judge.Calls() != 1 {
		t.Errorf("evaluated before: got %d %s", got.Code, got.Body)
	}
	if got := evaluate(second); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") != "52200" {
		t.Errorf("at the limit: got %d %v %s; want 14.5 hours", got.Code, got.Header(), got.Body)
	}
	w.Advance(24 * time.Hour)
	var during answer
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		during = evaluate(second)
		return clarity.Judgement{}, &model.Error{Failure: model.Declined, Err: errors.New("no")}
	})
	got := evaluate(second)
	if got.Code != http.StatusOK || got.Evaluation != nil || got.EvaluationFailure != string(model.Declined) {
		t.Errorf("failed: got %d %s", got.Code, got.Body)
	}
	if during.Code != http.StatusConflict || during.Header().Get("Retry-After") == "" || w.Judge.Calls() != 2 {
		t.Errorf("meanwhile: got %d %v %s", during.Code, during.Header(), during.Body)
	}
	w.Advance(24 * time.Hour)
	w.Judge.Says(nil)
	if got := evaluate(second); got.Code != http.StatusOK || got.Evaluation == nil {
		t.Errorf("in the end: got %d %s", got.Code, got.Body)
	}
	metricstest.Complete(t, w.Metrics(), schema.MetricsOf("clarityapi", clarity.Platform().Metrics))
}
