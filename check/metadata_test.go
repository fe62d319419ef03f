package check_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

const appData = "TodoDatabaseAppDataA1556560"

// withMetadata returns the template with the metadata of its table, with these attributes.
func withMetadata(t testing.TB, text string, attributes map[string]string) string {
	t.Helper()
	var template map[string]any
	must.OK(t, json.Unmarshal([]byte(text), &template))
	template["Metadata"] = map[string]any{
		"onesynth": map[string]any{"localPort": 8081}, "onesynth:others": "text",
		"onesynth:Todo/Database/AppData": map[string]any{"table": "AppData", "resource": appData,
			"attributes": attributes},
	}
	changed := must.Get(json.Marshal(template))(t)
	return string(changed)
}

// TestAttributes: items keep the attributes that they were written with.
func TestAttributes(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	deployed := map[string]string{"PK": "String", "title": "String", "version": "Number"}
	with := func(changes map[string]string, without ...string) map[string]string {
		attributes := maps.Clone(deployed)
		maps.Copy(attributes, changes)
		for _, name := range without {
			delete(attributes, name)
		}
		return attributes
	}
	type attributes = map[string]string
	for name, test := range map[string]struct {
		proposed attributes
		id       string
		severity check.Severity
		says     string
		// between are the deployments that the steps say before the last.
		between []attributes
		last    attributes
	}{
		"Renamed": {with(attributes{"heading": "String"}, "title"), "attribute-title:" + appData,
			check.Refusal, "heading is new: it looks renamed", []attributes{with(attributes{"heading": "String"})},
			nil},
		"Retyped": {with(attributes{"version": "String"}), "attribute-version:" + appData, check.Refusal,
			"from Number to String", []attributes{with(attributes{"version2": "String"})},
			with(attributes{"version2": "String"}, "version")},
		"Dropped": {with(nil, "title"), "attribute-title:" + appData, check.Warning, "no longer in the schema",
			nil, nil},
		"DroppedForOthers": {with(attributes{"size": "Number"}, "title"), "attribute-title:" + appData, check.Warning,
			"no longer in the schema", nil, nil},
		"Added": {with(attributes{"size": "Number"}), "", "", "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare := func(a, b attributes) []check.Change {
				return check.Compare(parse(t, withMetadata(t, text, a)), parse(t, withMetadata(t, text, b)), here)
			}
			got := compare(deployed, test.proposed)
			if test.id == "" {
				if len(got) != 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].ID != test.id || got[0].Severity != test.severity ||
				got[0].LogicalID != appData || !strings.Contains(got[0].Got, test.says) {
				t.Fatalf("got %+v", got)
			}
			steps := 0
			for _, step := range got[0].Steps {
				if deploys.MatchString(step) {
					steps++
				}
			}
			if test.last == nil {
				test.last = test.proposed
			}
			deployments := append(test.between, test.last)
			if test.severity == check.Refusal && steps != len(deployments) {
				t.Errorf("got the steps %q", got[0].Steps)
			}
			before := deployed
			for _, next := range deployments {
				for _, f := range compare(before, next) {
					if f.Severity == check.Refusal {
						t.Errorf("a step is refused: %+v", f)
					}
				}
				before = next
			}
		})
	}
}

// TestAttributesElsewhere: tables that are declared elsewhere have items, too; and what says nothing is not compared.
func TestAttributesElsewhere(t *testing.T) {
	t.Parallel()
	existing := func(attribute string) *check.Template {
		return parse(t, `{"Metadata": {"onesynth:Shop/Orders": {"table": "Orders", "attributes": {"`+attribute+
			`": "String"}}}, "Resources": {}}`)
	}
	got := check.Compare(existing("a"), existing("b"), here)
	if len(got) != 1 || got[0].ID != "attribute-a:Shop/Orders" || got[0].Path != "Shop/Orders" {
		t.Errorf("got %+v", got)
	}
	if got := check.Compare(existing("a"), parse(t, `{"Metadata": [], "Resources": {}}`), here); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// TestAttributesMoved: a table is the same one by its logical id, at another place in the tree and once it is imported,
// too.
func TestAttributesMoved(t *testing.T) {
	t.Parallel()
	const table = `{"Resources": {"R": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "%s"}], "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}}}, "Metadata": `
	at := func(path, resource, kind, attribute string) *check.Template {
		return parse(t, strings.Replace(table, "%s", kind[:1], 1)+`{"onesynth:`+path+
			`": {"table": "Orders", "resource": "`+resource+`", "attributes": {"id": "`+kind+`", "`+attribute+
			`": "String"}}}}`)
	}
	deployed := at("Shop/Orders", "R", "String", "a")
	wantOne(t, check.Compare(deployed, at("Store/Orders", "R", "String", "b"), here), "attribute-a:R", check.Refusal,
		"looks renamed")
	wantOne(t, check.Compare(at("Shop/Orders", "", "String", "a"), at("Shop/Orders", "R", "String", "b"), here),
		"attribute-a:R", check.Refusal, "looks renamed")
	wantOne(t, check.Compare(deployed, at("Shop/Orders", "R", "Number", "a"), here), "replace:R", check.Refusal,
		"from (id S HASH) to (id N HASH)")
}

// columnsOf returns the columns of a table of the catalog.
func columnsOf(t testing.TB, resources map[string]map[string]any, id string) []any {
	t.Helper()
	table := resources[id]["Properties"].(map[string]any)["TableInput"].(map[string]any)
	return table["StorageDescriptor"].(map[string]any)["Columns"].([]any)
}
