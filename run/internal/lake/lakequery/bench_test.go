package lakequery_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/lakequery"
)

// events are those of random tasks of 2,000 users on the last 30 days, one object a day: each task is created, and
// changes four times on average; one of ten is deleted, and one of a hundred events is there twice. It returns how many
// they are.
func events(b *testing.B, n int) (objects map[string][]byte, distinct int) {
	const users, days = 2_000, 30
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []string{"pending", "in_progress", "completed", "cancelled"}
	var priorities, categories []*string
	for _, p := range []string{"low", "medium", "high", "urgent"} {
		priorities = append(priorities, &p)
	}
	for c := range 40 {
		name := fmt.Sprintf("category %d", c)
		categories = append(categories, &name)
	}
	objects = map[string][]byte{}
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-days)
	var open []taskChange
	sequence := 0
	for d := range days {
		date := start.AddDate(0, 0, d)
		today := n / days
		if d == days-1 {
			today = n - n/days*(days-1)
		}
		rows := make([]taskChange, 0, today)
		for i := range today {
			sequence++
			at := date.Add(time.Duration(i) * 24 * time.Hour / time.Duration(today)).Truncate(time.Millisecond)
			row := taskChange{}
			switch chance := random.IntN(100); {
			case chance == 0 && i > 0:
				rows = append(rows, rows[random.IntN(len(rows))])
				continue
			case chance < 20 || len(open) == 0:
				id := fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", sequence, sequence%65536, random.IntN(4096),
					random.IntN(4096), random.Uint64()>>16)
				due := int32(date.Unix()/(24*60*60)) + int32(random.IntN(40)) - 10
				row = taskChange{UserID: fmt.Sprintf("user-%08d", random.IntN(users)), TaskID: id,
					Title:  fmt.Sprintf("Call customer %d about order %d", random.IntN(10_000), sequence),
					Status: "pending", Priority: priorities[random.IntN(4)], Category: categories[random.IntN(40)],
					DueDate: &due, CreatedAt: at.Truncate(time.Second), Version: 1}
				row.EventName = "INSERT"
				open = append(open, row)
			case chance < 22:
				at := random.IntN(len(open))
				row = open[at]
				row.EventName = "REMOVE"
				open[at] = open[len(open)-1]
				open = open[:len(open)-1]
			default:
				task := &open[random.IntN(len(open))]
				task.EventName = "MODIFY"
				task.Version++
				task.Status, task.CompletedAt = statuses[random.IntN(4)], nil
				if completed := at.Truncate(time.Second); task.Status == "completed" {
					task.CompletedAt = &completed
				}
				row = *task
			}
			distinct++
			row.EventID, row.SequenceNumber, row.EventTime, row.UpdatedAt = fmt.Sprintf("%032x", random.Uint64()),
				number(sequence), at, at.Truncate(time.Second)
			rows = append(rows, row)
		}
		objects["events/entity=task/event_date="+date.Format(time.DateOnly)+"/1-1.parquet"] = write(b, rows...)
	}
	return objects, distinct
}

// BenchmarkMillionEvents measures the To-Do platform's views and saved queries over 1,000,000 events.
func BenchmarkMillionEvents(b *testing.B) {
	const n = 1_000_000
	objects, distinct := events(b, n)
	size := 0
	for _, content := range objects {
		size += len(content)
	}
	r := changed(objects)
	console := r.start(b)
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			lake := must.Get(lakequery.Open(b.Context(), console, lakequery.Options{}))(b)
			must.OK(b, lake.Close())
		}
		b.ReportMetric(float64(size)/n, "bytes/event")
	})
	lake := r.open(b)
	if got := answer(b, lake, "SELECT count(*) FROM task_changes"); got != fmt.Sprintln(n) {
		b.Fatalf("got %s rows", got)
	}
	if got := answer(b, lake, "SELECT count(*), count(DISTINCT event_id) FROM task_events"); got != fmt.Sprintf(
		"%d,%d\n", distinct, distinct) {
		b.Fatalf("got %s events, want %d", got, distinct)
	}
	queries := map[string]string{
		"TaskEvents":     "SELECT count(previous_status) FROM task_events",
		"TasksCurrent":   "SELECT status, count(*) FROM tasks_current GROUP BY status",
		"UserMetrics":    "SELECT count(*), sum(tasks) FROM user_metrics",
		"CategoryTrends": "SELECT count(*), sum(created_tasks) FROM category_trends",
	}
	for _, q := range lake.Queries {
		queries["Saved"+strings.ReplaceAll(q.Name, " ", "")] = q.SQL
	}
	for name, query := range queries {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if answer(b, lake, query) == "" {
					b.Fatal("no answer")
				}
			}
		})
	}
}
