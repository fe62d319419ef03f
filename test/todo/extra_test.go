package todo

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/laketest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/test/todo/extraapp/own"
)

// A team adds a project to tasks, sets it by a route of its own and by an event's function, and finds tasks by it. The
// platform's API and lake show it, and its changes keep it. Events come to a queue, too, by a rule that narrows them,
// and a deletion of a user that its request did not finish to the eraser through the publisher.
func TestExtra(t *testing.T) {
	t.Parallel()
	extended := onesynthtest.Suite{
		Platform:  todo.Platform().Publishing().Extended(own.Extra()...).Join(own.Own()),
		Construct: "Todo", App: "extraapp",
	}
	t.Cleanup(func() { extended.Close() })
	on := extended.OwnRun(t, run.Options{})
	id := onesynthtest.Unique("user")
	user := on.As(t, id)
	send := func(method, path string, body map[string]any) onesynthtest.Reply {
		t.Helper()
		return user.MustSend(t, method, "/api/v1"+path, onesynthtest.Key(onesynthtest.Unique("key")), body)
	}
	send(http.MethodPost, "/users/me", map[string]any{"email": "ann@example.com", "name": "Ann"})
	create := func(body map[string]any) (task string) {
		t.Helper()
		return "/tasks/" + onesynthtest.Field(send(http.MethodPost, "/tasks", body).Body, "task_id")
	}
	byRoute := create(map[string]any{"title": "water the plants"})
	byEvent := create(map[string]any{"title": "mow the lawn", "category": "garden", "priority": "urgent"})
	without := create(map[string]any{"title": "read"})
	send(http.MethodPut, byRoute+"/project", map[string]any{"project": "garden", "estimate": 0.5})
	project := func(reply onesynthtest.Reply) string { return onesynthtest.Field(reply.Body, "project") }
	wait.For(t, "the project that the event's function sets", "garden", func() string {
		return project(send(http.MethodGet, byEvent, nil))
	}, wait.On(on))

	urgent := strings.TrimPrefix(byEvent, "/tasks/")
	on.Event(t, todo.TaskCreated, map[string]any{"task_id": urgent, "priority": "urgent", "version": 1})
	wait.Until(t, "the queue gets the urgent task alone", func() (any, bool) {
		messages := must.Get(runtest.Of(on.Run).Messages("urgent"))(t)
		for _, message := range messages {
			if !strings.Contains(message.Body, urgent) {
				t.Fatalf("the queue got %s", message.Body)
			}
		}
		return messages, len(messages) > 0
	}, wait.On(on))

	send(http.MethodPatch, without, map[string]any{"status": "completed"})
	on.Event(t, todo.TaskCompleted, map[string]any{"task_id": strings.TrimPrefix(without, "/tasks/"), "version": 2})

	changed := send(http.MethodPatch, byRoute, map[string]any{"title": "water all plants"})
	if project(changed) != "garden" || onesynthtest.Field(changed.Body, "title") != "water all plants" {
		t.Errorf("a change answered %s, want the new title and the project", changed)
	}
	if read := send(http.MethodGet, byRoute, nil); project(read) != "garden" ||
		strings.Contains(string(read.Body), "estimate") || strings.Contains(string(read.Body), "$") {
		t.Errorf("the task is %s, want its project, and not its estimate, which the API does not show", read)
	}
	if read := send(http.MethodGet, without, nil); strings.Contains(string(read.Body), "project") {
		t.Errorf("the task that has no project is %s", read)
	}
	if list := send(http.MethodGet, "/tasks", nil); strings.Count(string(list.Body), `"project":"garden"`) != 2 {
		t.Errorf("the list is %s, want two projects in it", list)
	}
	if found := send(http.MethodGet, "/projects/garden", nil); !strings.Contains(string(found.Body),
		`["mow the lawn","water all plants"]`) {
		t.Errorf("the project has %s", found)
	}
	item := on.Item(t, "AppData", "PK", "TASK#"+id, "SK", "TASK#"+strings.TrimPrefix(byRoute, "/tasks/"))
	if item["estimate"] != 0.5 || item["project"] != "garden" {
		t.Errorf("the item is %v, want its estimate, too", item)
	}
	taken := user.Try(t, http.MethodPatch, "/api/v1"+byRoute, map[string]any{"project": "x"})
	if taken.Status < http.StatusBadRequest {
		t.Errorf("the platform's route took the project: %s", taken)
	}
	document := string(user.MustSend(t, http.MethodGet, "/api/v1/openapi.json", nil, nil).Body)
	const described = `"project":{"description":"What the task belongs to","maxLength":50,"type":"string"}`
	if !strings.Contains(document, described) || strings.Contains(document, `"estimate"`) {
		t.Errorf("the OpenAPI document does not have the project, or has the estimate")
	}
	if written := string(extended.Document(t)); !strings.Contains(written, described) {
		t.Error("the document of the synth does not have the project")
	}

	on.Flush(t)
	type row struct {
		Title    string   `json:"title"`
		Project  *string  `json:"project"`
		Estimate *float64 `json:"estimate"`
	}
	lake := laketest.Open(t, on)
	var rows []string
	const query = "SELECT title, project, estimate FROM tasks_current ORDER BY title"
	for _, r := range laketest.Query[row](t, lake, query) {
		text := r.Title
		if r.Project != nil {
			text += " in " + *r.Project
		}
		if r.Estimate != nil {
			text += fmt.Sprint(" for ", *r.Estimate)
		}
		rows = append(rows, text)
	}
	if got := strings.Join(rows, ", "); got != "mow the lawn in garden, read, water all plants in garden for 0.5" {
		t.Errorf("the lake has %s", got)
	}

	for _, name := range []string{"plain", "two words", "a+b", "ü", "日本語", "😀", "100%", "%41", "%2541", "%2F", "%",
		"%zz", "50%25", "a%20b", "a?b", "a#b", "a&b=c", "a;b,c", "..", `"quoted"\`, "~user@example.com:!$'()*"} {
		send(http.MethodPut, without+"/project", map[string]any{"project": name, "estimate": 1})
		found := send(http.MethodGet, "/projects/"+strings.ReplaceAll(url.PathEscape(name), ".", "%2E"), nil)
		if !strings.Contains(string(found.Body), `["read"]`) {
			t.Errorf("the project %q has %s", name, found)
		}
	}

	send(http.MethodDelete, "/users/me", nil)
	wait.Until(t, "nothing is left of the user", func() (any, bool) {
		left := slices.DeleteFunc(on.Items(t, "AppData"), func(item map[string]any) bool {
			key, _ := item["PK"].(string)
			return !strings.HasSuffix(key, "#"+id) || strings.HasPrefix(key, "IDEMPOTENCY#")
		})
		return left, len(left) == 0
	}, wait.On(on))
	abandoned := abandon(t, platform.Local(on))
	on.Event(t, todo.TaskDeleted, map[string]any{"user_id": abandoned})
	wait.Until(t, "the eraser finishes the deletion", func() (any, bool) {
		counts := on.Item(t, "AppData", "PK", "COUNTS#"+abandoned, "SK", "METADATA")
		return counts, counts == nil
	}, wait.On(on))
	if refused := runtest.Of(on.Run).Refused(); len(refused) > 0 {
		t.Errorf("roles refused %v", refused)
	}
}
