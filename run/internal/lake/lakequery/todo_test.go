package lakequery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

const oddCategory = "a#b%, \"c\" ü\nd"

// history is a lake of four users and seven tasks, whose events are in several objects, in any order.
func history(t *testing.T, today time.Time) map[string][]byte {
	t.Helper()
	at := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	home, odd, high, note := "home", oddCategory, "high", "by train"
	event := func(n int, name string, at time.Time, row taskChange) taskChange {
		row.change = change{EventID: fmt.Sprintf("event-%d", n), EventName: name, EventTime: at,
			SequenceNumber: number(n)}
		row.UpdatedAt = at.Truncate(time.Second)
		return row
	}
	done := func(row taskChange, at time.Time) taskChange {
		row.Status, row.CompletedAt = "completed", &at
		return row
	}
	with := func(row taskChange, status string) taskChange { row.Status = status; return row }
	after := func(status string, row taskChange) taskChange { row.StatusBefore = &status; return row }
	t1 := taskChange{UserID: "u1", TaskID: "t1", Title: "one", Description: &note, Status: "pending", Category: &home,
		DueDate: day(t, "2020-01-01"), CreatedAt: at, Version: 1}
	t2 := taskChange{UserID: "u1", TaskID: "t2", Title: "two", Status: "pending", Priority: &high,
		DueDate: day(t, "2020-05-05"), CreatedAt: at, Version: 1}
	t3 := taskChange{UserID: "u1", TaskID: "t3", Title: "three", Status: "pending", DueDate: day(t, "2020-02-29"),
		CreatedAt: at, Version: 1}
	t4 := taskChange{UserID: "u1", TaskID: "t4", Title: "four", Status: "in_progress", DueDate: day(t, "2999-12-31"),
		CreatedAt: at, Version: 1}
	t5 := taskChange{UserID: "u2", TaskID: "t5", Title: "five", Status: "pending", CreatedAt: at, Version: 1}
	t6 := taskChange{UserID: "u2", TaskID: "t6", Title: "six", Status: "pending", Category: &odd, CreatedAt: today,
		Version: 1}
	t7 := taskChange{UserID: "u3", TaskID: "t7", Title: "seven", Status: "pending", Category: &home,
		CreatedAt: at.AddDate(0, 0, 2), Version: 1}
	midnight := time.Date(2026, 1, 6, 0, 0, 0, 0, time.UTC)
	completed := done(t1, at.Add(150*time.Minute))
	e := []taskChange{
		1:  event(1, "INSERT", at, t1),
		2:  event(2, "MODIFY", at.Add(time.Hour), after("pending", with(t1, "in_progress"))),
		3:  event(3, "MODIFY", at.Add(150*time.Minute), after("in_progress", completed)),
		4:  event(4, "INSERT", at, t2),
		5:  event(5, "INSERT", at, t3),
		6:  event(6, "MODIFY", at.Add(time.Minute), after("pending", with(t3, "cancelled"))),
		7:  event(7, "INSERT", at, t4),
		8:  event(8, "INSERT", midnight.Add(-time.Millisecond), t5),
		9:  event(9, "REMOVE", midnight, after("pending", t5)),
		10: event(10, "MODIFY", midnight.AddDate(0, 0, 2), after("completed", completed)),
		11: event(11, "INSERT", at.AddDate(0, 0, 2), t7),
		12: event(12, "REMOVE", at.AddDate(0, 0, 2), after("pending", t7)),
		13: event(13, "INSERT", today, t6),
		14: event(14, "MODIFY", today.Add(time.Second), after("pending", done(t6, today.Add(30*time.Minute)))),
	}
	users := []userChange{
		{change{"user-1", "INSERT", at, number(21)}, "u1", at, at},
		{change{"user-2", "INSERT", at, number(22)}, "u2", at, at},
		{change{"user-3", "MODIFY", at, number(23)}, "u2", at, at},
		{change{"user-4", "INSERT", at, number(24)}, "u3", at, at},
		{change{"user-5", "REMOVE", at, number(25)}, "u3", at, at},
	}
	now := today.Format(time.DateOnly)
	return map[string][]byte{
		"events/entity=task/event_date=2026-01-05/1-8.parquet":    write(t, e[8], e[3], e[1], e[7], e[5], e[2]),
		"events/entity=task/event_date=2026-01-05/2-6.parquet":    write(t, e[2], e[3], e[4], e[6]),
		"events/entity=task/event_date=2026-01-06/9-9.parquet":    write(t, e[9]),
		"events/entity=task/event_date=2026-01-07/11-12.parquet":  write(t, e[12], e[11]),
		"events/entity=task/event_date=2026-01-08/10-10.parquet":  write(t, e[10], e[10]),
		"events/entity=task/event_date=" + now + "/13-13.parquet": write(t, e[13]),
		"events/entity=task/event_date=" + now + "/13-14.parquet": write(t, e[14], e[13]),
		"events/entity=user/event_date=2026-01-05/21-22.parquet":  write(t, users[1], users[0]),
		"events/entity=user/event_date=2026-01-05/22-25.parquet": write(t, users[4], users[1], users[2],
			users[3]),
		"events/entity=task/event_date=2026-01-05/_1-8.parquet":        []byte("what Athena does not read"),
		"events/entity=task/event_date=2026-01-05/empty":               {},
		"events/entity=task/event_date=someday/1-1.parquet":            []byte("no day"),
		"events/entity=task/stray.parquet":                             []byte("in no partition"),
		"events/entity=tasks/event_date=2026-01-05/another-entity.txt": []byte("of no table"),
	}
}

// TestTodo asks every view and saved query of the To-Do platform about a history whose answers were worked out by hand.
func TestTodo(t *testing.T) {
	t.Parallel()
	for {
		today := time.Now().UTC().Truncate(24 * time.Hour)
		lake := changed(history(t, today)).open(t)
		now, odd := today.Format(time.DateOnly), `"`+strings.ReplaceAll(oddCategory, `"`, `""`)+`"`
		queries := map[string]string{}
		for _, q := range lake.Queries {
			queries[q.Name] = q.SQL
		}
		type test struct{ query, want string }
		tests := map[string]test{
			"Events": {
				`SELECT sequence_number, event_name, event_time, task_id, status, previous_status FROM task_events ORDER BY sequence_number`,
				number(1) + ",INSERT,2026-01-05 10:00:00.000,t1,pending,\n" +
					number(2) + ",MODIFY,2026-01-05 11:00:00.000,t1,in_progress,pending\n" +
					number(3) + ",MODIFY,2026-01-05 12:30:00.000,t1,completed,in_progress\n" +
					number(4) + ",INSERT,2026-01-05 10:00:00.000,t2,pending,\n" +
					number(5) + ",INSERT,2026-01-05 10:00:00.000,t3,pending,\n" +
					number(6) + ",MODIFY,2026-01-05 10:01:00.000,t3,cancelled,pending\n" +
					number(7) + ",INSERT,2026-01-05 10:00:00.000,t4,in_progress,\n" +
					number(8) + ",INSERT,2026-01-05 23:59:59.999,t5,pending,\n" +
					number(9) + ",REMOVE,2026-01-06 00:00:00.000,t5,pending,pending\n" +
					number(10) + ",MODIFY,2026-01-08 00:00:00.000,t1,completed,completed\n" +
					number(11) + ",INSERT,2026-01-07 10:00:00.000,t7,pending,\n" +
					number(12) + ",REMOVE,2026-01-07 10:00:00.000,t7,pending,pending\n" +
					number(13) + ",INSERT," + now + " 00:00:00.000,t6,pending,\n" +
					number(14) + ",MODIFY," + now + " 00:00:01.000,t6,completed,pending\n"},
			"Current": {"SELECT * FROM tasks_current ORDER BY task_id",
				"u1,t1,one,by train,completed,,home,2020-01-01,2026-01-05 10:00:00.000,2026-01-08 " +
					"00:00:00.000,2026-01-05 12:30:00.000,1\n" +
					"u1,t2,two,,pending,high,,2020-05-05,2026-01-05 10:00:00.000,2026-01-05 10:00:00.000,,1\n" +
					"u1,t3,three,,cancelled,,,2020-02-29,2026-01-05 10:00:00.000,2026-01-05 10:01:00.000,,1\n" +
					"u1,t4,four,,in_progress,,,2999-12-31,2026-01-05 10:00:00.000,2026-01-05 10:00:00.000,,1\n" +
					"u2,t6,six,,completed,," + odd + ",," + now + " 00:00:00.000," + now + " 00:00:01.000," + now +
					" 00:30:00.000,1\n"},
			"Users": {"SELECT * FROM user_metrics ORDER BY user_id",
				"u1,4,2,1,1,0.3333333333333333,2.5,2026-01-08 00:00:00.000\n" +
					"u2,1,0,1,0,1,0.5," + now + " 00:00:01.000\n"},
			"Categories": {"SELECT * FROM category_trends ORDER BY day, category",
				"2026-01-05,home,1,1,0\n2026-01-05,,4,0,0\n2026-01-06,,0,0,1\n2026-01-07,home,1,0,1\n2026-01-08,home,0,0,0\n" +
					now + "," + odd + ",1,1,0\n"},
			"Partitions": {"SELECT DISTINCT event_date FROM task_changes ORDER BY event_date",
				"2026-01-05\n2026-01-06\n2026-01-07\n2026-01-08\n" + now + "\n"},
			"PhysicalRows":     {"SELECT count(*) FROM task_changes", "18\n"},
			"OverdueTasks":     {queries["Overdue tasks"], "u1,t2,two,2020-05-05\n"},
			"MostActiveUsers":  {queries["Most active users"], "u1,1,0.3333333333333333\nu2,1,1\n"},
			"RecentCategories": {queries["Category trends of the last 30 days"], now + "," + odd + ",1,1,0\n"},
			// The saved query reads only its days, and finds the same in them as the view.
			"AllCategories": {strings.ReplaceAll(queries["Category trends of the last 30 days"], "'30' DAY",
				"'36500' DAY"),
				"2026-01-05,home,1,1,0\n2026-01-05,,4,0,0\n2026-01-06,,0,0,1\n2026-01-07,home,1,0,1\n2026-01-08,home,0,0,0\n" +
					now + "," + odd + ",1,1,0\n"},
			"ChangesOfTheDay": {queries["Status changes of a day"], "pending,completed,1\n,pending,1\n"},
			"KeyFigures":      {queries["Key figures"], "2,5,2,1,0.5,1.5\n"},
		}
		if today.Before(time.Date(2026, 2, 8, 0, 0, 0, 0, time.UTC)) {
			t.Fatal("the clock is before the history's recent part")
		}
		answered := 0
		got := map[string]string{}
		for name, test := range tests {
			got[name] = answer(t, lake, test.query)
			for _, q := range lake.Queries {
				if q.SQL == test.query {
					answered++
				}
			}
		}
		if time.Now().UTC().Truncate(24*time.Hour) != today {
			continue // Midnight passed between making the history and asking about it.
		}
		for name, test := range tests {
			if got[name] != test.want {
				t.Errorf("%s: %s\ngot\n%swant\n%s", name, test.query, got[name], test.want)
			}
		}
		if answered != len(lake.Queries) {
			t.Errorf("%d of %d saved queries were asked", answered, len(lake.Queries))
		}
		return
	}
}

// TestTodoOfNothing: the tables of a lake without data are empty, not missing.
func TestTodoOfNothing(t *testing.T) {
	t.Parallel()
	lake := changed(nil).open(t)
	for query, want := range map[string]string{
		"SELECT * FROM task_changes":    "",
		"SELECT * FROM user_changes":    "",
		"SELECT * FROM task_events":     "",
		"SELECT * FROM tasks_current":   "",
		"SELECT * FROM user_metrics":    "",
		"SELECT * FROM category_trends": "",
		"SELECT * FROM kpis":            "0,0,0,0,,\n",
	} {
		if got := answer(t, lake, query); got != want {
			t.Errorf("%s: got %q", query, got)
		}
	}
	for _, q := range lake.Queries {
		if got := answer(t, lake, q.SQL); got != "" && q.Name != "Key figures" {
			t.Errorf("%s: got %q", q.Name, got)
		}
	}
}

// TestTodoColumns: each table and view has the columns and types that the schema declares.
func TestTodoColumns(t *testing.T) {
	t.Parallel()
	types := map[schema.ColumnType]string{
		schema.ColumnText: "VARCHAR", schema.ColumnInteger: "BIGINT", schema.ColumnDecimal: "DOUBLE",
		schema.ColumnBoolean: "BOOLEAN",
		schema.ColumnDate:    "DATE", schema.ColumnTimestamp: "TIMESTAMP",
	}
	platform := todo.Platform()
	declared := platform.Lakes[0]
	relations := map[string][]schema.Column{}
	for _, e := range declared.Entities {
		relations[e.ChangeTable()] = append(append(schema.ChangeColumns(), e.ColumnsOf(platform.Database.Tables[0])...),
			schema.Column{Name: schema.EventDate, Type: schema.ColumnDate})
	}
	for _, v := range declared.Views {
		relations[v.Name] = v.Columns
	}
	for name, objects := range map[string]map[string][]byte{"Empty": nil, "Filled": history(t, time.Now().UTC())} {
		lake := changed(objects).open(t)
		for relation, columns := range relations {
			var want strings.Builder
			for _, c := range columns {
				fmt.Fprintf(&want, "%s,%s,YES,,,\n", c.Name, types[c.Type])
			}
			if got := answer(t, lake, "DESCRIBE "+relation); got != want.String() {
				t.Errorf("%s: %s:\ngot\n%swant\n%s", name, relation, got, want.String())
			}
		}
	}
}
