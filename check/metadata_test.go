package check_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
)

const appData = "TodoDatabaseAppDataA1556560"

// withMetadata returns the template with the metadata of its table, with these attributes.
func withMetadata(t testing.TB, text string, attributes map[string]string) string {
	t.Helper()
	var template map[string]any
	if err := json.Unmarshal([]byte(text), &template); err != nil {
		t.Fatal(err)
	}
	template["Metadata"] = map[string]any{
		"onesynth": map[string]any{"localPort": 8081}, "onesynth:others": "text",
		"onesynth:Todo/Database/AppData": map[string]any{"table": "AppData", "resource": appData,
			"attributes": attributes},
	}
	changed, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
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

// TestCatalog: SQL of people, and the objects from before, have the names and types of columns.
func TestCatalog(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	type resources = map[string]map[string]any
	column := func(r resources, id, name string) map[string]any {
		for _, c := range columnsOf(t, r, id) {
			if c := c.(map[string]any); c["Name"] == name {
				return c
			}
		}
		t.Fatalf("%s has no column %s", id, name)
		return nil
	}
	const kpis, catalog, group = "TodoLakeCatalogkpisDFC72755", "TodoLakeCatalogD3D23EB1", "TodoLakeWorkGroup151B31BD"
	columns := []string{"TableInput", "StorageDescriptor", "Columns"}
	for name, test := range map[string]struct {
		change   func(r resources)
		id, says string
	}{
		"Renamed": {func(r resources) {
			column(r, lakeTable, "title")["Name"] = "heading"
		}, "column-title:" + lakeTable, "heading is new: it looks renamed"},
		"Retyped": {func(r resources) {
			column(r, lakeTable, "title")["Type"] = "bigint"
		}, "column-title:" + lakeTable, "from string to bigint"},
		"Dropped": {func(r resources) {
			set(t, r, lakeTable, columnsOf(t, r, lakeTable)[1:], columns...)
		}, "column-event_id:" + lakeTable, "the column event_id (string) goes"},
		"DroppedView": {func(r resources) {
			set(t, r, kpis, columnsOf(t, r, kpis)[1:], columns...)
		}, "column-users:" + kpis, "the column users (bigint) goes"},
		"Partition": {func(r resources) {
			set(t, r, lakeTable, []any{}, "TableInput", "PartitionKeys")
		}, "column-event_date:" + lakeTable, "the column event_date (date) goes"},
		"Database": {func(r resources) {
			set(t, r, catalog, "other", "DatabaseInput", "Name")
		}, "rename:" + catalog, "from todo_c830184b to other"},
		"WorkGroup": {func(r resources) {
			set(t, r, group, "other", "Name")
		}, "rename:" + group, "from todo_c830184b to other"},
		"Table": {func(r resources) {
			set(t, r, kpis, "figures", "TableInput", "Name")
		}, "rename:" + kpis, "from kpis to figures"},
		"Place": {func(r resources) {
			set(t, r, lakeTable, "s3://b/e/", "TableInput", "StorageDescriptor", "Location")
		}, "location:" + lakeTable, "to s3://b/e/"},
		"Template": {func(r resources) {
			set(t, r, lakeTable, nil, "TableInput", "Parameters", "storage.location.template")
		}, "location:" + lakeTable, "to none"},
		"TableGone": {func(r resources) { delete(r, kpis) }, "drop:" + kpis, "no longer in the template"},
		"Added": {func(r resources) {
			set(t, r, lakeTable, append(columnsOf(t, r, lakeTable), map[string]any{"Name": "size", "Type": "bigint"}),
				columns...)
		}, "", ""},
		"Comment": {func(r resources) { column(r, lakeTable, "title")["Comment"] = "The title" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := check.Compare(parse(t, text), parse(t, mutate(t, text, test.change)), here)
			if test.id == "" {
				if len(got) != 0 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if f := only(t, got, test.id); f.Severity != check.Refusal || !strings.Contains(f.Got, test.says) ||
				len(f.Steps) == 0 || len(got) != 1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestViewRetyped: a view has no rows from before, so only SQL may stumble over another type.
func TestViewRetyped(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	const kpis = "TodoLakeCatalogkpisDFC72755"
	got := check.Compare(parse(t, text), parse(t, mutate(t, text, func(r map[string]map[string]any) {
		columnsOf(t, r, kpis)[0].(map[string]any)["Type"] = "double"
	})), here)
	wantOne(t, got, "column-users:"+kpis, check.Warning, "from bigint to double")
}

// TestColumnAttributes: a column of one name, and another attribute, has the values of both.
func TestColumnAttributes(t *testing.T) {
	t.Parallel()
	const table = "task_changes"
	lake := func(more string) *check.Template {
		return parse(t, `{"Metadata": {"onesynth:Todo/Lake": {"lake": "todo", "catalog": "Catalog", "tables": {"`+table+
			`": {"line": "Lake.Entities[task]", "columns": {"title": "string"}`+more+`}}}},
			"Resources": {"Tasks": {"Type": "AWS::Glue::Table", "Properties": {"DatabaseName": {"Ref": "Catalog"}, "TableInput": {"Name": "`+table+`", "StorageDescriptor": {"Columns": [{"Name": "title", "Type": "string"}]}}}}}}`)
	}
	shows := func(attribute string) string { return `, "attributes": {"title": "` + attribute + `"}` }
	for name, test := range map[string]struct {
		deployed, proposed string
		says               string
	}{
		"Attribute": {shows("title"), shows("heading"),
			"the column title shows the attribute heading, and showed title"},
		"Prefix": {shows("SK without TASK#"), shows("SK"),
			"the column title shows the attribute SK, and showed SK without TASK#"},
		"Same": {shows("title"), shows("title"), ""},
		// A template from before the metadata had attributes says nothing of them.
		"Unknown":   {"", shows("heading"), ""},
		"NoLonger":  {shows("title"), "", ""},
		"NewColumn": {`, "attributes": {}`, shows("title"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			severity := check.Refusal
			if test.says == "" {
				severity = ""
			}
			wantOne(t, check.Compare(lake(test.deployed), lake(test.proposed), here), "column-title:Tasks", severity,
				test.says)
		})
	}
}

// TestGrants: a role that can do less is named, by how sure it is that something fails.
func TestGrants(t *testing.T) {
	t.Parallel()
	const (
		roles    = `"Role": {"Type": "AWS::IAM::Role"}, "T": {"Type": "AWS::Lambda::Function"}`
		query    = `{"Effect": "Allow", "Action": ["dynamodb:Query", "dynamodb:GetItem"], "Resource": [{"Fn::GetAtt": ["T", "Arn"]}, {"Fn::Join": ["", [{"Fn::GetAtt": ["T", "Arn"]}, "/index/ByA"]]}]}`
		get      = `{"Effect": "Allow", "Action": "dynamodb:getitem", "Resource": {"Fn::GetAtt": ["T", "Arn"]}}`
		wildcard = `{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}`
		limited  = `{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", "Condition": {"Bool": {"aws:SecureTransport": "true"}}}`
	)
	function := func(role, code string) string {
		return `, "F": {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["` + role +
			`", "Arn"]}, "Code": {"S3Key": "` + code + `"}}}`
	}
	// second is another function with the role.
	second := func(code string) string { return strings.Replace(function("Role", code), `"F"`, `"G"`, 1) }
	policy := func(role string, statements ...string) string {
		return `, "P": {"Type": "AWS::IAM::Policy", "Properties": {"Roles": [` + role +
			`], "PolicyDocument": {"Statement": [` + strings.Join(statements, ", ") + `]}}}`
	}
	// managed is the role with managed policies.
	managed := func(arns string) string {
		return `"Role": {"Type": "AWS::IAM::Role", "Properties": {"ManagedPolicyArns": [` + arns +
			`]}}, "T": {"Type": "AWS::Lambda::Function"}`
	}
	// own is a managed policy that no role is named in.
	own := func(statement string) string {
		return `, "Own": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Statement": [` +
			statement + `]}}}`
	}
	deny := func(action, resource, more string) string {
		return `{"Effect": "Deny", "Action": "` + action + `", "Resource": "` + resource + `"` + more + `}`
	}
	const named, insecure = `"arn:aws:iam::aws:policy/AWSXRayDaemonWriteAccess"`,
		`, "Condition": {"Bool": {"aws:SecureTransport": "false"}}`
	template := func(parts ...string) string { return `{"Resources": {` + strings.Join(parts, "") + `}}` }
	const ref = `{"Ref": "Role"}`
	had := policy(ref, query)
	other := strings.NewReplacer(`"Role":`, `"Other":`)
	for name, test := range map[string]struct {
		deployed, proposed string
		severity           check.Severity
		says               string
	}{
		"SameCode": {template(roles, had, function("Role", "a")),
			template(roles, policy(ref, get), function("Role", "a")), check.Refusal,
			"dynamodb:Query on T, dynamodb:Query on T/index/ByA, dynamodb:GetItem on T/index/ByA"},
		"OtherCode": {template(roles, had, function("Role", "a")),
			template(roles, policy(ref, get), function("Role", "b")), check.Warning, "dynamodb:Query on T"},
		"NoFunction": {template(roles, had), template(roles, policy(ref, get)), check.Refusal,
			"dynamodb:Query on T"},
		"NoPolicy": {template(roles, had), template(roles), check.Refusal, "dynamodb:GetItem on T"},
		"Condition": {template(roles, had), template(roles, policy(ref, limited)), check.Refusal,
			"dynamodb:GetItem on T"},
		"AnotherRole": {template(roles, had, function("Role", "a")),
			template(`"Other": {"Type": "AWS::IAM::Role"}, "T": {"Type": "AWS::Lambda::Function"}`,
				policy(`{"Ref": "Other"}`, get), function("Other", "a")), check.Refusal, "dynamodb:Query on T"},
		"Elsewhere": {template(roles, policy(`"theirs"`, query)), template(roles, policy(`"theirs"`, get)),
			check.Refusal, "dynamodb:Query on T"},
		"Inline": {
			template(
				`"Role": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [{"PolicyDocument": {"Statement": ` +
					wildcard + `}}]}}`), template(roles), check.Refusal, "dynamodb:* on *"},
		"Same":          {template(roles, had), template(roles, policy(ref, query)), "", ""},
		"Wider":         {template(roles, had), template(roles, policy(ref, wildcard)), "", ""},
		"Unconditional": {template(roles, policy(ref, limited)), template(roles, policy(ref, wildcard)), "", ""},
		"TableGone":     {template(roles, had), template(`"Role": {"Type": "AWS::IAM::Role"}`, policy(ref)), "", ""},
		"Parameter": {template(roles, policy(ref,
			strings.ReplaceAll(get, `{"Fn::GetAtt": ["T", "Arn"]}`, `{"Ref": "Parameter"}`))), template(roles),
			check.Refusal, "dynamodb:getitem on Parameter"},
		"Denied": {template(roles, had), template(roles, policy(ref, query, deny("dynamodb:Query", "*", ""))),
			check.Refusal, "dynamodb:Query on * (denied)"},
		"DeniedIf": {template(roles, had), template(roles, policy(ref, query, deny("*", "*", insecure))),
			check.Refusal, `* on * if {"Bool":{"aws:SecureTransport":"false"}} (denied)`},
		"DeniedInPart": {template(roles, policy(ref, wildcard)),
			template(roles, policy(ref, wildcard, deny("dynamodb:DeleteItem", "*", ""))), check.Refusal,
			"dynamodb:DeleteItem on * (denied)"},
		"DeniedBefore": {template(roles, policy(ref, query, deny("dynamodb:*", "*", ""))),
			template(roles, policy(ref, query, deny("dynamodb:Query", "*", ""))), "", ""},
		"RolePolicy": {template(roles, strings.NewReplacer("IAM::Policy", "IAM::RolePolicy", `"Roles": [`+ref+`]`,
			`"RoleName": `+ref).Replace(had)), template(roles), check.Refusal, "dynamodb:Query on T"},
		"ManagedRoles": {template(roles, strings.Replace(had, "IAM::Policy", "IAM::ManagedPolicy", 1)),
			template(roles), check.Refusal, "dynamodb:Query on T"},
		"OneCodeOfTwo": {template(roles, had, function("Role", "a"), second("a")),
			template(roles, policy(ref, get), function("Role", "a"), second("b")), check.Refusal,
			"dynamodb:Query on T"},
		"DeniedOther": {template(roles, had), template(roles, policy(ref, query, deny("s3:*", "*", ""))), "", ""},
		"DenyGone":    {template(roles, policy(ref, query, deny("*", "*", ""))), template(roles, had), "", ""},
		"Managed": {template(managed(named)), template(managed("")), check.Refusal,
			"what arn:aws:iam::aws:policy/AWSXRayDaemonWriteAccess allows"},
		"ManagedSame": {template(managed(named)), template(managed(named)), "", ""},
		"ManagedOwn": {template(managed(`{"Ref": "Own"}`), own(query)),
			template(managed(`{"Ref": "Own"}`), own(get)), check.Refusal, "dynamodb:Query on T"},
		"ManagedInline": {template(managed(`{"Ref": "Own"}`), own(query)), template(roles, had), "", ""},
		"RoleGone": {template(roles, had, function("Role", "a")),
			template(`"T": {"Type": "AWS::Lambda::Function"}`), "", ""},
		"Renamed": {template(roles, had, function("Role", "a")),
			template(other.Replace(roles), strings.ReplaceAll(had, `"Ref": "Role"`, `"Ref": "Other"`),
				function("Other", "a")), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// TestOpensAndStops has what a role may do newly.
			got := slices.DeleteFunc(check.Compare(parse(t, test.deployed), parse(t, test.proposed), here),
				func(f check.Change) bool {
					return f.ID == "opens-grants:Role"
				})
			wantOne(t, got, "grants:", test.severity, test.says)
		})
	}

	// Two statements with one grant lose it once.
	twice := check.Compare(parse(t, template(roles, policy(ref, get, get))), parse(t, template(roles)), here)
	wantOne(t, twice, "grants:Role", check.Refusal, "dynamodb:getitem on T")
	if strings.Count(twice[0].Got, "getitem") != 1 {
		t.Errorf("got %q", twice[0].Got)
	}

	// The steps lead to the code first, and then to the role. The second is refused, so its step says to accept that.
	steps := check.Compare(parse(t, template(roles, had, function("Role", "a"))),
		parse(t, template(roles, policy(ref, get), function("Role", "b"))), here)[0].Steps
	last := check.Compare(parse(t, template(roles, had, function("Role", "b"))),
		parse(t, template(roles, policy(ref, get), function("Role", "b"))), here)
	wantOne(t, last, "grants:Role", check.Refusal, "dynamodb:Query on T")
	if !strings.HasPrefix(steps[len(steps)-1], "Deploy 2: this template; accept this finding then.") {
		t.Errorf("got the steps %q", steps)
	}
}
