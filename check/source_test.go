package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// TestSources: each change is named by the line of the schema that makes it, if the metadata says so, and else by the
// override or the construct; and so is each deployment on the way.
func TestSources(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	const stack = "onesynth-todo-prod/Todo/"
	// app is To-Do as an app synthesises it: with construct paths, and metadata of table, function, lake and API.
	app := func(change func(resources map[string]map[string]any, described map[string]object)) string {
		described := map[string]object{
			"Database/AppData": {
				"table": "AppData", "resource": appData, "key": "PK S HASH, SK S RANGE",
				"timeToLive": "expiration_timestamp", "stream": "NEW_AND_OLD_IMAGES",
				"attributes": object{"PK": "String", "SK": "String", "title": "String"},
				"indexes": object{"GSI1": "GSI1PK S HASH, GSI1SK S RANGE; ALL",
					"GSI2": "GSI2PK S HASH, GSI2SK S RANGE; ALL", "GSI3": "GSI3PK S HASH, GSI3SK S RANGE; ALL",
					"GSI4": "GSI4PK S HASH, GSI4SK S RANGE; ALL"},
			},
			"TodoAPI": {"function": "todoapi", "role": "TodoTodoAPIRoleCD20C334",
				"grants": []any{"GetItem AppData", "Query AppData.GSI1"}},
			"Lake": {"lake": "todo", "catalog": lakeCatalog,
				"tables": object{"task_changes": object{"line": "Lake.Entities[task]",
					"columns": object{"title": "string"}, "attributes": object{"title": "title"}}}},
			"API": {"api": "TodoAPI20B34DFA", "routes": []any{"GET /api/v1/tasks/{task_id}"}},
		}
		text := mutate(t, platforms(t)["todo.template.json"], func(resources map[string]map[string]any) {
			for id, path := range map[string]string{
				appData: "Database/AppData/Resource/Resource", lakeTable: "Lake/Catalog-task_changes",
				lakeCatalog: "Lake/Catalog", aRoute: "API/GET/Resource",
				"TodoTodoAPIRoleCD20C334": "TodoAPI/Role/Resource", lakeMapping: "Lake/Mapping/Resource",
			} {
				resources[id]["Metadata"] = object{"aws:cdk:path": stack + path}
			}
			if change != nil {
				change(resources, described)
			}
		})
		var template object
		must.OK(t, json.Unmarshal([]byte(text), &template))
		metadata := object{}
		for path, entry := range described {
			metadata["onesynth:Todo/"+path] = entry
		}
		template["Metadata"] = metadata
		synthesised := must.Get(json.Marshal(template))(t)
		return string(synthesised)
	}
	type resources = map[string]map[string]any
	type described = map[string]object
	indexesOf := func(r resources) []any {
		return r[appData]["Properties"].(object)["GlobalSecondaryIndexes"].([]any)
	}
	projection := func(r resources) {
		indexesOf(r)[0].(object)["Projection"] = object{"ProjectionType": "KEYS_ONLY"}
	}
	ttl := func(r resources) {
		set(t, r, appData, object{"AttributeName": "ttl", "Enabled": true}, "TimeToLiveSpecification")
	}
	column := func(r resources) {
		for _, c := range columnsOf(t, r, lakeTable) {
			if c := c.(object); c["Name"] == "title" {
				c["Type"] = "bigint"
			}
		}
	}
	policy := func(r resources) {
		set(t, r, "TodoTodoAPIRoleDefaultPolicy8D9151A4", object{"Statement": []any{}}, "PolicyDocument")
	}
	route := func(r resources) {
		set(t, r, aRoute, "GET /api/v1/tasks/{id}", "RouteKey")
		r["Other"] = r[aRoute]
		delete(r, aRoute)
	}
	const table = stack + "Database/AppData/Resource/Resource"
	for name, test := range map[string]struct {
		change func(r resources, m described)
		id, by string
		// steps are what the deployments are made by.
		steps []string
	}{
		"Projection": {func(r resources, m described) {
			projection(r)
			m["Database/AppData"]["indexes"].(object)["GSI1"] = "GSI1PK S HASH, GSI1SK S RANGE; KEYS_ONLY"
		}, "indexes:" + appData, "Tables[AppData].Indexes[GSI1].Projection of the schema", []string{
			"Tables[AppData].Indexes[GSI1-2] of the schema",
			"the code of the functions; Tables[AppData].Indexes, still with GSI1, of the schema",
			"Tables[AppData].Indexes, without GSI1, of the schema",
		}},
		"ProjectionOverridden": {func(r resources, m described) {
			projection(r)
		}, "indexes:" + appData, "an override of GlobalSecondaryIndexes of " + table, []string{
			"Tables[AppData].Indexes[GSI1-2] of the schema",
			"the code of the functions; Tables[AppData].Indexes, still with GSI1, of the schema",
			"Tables[AppData].Indexes, without GSI1, of the schema",
		}},
		"IndexDropped": {func(r resources, m described) {
			set(t, r, appData, indexesOf(r)[1:], "GlobalSecondaryIndexes")
			delete(m["Database/AppData"]["indexes"].(object), "GSI1")
		}, "index-drop:" + appData, "Tables[AppData].Indexes, without GSI1, of the schema", nil},
		"TTL": {func(r resources, m described) {
			ttl(r)
			m["Database/AppData"]["timeToLive"] = "ttl"
		}, "ttl:" + appData, "Tables[AppData].TimeToLive of the schema",
			[]string{"an override of TimeToLiveSpecification of " + table, "Tables[AppData].TimeToLive of the schema"}},
		"TTLOverridden": {func(r resources, m described) {
			ttl(r)
		}, "ttl:" + appData, "an override of TimeToLiveSpecification of " + table,
			[]string{"an override of TimeToLiveSpecification of " + table,
				"an override of TimeToLiveSpecification of " + table}},
		"TTLWithoutPath": {func(r resources, m described) {
			ttl(r)
			delete(r[appData], "Metadata")
		}, "ttl:" + appData, "an override of TimeToLiveSpecification of Todo/Database/AppData", nil},
		"Stream": {func(r resources, m described) {
			set(t, r, appData, nil, "StreamSpecification")
			delete(m["Database/AppData"], "stream")
		}, "stream:" + appData, "Tables[AppData].Stream of the schema",
			[]string{"Tables[AppData].Stream of the schema"}},
		"StreamOverridden": {func(r resources, m described) {
			set(t, r, appData, nil, "StreamSpecification")
		}, "stream:" + appData, "an override of StreamSpecification of " + table, nil},
		"KeyOverridden": {func(r resources, m described) {
			set(t, r, appData, []any{object{"AttributeName": "SK", "KeyType": "HASH"}}, "KeySchema")
		}, "replace:" + appData, "an override of KeySchema of " + table, nil},
		"TableDropped": {func(r resources, m described) {
			delete(r, appData)
			delete(m, "Database/AppData")
		}, "drop:" + appData, "Tables, without AppData, of the schema", nil},
		"TableRenamed": {func(r resources, m described) {
			set(t, r, appData, "other", "TableName")
		}, "rename:" + appData, "TableName of " + table,
			[]string{"DeletionPolicy and UpdateReplacePolicy of " + table, "Tables, without AppData, of the schema",
				"TableName of " + table}},
		"Attribute": {func(r resources, m described) {
			m["Database/AppData"]["attributes"] = object{"PK": "String", "SK": "String", "heading": "String"}
		}, "attribute-title:" + appData, "Tables[AppData].Attributes[heading] of the schema",
			[]string{"Tables[AppData].Attributes[heading] of the schema, beside Attributes[title]; the code of the " +
				"functions", "Tables[AppData].Attributes, without title, of the schema; the code of the functions"}},
		"AttributeType": {func(r resources, m described) {
			m["Database/AppData"]["attributes"].(object)["title"] = "Number"
		}, "attribute-title:" + appData, "Tables[AppData].Attributes[title].Type of the schema",
			[]string{"Tables[AppData].Attributes[title2] of the schema; the code of the functions",
				"Tables[AppData].Attributes, without title, of the schema; the code of the functions"}},
		"Column": {func(r resources, m described) {
			column(r)
			m["Lake"]["tables"].(object)["task_changes"].(object)["columns"].(object)["title"] = "bigint"
		}, "column-title:" + lakeTable, "Lakes[todo].Entities[task].Columns[title].Type of the schema", nil},
		"ColumnAttribute": {func(r resources, m described) {
			m["Lake"]["tables"].(object)["task_changes"].(object)["attributes"] = object{"title": "heading"}
		}, "column-title:" + lakeTable, "Lakes[todo].Entities[task].Columns[title] of the schema", nil},
		"ColumnOverridden": {func(r resources, m described) {
			column(r)
		}, "column-title:" + lakeTable, "an override of Columns of " + stack + "Lake/Catalog-task_changes", nil},
		"EntityDropped": {func(r resources, m described) {
			delete(r, lakeTable)
			delete(m["Lake"]["tables"].(object), "task_changes")
		}, "drop:" + lakeTable, "the schema, without Lakes[todo].Entities[task]", nil},
		"LakeName": {func(r resources, m described) {
			set(t, r, lakeCatalog, "tasks_c830184b", "DatabaseInput", "Name")
			m["Lake"]["lake"] = "tasks"
		}, "rename:" + lakeCatalog, "Lakes[tasks].Name of the schema", nil},
		"CatalogName": {func(r resources, m described) {
			set(t, r, lakeCatalog, "other", "DatabaseInput", "Name")
		}, "rename:" + lakeCatalog, "DatabaseInput.Name of " + stack + "Lake/Catalog", nil},
		"Grants": {func(r resources, m described) {
			policy(r)
			m["TodoAPI"]["grants"] = []any{"GetItem AppData"}
		}, "grants:TodoTodoAPIRoleCD20C334", "AccessPatterns of the schema that are UsedBy todoapi", nil},
		"GrantsOverridden": {func(r resources, m described) {
			policy(r)
		}, "grants:TodoTodoAPIRoleCD20C334", "an override of the policies of " + stack + "TodoAPI/Role/Resource", nil},
		"Route": {func(r resources, m described) {
			route(r)
			m["API"]["routes"] = []any{"GET /api/v1/tasks/{id}"}
		}, "conflict:Other", "Routes[GET /api/v1/tasks/{id}] of the schema",
			[]string{"without Routes[GET /api/v1/tasks/{task_id}] of the schema",
				"Routes[GET /api/v1/tasks/{id}] of the schema"}},
		"RouteOverridden": {func(r resources, m described) {
			route(r)
		}, "conflict:Other", "the construct " + stack + "API/GET/Resource",
			[]string{"without Routes[GET /api/v1/tasks/{task_id}] of the schema",
				"the construct " + stack + "API/GET/Resource"}},
		"RouteOpened": {func(r resources, m described) {
			set(t, r, aRoute, "NONE", "AuthorizationType")
		}, "open:" + aRoute, "Routes[GET /api/v1/tasks/{task_id}] of the schema", nil},
		"Mapping": {func(r resources, m described) {
			set(t, r, lakeMapping, "LATEST", "StartingPosition")
		}, "conflict:" + lakeMapping, "StartingPosition of " + stack + "Lake/Mapping/Resource",
			[]string{"without the construct " + stack + "Lake/Mapping/Resource",
				"StartingPosition of " + stack + "Lake/Mapping/Resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deployed, proposed := parse(t, app(nil)), parse(t, app(test.change))
			var found check.Change
			got := check.Compare(deployed, proposed, here)
			for _, f := range got {
				if f.ID == test.id {
					found = f
				}
			}
			if found.By != test.by {
				t.Fatalf("by %q, want %q: got %+v", found.By, test.by, got)
			}
			var by []string
			for _, step := range found.Steps {
				if deploys.MatchString(step) {
					_, after, _ := strings.Cut(step, " By: ")
					by = append(by, strings.TrimSuffix(after, "."))
				}
			}
			if test.steps != nil && strings.Join(by, "\n") != strings.Join(test.steps, "\n") {
				t.Errorf("the deployments are by\n%s\nwant\n%s\nin %q", strings.Join(by, "\n"),
					strings.Join(test.steps, "\n"), found.Steps)
			}
		})
	}
}
