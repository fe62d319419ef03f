package todo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Each history has a table of its own and asks it a thousand times.
func TestMain(m *testing.M) {
	rapidtest.Main(dynamotest.Covering(m.Run, todo.Platform().Database), 6)
}

// TestRandomHistories lets several users do anything in any order, with replays,
// refused conditions, conflicts and processes that die before or after any of their
// requests to DynamoDB.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		r.Repeat(rapid.StateMachineActions(&history{t: t, world: newWorld(t), model: newModel()}))
	})
}

// taskCall is a request about a task: a change as JSON, of a version if there is one, DELETE or GET.
type taskCall struct {
	id, do  string
	version int
}

// Many read, change and delete the same tasks at the same moment, while requests are refused and processes die. What
// they see is what they would see one after the other: no change is lost, and of those of one version one succeeds.
func TestTaskHistories(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	first := w.task(t, "ada", todo.TaskBody{})
	tasks := []string{first.ID, w.task(t, "ada", todo.TaskBody{}).ID, w.task(t, "ada", todo.TaskBody{}).ID}
	first.ID = ""
	changeOf := func(call taskCall) (c todo.TaskChangeBody) {
		must.OK(t, json.Unmarshal([]byte(call.do), &c))
		return c
	}
	render := func(task todo.Task, err error) string {
		if err != nil {
			return historytest.Error(err, worldtest.ErrKilled)
		}
		task.ID = ""
		return fmt.Sprintf("%+v", task)
	}
	h := historytest.New(historytest.Model[todo.Task, taskCall]{
		Start: first,
		Key:   func(call taskCall) string { return call.id },
		Step: historytest.Returns(func(task todo.Task, call taskCall) (todo.Task, string) {
			switch {
			case task == todo.Task{}:
				return task, render(task, todo.ErrTaskNotFound)
			case call.version != 0 && call.version != task.Version:
				return task, render(task, &problem.VersionError{What: "the task", Current: task.Version})
			case call.do == "DELETE":
				return todo.Task{}, render(todo.Task{}, nil)
			case call.do == "GET":
				return task, render(task, nil)
			}
			next, err := task.Next(changeOf(call).Apply(task), todo.At(start))
			if err != nil {
				return task, render(next, err)
			}
			return next, render(next, nil)
		}),
	})
	w.Wire.Answers(dynamotest.Refusing)
	dies := dynamotest.Dying(worldtest.ErrKilled)
	w.Recorder.Faults(dies, dies)
	h.Together(6, 15, func(_, number int) (taskCall, func() string) {
		call := taskCall{id: tasks[rand.IntN(len(tasks))], version: max(0, rand.IntN(15)-4), do: []string{
			"GET", fmt.Sprintf(`{"title":"title %d"}`, rand.IntN(100)), `{"description":"new"}`,
			`{"priority":"urgent"}`, `{"category":"new"}`, `{"due_date":"2026-05-05"}`, `{"status":"in_progress"}`,
			`{"description":null}`,
		}[rand.IntN(8)]}
		if number > 10 && rand.IntN(5) == 0 {
			call.do = []string{"DELETE", `{"status":"completed"}`}[rand.IntN(2)]
		}
		if call.do == "GET" {
			call.version = 0
		}
		return call, func() string {
			switch call.do {
			case "DELETE":
				return render(todo.Task{}, w.DeleteTask(ctx, "ada", call.id, call.version))
			case "GET":
				return render(w.GetTask(ctx, "ada", call.id))
			}
			return render(w.ChangeTask(ctx, "ada", call.id, changeOf(call), call.version))
		}
	})
	w.Heal()
	h.Judge(t)
	w.check(t)
}

// history is a random history. Its exported methods are what may happen in it, each with what the
// model expects.
type history struct {
	t     *testing.T
	world *world
	model model
	// fault is what the next request meets.
	fault string
	// attempts counts requests: each has a key of its own.
	attempts int
}

// The generators.
var (
	everyone        = []string{"ada", "bob", "cy#"}
	usersGenerator  = rapid.SampledFrom(everyone)
	emailsGenerator = rapid.SampledFrom(
		[]string{"a@example.com", "A@example.com", "b@example.com", "c@example.com", "d@example.com"})
	categoriesGenerator   = rapid.SampledFrom([]todo.Text{"", "work", "a#b", "50%", "#", "日本"})
	daysGenerator         = rapid.SampledFrom([]todo.Date{"", "2026-03-27", "2026-03-28", "2026-04-01"})
	titlesGenerator       = rapid.SampledFrom([]string{"milk", "Bread", "ship it"})
	descriptionsGenerator = rapid.SampledFrom([]todo.Text{"", "more"})
	prioritiesGenerator   = rapid.SampledFrom(append(todo.Priorities(), todo.NoPriority))
	statusesGenerator     = rapid.SampledFrom(todo.Statuses())
)

func drawUser(r *rapid.T) (id string, in todo.UserBody) {
	return usersGenerator.Draw(r, "user"), todo.UserBody{Email: emailsGenerator.Draw(r, "email"),
		Name: titlesGenerator.Draw(r, "name")}
}

func drawInput(r *rapid.T) todo.TaskBody {
	return todo.TaskBody{
		Title:       titlesGenerator.Draw(r, "title"),
		Description: descriptionsGenerator.Draw(r, "description"),
		Status:      rapid.OneOf(statusesGenerator, rapid.Just(todo.Status(""))).Draw(r, "status"),
		Priority:    prioritiesGenerator.Draw(r, "priority"), Category: categoriesGenerator.Draw(r, "category"),
		DueDate: daysGenerator.Draw(r, "due date"),
	}
}

func drawChange(r *rapid.T) todo.TaskChangeBody {
	return todo.TaskChangeBody{
		Title: maybe(r, titlesGenerator, "title"), Description: maybe(r, descriptionsGenerator, "description"),
		Status:   maybe(r, statusesGenerator, "status"),
		Priority: maybe(r, prioritiesGenerator, "priority"),
		Category: maybe(r, categoriesGenerator, "category"), DueDate: maybe(r, daysGenerator, "due date"),
	}
}

func maybe[T any](r *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(r, "change "+label) {
		return nil
	}
	return new(g.Draw(r, label))
}

// drawTask is the id of a task of anyone, or of none.
func (h *history) drawTask(r *rapid.T) string {
	all := []string{"019d0000-0000-7000-8000-000000000000"}
	for _, tasks := range h.model.tasks {
		all = slices.AppendSeq(all, maps.Keys(tasks))
	}
	slices.Sort(all)
	return rapid.SampledFrom(all).Draw(r, "task")
}

// request sends a request as the API does, and returns its answer, which begins with "error: " if it failed. died says
// that the process did not live to answer.
func (h *history) request(r *rapid.T, user, key string, do func(context.Context) (any, error)) (answer string,
	died bool) {
	fault := h.fault
	if fault == "condition" && strings.HasPrefix(key, "create user") {
		fault = "conflict" // a refused condition is final there, and would be a lie
	}
	dies := strings.HasPrefix(fault, "killed")
	switch {
	case dies:
		h.world.Kill(rapid.IntRange(0, 4).Draw(r, "requests until then"), fault == "killed after")
	case fault != "":
		code := map[string]string{"conflict": "TransactionConflict", "condition": "ConditionalCheckFailed"}[fault]
		h.world.Cancel(1, code)
	}
	h.fault = ""
	response, _, err := idempotency.Request{
		Keys: h.world.IdempotencyKeys, Scope: user, Key: key, Content: []byte(key), Log: slog.New(slog.DiscardHandler),
		Answer: func(result any) (idempotency.Response, error) {
			return idempotency.Response{Status: 200, Body: []byte(render(result))}, nil
		},
		Refusal: func(err error) (idempotency.Response, bool) {
			return idempotency.Response{Status: 400, Body: []byte("error: " + err.Error())},
				!errors.Is(err, worldtest.ErrKilled)
		},
	}.Do(h.t.Context(), do)
	if left := h.world.Heal(); dies && left == 0 {
		h.world.Advance(idempotency.DefaultLease)
		return "", true
	}
	if err != nil {
		r.Fatalf("%s of %s: %v", key, user, err)
	}
	return string(response.Body), false
}

// do sends a request, again if it dies, and once more later, and checks that the answers are the
// same. It reports whether the request succeeded, which it must unless an error is expected.
func (h *history) do(r *rapid.T, user, name string, want error, do func(context.Context) (any, error)) (answer string,
	ok bool) {
	h.attempts++
	key := fmt.Sprint(name, " ", h.attempts)
	answer, died := h.request(r, user, key, do)
	for died {
		answer, died = h.request(r, user, key, do)
	}
	failure, failed := strings.CutPrefix(answer, "error: ")
	if !failed && !h.model.deleting[user] {
		if again, died := h.request(r, user, key, do); again != answer || died {
			r.Fatalf("%s of %s: answered %s, and again %s, %t", key, user, answer, again, died)
		}
	}
	if failed != (want != nil) || failed && failure != want.Error() {
		r.Fatalf("%s: got %s, want the error %v", name, answer, want)
	}
	return answer, !failed
}

// render tells what a result is.
func render(result any) string {
	switch bulk := result.(type) {
	case todo.StatusesSet:
		return fmt.Sprint(bulk.Changed, " ", len(bulk.Failed))
	case todo.OverdueMoved:
		return fmt.Sprint(bulk.Changed, " ", len(bulk.Failed))
	}
	return fmt.Sprintf("%+v", result)
}

// Fault makes the next request meet one.
func (h *history) Fault(r *rapid.T) {
	h.fault = rapid.SampledFrom([]string{"conflict", "condition", "killed before", "killed after"}).Draw(r, "fault")
}

// Time passes.
func (h *history) Time(*rapid.T) { h.world.Advance(time.Hour) }

// CreateUser makes someone a user.
func (h *history) CreateUser(r *rapid.T) {
	user, in := drawUser(r)
	if _, ok := h.do(r, user, "create user", h.model.creates(user, in.Email), func(ctx context.Context) (any, error) {
		return h.world.CreateUser(ctx, user, in)
	}); ok {
		h.model.tasks[user] = map[string]todo.Task{}
		h.readUser(r, user, in)
	}
}

// UpdateUser changes one.
func (h *history) UpdateUser(r *rapid.T) {
	user, in := drawUser(r)
	want := h.model.needsUser(user)
	if want == nil {
		want = h.model.takes(user, in.Email)
	}
	if _, ok := h.do(r, user, "update user", want, func(ctx context.Context) (any, error) {
		return h.world.UpdateUser(ctx, user, in)
	}); ok {
		h.readUser(r, user, in)
	}
}

func (h *history) readUser(r *rapid.T, user string, want todo.UserBody) {
	got, err := h.world.GetUser(h.t.Context(), user)
	if err != nil || got.Email != want.Email || got.Name != want.Name {
		r.Fatalf("%s is %+v, %v; want %+v", user, got, err, want)
	}
	h.model.users[user] = got
}

// DeleteUser deletes one, or begins to.
func (h *history) DeleteUser(r *rapid.T) {
	user, inHurry := usersGenerator.Draw(r, "user"), rapid.Bool().Draw(r, "without time")
	answer, ok := h.do(r, user, "delete user", h.model.deletes(user, h.world.Now()),
		func(ctx context.Context) (any, error) {
			if inHurry {
				ctx = worldtest.Leaving(ctx, 2*time.Second)
			}
			complete, err := h.world.DeleteUser(ctx, user)
			return todo.Erased{Complete: complete}, err
		})
	if ok {
		h.model.gone(user, answer == render(todo.Erased{Complete: true}), h.world.Now())
	}
}

// Erase lets the eraser finish every deletion.
func (h *history) Erase(r *rapid.T) {
	for _, user := range everyone {
		if deletion, ok := h.world.deletion(h.t, user); ok {
			if complete, err := h.world.eraser.Erase(h.t.Context(), deletion); err != nil || !complete {
				r.Fatalf("erase: %v, %v", complete, err)
			}
		}
		h.model.deleting[user] = false
	}
}

// CreateTask makes a task.
func (h *history) CreateTask(r *rapid.T) {
	user, in := usersGenerator.Draw(r, "user"), drawInput(r)
	if _, ok := h.do(r, user, "create", h.model.needsUser(user), func(ctx context.Context) (any, error) {
		return h.world.CreateTask(ctx, user, in)
	}); !ok {
		return
	}
	all := h.world.list(h.t, user, todo.TaskFilter{Limit: 100})
	if len(all) != len(h.model.tasks[user])+1 {
		r.Fatalf("create: %s has %d tasks, want %d", user, len(all), len(h.model.tasks[user])+1)
	}
	for _, got := range all {
		if _, known := h.model.tasks[user][got.ID]; known {
			continue
		}
		if want := created(got.ID, in, got.CreatedAt); got != want {
			r.Fatalf("create: got %+v, want %+v", got, want)
		}
		h.model.tasks[user][got.ID] = got
	}
}

// ReplaceTask replaces a task.
func (h *history) ReplaceTask(r *rapid.T) {
	in := drawInput(r)
	h.change(r, "replace", in.Apply, func(ctx context.Context, user, id string, version int) (todo.Task, error) {
		return h.world.ReplaceTask(ctx, user, id, in, version)
	})
}

// ChangeTask changes fields of a task.
func (h *history) ChangeTask(r *rapid.T) {
	c := drawChange(r)
	h.change(r, "change", c.Apply, func(ctx context.Context, user, id string, version int) (todo.Task, error) {
		return h.world.ChangeTask(ctx, user, id, c, version)
	})
}

func (h *history) change(r *rapid.T, name string, edit func(todo.Task) todo.Task,
	do func(ctx context.Context, user, id string, version int) (todo.Task, error)) {
	user, id := usersGenerator.Draw(r, "user"), h.drawTask(r)
	current := h.model.tasks[user][id].Version
	version := rapid.SampledFrom([]int{0, 0, current, current + 1}).Draw(r, "if version")
	before := todo.At(h.world.Now())
	want, wantErr := h.model.change(user, id, version, before, edit)
	answer, ok := h.do(r, user, name, wantErr, func(ctx context.Context) (any, error) {
		return do(ctx, user, id, version)
	})
	if !ok {
		return
	}
	if got, err := h.world.GetTask(h.t.Context(), user, id); err == nil && want.UpdatedAt == before &&
		todo.At(h.world.Now()) != before {
		// It died, and may have been done at either moment.
		if want.CompletedAt == want.UpdatedAt {
			want.CompletedAt = got.UpdatedAt
		}
		want.UpdatedAt = got.UpdatedAt
	}
	if answer != render(want) {
		r.Fatalf("%s: got %s, want %s", name, answer, render(want))
	}
	h.model.tasks[user][id] = want
}

// DeleteTask deletes a task.
func (h *history) DeleteTask(r *rapid.T) {
	user, id := usersGenerator.Draw(r, "user"), h.drawTask(r)
	_, want := h.model.change(user, id, 0, todo.At(h.world.Now()), func(t todo.Task) todo.Task { return t })
	h.do(r, user, "delete", want, func(ctx context.Context) (any, error) {
		return nil, h.world.DeleteTask(ctx, user, id, 0)
	})
	delete(h.model.tasks[user], id)
}

// SetStatuses gives some tasks a status.
func (h *history) SetStatuses(r *rapid.T) {
	status := statusesGenerator.Draw(r, "status")
	h.changeMany(r, "set statuses", func(task todo.Task) (todo.Task, bool) {
		task.Status = status
		return task, true
	}, func(ctx context.Context, user string, ids []string) (any, error) {
		return h.world.SetStatuses(ctx, user, ids, status)
	})
}

// MoveOverdue moves some tasks to a day, if they are overdue there.
func (h *history) MoveOverdue(r *rapid.T) {
	day := daysGenerator.Filter(func(day todo.Date) bool { return day != "" }).Draw(r, "day")
	h.changeMany(r, "move overdue", func(task todo.Task) (todo.Task, bool) {
		late := task.DueDate != "" && task.DueDate < day && slices.Contains(
			[]todo.Status{todo.Pending, todo.InProgress}, task.Status)
		may := late || task.DueDate == day
		task.DueDate = day
		return task, may
	}, func(ctx context.Context, user string, ids []string) (any, error) {
		return h.world.MoveOverdue(ctx, user, ids, day)
	})
}

// changeMany changes some tasks in one request. with returns what a task becomes, and whether it may.
func (h *history) changeMany(
	r *rapid.T, name string, with func(todo.Task) (todo.Task, bool),
	do func(ctx context.Context, user string, ids []string) (any, error),
) {
	user := usersGenerator.Draw(r, "user")
	changes := func(id string, now todo.Timestamp) (todo.Task, error) {
		may := true
		task, err := h.model.change(user, id, 0, now, func(task todo.Task) (wanted todo.Task) {
			wanted, may = with(task)
			return wanted
		})
		if !may {
			err = todo.ErrTaskNotOverdue
		}
		return task, err
	}
	var all, changed []string
	for range rapid.IntRange(1, 5).Draw(r, "tasks") {
		if id := h.drawTask(r); !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	for _, id := range all {
		if _, err := changes(id, todo.At(h.world.Now())); err == nil {
			changed = append(changed, id)
		}
	}
	answer, _ := h.do(r, user, name, nil, func(ctx context.Context) (any, error) { return do(ctx, user, all) })
	if want := fmt.Sprint(changed, " ", len(all)-len(changed)); answer != want {
		r.Fatalf("%s: got %s, want %s", name, answer, want)
	}
	for _, id := range changed {
		got, err := h.world.GetTask(h.t.Context(), user, id)
		want, _ := changes(id, got.UpdatedAt)
		if err != nil || got != want {
			r.Fatalf("%s: got %+v, %v; want %+v", name, got, err, want)
		}
		h.model.tasks[user][id] = got
	}
}

// DeleteCompleted deletes a user's completed tasks.
func (h *history) DeleteCompleted(r *rapid.T) {
	user := usersGenerator.Draw(r, "user")
	h.do(r, user, "delete completed", nil, func(ctx context.Context) (any, error) {
		return h.world.DeleteCompleted(ctx, user)
	})
	maps.DeleteFunc(h.model.tasks[user], func(_ string, task todo.Task) bool { return task.Status == todo.Completed })
}

// Check is the oracle: after each step the model agrees with what is read, every index with the
// table item by item, the counts with a recount, and nothing is left of deleted users.
func (h *history) Check(r *rapid.T) {
	for _, finding := range h.world.disagreements(h.t) {
		r.Error(finding)
	}
	for _, user := range everyone {
		if h.model.deleting[user] {
			continue
		}
		got, want := map[string]todo.Task{}, h.model.tasks[user]
		for _, task := range h.world.list(h.t, user, todo.TaskFilter{Limit: 100}) {
			got[task.ID] = task
		}
		if !maps.Equal(got, want) {
			r.Errorf("%s has %+v, want %+v", user, got, want)
		}
	}
}
