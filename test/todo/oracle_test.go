package todo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/onesynth-cdk/onesynth/internal/lake/lakequery"
	"github.com/onesynth-cdk/onesynth/onesynthtest/laketest"
)

// check compares what is stored with what the answers say.
func (m *member) check(ctx context.Context) error {
	keys, err := m.partition(ctx, "IDEMPOTENCY#"+m.ID)
	if err != nil {
		return err
	}
	if len(keys) > len(m.keys) {
		return fmt.Errorf("got %d idempotency keys; %d can be there", len(keys), len(m.keys))
	}
	for _, address := range m.addresses {
		item, err := m.get(ctx, "EMAIL#"+address, "METADATA")
		if err != nil {
			return err
		}
		if owned := item != nil; owned != (m.alive && address == m.address) {
			return fmt.Errorf("the address %s is taken: %v", address, owned)
		}
	}
	tasks, err := m.partition(ctx, "TASK#"+m.ID)
	if err != nil {
		return err
	}
	counts, err := m.get(ctx, "COUNTS#"+m.ID, "METADATA")
	if err != nil {
		return err
	}
	profile, err := m.get(ctx, "USER#"+m.ID, "METADATA")
	if err != nil {
		return err
	}
	if !m.alive {
		if len(tasks) > 0 || counts != nil || profile != nil {
			return fmt.Errorf("got %v, %v and %d tasks of a user who is gone", profile, counts, len(tasks))
		}
	} else if profile == nil || counts == nil || counts["deletion"] != nil {
		return fmt.Errorf("got user %v and counts %v", profile, counts)
	}
	recount := map[string]float64{}
	for _, item := range tasks {
		id := strings.TrimPrefix(item["SK"].(string), "TASK#")
		if err := m.tasks[id].check(item); err != nil {
			return fmt.Errorf("got task %v: %w", item, err)
		}
		recount[item["status"].(string)]++
		if priority, ok := item["priority"].(string); ok {
			recount[priority]++
		} else {
			recount["no_priority"]++
		}
	}
	for _, name := range []string{"pending", "in_progress", "completed", "cancelled", "low", "medium", "high", "urgent",
		"no_priority"} {
		if n, _ := counts[name].(float64); n != recount[name] {
			return fmt.Errorf("%s: %v are counted, %v are there", name, n, recount[name])
		}
	}
	return m.compareIndexes(ctx, tasks, m.ID)
}

// check compares a stored task with what the answers said of it.
func (k *known) check(item map[string]any) error {
	if k == nil || k.gone {
		return errors.New("it should not be there")
	}
	versions := slices.Sorted(maps.Keys(k.edits))
	version := int(item["version"].(float64))
	if last := versions[len(versions)-1]; version < last || version > last && !k.also {
		return fmt.Errorf("the last edit made it version %d", last)
	}
	if versions[0] != 1 || !k.also && len(versions) != version {
		return fmt.Errorf("edits made it versions %v", versions)
	}
	// The last edit of each field is the one that is there: no edit undid another.
	want := map[string]any{}
	for _, version := range versions {
		maps.Copy(want, k.edits[version])
	}
	for name, value := range want {
		asked, _ := value.(string)
		if stored, _ := item[name].(string); stored != asked {
			return fmt.Errorf("the last edit of %s made it %q", name, asked)
		}
		if _, kept := item[name]; kept && asked == "" {
			return fmt.Errorf("%s was cleared", name)
		}
	}
	if done := item["status"] == "completed"; k.completed && !done || done != (item["completed_at"] != nil) {
		return fmt.Errorf("completed before: %v", k.completed)
	}
	return nil
}

// keysOf returns the keys of all four indexes by a task's attributes.
func keysOf(item map[string]any) map[string]any {
	owner := "OWNER#" + of(item)
	id := strings.TrimPrefix(item["SK"].(string), "TASK#")
	keys := map[string]any{"GSI1PK": owner, "GSI1SK": fmt.Sprintf("STATUS#%s#%s", item["status"], id)}
	for index, attribute := range map[string]string{"GSI2": "due_date", "GSI3": "priority", "GSI4": "category"} {
		value, ok := item[attribute].(string)
		if !ok {
			continue
		}
		prefix := map[string]string{"GSI2": "DUEDATE#", "GSI3": "PRIORITY#", "GSI4": "CATEGORY#"}[index]
		keys[index+"PK"] = owner
		keys[index+"SK"] = prefix + strings.NewReplacer("%", "%25", "#", "%23").Replace(value) + "#" + id
	}
	return keys
}

var indexes = []string{"GSI1", "GSI2", "GSI3", "GSI4"}

// compareIndexes compares the indexes with tasks, item by item: one owner's tasks, or all if owner
// is empty.
func (h *history) compareIndexes(ctx context.Context, tasks []map[string]any, owner string) error {
	for _, index := range indexes {
		want := map[string]map[string]any{}
		for _, item := range tasks {
			keys := keysOf(item)
			for _, key := range []string{index + "PK", index + "SK"} {
				if item[key] != keys[key] {
					return fmt.Errorf("task %v: got %s %v; want %v", item, key, item[key], keys[key])
				}
			}
			if keys[index+"PK"] != nil {
				want[fmt.Sprint(item["PK"], item["SK"])] = item
			}
		}
		var found []map[string]any
		var err error
		if owner == "" {
			found, err = h.scan(ctx, &index)
		} else {
			found, err = h.query(ctx, aws.String(index), index+"PK", "OWNER#"+owner)
		}
		if err != nil {
			return err
		}
		if len(found) != len(want) {
			return fmt.Errorf("index %s: got %d items; want %d", index, len(found), len(want))
		}
		for _, item := range found {
			if stored := want[fmt.Sprint(item["PK"], item["SK"])]; fmt.Sprint(item) != fmt.Sprint(stored) {
				return fmt.Errorf("index %s: got %v; the table has %v", index, item, stored)
			}
		}
	}
	return nil
}

// checkIndexes compares the whole indexes with the whole table, without the tasks of the poisoner.
func (h *history) checkIndexes(ctx context.Context, without string) error {
	all, err := h.scan(ctx, nil)
	if err != nil {
		return err
	}
	return h.compareIndexes(ctx, slices.DeleteFunc(all, func(item map[string]any) bool {
		return prefixOf(item) != "TASK" || of(item) == without
	}), "")
}

// partition reads all items with a partition key.
func (h *history) partition(ctx context.Context, key string) ([]map[string]any, error) {
	return h.query(ctx, nil, "PK", key)
}

func (h *history) query(ctx context.Context, index *string, attribute, key string) ([]map[string]any, error) {
	pages := dynamodb.NewQueryPaginator(h.Database, &dynamodb.QueryInput{
		TableName: aws.String(h.Tables["AppData"]), IndexName: index, ConsistentRead: aws.Bool(index == nil),
		KeyConditionExpression:    aws.String("#key = :key"),
		ExpressionAttributeNames:  map[string]string{"#key": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":key": &types.AttributeValueMemberS{Value: key}},
	})
	return readAll(ctx, pages, func(page *dynamodb.QueryOutput) []map[string]types.AttributeValue { return page.Items })
}

// scan reads the table, or an index.
func (h *history) scan(ctx context.Context, index *string) ([]map[string]any, error) {
	pages := dynamodb.NewScanPaginator(h.Database,
		&dynamodb.ScanInput{TableName: aws.String(h.Tables["AppData"]), IndexName: index,
			ConsistentRead: aws.Bool(index == nil)})
	return readAll(ctx, pages, func(page *dynamodb.ScanOutput) []map[string]types.AttributeValue { return page.Items })
}

// paginator is one of the SDK.
type paginator[Page any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*dynamodb.Options)) (Page, error)
}

// readAll reads the items of all pages.
func readAll[Page any](ctx context.Context, pages paginator[Page],
	itemsOf func(Page) []map[string]types.AttributeValue) (all []map[string]any, err error) {
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		var items []map[string]any
		if err := attributevalue.UnmarshalListOfMaps(itemsOf(page), &items); err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}

// get reads an item; nil if there is none.
func (h *history) get(ctx context.Context, partition, sort string) (map[string]any, error) {
	output, err := h.Database.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(h.Tables["AppData"]), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: partition},
			"SK": &types.AttributeValueMemberS{Value: sort}},
	})
	if err != nil || output.Item == nil {
		return nil, err
	}
	var item map[string]any
	err = attributevalue.UnmarshalMap(output.Item, &item)
	return item, err
}

// events are the ids in task_events; each must be there once.
func events(ctx context.Context, l *lake) (_ map[string]bool, err error) {
	from, err := lakequery.Open(ctx, l.Run.ConsoleURL(), lakequery.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	rows, err := from.Query(ctx, "SELECT event_id FROM task_events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	ids := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if ids[id] {
			return nil, fmt.Errorf("task_events has %s twice", id)
		}
		ids[id] = true
	}
	return ids, rows.Err()
}

var objectKey = regexp.MustCompile(`^events/entity=(task|user)/event_date=\d{4}-\d{2}-\d{2}/[^/]+\.parquet$`)

// compareLake compares the lake with the table, which the members have compared with what they did, and its
// events with the answers.
func compareLake(t *testing.T, l *lake, members []*member, bad *poisoner) {
	t.Helper()
	for _, key := range l.objects(t) {
		if !objectKey.MatchString(key) {
			t.Errorf("the lake has the object %s", key)
		}
	}
	from := l.copied(t)

	stored, users := l.stored(t)
	stored = slices.DeleteFunc(stored, func(task storedTask) bool {
		return task.UserID == bad.user && slices.Contains(bad.kept, task.TaskID)
	})
	own := slices.DeleteFunc(slices.Clone(stored), func(task storedTask) bool { return task.UserID != bad.user })
	compareTasks(t, "the table", own, bad.current)
	compareTasks(t, "tasks_current", laketest.Query[storedTask](t, from, "SELECT * FROM tasks_current"), stored)
	compareEvents(t, eventsOf(t, from), members, bad)
	compareUsers(t, laketest.Query[userEvent](t, from, "SELECT * FROM user_changes"), users, members)
	compareMetrics(t, from, members, len(users))

	refused := map[string]string{}
	for id, f := range l.failed(t) {
		keys := f.Record.Change.Keys
		if user := strings.TrimPrefix(keys["PK"]["S"], "TASK#"); user != bad.user || f.Entity != "task" ||
			f.SequenceNumber == "" {
			t.Errorf("the failure queue has %+v", f)
		}
		name := strings.TrimPrefix(keys["SK"]["S"], "TASK#") + " " + f.EventName
		if refused[name] != "" {
			t.Errorf("the failure queue has %s of several events, such as %s", name, id)
		}
		refused[name] = f.Cause
		image := f.Record.Change.NewImage
		if f.EventName == "REMOVE" {
			image = f.Record.Change.OldImage
		}
		if image["status"]["S"] != "pending" {
			t.Errorf("the failure queue has %s without the item: %v", name, image)
		}
	}
	for name, cause := range bad.refused {
		if !strings.Contains(refused[name], "the column "+cause+" cannot show") {
			t.Errorf("the failure queue has of %s the cause %q; want one about %s", name, refused[name], cause)
		}
		delete(refused, name)
	}
	for name, cause := range refused {
		t.Errorf("the failure queue has %s, which could be a row: %s", name, cause)
	}
}

// stored are the table's tasks, and its users by id with their last change. What
// cannot be a task's attribute is left out.
func (l *lake) stored(t *testing.T) (tasks []storedTask, users map[string]string) {
	t.Helper()
	users = map[string]string{}
	for _, item := range l.Items(t, "AppData") {
		words := func(name string) *string {
			if s, ok := item[name].(string); ok {
				return &s
			}
			return nil
		}
		at := func(name string) *string {
			if seconds, ok := item[name].(float64); ok {
				return aws.String(moment(time.Unix(int64(seconds), 0)))
			}
			return nil
		}
		key := text(words("PK"))
		if id, ok := strings.CutPrefix(key, "USER#"); ok {
			users[id] = text(at("updated_at"))
		}
		user, ok := strings.CutPrefix(key, "TASK#")
		if !ok {
			continue
		}
		version, _ := item["version"].(float64)
		tasks = append(tasks, storedTask{user, task{
			TaskID: strings.TrimPrefix(text(words("SK")), "TASK#"),
			Title:  text(words("title")), Description: words("description"), Status: text(words("status")),
			Priority: words("priority"), Category: words("category"), DueDate: words("due_date"),
			CreatedAt: text(at("created_at")), UpdatedAt: text(at("updated_at")), CompletedAt: at("completed_at"),
			Version: int(version),
		}})
	}
	return tasks, users
}

// compareEvents checks that each change of each task is there once, as it was answered.
func compareEvents(t *testing.T, events map[string][]taskEvent, members []*member, bad *poisoner) {
	t.Helper()
	for _, m := range members {
		known := maps.Clone(m.past)
		maps.Copy(known, m.tasks)
		for id := range known {
			events[m.ID+" "+id] = append(events[m.ID+" "+id], []taskEvent{}...)
		}
		for name, found := range events {
			id, own := strings.CutPrefix(name, m.ID+" ")
			if !own {
				continue
			}
			delete(events, name)
			if err := m.checkEvents(id, found); err != nil && !m.failed {
				t.Errorf("task_events of %s: %v: got %v; the answers told %+v", name, err, found, known[id])
			}
		}
	}
	for id, want := range bad.landed {
		name := bad.user + " " + id
		var got []string
		for _, e := range events[name] {
			got = append(got, e.EventName)
		}
		if !slices.Equal(got, want) {
			t.Errorf("task_events of %s: got %v; want %v", name, got, want)
		}
		delete(events, name)
	}
	for name := range events {
		t.Errorf("task_events has %s, which never was", name)
	}
}

// checkEvents compares the changes of a task with what the answers said of it.
func (m *member) checkEvents(id string, events []taskEvent) error {
	k, past := m.tasks[id], m.past[id] != nil
	exists := k != nil && !k.gone
	if past {
		k = m.past[id]
	}
	if k == nil {
		if m.leaves == 0 {
			return errors.New("it never was")
		}
		// It was made while the user was deleted.
		k, past = &known{}, true
	}
	versions := 0
	for i, e := range events {
		if e.EventName == "REMOVE" {
			if exists || i == 0 || i != len(events)-1 || e.storedTask.String() != events[i-1].storedTask.String() {
				return errors.New("it is removed as another one, or while it is there")
			}
			continue
		}
		versions++
		if (e.EventName == "INSERT") != (i == 0) || e.Version != versions {
			return fmt.Errorf("%s of version %d is number %d", e.EventName, e.Version, i+1)
		}
		if want, told := k.versions[e.Version]; told && want.String() != e.storedTask.String() ||
			!told && !k.also && !past {
			return fmt.Errorf("version %d is none that was answered", e.Version)
		}
	}
	if removed := len(events) > versions; removed == exists {
		return fmt.Errorf("it is there: %v, and its last change removes it: %v", exists, removed)
	}
	for version := range k.versions {
		if version > versions {
			return fmt.Errorf("version %d is missing", version)
		}
	}
	return nil
}

// compareUsers checks that each change of each user is there, and that the last one
// is what the table has.
func compareUsers(t *testing.T, rows []userEvent, stored map[string]string, members []*member) {
	t.Helper()
	byUser := map[string][]userEvent{}
	seen := map[string]bool{}
	for _, e := range rows {
		if !seen[e.EventID] {
			byUser[e.UserID] = append(byUser[e.UserID], e)
		}
		seen[e.EventID] = true
	}
	if len(byUser) != len(members) {
		t.Errorf("got %d users in user_changes; want %d", len(byUser), len(members))
	}
	for _, k := range members {
		events := byUser[k.ID]
		slices.SortFunc(events, func(a, b userEvent) int { return strings.Compare(a.SequenceNumber, b.SequenceNumber) })
		got := map[string]int{}
		for _, e := range events {
			got[e.EventName]++
		}
		if got["INSERT"] != k.comes || got["MODIFY"] < k.renames || got["MODIFY"] > k.renames+k.maybe ||
			got["REMOVE"] != k.leaves {
			t.Errorf("user_changes of %s: got %v; want %d, %d to %d, %d", k.ID, got, k.comes, k.renames,
				k.renames+k.maybe, k.leaves)
			continue
		}
		last := events[len(events)-1]
		updated, exists := stored[k.ID]
		if exists != k.alive || exists != (last.EventName != "REMOVE") || exists && last.UpdatedAt != updated {
			t.Errorf("user_changes of %s ends with %+v; the table has %q", k.ID, last, updated)
		}
	}
}

// compareMetrics compares the figures of the lake with the API's.
func compareMetrics(t *testing.T, from *lakequery.Lake, members []*member, users int) {
	t.Helper()
	type metrics struct {
		UserID    string `json:"user_id"`
		Tasks     int    `json:"tasks"`
		Open      int    `json:"open_tasks"`
		Completed int    `json:"completed_tasks"`
	}
	got := map[string]metrics{}
	for _, m := range laketest.Query[metrics](t, from,
		"SELECT user_id, tasks, open_tasks, completed_tasks FROM user_metrics") {
		got[m.UserID] = m
	}
	for _, k := range members {
		counts := k.stats(t)
		want := metrics{k.ID, counts.Total, counts.ByStatus["pending"] + counts.ByStatus["in_progress"],
			counts.ByStatus["completed"]}
		if counts.Total == 0 {
			want = metrics{} // Only users with tasks have a row.
		}
		if got[k.ID] != want {
			t.Errorf("user_metrics: got %+v; the API says %+v", got[k.ID], want)
		}
	}
	if n := count(t, from, "SELECT users AS n FROM kpis"); n != users {
		t.Errorf("kpis: got %d users; want %d", n, users)
	}
}
