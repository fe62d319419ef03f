package todo_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// matching is what a list should have, by a reading of the filter of the test's
// own.
func matching(tasks []todo.Task, f todo.TaskFilter, today todo.Date) []todo.Task {
	var found []todo.Task
	for _, task := range tasks {
		open := task.Status == todo.Pending || task.Status == todo.InProgress
		text := strings.ToLower(task.Title + "\x00" + string(task.Description))
		byDate := f.Sort == todo.ByDueDate || f.Sort == todo.ByDefault &&
			(f.DueFrom != "" || f.DueTo != "" || f.Overdue == todo.Yes)
		switch {
		case f.Status != "" && task.Status != f.Status,
			f.Priority != "" && task.Priority != f.Priority,
			f.Category != "" && task.Category != f.Category,
			f.DueFrom != "" && (task.DueDate == "" || task.DueDate < f.DueFrom),
			f.DueTo != "" && (task.DueDate == "" || task.DueDate > f.DueTo),
			f.Overdue == todo.Yes && (task.DueDate == "" || task.DueDate >= today || !open),
			!strings.Contains(text, strings.ToLower(f.Search)),
			byDate && task.DueDate == "",
			f.Sort == todo.ByPriority && task.Priority == "",
			f.Sort == todo.ByCategory && task.Category == "":
			continue
		}
		found = append(found, task)
	}
	slices.SortFunc(found, func(a, b todo.Task) int {
		byID := strings.Compare(b.ID, a.ID) // newest first
		switch sort := f.Sort; {
		case sort == todo.ByDueDate || sort == todo.ByDefault &&
			(f.DueFrom != "" || f.DueTo != "" || f.Overdue == todo.Yes):
			return cmp.Or(strings.Compare(string(a.DueDate), string(b.DueDate)), -byID)
		case sort == todo.ByStatus && f.Status == "":
			return cmp.Or(strings.Compare(string(a.Status), string(b.Status)), -byID)
		case sort == todo.ByPriority && f.Priority == "":
			return cmp.Or(strings.Compare(string(a.Priority), string(b.Priority)), -byID)
		case sort == todo.ByCategory && f.Category == "":
			return cmp.Or(cmp.Compare(a.Category+"#", b.Category+"#"), -byID)
		}
		return byID
	})
	return found
}

// Every combination of filters and orders lists what a filter in memory lists, in
// order, over pages of every size.
func TestFiltersAndOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	var all []todo.Task
	days := []todo.Date{"", "2026-03-27", "2026-03-28", "2026-03-29", "2026-12-31"}
	categories := []todo.Text{"", "work", "work item", "home"}
	for i := range 120 {
		w.Advance(time.Second)
		all = append(all, w.task(t, "ada", todo.TaskBody{
			Title:       fmt.Sprintf("Task %d %s", i, []string{"Milk", "BREAD", "Ärger"}[i%3]),
			Description: []todo.Text{"", "now, bread"}[i/3%2],
			Status:      todo.Statuses()[i%4],
			Priority:    append(todo.Priorities(), todo.NoPriority)[i%5],
			Category:    categories[i/2%4], DueDate: days[i/4%5],
		}))
	}
	now := start.Add(120 * time.Second)
	today := todo.Date(now.Format(time.DateOnly))
	n := 0
	group, _ := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for _, status := range []todo.Status{"", todo.Pending, todo.Completed} {
		for _, priority := range []todo.Priority{"", todo.High} {
			for _, category := range []todo.Text{"", "work"} {
				for _, due := range [][2]todo.Date{{}, {"2026-03-28", "2026-03-28"}, {"2026-03-27", "2026-03-29"},
					{"2026-03-28", ""}, {"", "2026-03-28"}, {"2027-01-01", "2027-01-02"}} {
					for _, overdue := range []todo.Flag{"", todo.Yes} {
						for _, text := range []string{"", "bread", "ÄRGER"} {
							for _, sort := range []todo.Sort{todo.ByDefault, todo.ByCreation, todo.ByStatus,
								todo.ByDueDate, todo.ByPriority, todo.ByCategory} {
								// Every eleventh of 2,592: it shares no factor with the loops, and
								// so each pair of values occurs, with each limit.
								if n++; n%11 != 0 {
									continue
								}
								f := todo.TaskFilter{
									Status: status, Priority: priority, Category: category, DueFrom: due[0],
									DueTo:   due[1],
									Overdue: overdue, Search: text, Sort: sort, Limit: []int{7, 20, 100}[n/11/7%3],
								}
								group.Go(func() error {
									want, got := ids(matching(all, f, today)), ids(w.list(t, "ada", f))
									if !slices.Equal(got, want) {
										return fmt.Errorf("%+v:\ngot  %v\nwant %v", f, got, want)
									}
									return nil
								})
							}
						}
					}
				}
			}
		}
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// A category is any text, also what looks like a key or an escape, and is found as
// itself alone.
func TestCategories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	categories := []todo.Text{
		"a", "a#", "a#b", "#", "##", "%", "%23", "%25", "a%23", "%2523", "a%", "CATEGORY#a", "日本語", "日", "é",
		" ", "a ", "A", "~", "\U0010ffff",
		todo.Text(strings.Repeat("#", 50)), todo.Text(strings.Repeat("\U0001f600", 50)), "none", "\u202e",
	}
	for _, category := range categories {
		w.task(t, "ada", todo.TaskBody{Title: string(category) + "!", Category: category})
	}
	w.task(t, "ada", todo.TaskBody{Title: "without"})
	for _, category := range categories {
		got := w.list(t, "ada", todo.TaskFilter{Category: category})
		if len(got) != 1 || got[0].Category != category || got[0].Title != string(category)+"!" {
			t.Errorf("%q: got %+v", category, got)
		}
	}
	for _, limit := range []int{1, 3, 100} {
		if got := w.list(t, "ada", todo.TaskFilter{Sort: todo.ByCategory, Limit: limit}); len(got) != len(categories) {
			t.Errorf("by %d: got %d tasks, want %d", limit, len(got), len(categories))
		}
	}
	w.check(t)
}

// Categories that people see as the same are one, whichever normal form a task was written or is asked for with, and each
// is answered as it was sent. So are tasks of an earlier version, whose keys have the form that was sent; the next change
// moves their key.
func TestEqualCategories(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	var want []string // newest first
	var earlier []todo.Task
	for i := range 12 {
		w.Advance(time.Second)
		task := w.task(t, "ada", todo.TaskBody{Category: []todo.Text{composed, decomposed}[i%2]})
		if i%4 == 3 {
			earlier = append(earlier, task)
		}
		want = append([]string{task.ID}, want...)
	}
	w.task(t, "ada", todo.TaskBody{Category: "cafe"})
	w.check(t)
	for _, task := range earlier {
		must.Get(w.Client.UpdateItem(t.Context(), &awsdynamodb.UpdateItemInput{
			TableName: aws.String("AppData"), UpdateExpression: aws.String("SET GSI4SK = :key"),
			Key: dynamo.Item{"PK": &types.AttributeValueMemberS{Value: "TASK#ada"},
				"SK": &types.AttributeValueMemberS{Value: "TASK#" + task.ID}},
			ExpressionAttributeValues: dynamo.Item{
				":key": &types.AttributeValueMemberS{Value: "CATEGORY#" + decomposed + "#" + task.ID}},
		}))(t)
	}
	ids := func(f todo.TaskFilter) (ids []string) {
		for _, task := range w.list(t, "ada", f) {
			ids = append(ids, task.ID)
		}
		return ids
	}
	for _, limit := range []int{1, 2, 5, 100} {
		for _, sort := range []todo.Sort{todo.ByDefault, todo.ByCategory, todo.ByStatus} {
			got := ids(todo.TaskFilter{Category: decomposed, Limit: limit, Sort: sort})
			if sort == todo.ByStatus { // of one status, the oldest first
				slices.Reverse(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("by %d, sort %q: got %v, want %v", limit, sort, got, want)
			}
		}
	}
	if got := ids(todo.TaskFilter{Category: composed}); !slices.Equal(got, want) {
		t.Errorf("composed: got %v, want %v", got, want)
	}
	for _, task := range earlier {
		changed, err := w.ChangeTask(t.Context(), "ada", task.ID, todo.TaskChangeBody{Title: new("moved")}, 0)
		if err != nil || changed.Category != decomposed {
			t.Errorf("got %+v, %v; want the category as it was sent", changed, err)
		}
	}
	for _, category := range []todo.Text{composed, decomposed} {
		if got := ids(todo.TaskFilter{Category: category, Limit: 5}); !slices.Equal(got, want) {
			t.Errorf("%+q, once all have changed: got %v, want %v", category, got, want)
		}
	}
	w.check(t)
}

// A search without time to go on returns what it has found, and a cursor.
func TestSearchEndsInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	w.fill(t, "ada", 30, todo.TaskBody{}, func(i int) string {
		if i%10 == 0 {
			return "needle"
		}
		return "hay"
	})
	f := todo.TaskFilter{Search: "needle", Limit: 2}
	pages, found := 0, 0
	for more := true; more; pages++ {
		page := must.Get(w.ListTasks(worldtest.Leaving(t.Context(), 2*time.Second), "ada", f))(t)
		found += len(page.Tasks)
		f.Cursor, more = page.Next, page.Next != ""
	}
	if found != 3 || pages < 10 {
		t.Errorf("got %d tasks on %d pages, want 3, and three tasks looked at for each page", found, pages)
	}
}

// fill stores n tasks of a user, a second apart, with titles of their own. The
// first one comes from the store; the others are copies of its item, because so
// many transactions would take a minute.
func (w *world) fill(t testing.TB, user string, n int, in todo.TaskBody, title func(i int) string) []string {
	t.Helper()
	in.Title = title(0)
	first := must.Get((&service.Service{DB: w.Beside(t, "todoapi"), Clock: func() time.Time {
		return start
	}}).CreateTask(t.Context(), user, in))(t)
	var stored map[string]any
	must.OK(t, attributevalue.UnmarshalMap(w.Item(t, "AppData", "TASK#"+user, "TASK#"+first.ID), &stored))
	all, others := []string{first.ID}, []any{}
	for i := 1; i < n; i++ {
		at := start.Add(time.Duration(i) * time.Second)
		id := fmt.Sprintf("%08x-%04x-7000-8000-%012x", at.UnixMilli()>>16, at.UnixMilli()&0xffff, i)
		item := map[string]any{}
		for attribute, value := range stored {
			if s, ok := value.(string); ok {
				value = strings.ReplaceAll(s, first.ID, id)
			}
			item[attribute] = value
		}
		item["title"], item["created_at"], item["updated_at"] = title(i), at.Unix(), at.Unix()
		all, others = append(all, id), append(others, item)
	}
	w.Tables.Store(t, "AppData", others...)
	must.Get(w.Client.UpdateItem(t.Context(), &awsdynamodb.UpdateItemInput{
		TableName:        aws.String("AppData"),
		Key:              dynamo.Texts(map[string]string{"PK": "COUNTS#" + user, "SK": "METADATA"}),
		UpdateExpression: aws.String("ADD #status :more, #priority :more"),
		ExpressionAttributeNames: map[string]string{"#status": string(first.Status),
			"#priority": cmp.Or(string(first.Priority), "no_priority")},
		ExpressionAttributeValues: dynamo.Item{":more": &types.AttributeValueMemberN{Value: fmt.Sprint(n - 1)}},
	}))(t)
	return all
}

// A user of 1,000 tasks: with every filter a page reads what it needs, and a deletion of all carries on.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	// More than a page, a search and a transaction take, several times.
	const n = 1000
	w.fill(t, "ada", n, todo.TaskBody{Priority: todo.Low, Category: "a#b", DueDate: "2026-01-01"}, func(i int) string {
		if i == 10 {
			return "needle"
		}
		return "task"
	})
	w.check(t)

	w.Recorder.Requests()
	units := func() (requests int, units float64) {
		for _, r := range w.Recorder.Requests() {
			requests++
			units += r.Units
		}
		return requests, units
	}
	// An item has about 400 bytes, and 8 KiB are one unit read eventually consistent. Each list reads
	// the user too, for one unit.
	for name, f := range map[string]todo.TaskFilter{
		"One": {Limit: 1}, "Twenty": {Limit: 20}, "Most": {Limit: 100}, "Status": {Limit: 100, Status: todo.Pending},
		"DueDate":  {Limit: 100, Sort: todo.ByDueDate},
		"Priority": {Limit: 100, Sort: todo.ByPriority}, "Category": {Limit: 100, Category: "a#b"},
		"Search": {Limit: 20, Search: "task"},
	} {
		page := must.Get(w.ListTasks(ctx, "ada", f))(t)
		requests, consumed := units()
		t.Logf("%s: a page of %d of %d tasks: %d requests, %.1f RCU", name, len(page.Tasks), n, requests, consumed)
		if len(page.Tasks) != f.Limit || page.Next == "" || requests != 2 || consumed > 2+float64(f.Limit)/10 {
			t.Errorf("%s: got %d tasks and the cursor %q for %d requests, %.1f RCU", name, len(page.Tasks), page.Next,
				requests, consumed)
		}
	}

	// The needle is further than one request looks.
	page := must.Get(w.ListTasks(ctx, "ada", todo.TaskFilter{Search: "needle"}))(t)
	requests, consumed := units()
	t.Logf("a search that looks at 300 tasks: %d requests, %.1f RCU", requests, consumed)
	if len(page.Tasks) != 0 || page.Next == "" || requests > 12 || consumed > 25 {
		t.Errorf("got %d tasks and the cursor %q for %d requests and %.1f RCU; want at most 12 and 25", len(page.Tasks),
			page.Next, requests, consumed)
	}
	pages := 1
	for ; len(page.Tasks) == 0 && page.Next != ""; pages++ {
		page = must.Get(w.ListTasks(ctx, "ada", todo.TaskFilter{Search: "needle", Cursor: page.Next}))(t)
	}
	if len(page.Tasks) != 1 || pages != 4 {
		t.Errorf("found %d tasks on page %d; want one on page 4", len(page.Tasks), pages)
	}
	units()
	// A filter that keeps nothing is bounded as well.
	page = must.Get(w.ListTasks(ctx, "ada", todo.TaskFilter{DueFrom: "2026-01-02", Sort: todo.ByStatus}))(t)
	requests, consumed = units()
	if len(page.Tasks) != 0 || page.Next == "" || requests > 12 || consumed > 25 {
		t.Errorf("got %d tasks and the cursor %q for %d requests and %.1f RCU; want at most 12 and 25", len(page.Tasks),
			page.Next, requests, consumed)
	}

	// A deletion answers after one write. The erasure has to stop in between, and is carried through by another.
	claimed, _ := w.Claim(t, ctx, "ada", "delete")
	units()
	if complete, err := w.DeleteUser(claimed, "ada"); err != nil || complete {
		t.Fatalf("got %v, %v", complete, err)
	}
	if requests, _ = units(); requests != 5 {
		t.Errorf("the deletion made %d requests; want four reads and a write", requests)
	}
	deletion, _ := w.deletion(t, "ada")
	w.Kill(30, false)
	if complete, err := w.eraser.Erase(ctx, deletion); err == nil || complete {
		t.Fatalf("got %v, %v", complete, err)
	}
	w.Heal()
	if complete, err := w.eraser.Erase(ctx, deletion); err != nil || !complete {
		t.Fatalf("got %v, %v", complete, err)
	}
	if left := w.left(t, "ada"); len(left) != 1 || !strings.HasPrefix(left[0], "IDEMPOTENCY#") {
		t.Errorf("left are %d items", len(left))
	}
}

// Page after page, while the task at the cursor and tasks before and after it are deleted, and new
// ones are created: none comes twice, and none is left out.
func TestPagesWhileTasksChange(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	const n = 700
	all := w.fill(t, "ada", n, todo.TaskBody{}, func(int) string { return "task" })
	for _, f := range []todo.TaskFilter{{Limit: 100}, {Limit: 100, Status: todo.Pending}} {
		seen := map[string]bool{}
		gone := map[string]bool{}
		w.MoveTo(start.Add(24 * time.Hour))
		for i := 0; ; i++ {
			page := must.Get(w.ListTasks(ctx, "ada", f))(t)
			for _, task := range page.Tasks {
				if seen[task.ID] {
					t.Fatalf("%s came twice", task.ID)
				}
				seen[task.ID] = true
			}
			if page.Next == "" {
				break
			}
			f.Cursor = page.Next
			last := page.Tasks[len(page.Tasks)-1].ID
			at := slices.Index(all, last)
			for _, id := range []string{last, all[max(at-1, 0)], all[max(at-150, 0)], all[min(at+3, n-1)]} {
				if i%2 == 0 && !gone[id] {
					gone[id] = true
					if err := w.DeleteTask(ctx, "ada", id, 0); err != nil && !errors.Is(err, todo.ErrTaskNotFound) {
						t.Fatal(err)
					}
				}
			}
			w.task(t, "ada", todo.TaskBody{})
		}
		missing := 0
		for _, id := range all {
			if !seen[id] && !gone[id] {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("%d tasks are in no page", missing)
		}
		all = slices.DeleteFunc(all, func(id string) bool { return gone[id] })
	}
}

// A cursor is valid for each field of its filter alone. Package dynamo tests that callers cannot forge one.
func TestCursors(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	for range 3 {
		w.task(t, "ada", todo.TaskBody{Category: "c", Priority: todo.Low, DueDate: "2026-01-01"})
	}
	f := todo.TaskFilter{Limit: 2, Status: todo.Pending, Priority: todo.Low, Category: "c", DueFrom: "2026-01-01",
		DueTo: "2026-02-01", Overdue: todo.Yes, Search: "task", Sort: todo.ByStatus}
	page, err := w.ListTasks(ctx, "ada", f)
	if err != nil || page.Next == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	f.Cursor = page.Next
	if next, err := w.ListTasks(ctx, "ada", f); err != nil || len(next.Tasks) != 1 {
		t.Errorf("unchanged: got %+v, %v", next, err)
	}
	for name, change := range map[string]func(*todo.TaskFilter){
		"status": func(f *todo.TaskFilter) { f.Status = "" }, "category": func(f *todo.TaskFilter) { f.Category = "" },
		"priority": func(f *todo.TaskFilter) { f.Priority = todo.High },
		"from":     func(f *todo.TaskFilter) { f.DueFrom = "" },
		"to":       func(f *todo.TaskFilter) { f.DueTo = "2026-02-02" },
		"overdue":  func(f *todo.TaskFilter) { f.Overdue = "" }, "search": func(f *todo.TaskFilter) { f.Search = "" },
		"sort": func(f *todo.TaskFilter) { f.Sort = todo.ByPriority },
		"zone": func(f *todo.TaskFilter) { f.Timezone = "Asia/Tokyo" },
	} {
		changed := f
		change(&changed)
		_, err := w.ListTasks(ctx, "ada", changed)
		invalid, ok := errors.AsType[*validate.Error](err)
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Field != "cursor" {
			t.Errorf("for another %s: got %v", name, err)
		}
	}
	w.CursorKey = []byte("short")
	is(t, second(w.ListTasks(ctx, "ada", todo.TaskFilter{})), dynamo.ErrCursorKey)
}
