package httpapitest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// ShowsExtra checks that the OpenAPI document, with which the API's operation readDocument answers, has what a team
// adds to the platform's records, in all forms of these records and in no other.
func ShowsExtra(t testing.TB, platform schema.Platform, api func(extra []schema.Extra) *kit.API) {
	t.Helper()
	path := ""
	for _, r := range platform.Routes {
		if r.ID == "readDocument" {
			path = r.Path
		}
	}
	answer := httptest.NewRecorder()
	api(dynamotest.Extended(platform).Extra).Routes.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("GET %s: got %d %s", path, answer.Code, answer.Body)
	}
	forms := Parse(t, answer.Body.Bytes()).Components.Schemas
	wanted := map[string]string{}
	for _, r := range platform.Records {
		for _, name := range r.FormNames() {
			if r.Form != nil {
				wanted[name] = dynamotest.Added(r.Name)
			}
		}
	}
	for name, form := range forms {
		fields, _ := form.(map[string]any)["properties"].(map[string]any)
		for _, r := range platform.Records {
			if _, has := fields[dynamotest.Added(r.Name)]; has != (wanted[name] == dynamotest.Added(r.Name)) {
				t.Errorf("the form %s has the field of the %s: %t", name, r.Name, has)
			}
		}
		delete(wanted, name)
	}
	if len(wanted) > 0 {
		t.Errorf("the document lacks forms of records: %v", wanted)
	}
}
