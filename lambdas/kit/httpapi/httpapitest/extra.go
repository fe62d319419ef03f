package httpapitest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// ShowsExtra checks that the OpenAPI document, with which the API's operation readDocument answers, has what a team
// adds to the platform's records, in all forms of these records and in no other.
func ShowsExtra(t testing.TB, platform schema.Platform, api func(extra []schema.Extra) *kit.API) {
	t.Helper()
	at := slices.IndexFunc(platform.Routes, func(r schema.Route) bool { return r.ID == "readDocument" })
	path, answer := platform.Routes[at].Path, httptest.NewRecorder()
	api(dynamotest.Extended(platform).Extra).Routes.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("GET %s: got %d %s", path, answer.Code, answer.Body)
	}
	forms := Parse(t, answer.Body.Bytes()).Components.Schemas
	for _, r := range platform.Records {
		var want, got []string
		if r.Form != nil {
			want = slices.Sorted(slices.Values(r.FormNames()))
		}
		for name, form := range forms {
			fields, _ := form.(map[string]any)["properties"].(map[string]any)
			if _, has := fields[dynamotest.Added(r.Name)]; has {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the forms %v have the field of the %s, want %v", got, r.Name, want)
		}
	}
}
