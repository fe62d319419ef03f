// Package earlier checks that today's code reads, continues and queries what earlier versions have stored: testdata has
// the data folder of a run of each, in which [write] has used all platforms, and what that has to find again.
package earlier

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// written is the address of the console of a run, whose data folder is to become test data.
var written = flag.String("write", "", "use the platforms of the run with its console at this `URL`, and print what "+
	"the test has to find again")

var suite = &platform.Suite{Platform: askahuman.Platform(), Construct: "AskAHuman"}

func TestMain(m *testing.M) { suite.Main(m) }

// record is what a run of an earlier version was asked, and has to be found again.
type record struct {
	// Written is when.
	Written time.Time
	// Open is a question with one of two answers, which is open for a day after Written, and Closed one with all its
	// answers.
	Open, Closed string
	Subscription string
	// Points are those of the first person.
	Points int
	// Task is a task in progress, Version its version, and Done a completed one.
	Task, Done string
	Version    int
	// Attempt is a Clarity attempt in progress, and Evaluated a completed one.
	Attempt, Evaluated string
	// Submission is a term of Lingible that waits for votes.
	Submission string
}

// object is what a body has.
type object map[string]any

func (o object) text(name string) string { return fmt.Sprint(o[name]) }

func (o object) number(name string) int {
	n, _ := o[name].(float64)
	return int(n)
}

// caller makes requests.
type caller struct {
	*onesynthtest.Client
	t *testing.T
}

// do makes a request, which has to succeed. Versions differ in what else the answer has.
func (c caller) do(request string, body any, header ...http.Header) object {
	c.t.Helper()
	method, path := onesynthtest.Split(request)
	r := c.MustSend(c.t, method, path, append(header, nil)[0], body)
	if r.Status >= http.StatusMultipleChoices {
		c.t.Fatalf("got %v; want success", r)
	}
	got := object{}
	if err := json.Unmarshal(r.Body, &got); err != nil && len(r.Body) > 0 {
		got["list"] = json.RawMessage(r.Body)
	}
	return got
}

// earlierRun is a run by its console.
type earlierRun struct {
	console caller
	apis    map[string]string
}

func open(t *testing.T, address string) earlierRun {
	r := earlierRun{caller{&onesynthtest.Client{URL: address, HTTP: http.DefaultClient,
		Header: http.Header{run.ConsoleHeader: {"test"}}}, t}, map[string]string{}}
	for _, api := range r.console.do("GET /", nil)["apis"].([]any) {
		one := object(api.(map[string]any))
		r.apis[one.text("name")] = one.text("url")
	}
	return r
}

// with is a client of a platform with a header.
func (r earlierRun) with(t *testing.T, api, name, value string) caller {
	return caller{&onesynthtest.Client{URL: r.apis[api], HTTP: http.DefaultClient, Header: http.Header{name: {value}},
		IdempotencyKeys: api != "Ask-a-Human"}, t}
}

// as is a client of a platform with a token.
func (r earlierRun) as(t *testing.T, api, subject string) caller {
	t.Helper()
	token := r.console.do("POST /token", object{"sub": subject, "claims": object{"email": subject + "@example.com"}})
	return r.with(t, api, "Authorization", "Bearer "+token.text("access_token"))
}

// askers are an agent and two people.
func (r earlierRun) askers(t *testing.T) (agent, ann, ben caller) {
	const api, person = "Ask-a-Human", "X-Fingerprint"
	return r.with(t, api, "X-Agent-Id", "earlier"), r.with(t, api, person, "ann-of-an-earlier-version"),
		r.with(t, api, person, "ben-of-an-earlier-version")
}

func (r earlierRun) flush() { r.console.do("POST /streams/flush", nil) }

const asked = "Should an error message apologise?"

func answer(id, text string) object { return object{"question_id": id, "answer": text} }

func attempt(status string) object {
	var answers []object
	for _, question := range []string{"q1", "q2", "q3"} {
		answers = append(answers, object{"questionId": question,
			"answer": "It depends: the old machine costs 60 euros a year, and the new one might break, too."})
	}
	return object{"scenarioId": "washing-machine-repair", "status": status, "durationSeconds": 240, "answers": answers}
}

func term(term, meaning, example string) object {
	return object{"slang_term": term, "meaning": meaning, "example_usage": example}
}

// write uses all platforms of a run.
func write(t *testing.T, r earlierRun) (done record) {
	done.Written = time.Now().UTC()
	agent, ann, ben := r.askers(t)
	for _, id := range []*string{&done.Open, &done.Closed} {
		*id = agent.do("POST /agent/questions",
			object{"prompt": asked, "type": "text", "min_responses": 2, "timeout_seconds": 86400}).text("question_id")
		done.Points = ann.do("POST /human/responses", answer(*id, "Only if it is our fault.")).number("total_points")
	}
	ben.do("POST /human/responses", answer(done.Closed, "Never."))
	done.Subscription = ann.do("POST /human/push/subscribe",
		object{"fcm_token": "earlier", "min_interval_minutes": 30}).text("subscription_id")

	todo := r.as(t, "To-Do", "ann")
	todo.do("POST /api/v1/users/me", object{"email": "ann@example.com", "name": "Ann"})
	for status, id := range map[string]*string{"in_progress": &done.Task, "completed": &done.Done} {
		body := object{"title": "Of an earlier version", "priority": "high"}
		*id = todo.do("POST /api/v1/tasks", body).text("task_id")
		changed := todo.do("PATCH /api/v1/tasks/"+*id, object{"status": status})
		if id == &done.Task {
			done.Version = changed.number("version")
		}
	}

	clarity := r.as(t, "Clarity", "ann")
	done.Attempt = clarity.do("POST /attempts", attempt("in-progress")).text("attemptId")
	done.Evaluated = clarity.do("POST /attempts", attempt("completed")).text("attemptId")

	lingible := r.as(t, "Lingible", "ann")
	lingible.do("GET /user/profile", nil)
	lingible.do("POST /user/upgrade",
		object{"provider": "apple", "receipt_data": "earlier", "transaction_id": "earlier"})
	lingible.do("POST /translate", object{"text": "No cap, that burger is bussin."})
	done.Submission = lingible.do("POST /slang/submit", term("sofa forecast", "bad weather",
		"What a lovely sofa forecast we have")).text("submission_id")
	lingible.do("POST /slang/submit", term("parallel parked", "Pleased with something small that one did well",
		"She fixed the printer and was parallel parked all day."))
	r.flush()
	return done
}

// TestEarlierVersions: today's code starts with the data of each earlier version, reads it for its owners, continues
// it, and queries the lake over old and new changes.
func TestEarlierVersions(t *testing.T) {
	if *written != "" {
		text := must.Get(json.MarshalIndent(write(t, open(t, *written)), "", "  "))(t)
		t.Logf("the record:\n%s", text)
		return
	}
	if testing.Short() {
		t.Skip("starts a run of all platforms for each earlier version: go test without -short does")
	}
	archives, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("got %v, %v; want an archive of each earlier version", archives, err)
	}
	for _, archive := range archives {
		version := strings.TrimSuffix(archive, ".tar.gz")
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			text := must.Get(os.ReadFile(version + ".json"))(t)
			var old record
			must.OK(t, json.Unmarshal(text, &old))
			folder := t.TempDir()
			if output, err := exec.Command("tar", "-xzf", archive, "-C", folder).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", archive, err, output)
			}
			started := must.Get(run.Start(t.Context(),
				run.Options{Assembly: suite.Local(t, "dev").Assembly(t), Data: folder, NoSchedules: true,
					Lake: laketest.Engine(nil)}))(t)
			t.Cleanup(started.Close)
			must.OK(t, started.LoadInitialData(t.Context()))
			r := open(t, started.ConsoleURL())
			t.Run("Ask-a-Human", func(t *testing.T) { askAHuman(t, r, old) })
			t.Run("To-Do", func(t *testing.T) { todo(t, r, old) })
			t.Run("Clarity", func(t *testing.T) { clarity(t, r, old) })
			t.Run("Lingible", func(t *testing.T) { lingible(t, r, old) })
		})
	}
}

// askAHuman: points, places on boards and subscriptions stay; a question that is open still gets its last answer.
func askAHuman(t *testing.T, r earlierRun, old record) {
	agent, ann, ben := r.askers(t)
	if time.Since(old.Written) < 23*time.Hour {
		// Questions end within a day, and are deleted some time after it.
		ben.do("POST /human/responses", answer(old.Open, "Never."))
		for _, id := range []string{old.Open, old.Closed} {
			got := agent.do("GET /agent/questions/"+id, nil)
			if responses, _ := got["responses"].([]any); got["status"] != "CLOSED" || len(responses) != 2 {
				t.Errorf("question %s: got %v", id, got)
			}
		}
	}
	agent.do("GET /agent/questions?status=PARTIAL", nil)
	standing := ann.do("GET /human/stats", nil)
	if rank := standing.number("rank"); standing.number("total_points") != old.Points || rank < 1 || rank > 2 {
		t.Errorf("the person has %v; want %d points and a rank", standing, old.Points)
	}
	id := agent.do("POST /agent/questions", object{"prompt": asked, "type": "text"}).text("question_id")
	now := ann.do("POST /human/responses", answer(id, "Yes, after a while."))
	if now.number("total_points") <= old.Points {
		t.Errorf("an answer of today leads to %v; want more than %d points", now, old.Points)
	}
	ann.do("PUT /human/push/subscribe/"+old.Subscription, object{"min_interval_minutes": 60})
}

// todo: a task is read, and changed by the version that it had; the lake has its changes of then and of now.
func todo(t *testing.T, r earlierRun, old record) {
	ann := r.as(t, "To-Do", "ann")
	path := "/api/v1/tasks/" + old.Task
	got := ann.do("GET "+path, nil)
	if got["title"] != "Of an earlier version" || got["status"] != "in_progress" || got["priority"] != "high" ||
		got.number("version") != old.Version {
		t.Errorf("got %v", got)
	}
	changed := ann.do("PATCH "+path, object{"status": "completed"},
		http.Header{"If-Match": {fmt.Sprintf(`"%d"`, old.Version)}})
	if changed.number("version") != old.Version+1 {
		t.Errorf("got %v; want version %d", changed, old.Version+1)
	}
	list, _ := ann.do("GET /api/v1/tasks?status=completed", nil)["tasks"].([]any)
	if len(list) != 2 || !strings.Contains(fmt.Sprint(list), old.Done) {
		t.Errorf("got the completed tasks %v; want the one of then, and the one of now", list)
	}
	ann.do("POST /api/v1/tasks", object{"title": "Of today"})
	r.flush()
	for _, objects := range []string{"of then and of now", "merged"} {
		for sql, want := range map[string]string{
			"SELECT status, count(*) FROM tasks_current GROUP BY status ORDER BY status": "[[completed 2] [pending 1]]",
			"SELECT event_name, status, coalesce(previous_status, 'none') FROM task_events WHERE task_id = '" +
				old.Task + "' ORDER BY sequence_number": "[[INSERT pending none] [MODIFY in_progress pending] " +
				"[MODIFY completed in_progress]]",
		} {
			if rows := fmt.Sprint(r.query(t, sql)); rows != want {
				t.Errorf("objects %s: %s gives %s; want %s", objects, sql, rows, want)
			}
		}
		for _, schedule := range r.list(t, "/schedules") {
			if name := schedule.text("name"); strings.Contains(name, "TodoLake") {
				r.console.do("POST /schedules/"+name+"/run", nil)
			}
		}
	}
}

// clarity: an evaluation stays, and an attempt that was begun is completed by its version.
func clarity(t *testing.T, r earlierRun, old record) {
	ann := r.as(t, "Clarity", "ann")
	evaluated := ann.do("GET /attempts/"+old.Evaluated, nil)
	done := ann.do("PUT /attempts/"+old.Attempt, object{"status": "completed", "answers": attempt("")["answers"]},
		http.Header{"If-Match": {`"1"`}})
	for _, got := range []object{evaluated, done} {
		if got["status"] != "completed" || !strings.Contains(fmt.Sprint(got["evaluation"]), "overallScore") {
			t.Errorf("got %v; want it evaluated", got)
		}
	}
	r.flush()
	if profile := ann.do("GET /users/me/profile", nil); profile.number("attemptCount") != 2 {
		t.Errorf("got %v; want the attempt of then, and that of now", profile)
	}
}

// lingible: the tier, submissions and the lexicon of then stay, by the export of then and by those of now.
func lingible(t *testing.T, r earlierRun, old record) {
	ann, ben := r.as(t, "Lingible", "ann"), r.as(t, "Lingible", "ben")
	if profile := ann.do("GET /user/profile", nil); profile["tier"] != "premium" {
		t.Errorf("got %v", profile)
	}
	got := ben.do("POST /translate", object{"text": "I was parallel parked, no cap."})
	if !strings.Contains(fmt.Sprint(got), "honestly") {
		t.Errorf("the lexicon of then translates to %v", got)
	}
	if taken := ann.Try(t, http.MethodPost, "/slang/submit", term("Parallel-Parked!", "Glad about something small",
		"I am parallel parked about it today.")); taken.Status != http.StatusConflict {
		t.Errorf("got %v; want 409", taken)
	}
	ben.do("GET /user/profile", nil)
	ben.do("POST /slang/upvote/"+old.Submission, nil)
	ann.do("POST /slang/submit", term("kettle logic", "Pleased with something that one did not have to do",
		"He fixed it with kettle logic before we had even asked."))
	r.flush()
	r.flush() // of the approval that follows
	if mine := fmt.Sprint(ann.do("GET /slang/mine", nil)); !strings.Contains(mine, "kettle logic") ||
		!strings.Contains(mine, old.Submission) {
		t.Errorf("got the submissions %s", mine)
	}
	ben.do("GET /quiz/question", nil)
}

// list reads a list of the console.
func (r earlierRun) list(t *testing.T, path string) (all []object) {
	t.Helper()
	text, _ := r.console.do("GET "+path, nil)["list"].(json.RawMessage)
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all
}

// query returns the rows of a query of the first lake.
func (r earlierRun) query(t *testing.T, sql string) any {
	t.Helper()
	lake := r.list(t, "/lakes")[0]
	return r.console.do(
		"POST /lakes/query", object{"database": lake["database"], "stack": lake["stack"], "sql": sql})["rows"]
}
