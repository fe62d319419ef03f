package check_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// part is a resource of an HTTP API.
type part struct {
	Type       string
	Properties map[string]any
}

// Each route of To-Do that needs a token is missed, and so is the issuer of all.
func TestAuthorizersOfPlatform(t *testing.T) {
	t.Parallel()
	text := platforms(t)["todo.template.json"]
	deployed := parse(t, text)
	opened := func(all bool, only string) []string {
		var ids []string
		for _, f := range check.Compare(deployed, parse(t, mutate(t, text, func(resources map[string]map[string]any) {
			for id, r := range resources {
				if r["Type"] == "AWS::ApiGatewayV2::Route" && (all || id == only) {
					r["Properties"].(map[string]any)["AuthorizationType"] = "NONE"
				}
				if r["Type"] == "AWS::ApiGatewayV2::Authorizer" && all {
					delete(resources, id)
				}
			}
		})), here) {
			ids = append(ids, fmt.Sprint(f.Severity, " ", f.ID))
		}
		return ids
	}
	if got := opened(true, ""); len(got) != 1 || !strings.HasPrefix(got[0], "refusal issuer:TodoAPIAuthorizer") {
		t.Errorf("without an issuer: got %q", got)
	}
	var template struct {
		Resources map[string]part
	}
	must.OK(t, json.Unmarshal([]byte(text), &template))
	guarded := 0
	for id, r := range template.Resources {
		if r.Properties["AuthorizationType"] != "JWT" {
			continue
		}
		guarded++
		if got := opened(false, id); !slices.Equal(got, []string{"refusal open:" + id}) {
			t.Errorf("%s: got %q", id, got)
		}
	}
	if guarded < 10 {
		t.Errorf("got %d routes that need a token, want those of users", guarded)
	}
}
