package dynamo_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// extended is the platform of notes to which a team has added attributes and a function that writes them.
func extended() schema.Platform {
	p := schema.Platform{
		Name: "notes", Database: notes(), Functions: []schema.Function{{Name: "notes"}, {Name: "labels"}},
		Records: []schema.Record{{Name: "Note", Table: "Notes", Form: shownNote{}}},
	}
	for i := range p.Database.AccessPatterns {
		p.Database.AccessPatterns[i].Functions = []string{"notes", "labels"}
	}
	attribute := func(name string, kind schema.Type) schema.ExtraAttribute {
		return schema.ExtraAttribute{Attribute: schema.Attribute{Name: name, Type: kind}, MaxLength: 5,
			Writers: []string{"labels"}, Shown: true}
	}
	rank := attribute("rank", schema.Number)
	rank.MaxLength, rank.Minimum, rank.Maximum = 0, new(1.0), new(9.0)
	secret := attribute("secret", schema.String)
	secret.Shown = false
	return p.Extended(schema.Extra{Record: "Note", Attributes: []schema.ExtraAttribute{
		attribute("label", schema.String), rank, attribute("done", schema.Boolean), attribute("tags", schema.StringSet),
		attribute("sizes", schema.NumberSet), secret,
	}})
}

type shownNote struct {
	note
	wire.Extended
}

// two are the tables as the platform's function has them, and as the team's.
func two(t *testing.T) (platform, team *dynamo.DB, tables *dynamotest.Tables) {
	t.Helper()
	p := extended()
	tables = dynamotest.Open(t, p.Database)
	as := func(function string) *dynamo.DB {
		return must.Get(tables.As(p, function))(t)
	}
	return as("notes"), as("labels"), tables
}

// stored are the notes of a status, as a query reads them.
func stored(t *testing.T, db *dynamo.DB, status string) (items []dynamo.Item) {
	t.Helper()
	for item, err := range db.Items(t.Context(), "Range", dynamo.Query{Values: []any{status, 0, 9}}) {
		must.OK(t, err)
		items = append(items, item)
	}
	return items
}

// A put of the platform keeps what a team has added, alone and in a transaction, and leaves everything else as a put
// does. A put that makes an item stays one.
func TestPutKeepsExtra(t *testing.T) {
	t.Parallel()
	platform, team, tables := two(t)
	key := []any{"open", 1}
	first := note{Status: "open", At: 1, Size: 7, Text: "first"}
	must.OK(t, platform.Put(t.Context(), "Store", first, dynamo.Absent("status")))
	must.OK(t, team.Update(t.Context(), "Grow", key,
		expression.Set(dynamo.Name("label"), expression.Value("blue")), none, nil))
	second := struct {
		Status string `dynamodbav:"status"`
		At     int    `dynamodbav:"_at"`
		Text   string `dynamodbav:"a.b"`
	}{"open", 1, "second"}
	for name, put := range map[string]func() error{
		"alone": func() error { return platform.Put(t.Context(), "Store", second, dynamo.Equal("a.b", "first")) },
		"in a transaction": func() error {
			return platform.Transact(t.Context(), "Fill", dynamo.Put("Notes", second, dynamo.Equal("a.b", "first")))
		},
		"on any condition": func() error { return platform.Put(t.Context(), "Store", second, none) },
	} {
		must.OK(t, team.Put(t.Context(), "Store", first, none))
		if err := put(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		items := stored(t, platform, "open")
		if len(items) != 1 || dynamo.Text(items[0], "label") != "blue" || dynamo.Text(items[0], "a.b") != "second" ||
			items[0]["size"] != nil {
			t.Errorf("%s: the table has %v, want the second note with its label", name, items)
		}
	}
	var made []schema.Action
	for _, r := range tables.Recorder.Requests() {
		if r.Action == schema.PutItem || r.Action == schema.UpdateItem {
			made = append(made, r.Action)
		}
	}
	if made[0] != schema.PutItem || slices.Contains(made[1:], schema.PutItem) {
		t.Errorf("got the operations %v, want a PutItem that makes the item, and then updates alone", made)
	}
}

// Reads have what the API shows, in the order of the schema, and nothing else; writes leave it out again.
func TestExtraIsRead(t *testing.T) {
	t.Parallel()
	platform, team, _ := two(t)
	written := map[string]any{"status": "open", "_at": 1, "a.b": "x", "label": `<"é>`, "rank": 2.5, "done": true,
		"secret": "s"}
	must.OK(t, team.Put(t.Context(), "Store", written, none))
	const want = `{"label":"<\"é>","rank":2.5,"done":true}`
	check := func(how string, got shownNote, err error) {
		t.Helper()
		if err != nil || string(got.Extra) != want {
			t.Errorf("%s: got %s, %v, want %s", how, got.Extra, err, want)
		}
	}
	var got shownNote
	_, err := platform.Get(t.Context(), "Get", &got, "open", 1)
	check("Get", got, err)
	all := dynamo.Query{Values: []any{"open", 0, 9}}
	for n, err := range dynamo.Read[shownNote](t.Context(), platform, "Range", all) {
		check("Query", n, err)
	}
	batch, err := dynamo.ReadBatch[shownNote](t.Context(), platform, "GetAll", []any{"open", 1})
	check("BatchGetItem", *batch[0], err)
	got.Status, got.At = "open", 1
	err = platform.Put(t.Context(), "Store", got, dynamo.Absent("label"))
	refused, ok := errors.AsType[*dynamo.ConditionError](err)
	if !ok || refused.Item[wire.ExtraName] == nil {
		t.Errorf("a write that is refused: got %v, want the item as it is read", err)
	}
	got.Text = "y"
	must.OK(t, platform.Put(t.Context(), "Store", got, none))
	for _, item := range stored(t, platform, "open") {
		if dynamo.Text(item, "secret") != "s" || dynamo.Text(item, "a.b") != "y" {
			t.Errorf("after a write of what was read the table has %v", item)
		}
	}
	body := must.Get(json.Marshal(struct{ A, B shownNote }{got, got}))(t)
	var inlined struct {
		A, B map[string]any
	}
	if err := json.Unmarshal(wire.Inline(body), &inlined); err != nil || inlined.A["rank"] != 2.5 ||
		inlined.B["label"] != `<"é>` || inlined.A[wire.ExtraName] != nil {
		t.Errorf("on the wire it is %s, %v", wire.Inline(body), err)
	}
}

// Only the team's function writes it, within its limits, and to items that exist.
func TestExtraIsWritten(t *testing.T) {
	t.Parallel()
	platform, team, _ := two(t)
	must.OK(t, platform.Put(t.Context(), "Store", note{Status: "open", At: 1}, none))
	set := func(name string, value any) expression.UpdateBuilder {
		return expression.Set(dynamo.Name(name), expression.Value(value))
	}
	key := []any{"open", 1}
	for _, c := range []struct {
		db     *dynamo.DB
		update expression.UpdateBuilder
		want   string // "": it is stored
	}{
		{team, set("label", "12345"), ""},
		{team, set("label", "éééééé"), `"label" of Notes has a length of 6: write 5 at most`},
		{team, set("label", 1), `"label" of Notes is a *types.AttributeValueMemberN: write a String`},
		{team, set("rank", 9), ""},
		{team, set("rank", 9.5), `"rank" of Notes is 9.5: write a number within its Minimum and Maximum`},
		{team, set("rank", 0), `"rank" of Notes is 0`},
		{team, set("label", "a").Set(dynamo.Name("rank"), expression.Value(10)), `"rank" of Notes is 10`},
		{team, expression.Remove(dynamo.Name("label")), ""},
		{team, expression.Add(dynamo.Name("rank"), expression.Value(1)), ""},
		{platform, set("label", "a"), `the function notes may not write the attribute "label" of Notes`},
		{platform, expression.Remove(dynamo.Name("label")), `the function notes may not write the attribute "label"`},
		{team, set("lable", "a"), `the table Notes has no attribute "lable"`},
	} {
		err := c.db.Update(t.Context(), "Grow", key, c.update, none, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	err := platform.Put(t.Context(), "Store", map[string]any{"status": "open", "_at": 1, "label": "a"}, none)
	if err == nil || !strings.Contains(err.Error(), "may not write") {
		t.Errorf("a put of the platform with the attribute: got %v", err)
	}
	for name, write := range map[string]func() error{
		"alone": func() error {
			return team.Update(t.Context(), "Grow", []any{"gone", 1}, set("label", "a"), none, nil)
		},
		"in a transaction": func() error {
			return team.Transact(t.Context(), "Move", dynamo.Put("Notes", note{Status: "open", At: 2}, none),
				dynamo.Update("Notes", []any{"gone", 1}, set("label", "a"), none))
		},
	} {
		if written, err := dynamo.Satisfied(write()); written || err != nil {
			t.Errorf("%s: an update of an item that is gone: got %t, %v, want it refused", name, written, err)
		}
	}
}
