package todo

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// A cursor is for the same user and the same filter, and a forged one is refused.
func TestCursorIsBound(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one, other := newUser(t, on), newUser(t, on)
	for range 3 {
		one.create(t, input{"title": "a", "priority": "low"})
		other.create(t, input{"title": "b", "priority": "low"})
	}
	first := one.list(t, url.Values{"limit": {"1"}})
	if first.NextCursor == nil {
		t.Fatalf("got %+v; want a cursor", first)
	}
	cursor := *first.NextCursor
	next := func(who caller, query url.Values, cursor string) onesynthtest.Reply {
		query = maps.Clone(query)
		query.Set("cursor", cursor)
		return who.try(t, http.MethodGet, "/api/v1/tasks?"+query.Encode(), nil)
	}
	if got := read[page](t, next(one, url.Values{"limit": {"2"}}, cursor), http.StatusOK); len(got.Tasks) != 2 {
		t.Errorf("got %+v; want the other two with another limit", got)
	}
	invalid(t, next(other, url.Values{"limit": {"1"}}, cursor), "cursor")
	for _, query := range []url.Values{{"status": {"pending"}}, {"priority": {"low"}}, {"category": {"x"}}, {"q": {"a"}}, {"sort": {"priority"}}, {"overdue": {"true"}}, {"due_from": {"2026-01-01"}}} {
		invalid(t, next(one, query, cursor), "cursor")
	}
	content, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for i := range content {
		forged := slices.Clone(content)
		forged[i] ^= 1
		invalid(t, next(one, url.Values{"limit": {"1"}}, base64.RawURLEncoding.EncodeToString(forged)), "cursor")
	}
	for _, forged := range []string{"x", cursor + "=", cursor[1:], cursor[:len(cursor)-1], strings.ToUpper(cursor)} {
		if forged != cursor {
			invalid(t, next(one, url.Values{"limit": {"1"}}, forged), "cursor")
		}
	}
}

// seedTasks stores tasks directly in the table, in the platform's form, where creating them would
// take long. Their titles are their numbers. It returns their ids.
func (p *target) seedTasks(t testing.TB, owner string, n int) []string {
	t.Helper()
	statuses, priorities := []string{"pending", "in_progress", "completed", "cancelled"}, []string{"low", "medium", "high", "urgent", ""}
	counts := map[string]any{"PK": "COUNTS#" + owner, "SK": "METADATA"}
	for _, name := range []string{"pending", "in_progress", "completed", "cancelled", "low", "medium", "high", "urgent", "no_priority"} {
		counts[name] = 0
	}
	began := time.Now().Add(-time.Duration(n) * time.Second)
	ids := make([]string, n)
	var writes []types.WriteRequest
	for i := range n {
		made := began.Add(time.Duration(i) * time.Second)
		id := fmt.Sprintf("%08x-%04x-7000-8000-%012x", made.UnixMilli()>>16, made.UnixMilli()&0xffff, i)
		ids[i] = id
		status, priority := statuses[i%4], priorities[i%5]
		item := map[string]any{
			"PK": "TASK#" + owner, "SK": "TASK#" + id, "GSI1PK": "OWNER#" + owner, "GSI1SK": "STATUS#" + status + "#" + id,
			"title": fmt.Sprint(i), "description": strings.Repeat("What there is to do. ", 10), "status": status, "version": 1,
			"created_at": made.Unix(), "updated_at": made.Unix(),
		}
		counts[status] = counts[status].(int) + 1
		if status == "completed" {
			item["completed_at"] = made.Unix()
		}
		if priority != "" {
			item["priority"], item["GSI3PK"], item["GSI3SK"] = priority, "OWNER#"+owner, "PRIORITY#"+priority+"#"+id
			counts[priority] = counts[priority].(int) + 1
		} else {
			counts["no_priority"] = counts["no_priority"].(int) + 1
		}
		if i%3 == 0 {
			due := made.Format(time.DateOnly)
			item["due_date"], item["GSI2PK"], item["GSI2SK"] = due, "OWNER#"+owner, "DUEDATE#"+due+"#"+id
			item["category"], item["GSI4PK"], item["GSI4SK"] = "a#b", "OWNER#"+owner, "CATEGORY#a%23b#"+id
		}
		encoded, err := attributevalue.MarshalMap(item)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: encoded}})
		if len(writes) == 25 || i == n-1 {
			for len(writes) > 0 {
				output, err := p.Database.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{p.Tables["AppData"]: writes}})
				if err != nil {
					t.Fatal(err)
				}
				writes = output.UnprocessedItems[p.Tables["AppData"]]
			}
		}
	}
	p.put(t, counts)
	return ids
}

// readUnits are what the API's functions have read since the last call.
func (p *target) readUnits(t testing.TB) float64 {
	t.Helper()
	units := 0.0
	for _, row := range p.Run.AWS().Capacity() {
		if row.Function == p.Function(t, "TodoAPI") {
			units += row.ReadUnits
		}
	}
	p.Run.AWS().ResetCapacity()
	return units
}

// The cost of a page does not grow with the number of tasks, a search or filter reads 5,000 tasks
// at most, and no list misses or repeats a task because of concurrent changes.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	on := ownRun(t, local.Options{})
	one := newUser(t, on)
	const many = 5200
	ids := on.seedTasks(t, one.id, many)
	if got := one.stats(t); got.Total != many {
		t.Fatalf("got %+v; want %d tasks", got, many)
	}
	on.readUnits(t)
	// An item has about 560 bytes, and 8 KiB are one unit read eventually consistent. Each
	// list reads the user too, for one unit.
	for query, most := range map[string]float64{
		"limit=100": 12, "limit=1": 2, "limit=100&status=pending": 12, "limit=100&sort=due_date": 12, "limit=100&sort=priority": 12,
		"limit=100&category=a%23b": 12, "": 4, "q=nowhere": 400, "q=nowhere&status=pending": 120, "limit=20&q=What": 4,
	} {
		got := read[page](t, one.try(t, http.MethodGet, "/api/v1/tasks?"+query, nil), http.StatusOK)
		units := on.readUnits(t)
		t.Logf("GET /api/v1/tasks?%s: %d tasks, %.1f read units", query, len(got.Tasks), units)
		if units > most || units == 0 {
			t.Errorf("%s: got %.1f read units for %d tasks; want at most %v", query, units, len(got.Tasks), most)
		}
		if !strings.Contains(query, "nowhere") && got.NextCursor == nil {
			t.Errorf("%s: got no cursor", query)
		}
	}
	// A search ends after 5,000, or when its time is up, with an empty page, and goes on
	// from there.
	pages := 0
	for query := (url.Values{"q": {"nowhere"}}); ; {
		empty := one.list(t, query)
		if pages++; len(empty.Tasks) != 0 {
			t.Errorf("got %+v; want nothing", empty.Tasks)
		}
		if empty.NextCursor == nil {
			break
		}
		query.Set("cursor", *empty.NextCursor)
	}
	if pages < 2 {
		t.Errorf("got one page of %d tasks looked at; want at most 5,000 on each", many)
	}
	if oldest := one.all(t, url.Values{"q": {"0"}, "sort": {"due_date"}}); !has(oldest, ids[0]) {
		t.Error("the search has not found the oldest task")
	}

	// While the lists are read, others create, change and delete tasks.
	ctx, stop := context.WithCancel(t.Context())
	touched := map[string]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	order := random.Perm(many)
	for _, i := range order[:600] {
		touched[ids[i]] = true
	}
	writing := make(chan error, 1)
	writes := 0
	go func() {
		writing <- func() error {
			for _, i := range order[:600] {
				if ctx.Err() != nil {
					return nil
				}
				path := "/api/v1/tasks/" + ids[i]
				for _, request := range []struct {
					method, path string
					body         any
				}{
					{http.MethodPost, "/api/v1/tasks", input{"title": "new", "status": "cancelled"}},
					{http.MethodPatch, path, input{"title": "changed", "priority": "urgent"}},
					{http.MethodDelete, path, nil},
				} {
					r, err := one.send(t.Context(), request.method, request.path, nil, request.body)
					if err != nil || r.Status >= http.StatusBadRequest {
						return fmt.Errorf("got %v, %w", r, err)
					}
					writes++
				}
			}
			return nil
		}()
	}()
	for _, query := range []url.Values{nil, {"sort": {"status"}}, {"status": {"pending"}}} {
		seen := map[string]int{}
		for _, got := range one.all(t, query) {
			seen[got.TaskID]++
		}
		missed := 0
		for i, id := range ids {
			listed := query.Get("status") == "" || i%4 == 0
			if !touched[id] && listed && seen[id] != 1 {
				missed++
			}
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("%v: task %s is listed %d times", query, id, n)
			}
		}
		if missed > 0 {
			t.Errorf("%v: %d untouched tasks are missing", query, missed)
		}
	}
	stop()
	if err := <-writing; err != nil {
		t.Error(err)
	}
	t.Logf("%d writes while the lists were read", writes)
	if writes == 0 {
		t.Error("nothing was written meanwhile: the test has shown nothing")
	}
	if got := one.stats(t); got.Total != len(one.all(t, nil)) {
		t.Errorf("got %+v; want as many as are listed", got)
	}
}
