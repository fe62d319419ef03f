package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
)

// TestPermissions: a function that is still there, and that no longer lets its routes and events in.
func TestPermissions(t *testing.T) {
	t.Parallel()
	const (
		api    = "TodoTodoAPI662B936A"
		health = "TodoAPIGEThealthIntegrationtodoapiPermissionCA818875"
		post   = "TodoAPIPOSTapiv1tasksIntegrationtodoapiPermission9B6D163E"
		get    = "TodoAPIGETapiv1tasksIntegrationtodoapiPermission6677A875"
	)
	type resources = map[string]map[string]any
	with := func(changes ...func(resources)) string {
		return mutate(t, platforms(t)["todo.template.json"], func(r resources) {
			for _, change := range changes {
				change(r)
			}
		})
	}
	drop := func(ids ...string) func(resources) {
		return func(r resources) {
			for _, id := range ids {
				if r[id] == nil {
					t.Fatalf("there is no %s", id)
				}
				delete(r, id)
			}
		}
	}
	// one lets all routes of the API in by one permission of another construct, instead of one for each.
	one := func(r resources) {
		for id, declared := range r {
			if declared["Type"] == "AWS::Lambda::Permission" {
				delete(r, id)
			}
		}
		r["One"] = map[string]any{"Type": "AWS::Lambda::Permission", "Properties": map[string]any{
			"Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
			"FunctionName": map[string]any{"Fn::GetAtt": []any{api, "Arn"}},
			"SourceArn": map[string]any{"Fn::Join": []any{"",
				[]any{"arn:aws:execute-api:", map[string]any{"Ref": "TodoAPI20B34DFA"}, "/*"}}},
		}}
	}
	rule := func(r resources) {
		r["Rule"] = map[string]any{"Type": "AWS::Events::Rule"}
		r["ByRule"] = map[string]any{"Type": "AWS::Lambda::Permission", "Properties": map[string]any{
			"Action": "lambda:InvokeFunction", "FunctionName": map[string]any{"Ref": api},
			"Principal": "events.amazonaws.com", "SourceArn": map[string]any{"Fn::GetAtt": []any{"Rule", "Arn"}},
		}}
	}
	for name, test := range map[string]struct{ deployed, proposed, says string }{
		"Route": {with(), with(drop(health)), "invoked by GET /health of TodoAPI20B34DFA"},
		"Routes": {with(), with(drop(post, get)),
			"invoked by GET /api/v1/tasks of TodoAPI20B34DFA, POST /api/v1/tasks of TodoAPI20B34DFA"},
		"AllRoutes": {with(one), with(one, drop("One")), "DELETE /api/v1/tasks/{task_id} of TodoAPI20B34DFA"},
		"AnotherAPI": {with(), with(func(r resources) {
			set(t, r, health, "arn:aws:execute-api:*:*:b/*/*/health", "SourceArn")
		}), "invoked by GET /health"},
		"Rule": {with(rule), with(rule, drop("ByRule")), "invoked by events.amazonaws.com from Rule"},
		"FromAnywhere": {with(func(r resources) { set(t, r, health, nil, "SourceArn") }), with(drop(health)),
			"invoked by GET /health"},
		"OneForTwoRoutes": {with(), with(drop(post)), ""},
		"OneForAll":       {with(), with(one), ""},
		"EachForOne":      {with(one), with(), ""},
		"RouteGone":       {with(), with(drop(health, "TodoAPIGEThealthA181EA7B")), ""},
		"RuleGone":        {with(rule), with(), ""},
		"New":             {with(drop(health)), with(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			severity := check.Refusal
			if test.says == "" {
				severity = ""
			}
			got := slices.DeleteFunc(check.Compare(parse(t, test.deployed), parse(t, test.proposed), here),
				func(f check.Change) bool {
					return f.ID == "drop:Rule"
				})
			wantOne(t, got, "permissions:"+api, severity, test.says)
		})
	}

	// A function that is gone is refused nothing.
	for _, f := range check.Compare(parse(t, with()), parse(t, with(drop(api))), here) {
		if strings.HasPrefix(f.ID, "permissions:") {
			t.Errorf("got %+v", f)
		}
	}
}
