package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Thing is a form that a team can add to.
type Thing struct {
	ID string `json:"id"`
	wire.Extended
}

// What a team adds stands beside the fields of its form, in answers and in the document.
func TestExtra(t *testing.T) {
	t.Parallel()
	list := schema.Operation[none, none, []Thing]{ID: "list", Route: "GET /things", Caller: schema.CallerAnyone}
	show := schema.Operation[none, none, schema.Document]{ID: "document", Route: "GET /document",
		Caller: schema.CallerAnyone}
	platform := schema.Platform{Name: "things", Title: "Things",
		Records: []schema.Record{{Name: "Thing", Table: "Things", Form: Thing{}}, {Name: "Gone", Table: "Things"}},
		Routes:  schema.Routes(list, show), API: schema.API{Strict: true}}
	attribute := func(name string, kind schema.Type, isShown bool) schema.ExtraAttribute {
		return schema.ExtraAttribute{Attribute: schema.Attribute{Name: name, Type: kind, Description: "About " + name},
			MaxLength: 9, Shown: isShown}
	}
	rank := attribute("rank", schema.Number, true)
	rank.Minimum, rank.Maximum = new(1.0), new(2.5)
	of := func(record string) []schema.Extra {
		return []schema.Extra{{Record: record, Attributes: []schema.ExtraAttribute{
			attribute("label", schema.String, true), rank, attribute("done", schema.Boolean, true),
			attribute("tags", schema.StringSet, true), attribute("sizes", schema.NumberSet, true),
			attribute("secret", schema.String, false)}}}
	}
	get := func(extra []schema.Extra, path string) *httptest.ResponseRecorder {
		s := httpapi.New(httpapi.Config{Platform: platform, Extra: extra})
		httpapi.Bind(s, list, func(context.Context, request) ([]Thing, error) {
			return []Thing{
				{ID: `"$extra":{`, Extended: wire.Extended{Extra: `{"label":"a}\"<","rank":2}`}}, {ID: "plain"},
				{ID: "last", Extended: wire.Extended{Extra: `{"done":true}`}},
			}, nil
		})
		httpapi.BindDocument(s, show)
		answer := httptest.NewRecorder()
		s.Handler().Routes.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer
	}
	const things = `[{"id":"\"$extra\":{","label":"a}\"<","rank":2},{"id":"plain"},{"id":"last","done":true}]`
	if got := strings.TrimSpace(get(nil, "/things").Body.String()); got != things {
		t.Errorf("the answer is %s, want %s", got, things)
	}

	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
				Required   []string
			}
		}
	}
	must.OK(t, json.Unmarshal(get(of("Thing"), "/document").Body.Bytes(), &document))
	form := document.Components.Schemas["Thing"]
	for name, want := range map[string]string{
		"label":  `{"description":"About label","maxLength":9,"type":"string"}`,
		"rank":   `{"description":"About rank","maximum":2.5,"minimum":1,"type":"number"}`,
		"done":   `{"description":"About done","type":"boolean"}`,
		"tags":   `{"description":"About tags","items":{"type":"string"},"maxItems":9,"type":"array","uniqueItems":true}`,
		"sizes":  `{"description":"About sizes","items":{"type":"number"},"maxItems":9,"type":"array","uniqueItems":true}`,
		"secret": "", wire.ExtraName: "",
	} {
		if got := string(form.Properties[name]); got != want {
			t.Errorf("%s is %s in the document, want %s", name, got, want)
		}
	}
	if len(form.Required) != 1 {
		t.Errorf("the document requires %v, want the id alone", form.Required)
	}
	if got := get(of("Gone"), "/document"); got.Code != http.StatusInternalServerError {
		t.Errorf("a record without a form: got %d %s, want an error", got.Code, got.Body)
	}
	if got := get(nil, "/document").Body.String(); strings.Contains(got, "extra") || strings.Contains(got, "label") {
		t.Errorf("without anything added the document is %s", got)
	}
}
