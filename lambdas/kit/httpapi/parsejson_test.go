package httpapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// parseJSON reads what package encoding/json reads, as that does, and nothing else.
func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e3,0,{"b":null}],"c":"\u00e9\n\"","d":true,"e":false,"":{}}`, ` [ ] `, "\t{\r\n}\n", `"x"`, `-0`,
		`{"a":1,"a":2}`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":1 "b":2}`, `[1 2]`, `01`, `+1`, `1.`, `.5`, `1e`,
		`1e999`, `-`, `nul`, `tru`, `"`, `"\`, `"\x"`, `"\ud800"`, "\"\x01\"", ``, ` `, `{`, `[`, `}`, `]`, `1 1`, `{}{}`,
		`[[[]]]`, `"a\\"`, `"a\"`, `{"a\u0062":1,"ab":2}`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		var want any
		err := json.Unmarshal([]byte(text), &want)
		_, got, ok := parseJSON([]byte(text))
		if ok != (err == nil) || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v; package encoding/json %v, %v", got, ok, want, err)
		}
	})
}

// The first name that stands twice in one object is found, however it is written and wherever the object is.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":2,"a":3,"b":4}`:          "a",
		`[{"a":{"b":1}},{"a":{"b":1}}]`:      "",
		`{"a":{"a":{"a":[]}}}`:               "",
		`{"a":[{"b":1,"c":{},"b":2}],"a":1}`: "b",
		`{"ab":1,"a\u0062":2}`:               "ab",
		`{"a":"a","b":"a"}`:                  "",
	} {
		p, _, ok := parseJSON([]byte(text))
		if !ok || p.repeated != want || p.found != (want != "") {
			t.Errorf("%s: got %q, %v, %v; want %q", text, p.repeated, p.found, ok, want)
		}
	}
}
