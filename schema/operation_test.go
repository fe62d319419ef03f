package schema_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/schema"
)

// An operation gives its route, and the route its operation.
func TestRoutes(t *testing.T) {
	t.Parallel()
	type params struct {
		ID string `path:"id"`
	}
	read := schema.Operation[params, schema.None, []string]{ID: "read", Route: "GET /notes/{id}", Function: "notes",
		Caller: schema.CallerUser, RateLimit: "reads", Summary: "Read a note"}
	routes := schema.Routes(read)
	want := []schema.Route{{ID: "read", Method: "GET", Path: "/notes/{id}", Function: "notes",
		Caller: schema.CallerUser, RateLimit: "reads", Summary: "Read a note"}}
	if diff := cmp.Diff(want, routes, cmpopts.IgnoreUnexported(schema.Route{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, ok := routes[0].Operation()
	if !ok || d.Params() != reflect.TypeFor[params]() || d.Body() != nil || d.Answer() != reflect.TypeFor[[]string]() {
		t.Errorf("got %t, %v, %v, %v", ok, d.Params(), d.Body(), d.Answer())
	}
	if _, ok := want[0].Operation(); ok {
		t.Error("a route that no operation gave has one")
	}
}

// Parameters are those of embedded structs, too. One of a path is always required.
func TestParameters(t *testing.T) {
	t.Parallel()
	type page struct {
		Limit int `query:"limit" required:"true"`
	}
	type params struct {
		page
		ID    string   `path:"id"`
		Kinds []string `query:"kind,explode"`
		Zone  string   `header:"X-Zone"`
		Note  string
	}
	d := schema.Operation[params, schema.None, schema.None]{}.Describe()
	var got []string
	for _, p := range d.Parameters() {
		got = append(got, fmt.Sprint(p.Place, " ", p.Name, " ", p.Field.Name, " ", p.Required, " ", p.Explode))
	}
	want := []string{"query limit Limit true false", "path id ID true false", "query kind Kinds false true",
		"header X-Zone Zone false false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A status of success is the declared one, 200 by default, or a further one.
func TestSucceeds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		schema.Description
		want []int
	}{
		"default":  {schema.Description{}, []int{200}},
		"declared": {schema.Description{Status: 201}, []int{201}},
		"further":  {schema.Description{Status: 204, Further: map[int]any{202: 1}}, []int{202, 204}},
	} {
		var got []int
		for status := 100; status < 600; status++ {
			if test.Succeeds(status) {
				got = append(got, status)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v; want %v", name, got, test.want)
		}
	}
}

// The rules of a tag strict; an expression and a text go to the end of the tag.
func TestStrictRules(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][]schema.Strict{
		"":                         nil,
		"uuid":                     {{Name: "uuid"}},
		"distinct,each=one=a|b":    {{Name: "distinct"}, {Name: "each", Value: "one=a|b"}},
		"notblank,pattern=^a{1,2}": {{Name: "notblank"}, {Name: "pattern", Value: "^a{1,2}"}},
		"null=Not here, not now.":  {{Name: "null", Value: "Not here, not now."}},
		"null":                     {{Name: "null"}},
		"atleast=2":                {{Name: "atleast", Value: "2"}},
	} {
		got, err := schema.StrictRules(tag)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", tag, err, diff)
		}
	}
	for _, tag := range []string{"uid", "uuid,uid", "one", "each=", "atleast"} {
		if _, err := schema.StrictRules(tag); err == nil || !strings.Contains(err.Error(), "schema.Strict") {
			t.Errorf("%q: got %v", tag, err)
		}
	}
}
