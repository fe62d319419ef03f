// Package earlier checks that today's code reads, continues and queries what earlier versions have stored: testdata has
// the data folder of a run of each, in which [write] has used all platforms, and what that has to find again.
package earlier

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// earlierRun is a run by its console.
type earlierRun struct {
	console *onesynthtest.Client
	apis    map[string]string
}

func open(t *testing.T, address string) earlierRun {
	r := earlierRun{&onesynthtest.Client{URL: address, HTTP: http.DefaultClient,
		Header: http.Header{run.ConsoleHeader: {"test"}, "Content-Type": {"application/json"}}}, map[string]string{}}
	index := read[struct {
		APIs []struct{ Name, URL string } `json:"apis"`
	}](t, r.console.Try(t, http.MethodGet, "/", nil), http.StatusOK)
	for _, api := range index.APIs {
		r.apis[api.Name] = api.URL
	}
	return r
}

// as is a client of a platform with a token.
func (r earlierRun) as(t *testing.T, api, subject string) *onesynthtest.Client {
	t.Helper()
	token := read[struct {
		Text string `json:"access_token"`
	}](t, r.console.Try(t, http.MethodPost, "/token", map[string]any{
		"sub": subject, "claims": map[string]any{"email": subject + "@example.com"},
	}), http.StatusOK)
	return &onesynthtest.Client{URL: r.apis[api], HTTP: http.DefaultClient,
		Header: http.Header{"Authorization": {"Bearer " + token.Text}}, IdempotencyKeys: true}
}

// with is a client of Ask-a-Human with a header.
func (r earlierRun) with(name, value string) *onesynthtest.Client {
	return &onesynthtest.Client{URL: r.apis["Ask-a-Human"], HTTP: http.DefaultClient,
		Header: http.Header{name: {value}}}
}

func (r earlierRun) flush(t *testing.T) {
	t.Helper()
	read[any](t, r.console.Try(t, http.MethodPost, "/streams/flush", nil), http.StatusOK)
}

const (
	asked   = "Should an error message apologise?"
	careful = "It depends: the old machine costs 60 euros a year, and the new one might break, too."
)

// write uses all platforms of a run.
func write(t *testing.T, r earlierRun) (done record) {
	done.Written = time.Now().UTC()
	agent, ann, ben := r.with("X-Agent-Id", "earlier"), r.with("X-Fingerprint", "ann-of-an-earlier-version"),
		r.with("X-Fingerprint", "ben-of-an-earlier-version")
	for _, id := range []*string{&done.Open, &done.Closed} {
		reply := agent.Try(t, http.MethodPost, "/agent/questions",
			map[string]any{"prompt": asked, "type": "text", "min_responses": 2, "timeout_seconds": 86400})
		read[any](t, reply, http.StatusCreated)
		*id = onesynthtest.Field(reply.Body, "question_id")
		done.Points = read[struct {
			Total int `json:"total_points"`
		}](t, ann.Try(t, http.MethodPost, "/human/responses",
			map[string]any{"question_id": *id, "answer": "Only if it is our fault."}), http.StatusCreated).Total
	}
	read[any](t, ben.Try(t, http.MethodPost, "/human/responses",
		map[string]any{"question_id": done.Closed, "answer": "Never."}), http.StatusCreated)
	subscribed := ann.Try(t, http.MethodPost, "/human/push/subscribe",
		map[string]any{"fcm_token": "earlier", "min_interval_minutes": 30})
	read[any](t, subscribed, http.StatusCreated)
	done.Subscription = onesynthtest.Field(subscribed.Body, "subscription_id")

	todo := r.as(t, "To-Do", "ann")
	read[any](t, todo.Try(t, http.MethodPost, "/api/v1/users/me",
		map[string]any{"email": "ann@example.com", "name": "Ann"}), http.StatusCreated)
	for status, id := range map[string]*string{"in_progress": &done.Task, "completed": &done.Done} {
		reply := todo.Try(t, http.MethodPost, "/api/v1/tasks",
			map[string]any{"title": "Of an earlier version", "priority": "high"})
		*id = onesynthtest.Field(reply.Body, "task_id")
		changed := read[struct{ Version int }](t,
			todo.Try(t, http.MethodPatch, "/api/v1/tasks/"+*id, map[string]any{"status": status}), http.StatusOK)
		if id == &done.Task {
			done.Version = changed.Version
		}
	}

	clarity := r.as(t, "Clarity", "ann")
	for status, id := range map[string]*string{"in-progress": &done.Attempt, "completed": &done.Evaluated} {
		reply := clarity.Try(t, http.MethodPost, "/attempts", attempt(status))
		read[any](t, reply, http.StatusCreated)
		*id = onesynthtest.Field(reply.Body, "attemptId")
	}

	lingible := r.as(t, "Lingible", "ann")
	read[any](t, lingible.Try(t, http.MethodGet, "/user/profile", nil), http.StatusOK)
	read[any](t, lingible.Try(t, http.MethodPost, "/user/upgrade",
		map[string]any{"provider": "apple", "receipt_data": "earlier", "transaction_id": "earlier"}), http.StatusOK)
	read[any](t, lingible.Try(t, http.MethodPost, "/translate",
		map[string]any{"text": "No cap, that burger is bussin."}), http.StatusOK)
	for term, example := range map[string]string{"sofa forecast": "What a lovely sofa forecast we have",
		"parallel parked": "She fixed the printer and was parallel parked all day."} {
		reply := lingible.Try(t, http.MethodPost, "/slang/submit",
			map[string]any{"slang_term": term, "meaning": map[bool]string{true: "bad weather",
				false: "Pleased with something small that one did well"}[term == "sofa forecast"],
				"example_usage": example})
		read[any](t, reply, http.StatusCreated)
		if term == "sofa forecast" {
			done.Submission = onesynthtest.Field(reply.Body, "submission_id")
		}
	}
	r.flush(t)
	return done
}

func attempt(status string) map[string]any {
	var answers []map[string]any
	for _, question := range []string{"q1", "q2", "q3"} {
		answers = append(answers, map[string]any{"questionId": question, "answer": careful})
	}
	return map[string]any{"scenarioId": "washing-machine-repair", "status": status, "durationSeconds": 240,
		"answers": answers}
}

// TestEarlierVersions: today's code starts with the data of each earlier version, reads it for its owners, continues
// it, and queries the lake over old and new changes.
func TestEarlierVersions(t *testing.T) {
	if *written != "" {
		text, err := json.MarshalIndent(write(t, open(t, *written)), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
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
			text, err := os.ReadFile(version + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var old record
			if err := json.Unmarshal(text, &old); err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			unpack(t, archive, folder)
			started, err := run.Start(t.Context(),
				run.Options{Assembly: suite.Local(t, "dev").Assembly(t), Data: folder, NoSchedules: true,
					Lake: laketest.Engine(nil)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(started.Close)
			if err := started.LoadInitialData(t.Context()); err != nil {
				t.Fatal(err)
			}
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
	agent, ann, ben := r.with("X-Agent-Id", "earlier"), r.with("X-Fingerprint", "ann-of-an-earlier-version"),
		r.with("X-Fingerprint", "ben-of-an-earlier-version")
	if time.Since(old.Written) < 23*time.Hour {
		// Questions end within a day, and are deleted some time after it.
		read[any](t, ben.Try(t, http.MethodPost, "/human/responses",
			map[string]any{"question_id": old.Open, "answer": "Never."}), http.StatusCreated)
		for _, id := range []string{old.Open, old.Closed} {
			got := agent.Try(t, http.MethodGet, "/agent/questions/"+id, nil)
			if status := onesynthtest.Field(got.Body, "status"); status != "CLOSED" ||
				strings.Count(string(got.Body), "response_id") != 2 {
				t.Errorf("question %s: got %v", id, got)
			}
		}
	}
	read[any](t, agent.Try(t, http.MethodGet, "/agent/questions?status=PARTIAL", nil), http.StatusOK)
	standing := read[struct {
		Total int `json:"total_points"`
		Rank  *int
	}](t, ann.Try(t, http.MethodGet, "/human/stats", nil), http.StatusOK)
	if standing.Total != old.Points || standing.Rank == nil || *standing.Rank > 2 {
		t.Errorf("the person has %+v; want %d points and a rank", standing, old.Points)
	}
	reply := agent.Try(t, http.MethodPost, "/agent/questions", map[string]any{"prompt": asked, "type": "text"})
	read[any](t, reply, http.StatusCreated)
	answered := read[struct {
		Total int `json:"total_points"`
	}](t, ann.Try(t, http.MethodPost, "/human/responses",
		map[string]any{"question_id": onesynthtest.Field(reply.Body, "question_id"), "answer": "Yes, after a while."}),
		http.StatusCreated)
	if answered.Total <= old.Points {
		t.Errorf("an answer of today leads to %d points; want more than %d", answered.Total, old.Points)
	}
	read[any](t, ann.Try(t, http.MethodPut, "/human/push/subscribe/"+old.Subscription,
		map[string]any{"min_interval_minutes": 60}), http.StatusOK)
}

// todo: a task is read, and changed by the version that it had; the lake has its changes of then and of now.
func todo(t *testing.T, r earlierRun, old record) {
	ann := r.as(t, "To-Do", "ann")
	type task struct {
		Title, Status, Priority string
		Version                 int
	}
	path := "/api/v1/tasks/" + old.Task
	if got := read[task](t, ann.Try(t, http.MethodGet, path, nil),
		http.StatusOK); got != (task{"Of an earlier version", "in_progress", "high", old.Version}) {
		t.Errorf("got %+v", got)
	}
	etag := read[task](t, ann.MustSend(t, http.MethodPatch, path,
		http.Header{"If-Match": {`"` + jsonText(old.Version) + `"`}}, map[string]any{"status": "completed"}),
		http.StatusOK)
	if etag.Version != old.Version+1 {
		t.Errorf("the changed task has version %d; want %d", etag.Version, old.Version+1)
	}
	list := read[struct {
		Tasks []struct {
			ID string `json:"task_id"`
		}
	}](t, ann.Try(t, http.MethodGet, "/api/v1/tasks?status=completed", nil), http.StatusOK)
	if len(list.Tasks) != 2 || !slices.ContainsFunc(list.Tasks, func(one struct {
		ID string `json:"task_id"`
	}) bool {
		return one.ID == old.Done
	}) {
		t.Errorf("got the completed tasks %+v; want the one of then, and the one of now", list.Tasks)
	}
	read[any](t, ann.Try(t, http.MethodPost, "/api/v1/tasks", map[string]any{"title": "Of today"}), http.StatusCreated)
	r.flush(t)
	for _, object := range []string{"of then and of now", "merged"} {
		rows := lakeRows(t, r, "SELECT status, count(*) AS n FROM tasks_current GROUP BY status ORDER BY status")
		if want := [][]string{{"completed", "2"}, {"pending", "1"}}; !slices.EqualFunc(rows, want, slices.Equal) {
			t.Errorf("objects %s: the lake has %v; want %v", object, rows, want)
		}
		steps := lakeRows(t, r, "SELECT event_name, status, coalesce(previous_status, '') FROM task_events WHERE "+
			"task_id = '"+old.Task+"' ORDER BY sequence_number")
		if want := [][]string{{"INSERT", "pending", ""}, {"MODIFY", "in_progress", "pending"},
			{"MODIFY", "completed", "in_progress"}}; !slices.EqualFunc(steps, want, slices.Equal) {
			t.Errorf("objects %s: the lake has the steps %v; want %v", object, steps, want)
		}
		for _, schedule := range read[[]struct{ Name string }](t, r.console.Try(t, http.MethodGet, "/schedules", nil),
			http.StatusOK) {
			if strings.Contains(schedule.Name, "TodoLake") {
				read[any](t, r.console.Try(t, http.MethodPost, "/schedules/"+schedule.Name+"/run", nil), http.StatusOK)
			}
		}
	}
}

// clarity: an evaluation stays, and an attempt that was begun is completed by its version.
func clarity(t *testing.T, r earlierRun, old record) {
	ann := r.as(t, "Clarity", "ann")
	evaluated := ann.Try(t, http.MethodGet, "/attempts/"+old.Evaluated, nil)
	read[any](t, evaluated, http.StatusOK)
	if onesynthtest.Field(evaluated.Body, "status") != "completed" ||
		!strings.Contains(string(evaluated.Body), `"overallScore"`) {
		t.Errorf("got %v", evaluated)
	}
	done := ann.MustSend(t, http.MethodPut, "/attempts/"+old.Attempt, http.Header{"If-Match": {`"1"`}},
		map[string]any{"status": "completed", "answers": attempt("")["answers"]})
	read[any](t, done, http.StatusOK)
	if !strings.Contains(string(done.Body), `"overallScore"`) {
		t.Errorf("got %v", done)
	}
	r.flush(t)
	profile := read[struct {
		AttemptCount int `json:"attemptCount"`
	}](t, ann.Try(t, http.MethodGet, "/users/me/profile", nil), http.StatusOK)
	if profile.AttemptCount != 2 {
		t.Errorf("the profile has %d attempts; want that of then, and that of now", profile.AttemptCount)
	}
}

// lingible: the tier, submissions and the lexicon of then stay, by the export of then and by those of now.
func lingible(t *testing.T, r earlierRun, old record) {
	ann, ben := r.as(t, "Lingible", "ann"), r.as(t, "Lingible", "ben")
	if tier := onesynthtest.Field(ann.Try(t, http.MethodGet, "/user/profile", nil).Body, "tier"); tier != "premium" {
		t.Errorf("got the tier %q", tier)
	}
	translated := ben.Try(t, http.MethodPost, "/translate", map[string]any{"text": "I was parallel parked, no cap."})
	if !strings.Contains(string(translated.Body), "honestly") {
		t.Errorf("the lexicon of then translates to %v", translated)
	}
	taken := ann.Try(t, http.MethodPost, "/slang/submit",
		map[string]any{"slang_term": "Parallel-Parked!", "meaning": "Glad about something small",
			"example_usage": "I am parallel parked about it today."})
	read[any](t, taken, http.StatusConflict)
	read[any](t, ben.Try(t, http.MethodGet, "/user/profile", nil), http.StatusOK)
	voted := ben.Try(t, http.MethodPost, "/slang/upvote/"+old.Submission, nil)
	read[any](t, voted, http.StatusOK)
	read[any](t, ann.Try(t, http.MethodPost, "/slang/submit",
		map[string]any{"slang_term": "kettle logic", "meaning": "Pleased with something that one did not have to do",
			"example_usage": "He fixed it with kettle logic before we had even asked."}), http.StatusCreated)
	r.flush(t)
	r.flush(t) // of the approval that follows
	if mine := ann.Try(t, http.MethodGet, "/slang/mine", nil); !strings.Contains(string(mine.Body), "kettle logic") ||
		!strings.Contains(string(mine.Body), old.Submission) {
		t.Errorf("got the submissions %v", mine)
	}
	quiz := ben.Try(t, http.MethodGet, "/quiz/question", nil)
	read[any](t, quiz, http.StatusOK)
}

func lakeRows(t *testing.T, r earlierRun, sql string) [][]string {
	t.Helper()
	lakes := read[[]struct{ Database, Stack string }](t, r.console.Try(t, http.MethodGet, "/lakes", nil), http.StatusOK)
	answer := read[struct{ Rows [][]string }](t, r.console.Try(t, http.MethodPost, "/lakes/query", map[string]any{
		"database": lakes[0].Database, "stack": lakes[0].Stack, "sql": sql,
	}), http.StatusOK)
	return answer.Rows
}

// read decodes what a test looks at of a reply with the status. Versions differ in what else there is.
func read[T any](t *testing.T, r onesynthtest.Reply, status int) (value T) {
	t.Helper()
	if r.Status != status {
		t.Fatalf("got %v; want %d", r, status)
	}
	if err := json.Unmarshal(r.Body, &value); err != nil && len(r.Body) > 0 {
		t.Fatalf("got %v: %v", r, err)
	}
	return value
}

func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || !filepath.IsLocal(header.Name) {
			t.Fatalf("%s: %q: %v", archive, header.Name, err)
		}
		path := filepath.Join(folder, header.Name)
		if header.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o755)
		} else if content, readErr := io.ReadAll(files); readErr != nil {
			err = readErr
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
