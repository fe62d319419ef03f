package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// Each history has a table of its own and asks it a thousand times.
func TestMain(m *testing.M) { rapidtest.Main(m, 10) }

// model is what users should find: the rules once more, without concurrency,
// storage or failure.
type model struct {
	users map[string]todo.User
	tasks map[string]map[string]todo.Task
	// deleting are users of whom something may be left to erase, and since when.
	deleting map[string]bool
	since    map[string]time.Time
}

func (m *model) owner(address string) string {
	for id, user := range m.users {
		if strings.EqualFold(user.Email, address) {
			return id
		}
	}
	return ""
}

// history is a random history and the model of what it comes to.
type history struct {
	*world
	model
	t *testing.T
	// fault is what the next request meets.
	fault string
	// attempts counts requests: each has a key of its own.
	attempts int
	steps    int
}

// attempt is a request with an idempotency key.
type attempt struct {
	user, key string
	do        func(context.Context) (string, error)
}

// request sends a request as the API does: it claims a key, does the work, and
// keeps the answer. died says that the process did not live to answer.
func (h *history) request(r *rapid.T, a attempt) (answer string, err error, died bool) {
	claim, replay, err := h.keys.Begin(h.t.Context(), a.user, a.key, []byte(a.key), time.Second)
	if err != nil {
		r.Fatalf("%s of %s: claim: %v", a.key, a.user, err)
	}
	if replay != nil {
		return string(replay.Body), nil, false
	}
	ctx := idempotency.WithClaim(h.t.Context(), claim, func(result any) (idempotency.Response, error) {
		return idempotency.Response{Status: 200, Body: []byte(render(result))}, nil
	})
	fault := h.fault
	if fault == "condition" && strings.HasPrefix(a.key, "createUser") {
		fault = "conflict" // a refused condition is final there, and would be a lie
	}
	switch fault {
	case "conflict", "condition":
		code := map[string]string{"conflict": "TransactionConflict", "condition": "ConditionalCheckFailed"}[fault]
		h.tables.Wire.Answers(canceledOnce(code))
	case "killed before", "killed after":
		n := rapid.IntRange(0, 4).Draw(r, "requests until then")
		if fault == "killed before" {
			h.faults.set(killedAt(n), nil)
		} else {
			h.faults.set(nil, killedAt(n))
		}
	}
	h.fault = ""
	answer, err = a.do(ctx)
	h.faults.set(nil, nil)
	h.tables.Wire.Answers(nil)
	if errors.Is(err, errKilled) {
		h.advance(2 * time.Second) // its lease ends
		return "", nil, true
	}
	if kept, ok := claim.Kept(); ok && err == nil && string(kept.Body) != answer {
		r.Fatalf("%s of %s: answered %s, kept %s", a.key, a.user, answer, kept.Body)
	}
	if _, ok := claim.Kept(); !ok {
		response := idempotency.Response{Status: 200, Body: []byte(answer)}
		if err != nil {
			response = idempotency.Response{Status: 400, Body: []byte("error: " + err.Error())}
		}
		if err := h.keys.Settle(h.t.Context(), claim, response); err != nil {
			r.Fatalf("%s of %s: settle: %v", a.key, a.user, err)
		}
	}
	return answer, err, false
}

// do sends a request, again if it dies, and at some later point once more: each
// answer is the same.
func (h *history) do(r *rapid.T, user, name string, do func(context.Context) (string, error)) (string, error) {
	h.attempts++
	a := attempt{user: user, key: fmt.Sprint(name, " ", h.attempts), do: do}
	answer, err, died := h.request(r, a)
	for died {
		answer, err, died = h.request(r, a)
	}
	if text, failed := strings.CutPrefix(answer, "error: "); failed {
		err = errors.New(text)
	}
	if err == nil && !h.deleting[user] {
		if again, err, died := h.request(r, a); again != answer || err != nil || died {
			r.Fatalf("%s of %s: answered %s, and again %s, %v, %t", a.key, user, answer, again, err, died)
		}
	}
	return answer, err
}

// render tells what a result is.
func render(result any) string {
	switch result := result.(type) {
	case todo.Task:
		return fmt.Sprintf("%+v", result)
	case todo.BulkResult:
		return fmt.Sprint(result.Changed, " ", len(result.Failed))
	case todo.Deleted:
		return fmt.Sprint(result.Count, result.More)
	default:
		return fmt.Sprintf("%+v", result)
	}
}

var (
	categoriesGenerator = rapid.SampledFrom([]todo.Text{"", "work", "a#b", "50%", "#", "日本"})
	daysGenerator       = rapid.SampledFrom([]todo.Date{"", "2026-03-27", "2026-03-28", "2026-04-01"})
	titlesGenerator     = rapid.SampledFrom([]string{"milk", "Bread", "ship it"})
	prioritiesGenerator = rapid.SampledFrom(append(todo.Priorities(), todo.NoPriority))
	statusesGenerator   = rapid.SampledFrom(todo.Statuses())
)

func drawInput(r *rapid.T) todo.TaskInput {
	return todo.TaskInput{
		Title: titlesGenerator.Draw(r, "title"), Description: rapid.SampledFrom([]todo.Text{"", "more"}).Draw(r, "description"),
		Status:   rapid.OneOf(statusesGenerator, rapid.Just(todo.Status(""))).Draw(r, "status"),
		Priority: prioritiesGenerator.Draw(r, "priority"), Category: categoriesGenerator.Draw(r, "category"), DueDate: daysGenerator.Draw(r, "due date"),
	}
}

func maybe[T any](r *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(r, "change "+label) {
		return nil
	}
	return new(g.Draw(r, label))
}

// become is the model's idea of a changed task.
func become(old todo.Task, now time.Time, change func(*todo.Task)) (todo.Task, error) {
	task := old
	change(&task)
	if task == old {
		return old, nil
	}
	if old.Status == todo.Completed && task.Status != todo.Completed {
		return old, todo.ErrTaskCompleted
	}
	if old.Status != todo.Completed && task.Status == todo.Completed {
		task.CompletedAt = todo.Moment{Time: now}
	}
	task.UpdatedAt, task.Version = now, old.Version+1
	return task, nil
}

// TestRandomHistories lets several users do anything in any order, with replays,
// refused conditions, conflicts and processes that die before or after any of their
// requests to DynamoDB. After each step the model agrees with what is read, every
// index with the table item by item, the counts with a recount, and nothing is left
// of who is gone.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	users := []string{"ada", "bob", "cy#"}
	rapid.Check(t, func(r *rapid.T) {
		h := &history{world: newWorld(t), t: t, model: model{users: map[string]todo.User{}, tasks: map[string]map[string]todo.Task{}, deleting: map[string]bool{}, since: map[string]time.Time{}}}
		user := func(r *rapid.T) string { return rapid.SampledFrom(users).Draw(r, "user") }
		expect := func(r *rapid.T, what string, err, want error) {
			if want == nil && err != nil || want != nil && (err == nil || err.Error() != want.Error()) {
				r.Fatalf("%s: got error %v, want %v", what, err, want)
			}
		}
		// pick is a task of the user, another user's, or none.
		pick := func(r *rapid.T) string {
			all := []string{"019d0000-0000-7000-8000-000000000000"}
			for _, tasks := range h.tasks {
				all = append(all, slices.Collect(maps.Keys(tasks))...)
			}
			slices.Sort(all)
			return rapid.SampledFrom(all).Draw(r, "task")
		}
		// change is what PUT and PATCH have in common.
		change := func(r *rapid.T, name string, do func(ctx context.Context, user, id string, version int) (todo.Task, error), with func(*todo.Task)) {
			u, id := user(r), pick(r)
			old, ok := h.tasks[u][id]
			version := rapid.SampledFrom([]int{0, 0, old.Version, old.Version + 1}).Draw(r, "if version")
			want, wantErr := become(old, h.clock(), with)
			switch {
			case !ok:
				wantErr = todo.ErrTaskNotFound
			case version != 0 && version != old.Version:
				wantErr = &todo.VersionError{Current: old.Version}
			}
			before := h.clock()
			answer, err := h.do(r, u, name, func(ctx context.Context) (string, error) {
				task, err := do(ctx, u, id, version)
				return render(task), err
			})
			if !h.clock().Equal(before) {
				// It died, and may have been done at either moment.
				if got, err := h.GetTask(t.Context(), u, id); err == nil && want.UpdatedAt.Equal(before) {
					if want.CompletedAt.Equal(want.UpdatedAt) {
						want.CompletedAt = todo.Moment{Time: got.UpdatedAt}
					}
					want.UpdatedAt = got.UpdatedAt
				}
			}
			expect(r, name, err, wantErr)
			if wantErr == nil {
				if answer != render(want) {
					r.Fatalf("%s: got %s, want %s", name, answer, render(want))
				}
				h.tasks[u][id] = want
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"fault": func(r *rapid.T) {
				h.fault = rapid.SampledFrom([]string{"conflict", "condition", "killed before", "killed after"}).Draw(r, "fault")
			},
			"time": func(r *rapid.T) { h.advance(time.Hour) },
			"createUser": func(r *rapid.T) {
				u := user(r)
				in := todo.UserInput{Email: rapid.SampledFrom([]string{"a@example.com", "A@example.com", "b@example.com", "c@example.com"}).Draw(r, "email"), Name: u}
				var want error
				switch _, exists := h.users[u]; {
				case exists:
					want = todo.ErrUserExists
				case h.deleting[u]:
					want = todo.ErrUserBeingDeleted
				case h.owner(in.Email) != "":
					want = todo.ErrEmailTaken
				}
				_, err := h.do(r, u, "createUser", func(ctx context.Context) (string, error) {
					user, err := h.CreateUser(ctx, u, in)
					return render(user), err
				})
				expect(r, "createUser", err, want)
				if err == nil {
					got, err := h.GetUser(t.Context(), u)
					if err != nil || got.Email != in.Email {
						r.Fatalf("createUser: got %+v, %v", got, err)
					}
					h.users[u], h.tasks[u] = got, map[string]todo.Task{}
				}
			},
			"updateUser": func(r *rapid.T) {
				u := user(r)
				in := todo.UserInput{Email: rapid.SampledFrom([]string{"a@example.com", "A@example.com", "d@example.com"}).Draw(r, "email"), Name: titlesGenerator.Draw(r, "name")}
				var want error
				if _, exists := h.users[u]; !exists {
					want = todo.ErrUserNotFound
				} else if owner := h.owner(in.Email); owner != "" && owner != u {
					want = todo.ErrEmailTaken
				}
				_, err := h.do(r, u, "updateUser", func(ctx context.Context) (string, error) {
					user, err := h.UpdateUser(ctx, u, in)
					return render(user), err
				})
				expect(r, "updateUser", err, want)
				if err == nil {
					got, err := h.GetUser(t.Context(), u)
					if err != nil || got.Email != in.Email || got.Name != in.Name {
						r.Fatalf("updateUser: got %+v, %v; want %+v", got, err, in)
					}
					h.users[u] = got
				}
			},
			"deleteUser": func(r *rapid.T) {
				u := user(r)
				var want error
				if _, exists := h.users[u]; !exists {
					want = todo.ErrUserNotFound
					if h.deleting[u] {
						want = todo.ErrUserBeingDeleted
						if h.clock().Sub(h.since[u]) >= time.Hour {
							want = nil // it is abandoned
						}
					}
				}
				inHurry := rapid.Bool().Draw(r, "without time")
				answer, err := h.do(r, u, "deleteUser", func(ctx context.Context) (string, error) {
					if inHurry {
						ctx = hurried{ctx}
					}
					complete, err := h.DeleteUser(ctx, u)
					return render(todo.Erased{Complete: complete}), err
				})
				expect(r, "deleteUser", err, want)
				if err == nil {
					if !h.deleting[u] {
						h.since[u] = h.clock()
					}
					delete(h.users, u)
					delete(h.tasks, u)
					h.deleting[u] = answer != render(todo.Erased{Complete: true})
				}
			},
			"erase": func(r *rapid.T) {
				for _, u := range users {
					if deletion, ok := h.deletion(t, u); ok {
						if complete, err := h.eraser.Erase(t.Context(), deletion); err != nil || !complete {
							r.Fatalf("erase: %v, %v", complete, err)
						}
					}
					h.deleting[u] = false
				}
			},
			"create": func(r *rapid.T) {
				u, in := user(r), drawInput(r)
				var want error
				if _, exists := h.users[u]; !exists {
					want = todo.ErrUserNotFound
				}
				_, err := h.do(r, u, "create", func(ctx context.Context) (string, error) {
					task, err := h.CreateTask(ctx, u, in)
					return render(task), err
				})
				expect(r, "create", err, want)
				if err != nil {
					return
				}
				all := h.list(t, u, todo.TaskFilter{Limit: 100})
				if len(all) != len(h.tasks[u])+1 {
					r.Fatalf("create: %s has %d tasks, want %d", u, len(all), len(h.tasks[u])+1)
				}
				for _, got := range all {
					if _, known := h.tasks[u][got.ID]; !known {
						wanted := todo.Task{
							ID: got.ID, Title: in.Title, Description: in.Description, Status: todo.Status(orElse(string(in.Status), "pending")),
							Priority: in.Priority, Category: in.Category, DueDate: in.DueDate, CreatedAt: got.CreatedAt, UpdatedAt: got.CreatedAt, Version: 1,
						}
						if wanted.Status == todo.Completed {
							wanted.CompletedAt = todo.Moment{Time: got.CreatedAt}
						}
						if got != wanted {
							r.Fatalf("create: got %+v, want %+v", got, wanted)
						}
						h.tasks[u][got.ID] = got
					}
				}
			},
			"replace": func(r *rapid.T) {
				in := drawInput(r)
				change(r, "replace", func(ctx context.Context, user, id string, version int) (todo.Task, error) {
					return h.ReplaceTask(ctx, user, id, in, version)
				}, func(task *todo.Task) {
					task.Title, task.Description, task.Priority, task.Category, task.DueDate = in.Title, in.Description, in.Priority, in.Category, in.DueDate
					if in.Status != "" {
						task.Status = in.Status
					}
				})
			},
			"change": func(r *rapid.T) {
				c := todo.TaskChange{
					Title: maybe(r, titlesGenerator, "title"), Status: maybe(r, statusesGenerator, "status"), Priority: maybe(r, prioritiesGenerator, "priority"),
					Category: maybe(r, categoriesGenerator, "category"), DueDate: maybe(r, daysGenerator, "due date"),
				}
				change(r, "change", func(ctx context.Context, user, id string, version int) (todo.Task, error) {
					return h.ChangeTask(ctx, user, id, c, version)
				}, func(task *todo.Task) {
					if c.Title != nil {
						task.Title = *c.Title
					}
					if c.Status != nil {
						task.Status = *c.Status
					}
					if c.Priority != nil {
						task.Priority = *c.Priority
					}
					if c.Category != nil {
						task.Category = *c.Category
					}
					if c.DueDate != nil {
						task.DueDate = *c.DueDate
					}
				})
			},
			"delete": func(r *rapid.T) {
				u, id := user(r), pick(r)
				var want error
				if _, ok := h.tasks[u][id]; !ok {
					want = todo.ErrTaskNotFound
				}
				_, err := h.do(r, u, "delete", func(ctx context.Context) (string, error) {
					return render(nil), h.DeleteTask(ctx, u, id, 0)
				})
				expect(r, "delete", err, want)
				delete(h.tasks[u], id)
			},
			"setStatuses": func(r *rapid.T) {
				u, status := user(r), statusesGenerator.Draw(r, "status")
				var all []string
				for range rapid.IntRange(1, 5).Draw(r, "tasks") {
					if id := pick(r); !slices.Contains(all, id) {
						all = append(all, id)
					}
				}
				var changed []string
				for _, id := range all {
					if task, ok := h.tasks[u][id]; ok && (task.Status != todo.Completed || status == todo.Completed) {
						changed = append(changed, id)
					}
				}
				answer, err := h.do(r, u, "setStatuses", func(ctx context.Context) (string, error) {
					result, err := h.SetStatuses(ctx, u, all, status)
					return render(result), err
				})
				expect(r, "setStatuses", err, nil)
				if want := fmt.Sprint(changed, " ", len(all)-len(changed)); answer != want {
					r.Fatalf("setStatuses: got %s, want %s", answer, want)
				}
				for _, id := range changed {
					got, err := h.GetTask(t.Context(), u, id)
					want, _ := become(h.tasks[u][id], got.UpdatedAt, func(task *todo.Task) { task.Status = status })
					if err != nil || got != want {
						r.Fatalf("setStatuses: got %+v, %v; want %+v", got, err, want)
					}
					h.tasks[u][id] = got
				}
			},
			"deleteCompleted": func(r *rapid.T) {
				u := user(r)
				_, err := h.do(r, u, "deleteCompleted", func(ctx context.Context) (string, error) {
					deleted, more, err := h.DeleteCompleted(ctx, u)
					return render(todo.Deleted{Count: deleted, More: more}), err
				})
				if !h.deleting[u] {
					expect(r, "deleteCompleted", err, nil)
				}
				maps.DeleteFunc(h.tasks[u], func(_ string, task todo.Task) bool { return task.Status == todo.Completed })
			},
			"": func(r *rapid.T) {
				for _, finding := range h.disagreements(t) {
					r.Error(finding)
				}
				h.steps++
				for i, u := range users {
					if h.deleting[u] {
						continue
					}
					got := map[string]todo.Task{}
					for _, task := range h.list(t, u, todo.TaskFilter{Limit: 100}) {
						got[task.ID] = task
					}
					if len(got) != len(h.tasks[u]) || !maps.Equal(got, orEmpty(h.tasks[u])) {
						r.Errorf("%s has %+v, want %+v", u, got, h.tasks[u])
					}
					if (h.steps+i)%len(users) != 0 {
						continue // the others' turn comes
					}
					for _, f := range []todo.TaskFilter{
						{Status: todo.Completed}, {Priority: todo.High}, {Category: "a#b"}, {DueFrom: "2026-03-27", DueTo: "2026-03-28"}, {Overdue: todo.Yes},
						{Search: "BREAD"}, {Sort: todo.ByStatus}, {Sort: todo.ByCategory, Status: todo.Pending},
					} {
						f.Limit = 3
						want := ids(matching(slices.Collect(maps.Values(h.tasks[u])), f, todo.Date(h.clock().Format(time.DateOnly))))
						if got := ids(h.list(t, u, f)); !slices.Equal(got, want) {
							r.Errorf("%s lists with %+v: %v, want %v", u, f, got, want)
						}
					}
				}
			},
		})
	})
}

func orEmpty(tasks map[string]todo.Task) map[string]todo.Task {
	if tasks == nil {
		return map[string]todo.Task{}
	}
	return tasks
}
