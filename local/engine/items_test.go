package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/local/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/engine/enginetest"
)

// filled are the databases of the table sessions, with items of ids 00 to 24 in parts 1 and 2, and one that has more.
func filled(t testing.TB) *engine.Databases {
	t.Helper()
	source := assemblytest.Load(t, "{"+sessions+"}")
	databases, err := engine.OpenDatabases(enginetest.Engine(t), source, engine.DatabasesOptions{AccessKey: enginetest.AccessKey()})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.CreateTables(t.Context(), databases.Client(), source); err != nil {
		t.Fatal(err)
	}
	for i := range 25 {
		for _, part := range []string{"1", "2"} {
			item := session(fmt.Sprintf("%02d", i), nil)
			item["part"] = &types.AttributeValueMemberN{Value: part}
			put(t, databases.Client(), "sessions", item)
		}
	}
	more := session("more", nil)
	more["status"] = &types.AttributeValueMemberS{Value: "DONE"}
	more["deep"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"S": &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberSS{Value: []string{"A Needle", "b"}}, &types.AttributeValueMemberBOOL{Value: true}}},
	}}
	put(t, databases.Client(), "sessions", more)
	return databases
}

func TestItems(t *testing.T) {
	t.Parallel()
	databases := filled(t)
	for name, test := range map[string]struct {
		query engine.ItemsQuery
		items int // of all pages
		err   error
		says  string
	}{
		"All":            {query: engine.ItemsQuery{}, items: 51},
		"InPages":        {query: engine.ItemsQuery{Most: 7}, items: 51},
		"Key":            {query: engine.ItemsQuery{Partition: "03"}, items: 2},
		"KeyInPages":     {query: engine.ItemsQuery{Partition: "03", Most: 1}, items: 2},
		"NumberInSort":   {query: engine.ItemsQuery{Partition: "03", Sort: "2"}, items: 1},
		"NoNumber":       {query: engine.ItemsQuery{Partition: "03", Sort: "two"}, says: "ValidationException"},
		"Index":          {query: engine.ItemsQuery{Index: "by-status", Partition: "OPEN", Most: 20}, items: 50},
		"ScannedIndex":   {query: engine.ItemsQuery{Index: "by-status", Most: 20}, items: 51},
		"TextDeep":       {query: engine.ItemsQuery{Text: "NEEDLE"}, items: 1},
		"TextInPages":    {query: engine.ItemsQuery{Text: "open", Most: 3}, items: 50},
		"TextOfAName":    {query: engine.ItemsQuery{Text: "dee"}, items: 1},
		"TextIsNoType":   {query: engine.ItemsQuery{Text: "bool"}, items: 0},
		"TextOfKey":      {query: engine.ItemsQuery{Partition: "03", Text: "zzz"}, items: 0},
		"NoTable":        {query: engine.ItemsQuery{Table: "others"}, err: engine.ErrNoTable, says: "sessions"},
		"NoIndex":        {query: engine.ItemsQuery{Index: "by-age"}, err: engine.ErrNoTable, says: "by-status"},
		"SortAlone":      {query: engine.ItemsQuery{Sort: "1"}, err: engine.ErrItem, says: "partition key"},
		"SortOfNoKey":    {query: engine.ItemsQuery{Index: "by-status", Partition: "OPEN", Sort: "1"}, err: engine.ErrItem},
		"NoPlace":        {query: engine.ItemsQuery{After: "there"}, err: engine.ErrItem},
		"OfNoStack":      {query: engine.ItemsQuery{Stack: "another"}, err: engine.ErrNoTable},
		"PlaceElsewhere": {query: engine.ItemsQuery{After: `{"id": {"N": "1"}}`}, says: "Exception"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			query := test.query
			if query.Table == "" {
				query.Table = "sessions"
			}
			seen := map[string]bool{}
			for pages := 0; ; pages++ {
				page, err := databases.Items(t.Context(), query)
				if test.err != nil || test.says != "" {
					if err == nil || test.err != nil && !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) {
						t.Fatalf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if query.Most > 0 && len(page.Items) > query.Most || page.Examined < len(page.Items) {
					t.Errorf("got %d items of %d that were examined", len(page.Items), page.Examined)
				}
				for _, item := range page.Items {
					seen[string(item["id"])+string(item["part"])] = true
				}
				if query.After = page.Next; page.Next == "" || pages > 60 {
					break
				}
			}
			if len(seen) != test.items {
				t.Errorf("got %d items, want %d", len(seen), test.items)
			}
		})
	}
}

func TestReplaceItem(t *testing.T) {
	t.Parallel()
	databases := filled(t)
	const more = `{"id":{"S":"more"},"part":{"N":"1"},"status":{"S":"DONE"},"deep":{"M":{"S":{"L":[{"SS":["A Needle","b"]},{"BOOL":true}]}}}}`
	const fresh = `{"id":{"S":"fresh"},"part":{"N":"1"}}`
	// Each step is a change of the table as the one before left it.
	for _, test := range []struct {
		name, was, item string
		err             error
		says            string
	}{
		{"Add", "", fresh, nil, ""},
		{"AddTwice", "", fresh, engine.ErrItemChanged, "has this key"},
		{"Change", fresh, `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"NEW"}}`, nil, ""},
		{"ChangeOfWhatWas", fresh, fresh, engine.ErrItemChanged, ""},
		{"OtherValue", `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"OLD"}}`, fresh, engine.ErrItemChanged, "status"},
		{"Documents", more, strings.Replace(more, "Needle", "needle", 1), nil, ""},
		{"DeleteOfWhatWas", more, "", engine.ErrItemChanged, "deep"},
		{"Delete", `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"NEW"}}`, "", nil, ""},
		{"Gone", `{"id":{"S":"fresh"},"part":{"N":"1"}}`, "", engine.ErrItemChanged, "gone"},
		{"OtherKey", `{"id":{"S":"03"},"part":{"N":"1"}}`, `{"id":{"S":"03"},"part":{"N":"9"}}`, engine.ErrItem, "part"},
		{"NoKey", "", `{"id":{"S":"03"}}`, engine.ErrItem, "part"},
		{"Nothing", "", "", engine.ErrItem, ""},
		{"WrongType", "", `{"id":{"S":"x"},"part":{"S":"1"}}`, nil, "ValidationException"},
		{"NoValue", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":"b"}`, engine.ErrItem, `a: got "b"`},
		{"NoType", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"L":[{"M":{"b":{"X":"b"}}}]}}`, engine.ErrItem, "a[0].b: got the type X"},
		{"NumberAsNumber", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"N":1}}`, engine.ErrItem, "a: got 1 as N"},
		{"Null", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"S":null}}`, engine.ErrItem, "a: got null as S"},
	} {
		read := func(text string) (item map[string]json.RawMessage) {
			if text != "" {
				if err := json.Unmarshal([]byte(text), &item); err != nil {
					t.Fatal(err)
				}
			}
			return item
		}
		err := databases.ReplaceItem(t.Context(), "sessions", "", read(test.was), read(test.item))
		if test.err == nil && test.says == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || test.err != nil && !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}
