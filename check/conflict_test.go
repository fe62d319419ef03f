package check_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// mutate returns the template's text after a change of its resources.
func mutate(t testing.TB, text string, change func(resources map[string]map[string]any)) string {
	t.Helper()
	var template struct {
		Metadata  map[string]any            `json:",omitempty"`
		Resources map[string]map[string]any `json:""`
	}
	must.OK(t, json.Unmarshal([]byte(text), &template))
	change(template.Resources)
	changed := must.Get(json.Marshal(template))(t)
	return string(changed)
}

// set changes a property of a resource; the last name is the property's. nil takes it away.
func set(t testing.TB, resources map[string]map[string]any, id string, value any, path ...string) {
	t.Helper()
	if resources[id] == nil {
		t.Fatalf("there is no %s", id)
	}
	if value == nil {
		value = nothing{}
	}
	resources[id]["Properties"] = put(resources[id]["Properties"], path, value)
}

// only returns the finding with the id, and fails if there is none or any other refusal.
func only(t *testing.T, findings []check.Change, id string) check.Change {
	t.Helper()
	var found check.Change
	for _, f := range findings {
		if f.ID == id {
			found = f
		} else if f.Severity == check.Refusal {
			t.Errorf("refused, too: %+v", f)
		}
	}
	if found.ID == "" {
		t.Fatalf("no %s: got %+v", id, findings)
	}
	return found
}

var (
	leftOut = regexp.MustCompile(
		`^Deploy 1: the deployed template without ([A-Za-z0-9, ]+), and without what uses them\.(?: Then accept ([^.]*)\.)? By: without .+\.$`)
	lakeMapping = "TodoLakeMappingB67387A6"
	lakeCatalog = "TodoLakeCatalogD3D23EB1"
	lakeTable   = "TodoLakeCatalogtaskchanges50F60391"
	aRoute      = "TodoAPIGETapiv1taskstaskid7496802C"
)

// TestConflicts: what AWS has once cannot be there twice, and the steps of each refusal lead to the proposed template.
func TestConflicts(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	type resources = map[string]map[string]any
	// another has the resource under another logical id, and everything that names it follows.
	another := func(id string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, `"`+id+`"`, `"Other"`) }
	}
	changed := func(id string, value any, path ...string) func(string) string {
		return func(text string) string {
			return mutate(t, text, func(r resources) { set(t, r, id, value, path...) })
		}
	}
	// moved has the resource under another logical id, with another property.
	moved := func(id string, value any, path ...string) func(string) string {
		return func(text string) string { return another(id)(changed(id, value, path...)(text)) }
	}
	// taking has the key of aRoute on the route of health, with an authorizer like aRoute's.
	taking := func(text string) string {
		return mutate(t, text, func(r resources) {
			const health = "TodoAPIGEThealthA181EA7B"
			set(t, r, health, "GET /api/v1/tasks/{x}", "RouteKey")
			set(t, r, health, "JWT", "AuthorizationType")
			set(t, r, health, map[string]any{"Ref": "TodoAPIAuthorizerCD2D0A02"}, "AuthorizerId")
		})
	}
	// declared is the platform with one resource more.
	declared := func(kind, properties string) string {
		var object map[string]any
		must.OK(t, json.Unmarshal([]byte(properties), &object))
		return mutate(t, text, func(r resources) { r["R"] = map[string]any{"Type": kind, "Properties": object} })
	}
	const pool = `"UserPoolId": {"Ref": "TodoUsers10B2EC58"}`
	type test struct {
		deployed string
		change   func(string) string
		// id is the finding's, and says what it has to say.
		id, says string
	}
	tests := map[string]test{
		"Mapping": {text, another(lakeMapping), "conflict:Other",
			"FunctionName TodoLakeWriter845A959A, EventSourceArn TodoDatabaseAppDataA1556560.StreamArn"},
		"MappingByARN": {text, moved(lakeMapping,
			map[string]any{"Fn::GetAtt": []any{"TodoLakeWriter845A959A", "Arn"}}, "FunctionName"), "conflict:Other",
			"TodoLakeWriter845A959A"},
		"StartingPosition": {text, changed(lakeMapping, "LATEST", "StartingPosition"), "conflict:" + lakeMapping,
			"StartingPosition changes"},
		"Route": {text, another(aRoute), "conflict:Other", "RouteKey GET /api/v1/tasks/{task_id}"},
		"PathVariable": {text, moved(aRoute, "GET /api/v1/tasks/{id}", "RouteKey"), "conflict:Other",
			"RouteKey GET /api/v1/tasks/{id}"},
		"GreedyVariable": {declared("AWS::ApiGatewayV2::Route",
			`{"ApiId": {"Ref": "TodoAPI20B34DFA"}, "RouteKey": "ANY /files/{proxy+}"}`),
			moved("R", "ANY /files/{path+}", "RouteKey"), "conflict:Other", "{path+}"},
		"RouteMovedInPlace": {text, taking, "conflict:TodoAPIGEThealthA181EA7B", "second route"},
		"RouteTakesPlace": {text, func(text string) string {
			return taking(mutate(t, text, func(r resources) { delete(r, aRoute) }))
		}, "conflict:TodoAPIGEThealthA181EA7B", "which the deployed " + aRoute + " is"},
		"RouteTakenOver": {text, func(text string) string {
			return taking(mutate(t, text, func(r resources) { set(t, r, aRoute, "GET /api/v1/task", "RouteKey") }))
		}, "conflict:TodoAPIGEThealthA181EA7B", "which the deployed " + aRoute + " is"},
		"BucketPolicyByName": {mutate(t, text, func(r resources) {
			set(t, r, "TodoLakeBucket6BB11E08", "lake", "BucketName")
		}), moved("TodoLakeBucketPolicyA64410F2", "lake", "Bucket"), "conflict:Other", "Bucket lake"},
		"Stage": {text, another("TodoAPIStageCA6C90F1"), "conflict:Other", "StageName $default"},
		"EventInvokeConfig": {text, another("TodoLakeScheduleFailures10BF2137"), "conflict:Other",
			"Qualifier $LATEST"},
		"BucketPolicy": {text, another("TodoLakeBucketPolicyA64410F2"), "conflict:Other",
			"Bucket TodoLakeBucket6BB11E08"},
		"Database":     {text, another(lakeCatalog), "conflict:Other", "Name todo_c830184b"},
		"CatalogTable": {text, another(lakeTable), "conflict:Other", "Name task_changes"},
		"WorkGroup":    {text, another("TodoLakeWorkGroup151B31BD"), "conflict:Other", "Name todo_c830184b"},
		"ResourceServer": {declared("AWS::Cognito::UserPoolResourceServer", `{`+pool+`, "Identifier": "api"}`),
			another("R"), "conflict:Other", "Identifier api"},
		"SignInDomain": {declared("AWS::Cognito::UserPoolDomain", `{`+pool+`, "Domain": "todo"}`), another("R"),
			"conflict:Other", "Domain todo"},
		"DomainOfAnotherPool": {declared("AWS::Cognito::UserPoolDomain", `{`+pool+`, "Domain": "todo"}`),
			changed("R", "other", "UserPoolId"), "conflict:R", "UserPoolId changes"},
		"NamedQueue": {declared("AWS::SQS::Queue", `{"QueueName": "q"}`), another("R"), "conflict:Other",
			"QueueName q"},
		"NamedLogGroup": {declared("AWS::Logs::LogGroup", `{"LogGroupName": "/aws/vendedlogs/todo"}`),
			another("R"), "conflict:Other", "LogGroupName /aws/vendedlogs/todo"},
		"DomainName": {declared("AWS::ApiGatewayV2::DomainName", `{"DomainName": "api.example.com"}`),
			another("R"), "conflict:Other", "DomainName api.example.com"},
		"QueuePolicy": {text, another("TodoLakeFailuresPolicy24CB6CBC"), "conflict:Other",
			"Queues TodoLakeFailuresADBA9A12"},
		"QueuePolicyOfMore": {text, moved("TodoLakeFailuresPolicy24CB6CBC",
			[]any{"q", map[string]any{"Ref": "TodoLakeFailuresADBA9A12"}}, "Queues"), "conflict:Other",
			"Queues q, TodoLakeFailuresADBA9A12"},
		"TopicPolicy": {declared("AWS::SNS::TopicPolicy", `{"Topics": ["t"], "PolicyDocument": {}}`),
			another("R"), "conflict:Other", "Topics t"},
		"Authorizer": {text, another("TodoAPIAuthorizerCD2D0A02"), "conflict:Other", "Name Authorizer"},
		"Group": {declared("AWS::Cognito::UserPoolGroup", `{`+pool+`, "GroupName": "admin"}`),
			another("R"), "conflict:Other", "GroupName admin"},
		"GroupOfAnotherPool": {declared("AWS::Cognito::UserPoolGroup", `{"UserPoolId": "p", "GroupName": "admin"}`),
			another("R"), "conflict:Other", "UserPoolId p, GroupName admin"},
		"Record": {declared("AWS::Route53::RecordSet", `{"HostedZoneId": "Z", "Name": "a.example.", "Type": "A"}`),
			another("R"), "conflict:Other", "Name a.example."},
		"FunctionURL": {declared("AWS::Lambda::Url",
			`{"TargetFunctionArn": {"Fn::GetAtt": ["TodoTodoAPI662B936A", "Arn"]}, "AuthType": "AWS_IAM"}`),
			another("R"), "conflict:Other", "TargetFunctionArn TodoTodoAPI662B936A"},
		"APIMapping": {declared("AWS::ApiGatewayV2::ApiMapping",
			`{"DomainName": "api.example.com", "ApiId": {"Ref": "TodoAPI20B34DFA"}, "Stage": "$default"}`),
			another("R"), "conflict:Other", "DomainName api.example.com"},
	}
	// What can have another name.
	for kind, given := range map[string]string{
		"AWS::Lambda::Function": "FunctionName", "AWS::IAM::Role": "RoleName", "AWS::Events::Rule": "Name",
		"AWS::Scheduler::Schedule": "Name", "AWS::CloudWatch::Alarm": "AlarmName",
		"AWS::SSM::Parameter": "Name", "AWS::StepFunctions::StateMachine": "StateMachineName",
		"AWS::SNS::Topic": "TopicName", "AWS::KMS::Alias": "AliasName", "AWS::CloudWatch::Dashboard": "DashboardName",
		"AWS::Made::Up": "UpName",
	} {
		tests["Named "+kind] = test{declared(kind, `{"`+given+`": "n"}`), another("R"), "conflict:Other", given + " n"}
	}
	tests["NamedAlias"] = test{declared("AWS::Lambda::Alias",
		`{"Name": "live", "FunctionName": {"Ref": "TodoTodoAPI662B936A"}}`), another("R"), "conflict:Other",
		"Name live"}
	tests["NamedPolicy"] = test{declared("AWS::IAM::Policy",
		`{"PolicyName": "n", "Roles": ["r"], "PolicyDocument": {}}`), another("R"), "conflict:Other", "PolicyName n"}
	retained := func(text string) string {
		return mutate(t, text, func(r resources) { r["R"]["DeletionPolicy"] = "Retain" })
	}
	tests["RetainedLogGroup"] = test{retained(tests["NamedLogGroup"].deployed), another("R"), "conflict:Other",
		"LogGroupName"}
	// steps are what some have to say besides.
	steps := map[string][]string{
		"NamedQueue": {"Receive what is in it.", "Wait 60 seconds"}, "NamedLogGroup": {"Export them first"},
		"RetainedLogGroup": {"delete it by hand, or import it into the stack as Other"},
		"Group": {"list-users-in-group --user-pool-id $(aws cloudformation describe-stack-resource " +
			"--stack-name shop --logical-resource-id TodoUsers10B2EC58", "admin-add-user-to-group"},
		"GroupOfAnotherPool": {"list-users-in-group --user-pool-id p --group-name admin"},
		"Authorizer":         {"Or give the new one another Name: then"},
	}
	covered := map[string]bool{}
	for name, test := range tests {
		proposed := test.change(test.deployed)
		findings := check.Compare(parse(t, test.deployed), parse(t, proposed), here)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := only(t, findings, test.id)
			if f.Severity != check.Refusal || !strings.Contains(f.Got, test.says) || len(f.Steps) == 0 {
				t.Fatalf("got %+v", f)
			}
			for _, other := range findings {
				if other.LogicalID == f.LogicalID && other.ID != f.ID {
					t.Errorf("another finding about the same: %+v", other)
				}
			}
			for _, says := range steps[name] {
				if !strings.Contains(strings.Join(f.Steps, "\n"), says) {
					t.Errorf("got the steps %q, want %q in them", f.Steps, says)
				}
			}
			if strings.Contains(f.Got, "second") {
				// Nothing leads to two at once.
				return
			}
			if strings.HasPrefix(f.Steps[len(f.Steps)-1], "Or give the new one another ") {
				otherwise := mutate(t, proposed, func(r resources) {
					_, property, _ := strings.Cut(f.Steps[len(f.Steps)-1], "another ")
					property, _, _ = strings.Cut(property, ":")
					set(t, r, "Other", "another", property)
				})
				for _, f := range check.Compare(parse(t, test.deployed), parse(t, otherwise), here) {
					if f.Severity == check.Refusal {
						t.Errorf("another name is refused: %+v", f)
					}
				}
				return
			}
			var out []string
			accepted := ""
			for _, step := range f.Steps {
				if match := leftOut.FindStringSubmatch(step); match != nil {
					out, accepted = strings.Split(match[1], ", "), match[2]
				}
			}
			if len(out) == 0 || !strings.HasPrefix(f.Steps[len(f.Steps)-1], "Deploy 2: this template. By: ") {
				t.Fatalf("got the steps %q", f.Steps)
			}
			between := mutate(t, test.deployed, func(r resources) {
				for _, id := range out {
					delete(r, id)
				}
				for id, declared := range r {
					if within, ok := declared["Properties"].(map[string]any)["DatabaseName"].(map[string]any); ok &&
						r[within["Ref"].(string)] == nil {
						t.Errorf("the steps leave %s in a database that goes: %q", id, f.Steps)
					}
				}
			})
			for _, deployment := range [][2]string{{test.deployed, between}, {between, proposed}} {
				for _, f := range check.Compare(parse(t, deployment[0]), parse(t, deployment[1]), here) {
					if f.Severity == check.Refusal && !slices.Contains(strings.Split(accepted, ", "), f.ID) {
						t.Errorf("a step is refused: %+v", f)
					}
				}
			}
		})
		for _, f := range findings {
			covered[f.Type] = true
		}
	}
	for _, kind := range check.UniqueTypes() {
		if !covered[kind] {
			t.Errorf("no test for %s", kind)
		}
	}
}

// TestOppositeConditions: two of a key are not there at once.
func TestOppositeConditions(t *testing.T) {
	t.Parallel()
	policy := func(id, condition string) string {
		return fmt.Sprintf(`%q: {"Type": "AWS::S3::BucketPolicy", "Condition": %q, "Properties": {"Bucket": "b"}}`, id,
			condition)
	}
	template := parse(t, `{"Resources": {`+policy("A", "Is")+", "+policy("B", "IsNot")+`}}`)
	if got := check.Compare(template, template, here); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	mapping := func(id, condition, position string) string {
		return fmt.Sprintf(
			`%q: {"Type": "AWS::Lambda::EventSourceMapping", "Condition": %q, "Properties": {"FunctionName": "f", "EventSourceArn": "s", "StartingPosition": %q}}`,
			id, condition, position)
	}
	mappings := func(a string) *check.Template {
		return parse(t, `{"Resources": {`+mapping("A", "Is", a)+", "+mapping("B", "IsNot", "LATEST")+`}}`)
	}
	wantOne(t, check.Compare(mappings("LATEST"), mappings("TRIM_HORIZON"), here), "conflict:A", check.Refusal,
		"StartingPosition changes")
}
