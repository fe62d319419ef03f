package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The operations of several functions become those of one document, with components of one name that differ apart.
func TestJoin(t *testing.T) {
	t.Parallel()
	const own = `{"openapi":"3.1.0","info":{"title":"Reports"},"paths":{"/report":{"get":{"r":{"$ref":"#/components/schemas/Report"},
		"e":{"$ref":"#/components/schemas/Error"},"g":{"$ref":"#/components/schemas/Gateway"}}},"/tasks":{"delete":{}}},
		"components":{"schemas":{"Report":{"max":10000000000000000001},"Error":{"of":"reports","in":{"$ref":"#/components/schemas/Error"}},
		"Gateway":{"same":true}},"securitySchemes":{"key":{},"token":{"description":"mine"}}}}`
	const platform = `{"openapi":"3.1.0","info":{"title":"To-Do"},"paths":{"/tasks":{"get":{"e":{"$ref":"#/components/schemas/Error"}}},
		"/users":{"get":{}},"/health":{"get":{}}},"components":{"schemas":{"Error":{"of":"tasks"},"Gateway":{"same":true}},
		"securitySchemes":{"token":{"description":"mine"}}}}`
	const want = `{"openapi":"3.1.0","info":{"title":"To-Do"},"paths":{"/tasks":{"get":{"e":{"$ref":"#/components/schemas/Error"}},"delete":{}},
		"/users":{"get":{}},"/health":{"get":{}},"/report":{"get":{"r":{"$ref":"#/components/schemas/Report"},
		"e":{"$ref":"#/components/schemas/Error2"},"g":{"$ref":"#/components/schemas/Gateway"}}}},
		"components":{"schemas":{"Error":{"of":"tasks"},"Error2":{"of":"reports","in":{"$ref":"#/components/schemas/Error2"}},
		"Gateway":{"same":true},"Report":{"max":10000000000000000001}},"securitySchemes":{"key":{},"token":{"description":"mine"}}}}`
	got, err := join([][]byte{[]byte(own), []byte(platform)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(t, want), parsed(t, string(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := join([][]byte{[]byte(platform), []byte(own), []byte(own)}); err == nil ||
		!strings.Contains(err.Error(), "in the documents of two functions, allowed is each operation in one") {
		t.Errorf("got %v", err)
	}
}

func parsed(t *testing.T, text string) object {
	t.Helper()
	document, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return document
}
