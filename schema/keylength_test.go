package schema_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema"
)

type keyParams struct {
	Shelf string `path:"shelf" maxLength:"256"`
}

type keyBody struct {
	Title  string  `json:"title" minLength:"1" maxLength:"300"`
	Author *string `json:"written_by" dynamodbav:"author" maxLength:"300"`
	Colour string  `json:"colour" enum:"red,blue"`
	Year   int     `json:"year"`
	Code   string  `json:"code" pattern:"^[a-z]{3}$"`
	Note   string  `json:"note"`
}

type longBody struct {
	Title string `json:"title" minLength:"1025" maxLength:"2000"`
}

// A key that can be too long is warned of, and one that is never short enough refused, with the field that makes it.
func TestKeyLengths(t *testing.T) {
	t.Parallel()
	put := schema.Operation[keyParams, keyBody, schema.None]{ID: "put", Route: "PUT /shelves/{shelf}", Function: "api",
		Caller: schema.CallerAnyone, Summary: "Put"}
	long := schema.Operation[keyParams, longBody, schema.None]{ID: "put", Route: "PUT /shelves/{shelf}",
		Function: "api", Caller: schema.CallerAnyone, Summary: "Put"}
	find := schema.Operation[keyParams, schema.None, schema.None]{ID: "find", Route: "GET /shelves/{shelf}",
		Function: "api", Caller: schema.CallerAnyone, Summary: "Find"}
	text, number := schema.String.Attribute, schema.Number.Attribute
	for name, test := range map[string]struct {
		key   schema.Key
		index schema.Index
		op    schema.Described
		// warning and refusal are parts of the only finding; empty: there is none.
		warning, refusal string
	}{
		"Short":  {key: schema.Key{Partition: "title", Sort: "shelf"}, op: put},
		"Read":   {key: schema.Key{Partition: "title", Sort: "note"}, op: find},
		"Closed": {key: schema.Key{Partition: "code", Sort: "colour"}, op: put},
		"Long": {key: schema.Key{Partition: "shelf", Sort: "title"}, op: put,
			warning: "Tables[Books].Key.Sort: got up to 1200 bytes"},
		"Stored": {key: schema.Key{Partition: "shelf", Sort: "author"}, op: put,
			warning: "lower the maxLength of put.written_by"},
		"Endless": {key: schema.Key{Partition: "note"}, op: put,
			warning: "got any length, since put.note has no maxLength"},
		"Together": {key: schema.Key{Partition: "shelf"}, op: put,
			index: schema.Index{Key: schema.Key{Partition: "title", Sort: "year"},
				FurtherPartition: []string{"author"}, FurtherSort: []string{"colour"}},
			warning: "Indexes[ByKey].Key.Partition: got up to 2400 bytes"},
		"ErrLeast": {key: schema.Key{Partition: "shelf", Sort: "title"}, op: long,
			refusal: "Tables[Books].Key.Sort: got at least 1025 bytes, allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			books := schema.Table{Name: "Books", PhysicalName: "books", Key: test.key, Attributes: []schema.Attribute{
				text("title", ""), text("shelf", ""), text("author", ""), text("colour", ""), number("year", ""),
				text("code", ""), text("note", "")}}
			if test.index.Key.Partition != "" {
				test.index.Name = "ByKey"
				books.Indexes = []schema.Index{test.index}
			}
			p := schema.Platform{Name: "books", Database: schema.Database{Tables: []schema.Table{books}},
				Routes: schema.Routes(test.op)}
			warnings, refused := p.Warnings(), ""
			if err := p.Validate(); err != nil {
				for line := range strings.SplitSeq(err.Error(), "\n") {
					if strings.Contains(line, "bytes") {
						refused += line
					}
				}
			}
			if test.warning == "" && len(warnings) > 0 || test.warning != "" && (len(warnings) != 1 ||
				!strings.Contains(warnings[0].String(), test.warning)) {
				t.Errorf("got the warnings %v; want %q", warnings, test.warning)
			}
			if (refused == "") != (test.refusal == "") || !strings.Contains(refused, strings.TrimSuffix(test.refusal,
				", allowed")) {
				t.Errorf("refused is %q; want %q", refused, test.refusal)
			}
		})
	}
}
