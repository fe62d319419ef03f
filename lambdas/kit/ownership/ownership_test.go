package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/schema"
)

// board is a platform on which people write notes and posts, and like posts. A person's posts stay, and are nobody's.
func board() schema.Platform {
	text := schema.String.Attribute
	return schema.Platform{Name: "board", Title: "Board",
		Functions: []schema.Function{{Name: "eraser", Timeout: time.Minute, Trigger: schema.OnOther{}}},
		Database: schema.Database{Prefix: "board", Tables: []schema.Table{
			{Name: "Rows", PhysicalName: "rows", Key: schema.Key{Partition: "PK", Sort: "SK"},
				Attributes: []schema.Attribute{text("PK", "PERSON#person"), text("SK", "NOTE#, LIKE# or ACCOUNT"),
					text("post", "What is liked")}},
			{Name: "Posts", PhysicalName: "posts", Key: schema.Key{Partition: "id"}, Attributes: []schema.Attribute{
				text("id", "The post"), text("author", "Who wrote it"), text("at", "When"), text("draft", "How"),
				schema.Number.Attribute("likes", "How many"), schema.StringSet.Attribute("liked_by", "Who")},
				Indexes: []schema.Index{{Name: "ByAuthor", Key: schema.Key{Partition: "author", Sort: "at"}}}},
			{Name: "Marks", PhysicalName: "marks", Key: schema.Key{Partition: "mark"}, Attributes: []schema.Attribute{
				text("mark", "SEEN#person or COUNT#person")}},
		}, AccessPatterns: schema.UsedBy("eraser",
			schema.Query.Pattern("ListRows", "Rows", "A person's rows.").By("", schema.Where("PK", schema.Equal)).
				Consistently(),
			schema.DeleteItem.Pattern("DropRow", "Rows", "Delete a row."),
			schema.UpdateItem.Pattern("Unlike", "Posts", "Take a like back."),
			schema.Query.Pattern("ListPosts", "Posts", "A person's posts.").By("ByAuthor",
				schema.Where("author", schema.Equal), schema.Where("at", schema.GreaterOrEqual)),
			schema.UpdateItem.Pattern("ForgetPost", "Posts", "Make a post nobody's."),
			schema.DeleteItem.Pattern("DropMark", "Marks", "Delete a mark."),
		)},
		Owned: []schema.Owned{
			{Name: "likes", Kind: schema.DecrementOwned, List: "ListRows", Write: "DropRow", Partition: "PERSON#",
				Sort: "LIKE#", Counter: schema.Counter{Update: "Unlike", Name: "likes", Members: "liked_by"},
				Key: func(_ string, like map[string]string) []any { return []any{like["post"]} }},
			{Name: "posts", Kind: schema.AnonymiseOwned, List: "ListPosts", From: "0", Write: "ForgetPost",
				Fields: []string{"author", "draft"},
				Key:    func(_ string, post map[string]string) []any { return []any{post["id"]} }},
			{Name: "hooked", Kind: schema.HookOwned},
			{Name: "seen", Kind: schema.DeleteOwned, Write: "DropMark", Partition: "SEEN#"},
			{Name: "notes", Kind: schema.DeleteOwned, List: "ListRows", Write: "DropRow", Partition: "PERSON#"},
			{Name: "counts", Kind: schema.LeaveOwned, Table: "Marks", Partition: "COUNT#", Until: "for an hour"},
		}}
}

// world has two people with the same.
type world struct {
	t      *testing.T
	tables *dynamotest.Tables
	hooked int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	must.OK(t, board().Validate())
	w := &world{t: t, tables: dynamotest.Open(t, board().Database)}
	type row = map[string]any
	for _, person := range []string{"ann", "bob"} {
		for i := range 5 {
			id := fmt.Sprint(person, i)
			w.tables.Store(t, "Posts", row{"id": id, "author": person, "at": fmt.Sprint(i), "draft": "x", "likes": 2,
				"liked_by": &types.AttributeValueMemberSS{Value: []string{"ann", "bob"}}})
			for _, liked := range []string{"ann", "bob"} {
				w.tables.Store(t, "Rows", row{"PK": "PERSON#" + liked, "SK": "LIKE#" + id, "post": id})
			}
			w.tables.Store(t, "Rows", row{"PK": "PERSON#" + person, "SK": "NOTE#" + id})
		}
		w.tables.Store(t, "Rows", row{"PK": "PERSON#" + person, "SK": "ACCOUNT"})
		w.tables.Store(t, "Marks", row{"mark": "SEEN#" + person}, row{"mark": "COUNT#" + person})
	}
	return w
}

// deletion is that of ann, whose account says that it goes on.
func (w *world) deletion() ownership.Deletion {
	w.t.Helper()
	db := must.Get(w.tables.As(board(), "eraser"))(w.t)
	return ownership.Deletion{DB: db, Owned: board().Owned, Person: "ann",
		Hooks: map[string]func(context.Context) (bool, error){
			"hooked": func(context.Context) (bool, error) { w.hooked++; return true, nil }},
		Keep: func(item dynamo.Item) bool { return dynamo.Text(item, "SK") == "ACCOUNT" }}
}

// stored has a line for each item, with who is named in it.
func (w *world) stored() (lines []string) {
	for _, table := range board().Database.Tables {
		for _, item := range w.tables.Stored(w.t, table.Name) {
			line := table.Name
			for _, name := range []string{"PK", "SK", "mark", "id", "author", "draft"} {
				if text := dynamo.Text(item, name); text != "" {
					line += " " + text
				}
			}
			if likes, ok := item["likes"].(*types.AttributeValueMemberN); ok {
				by, _ := item["liked_by"].(*types.AttributeValueMemberSS)
				line += fmt.Sprint(" ", likes.Value, by.Value)
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// A deletion that dies before any of its writes is finished by the next one. Nothing is counted down twice, and what
// others have stays as it is.
func TestErase(t *testing.T) {
	t.Parallel()
	dead := errors.New("the process is dead")
	for survived := int64(0); ; survived += 3 {
		w := newWorld(t)
		deletion := w.deletion()
		var writes, anonymised atomic.Int64
		deletion.Anonymised = &anonymised
		w.tables.Recorder.Faults(func(action schema.Action) error {
			if action != schema.Query && writes.Add(1) > survived {
				return dead
			}
			return nil
		}, nil)
		complete, err := deletion.Erase(t.Context())
		w.tables.Recorder.Faults(nil, nil)
		if complete != (err == nil) || err != nil && !errors.Is(err, dead) {
			t.Fatalf("died after %d writes: got %t, %v", survived, complete, err)
		}
		died := err != nil
		for range 2 { // the second finds nothing to do
			if complete, err := deletion.Erase(t.Context()); err != nil || !complete {
				t.Fatalf("died after %d writes: then got %t, %v", survived, complete, err)
			}
		}
		goldentest.Check(t, "testdata/erased.txt", []byte(strings.Join(w.stored(), "\n")+"\n"))
		if t.Failed() || anonymised.Load() != 5 {
			t.Errorf("died after %d writes, with %d anonymised", survived, anonymised.Load())
		}
		if !died {
			if survived < 20 {
				t.Errorf("it has %d writes", survived)
			}
			return
		}
	}
}

// Nothing is written when the time is over, when the deletion does not go on, or when a hook is missing or not done.
func TestEraseEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.stored()
	over := errors.New("it is over")
	late, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if complete, err := w.deletion().Erase(late); complete || err != nil {
		t.Errorf("without time: got %t, %v", complete, err)
	}
	ended := w.deletion()
	ended.GoesOn = func(context.Context) error { return over }
	if complete, err := ended.Erase(t.Context()); complete || !errors.Is(err, over) {
		t.Errorf("after its end: got %t, %v", complete, err)
	}
	if diff := cmp.Diff(before, w.stored()); diff != "" {
		t.Errorf("- before, + after:\n%s", diff)
	}
	hooked := w.deletion()
	hooked.Hooks = nil
	complete, err := hooked.Erase(t.Context())
	if complete || err == nil || !strings.Contains(err.Error(), "hook hooked") {
		t.Errorf("without a hook: got %t, %v", complete, err)
	}
	hooked.Hooks = map[string]func(context.Context) (bool, error){
		"hooked": func(context.Context) (bool, error) { return false, nil }}
	complete, err = hooked.Erase(t.Context())
	if complete || err != nil || !slices.Contains(w.stored(), "Marks SEEN#ann") {
		t.Errorf("with a hook that is not done: got %t, %v", complete, err)
	}
}

// With a limit one call deals with so many items of one thing, and then it is not complete if there are more.
func TestEraseLimit(t *testing.T) {
	t.Parallel()
	for limit, calls := range map[int]int{1: 14, 4: 4, 5: 2, 10: 1} {
		w := newWorld(t)
		deletion := w.deletion()
		deletion.Limit = limit
		// The account is listed, and stays.
		deletion.Owned = slices.DeleteFunc(slices.Clone(deletion.Owned),
			func(o schema.Owned) bool { return o.Name == "notes" })
		made := 0
		for complete := false; !complete; made++ {
			complete = must.Get(deletion.Erase(t.Context()))(t)
		}
		if made != calls {
			t.Errorf("limit %d: made %d calls; want %d", limit, made, calls)
		}
	}
}

// An export reads list after list, until one goes on, and goes on there.
func TestExport(t *testing.T) {
	t.Parallel()
	var read []string
	list := func(prefix string, pages map[string]string) ownership.List {
		return ownership.List{Prefix: prefix, Read: func(_ context.Context, cursor string) (string, error) {
			read = append(read, prefix+"("+cursor+")")
			next, ok := pages[cursor]
			if !ok {
				return "", errors.New("no cursor of the list")
			}
			return next, nil
		}}
	}
	lists := []ownership.List{list("", map[string]string{"": "1", "1": ""}), list("b.", map[string]string{"": ""}),
		list("c.", map[string]string{"": "2", "2": ""})}
	for _, test := range []struct{ cursor, next, read string }{
		{"", "1", "()"}, {"1", "c.2", "(1) b.() c.()"}, {"c.2", "", "c.(2)"}, {"b.", "c.2", "b.() c.()"},
	} {
		read = nil
		next, err := ownership.Export(t.Context(), test.cursor, lists...)
		if err != nil || next != test.next || strings.Join(read, " ") != test.read {
			t.Errorf("%q: got %q, %v after %q; want %q after %q", test.cursor, next, err, read, test.next, test.read)
		}
	}
	for _, cursor := range []string{"2", "c.1", "b"} {
		if next, err := ownership.Export(t.Context(), cursor, lists...); err == nil || next != "" {
			t.Errorf("%q: got %q, %v; want the list's error", cursor, next, err)
		}
	}
}
