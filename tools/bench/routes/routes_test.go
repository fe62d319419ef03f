package routes

import (
	"context"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// Requests name routes of the schema, and differ from each other by what people read. Each operation has one that its
// contract and the bodies of its platform say.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		measured := must.Get(Of(p.ID))(t)
		said, measures := map[string]bool{}, map[string]bool{}
		for _, r := range measured.Routes {
			is := func(of schema.Route) bool { return of.Key() == r.Operation.Route }
			if !slices.ContainsFunc(p.Schema.Routes, is) {
				t.Errorf("%s: the schema of %s has no such route", r, p.Name())
			}
			if said[r.String()] {
				t.Errorf("%s: two requests of %s are called so", r, p.Name())
			}
			said[r.String()], measures[r.Operation.ID] = true, true
			c := newCaller(&Run{}, &measured, r)
			for name := range measured.makers {
				c.known[name] = "id"
			}
			for name := range measured.limits {
				c.known[name] = "id"
			}
			c.operators[r.Operation.Caller.Group] = "token"
			if _, err := c.request(t.Context(), r); err != nil {
				t.Errorf("%s %s has no sample request: %v: say in makers which operation makes it", p.Name(), r, err)
			}
		}
		for _, r := range p.Schema.Operations() {
			if d, ok := r.Operation(); ok && d.Caller != schema.CallerAnyone && !measures[d.ID] {
				t.Errorf("%s of %s has no request", d.ID, p.Name())
			}
		}
		// What has no row gets one.
		bare := measured
		bare.Routes = nil
		if others := bare.others(); len(others) == 0 || others[0].Operation.ID != others[0].Name {
			t.Errorf("%s: without a row, the operations have the requests %v", p.Name(), others)
		}
	}
}

// A client makes what its request needs, in the order of the contract's ids, and once.
func TestNeeds(t *testing.T) {
	t.Parallel()
	type id struct {
		Page string `path:"page_id"`
	}
	type page struct {
		Book string `json:"book_id"`
	}
	write := schema.Operation[schema.None, schema.None, schema.None]{ID: "write", Route: "POST /books"}
	add := schema.Operation[schema.None, page, schema.None]{ID: "add", Route: "POST /pages"}
	read := schema.Operation[id, schema.None, schema.None]{ID: "read", Route: "GET /pages/{page_id}"}
	number := schema.Operation[struct {
		Line int `path:"line"`
	}, schema.None, schema.None]{ID: "line", Route: "GET /lines/{line}"}
	c := newCaller(&Run{}, &Measured{identify: func(context.Context, *caller) error { return nil },
		makers: map[string]schema.Described{"book_id": write, "page_id": add}, usual: []string{"reader"},
		within: map[string][]string{"book_id": {"page_id"}}}, Route{})
	for _, test := range []struct {
		of   schema.Described
		want []string
	}{{write, []string{"reader"}}, {add, []string{"reader", "book_id"}}, {read, []string{"reader", "page_id"}}} {
		if got := c.needs(test.of.Describe()); !slices.Equal(got, test.want) {
			t.Errorf("%s needs %v; want %v", test.of.Describe().ID, got, test.want)
		}
	}
	for _, name := range []string{"book_id", "page_id", "reader"} {
		c.known[name], c.made[name] = "a", []any{"a"}
	}
	for known, want := range map[any]string{7.0: "/lines/7", "x": ""} {
		c.known["line"] = known
		d := number.Describe()
		if got, err := client.NewRequest(d, c.params(d, nil), nil); (err == nil) != (want != "") ||
			err == nil && got.Path != want {
			t.Errorf("%v: got %v, %v; want %q", known, got, err, want)
		}
	}
	if c.forget("book_id"); c.known["book_id"] != nil || c.known["page_id"] != nil || c.known["reader"] == nil {
		t.Errorf("without its book, it knows %v", c.known)
	}
}
