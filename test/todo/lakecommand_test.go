package todo

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// command is onesynth as people run it.
type command struct{ path, console string }

// run runs a command of onesynth and returns what it printed, and its exit status.
func (c command) run(t testing.TB, arguments ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	running := exec.CommandContext(t.Context(), c.path, append(slices.Clone(arguments), "--console", c.console)...)
	running.Stdout, running.Stderr = &out, &errs
	if err := running.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			t.Fatalf("onesynth %v: %v", arguments, err)
		}
	}
	return out.String(), errs.String(), running.ProcessState.ExitCode()
}

// must is run for when it has to succeed.
func (c command) must(t testing.TB, arguments ...string) string {
	t.Helper()
	stdout, stderr, status := c.run(t, arguments...)
	if status != 0 || stderr != "" {
		t.Fatalf("onesynth %v: got %d\n%s%s", arguments, status, stdout, stderr)
	}
	return stdout
}

var batchingWindow = regexp.MustCompile(`"MaximumBatchingWindowInSeconds": \d+`)

// From a token to the history of a task on the command line: changes land by themselves, each
// output format has the same, and a wrong query gets an error.
func TestLakeOnTheCommandLine(t *testing.T) {
	t.Parallel()
	soon := func(template []byte) []byte {
		return batchingWindow.ReplaceAll(template, []byte(`"MaximumBatchingWindowInSeconds": 2`))
	}
	runner := suite.Local(t, "dev").EditedRun(t, run.Options{NoSchedules: true}, soon)
	l := lakeOf(t, &target{platform.Local(runner)})
	c := command{commandtest.Path(t, commandtest.Lake), l.Run.ConsoleURL()}
	ann := caller{platform.Caller{Client: platform.NewClient(t, l.Target), ID: "ann", Email: "ann@example.com"}}
	ann.Header, ann.IdempotencyKeys = http.Header{"Authorization": {"Bearer " +
		strings.TrimSpace(c.must(t, "token", "--sub", ann.ID))}}, true
	ann.join(t)
	ann.create(t, todo.TaskBody{Title: "Water the plants", Priority: todo.High, DueDate: "2999-12-31"})
	milk := ann.create(t, todo.TaskBody{Title: "Buy milk", Category: "shop, \"home\""}).ID
	ann.change(t, milk, todo.InProgress)
	ann.change(t, milk, todo.Completed)
	ann.drop(t, ann.create(t, todo.TaskBody{Title: "Nothing"}).ID)

	// It lands by itself, when the batch is due.
	answered := time.Now()
	wait.Until(t, "the changes are in the lake", func() (any, bool) {
		d := l.delivery(t)
		return d, d.Done == 7 && d.Waiting == 0
	}, wait.On(l))
	t.Logf("in the lake %v after the last answer", time.Since(answered).Round(10*time.Millisecond))

	list := c.must(t, "lake")
	for _, part := range []string{"Database " + l.Outputs["LakeDatabaseName"], "Table task_changes",
		"View tasks_current", "  Key figures"} {
		if !strings.Contains(list, part) {
			t.Errorf("the list of what is in the lake has no %q:\n%s", part, list)
		}
	}
	const current = "SELECT title, status, priority, category, due_date FROM tasks_current ORDER BY title"
	history := "SELECT event_name, status, previous_status FROM task_events WHERE task_id = '" + milk +
		"' ORDER BY sequence_number"
	const steps = "event_name,status,previous_status\nINSERT,pending,\n" +
		"MODIFY,in_progress,pending\nMODIFY,completed,in_progress\n"
	type question struct {
		arguments []string
		answer    string
	}
	wantAnswers := func(questions ...question) {
		t.Helper()
		for _, q := range questions {
			if got := c.must(t, append([]string{"lake"}, q.arguments...)...); got != q.answer {
				t.Errorf("onesynth lake %q: got\n%swant\n%s", q.arguments, got, q.answer)
			}
		}
	}
	wantAnswers(
		question{[]string{"SELECT title, status, priority FROM tasks_current ORDER BY title"},
			"title             status     priority\n-----             ------     --------\nBuy milk          " +
				"completed  null\nWater the plants  pending    high\n(2 rows)\n"},
		question{[]string{"--format", "csv", current},
			"title,status,priority,category,due_date\nBuy milk,completed,,\"shop, \"\"home\"\"\",\nWater the " +
				"plants,pending,high,,2999-12-31\n"},
		question{[]string{"--format", "jsonlines", current},
			`{"title":"Buy milk","status":"completed","priority":null,"category":"shop, \"home\"","due_date":null}` +
				"\n" +
				`{"title":"Water the plants","status":"pending","priority":"high","category":null,"due_date":"2999-12-31"}` + "\n"},
		question{[]string{"--format", "json", "SELECT title FROM tasks_current ORDER BY title"},
			"[\n{\"title\":\"Buy milk\"},\n{\"title\":\"Water the plants\"}\n]\n"},
		question{[]string{"--format", "csv", history}, steps},
	)
	// Compaction changes none of it.
	c.must(t, "schedule", "run", l.Schedule(t, ""))
	wantAnswers(
		question{[]string{"--format", "csv", "--database", l.Outputs["LakeDatabaseName"], history}, steps},
		question{[]string{"--format", "csv", "--query", "most active users"},
			"user_id,completed_tasks,completion_rate\nann,1,0.5\n"},
		question{[]string{"--format", "csv", "SELECT users, tasks, completed_tasks, overdue_tasks FROM kpis"},
			"users,tasks,completed_tasks,overdue_tasks\n1,2,1,0\n"},
		question{[]string{"--format", "csv", "SELECT title FROM tasks_current WHERE status = 'cancelled'"}, "title\n"},
	)

	var described struct {
		Queries []struct{ Name string }
		Tables  []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(c.must(t, "lake", "--format", "json")), &described); err != nil ||
		len(described.Queries) == 0 || len(described.Tables) != 2 {
		t.Fatalf("the list as JSON: %+v, %v", described, err)
	}
	for _, q := range described.Queries {
		if stdout := c.must(t, "lake", "--query", q.Name); !strings.Contains(stdout, "row") {
			t.Errorf("the saved query %q: %s", q.Name, stdout)
		}
	}

	for name, test := range map[string]struct {
		arguments []string
		status    int
		says      string
	}{
		"NoTable":       {[]string{"SELECT * FROM tasks"}, 1, "tasks"},
		"NoColumn":      {[]string{"SELECT email FROM user_changes"}, 1, `"email" not found`},
		"NoSQL":         {[]string{"SELEC"}, 1, "syntax error"},
		"NoSelect":      {[]string{"DELETE FROM task_changes"}, 1, "a lake is read with SELECT"},
		"TwoStatements": {[]string{"SELECT 1; SELECT 2"}, 1, "want one"},
		"NoSavedQuery":  {[]string{"--query", "Worst users"}, 1, `"Most active users"`},
		"NoDatabase":    {[]string{"--database", "other", "SELECT 1"}, 64, l.Outputs["LakeDatabaseName"]},
		"NoFormat":      {[]string{"--format", "xml", "SELECT 1"}, 64, "jsonlines"},
		"NoFlag":        {[]string{"--tables"}, 64, "--tables"},
	} {
		stdout, stderr, status := c.run(t, append([]string{"lake"}, test.arguments...)...)
		if status != test.status || !strings.Contains(stderr, test.says) || status == 1 && stdout != "" {
			t.Errorf("%s: got %d; want %d and %q\n%s%s", name, status, test.status, test.says, stdout, stderr)
		}
	}

	l.Run.Close()
	if stdout, stderr, status := c.run(t, "lake", "SELECT 1"); status != 1 || stdout != "" ||
		!strings.Contains(stderr, "onesynth local") {
		t.Errorf("without a run: got %d\n%s%s", status, stdout, stderr)
	}
}
