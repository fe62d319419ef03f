package dynamodb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
)

// filled are the databases of the table sessions, with items of ids 00 to 24 in parts 1 and 2, and one that has more.
func filled(t testing.TB) *dynamodb.Databases {
	t.Helper()
	source := assemblytest.Load(t, "{"+sessions+"}")
	databases := must.Get(dynamodb.OpenDatabases(enginetest.Engine(t), source,
		dynamodb.DatabasesOptions{AccessKey: enginetest.AccessKey()}))(t)
	must.OK(t, dynamodb.CreateTables(t.Context(), databases.Client(), source))
	for i := range 25 {
		for _, part := range []string{"1", "2"} {
			item := enginetest.Session(fmt.Sprintf("%02d", i), nil)
			item["part"] = &types.AttributeValueMemberN{Value: part}
			enginetest.Put(t, databases.Client(), "sessions", item)
		}
	}
	more := enginetest.Session("more", nil)
	more["status"] = &types.AttributeValueMemberS{Value: "DONE"}
	more["deep"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		"S": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberSS{Value: []string{"A Needle", "b"}},
			&types.AttributeValueMemberBOOL{Value: true}}},
	}}
	enginetest.Put(t, databases.Client(), "sessions", more)
	return databases
}

func TestItems(t *testing.T) {
	t.Parallel()
	databases := filled(t)
	for name, test := range map[string]struct {
		query dynamodb.ItemsQuery
		items int // of all pages
		err   error
		says  string
	}{
		"All":          {query: dynamodb.ItemsQuery{}, items: 51},
		"InPages":      {query: dynamodb.ItemsQuery{Most: 7}, items: 51},
		"Key":          {query: dynamodb.ItemsQuery{Partition: "03"}, items: 2},
		"KeyInPages":   {query: dynamodb.ItemsQuery{Partition: "03", Most: 1}, items: 2},
		"NumberInSort": {query: dynamodb.ItemsQuery{Partition: "03", Sort: "2"}, items: 1},
		"NoNumber":     {query: dynamodb.ItemsQuery{Partition: "03", Sort: "two"}, says: "ValidationException"},
		"Index":        {query: dynamodb.ItemsQuery{Index: "by-status", Partition: "OPEN", Most: 20}, items: 50},
		"ScannedIndex": {query: dynamodb.ItemsQuery{Index: "by-status", Most: 20}, items: 51},
		"TextDeep":     {query: dynamodb.ItemsQuery{Text: "NEEDLE"}, items: 1},
		"TextInPages":  {query: dynamodb.ItemsQuery{Text: "open", Most: 3}, items: 50},
		"TextOfAName":  {query: dynamodb.ItemsQuery{Text: "dee"}, items: 1},
		"TextIsNoType": {query: dynamodb.ItemsQuery{Text: "bool"}, items: 0},
		"TextOfKey":    {query: dynamodb.ItemsQuery{Partition: "03", Text: "zzz"}, items: 0},
		"NoTable":      {query: dynamodb.ItemsQuery{Table: "others"}, err: dynamodb.ErrNoTable, says: "sessions"},
		"NoIndex":      {query: dynamodb.ItemsQuery{Index: "by-age"}, err: dynamodb.ErrNoTable, says: "by-status"},
		"SortAlone":    {query: dynamodb.ItemsQuery{Sort: "1"}, err: dynamodb.ErrItem, says: "partition key"},
		"SortOfNoKey": {query: dynamodb.ItemsQuery{Index: "by-status", Partition: "OPEN", Sort: "1"},
			err: dynamodb.ErrItem},
		"NoPlace":        {query: dynamodb.ItemsQuery{After: "there"}, err: dynamodb.ErrItem},
		"OfNoStack":      {query: dynamodb.ItemsQuery{Stack: "another"}, err: dynamodb.ErrNoTable},
		"PlaceElsewhere": {query: dynamodb.ItemsQuery{After: `{"id": {"N": "1"}}`}, says: "Exception"},
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
					if err == nil || test.err != nil && !errors.Is(err, test.err) ||
						!strings.Contains(err.Error(), test.says) {
						t.Fatalf("got %v", err)
					}
					return
				}
				must.OK(t, err)
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
		{"AddTwice", "", fresh, dynamodb.ErrItemChanged, "has this key"},
		{"Change", fresh, `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"NEW"}}`, nil, ""},
		{"ChangeOfWhatWas", fresh, fresh, dynamodb.ErrItemChanged, ""},
		{"OtherValue", `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"OLD"}}`, fresh, dynamodb.ErrItemChanged,
			"status"},
		{"Documents", more, strings.Replace(more, "Needle", "needle", 1), nil, ""},
		{"DeleteOfWhatWas", more, "", dynamodb.ErrItemChanged, "deep"},
		{"Delete", `{"id":{"S":"fresh"},"part":{"N":"1"},"status":{"S":"NEW"}}`, "", nil, ""},
		{"Gone", `{"id":{"S":"fresh"},"part":{"N":"1"}}`, "", dynamodb.ErrItemChanged, "gone"},
		{"OtherKey", `{"id":{"S":"03"},"part":{"N":"1"}}`, `{"id":{"S":"03"},"part":{"N":"9"}}`, dynamodb.ErrItem,
			"part"},
		{"NoKey", "", `{"id":{"S":"03"}}`, dynamodb.ErrItem, "part"},
		{"Nothing", "", "", dynamodb.ErrItem, ""},
		{"WrongType", "", `{"id":{"S":"x"},"part":{"S":"1"}}`, nil, "ValidationException"},
		{"NoValue", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":"b"}`, dynamodb.ErrItem, `a: got "b"`},
		{"NoType", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"L":[{"M":{"b":{"X":"b"}}}]}}`, dynamodb.ErrItem,
			"a[0].b: got the type X"},
		{"NumberAsNumber", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"N":1}}`, dynamodb.ErrItem, "a: got 1 as N"},
		{"Null", "", `{"id":{"S":"x"},"part":{"N":"1"},"a":{"S":null}}`, dynamodb.ErrItem, "a: got null as S"},
	} {
		read := func(text string) (item map[string]json.RawMessage) {
			if text != "" {
				must.OK(t, json.Unmarshal([]byte(text), &item))
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
