package openapi_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// cargo has a field of each kind, and each rule that a tag states.
type cargo struct {
	Number   string             `json:"number" readOnly:"true"`
	Label    string             `json:"label" minLength:"2" maxLength:"4"`
	Code     *string            `json:"code,omitempty" pattern:"^[A-Zé]+$"`
	Day      string             `json:"day,omitempty" format:"date"`
	Sent     string             `json:"sent,omitempty" format:"date-time" nullable:"true"`
	Mail     string             `json:"mail,omitempty" format:"email"`
	Grams    *int               `json:"grams" nullable:"true" minimum:"1" maximum:"500"`
	Share    float64            `json:"share,omitempty" exclusiveMinimum:"0" multipleOf:"0.5"`
	Fragile  bool               `json:"fragile"`
	Speed    string             `json:"speed,omitempty" enum:"slow,fast"`
	Stamps   []string           `json:"stamps,omitempty" minItems:"1" maxItems:"2" minLength:"3" uniqueItems:"true"`
	Inside   []cargo            `json:"inside,omitempty" dependentRequired:"code"`
	Weights  map[string]float64 `json:"weights,omitempty" minProperties:"1"`
	Anything any                `json:"anything,omitempty"`
}

// forms are the forms of a cargo, and its own.
func forms() (huma.Registry, *huma.Schema) {
	all := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	return all, all.Schema(reflect.TypeFor[cargo](), true, "")
}

// compiled is the form of a cargo as a validator of JSON Schema reads it. It has no readOnly field, which a request may
// leave out.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	all, form := forms()
	defined := all.Map()["Cargo"]
	defined.Required = slices.DeleteFunc(slices.Clone(defined.Required),
		func(name string) bool { return name == "number" })
	written := must.Get(json.Marshal(map[string]any{"$ref": form.Ref, "$defs": all.Map()}))(t)
	document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(written)))(t)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	must.OK(t, c.AddResource("cargo.json", document))
	return c.MustCompile("cargo.json")
}

// canonical is a value with the names of fields as the form has them.
func canonical(value any) any {
	switch value := value.(type) {
	case []any:
		for i, entry := range value {
			value[i] = canonical(entry)
		}
	case map[string]any:
		for name, field := range value {
			delete(value, name)
			value[strings.ToLower(name)] = canonical(field)
		}
	}
	return value
}

// The judge takes what a validator of JSON Schema takes, and names the fields in which that one finds something. It is
// the project's own, as functions start with it: the library compiles its dialects at the start of every program, which
// takes 3 ms and 1.7 MB of memory, and it makes a function 1.5 MB larger.
func TestJudgeIsJSONSchema(t *testing.T) {
	t.Parallel()
	library := compiled(t)
	all, form := forms()
	scalar := rapid.SampledFrom([]string{`null`, `""`, `"a"`, `"AB"`, `"É"`, `"é"`, `"slow"`, `"Ωß"`, `"2026-02-03"`,
		`"2026-02-30"`, `"2026-02-03T01:02:03Z"`, `"a@b.io"`, `"ann"`, `0`, `1`, `-1`, `0.5`, `1.0`, `0.3`, `501`, `1e30`,
		`true`, `false`, `[]`, `{}`, `[1]`, `["abc"]`, `["abc","abc"]`, `["a","abc","abc"]`, `{"x":1}`, `{"x":"y"}`, `[[]]`})
	var object func(t *rapid.T, depth int) string
	object = func(t *rapid.T, depth int) string {
		var fields []string
		for i := range reflect.TypeFor[cargo]().NumField() {
			name := strings.Split(reflect.TypeFor[cargo]().Field(i).Tag.Get("json"), ",")[0]
			value := scalar.Draw(t, name)
			if name == "inside" && depth < 2 && rapid.Bool().Draw(t, "deep") {
				value = "[" + object(t, depth+1) + "," + object(t, depth+1) + "]"
			}
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0, 1:
				value = map[string]string{"label": `"abc"`, "grams": `7`, "fragile": `true`}[name]
			case 2:
				name = strings.ToUpper(name)
			}
			if value != "" {
				fields = append(fields, fmt.Sprintf("%q:%s", name, value))
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
			fields = append(fields, `"colour":1`)
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	rapid.Check(t, func(t *rapid.T) {
		body := object(t, 0)
		if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
			body = scalar.Draw(t, "body")
		}
		var value any
		must.OK(t, json.Unmarshal([]byte(body), &value))
		j := openapi.Judge{Forms: all}
		j.Value("", form, value)
		got := map[string]bool{}
		if wrong, ok := errors.AsType[*validate.Error](j.Err()); ok {
			for _, p := range wrong.Problems {
				got[p.Field] = true
			}
		}
		want := map[string]bool{}
		if wrong, ok := errors.AsType[*jsonschema.ValidationError](library.Validate(canonical(value))); ok {
			places(want, wrong)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: the judge finds fault with %v, the library with %v", body, got, want)
		}
	})
}

// places gathers the fields that the leaves of a library's error name.
func places(into map[string]bool, err *jsonschema.ValidationError) {
	for _, cause := range err.Causes {
		places(into, cause)
	}
	if len(err.Causes) > 0 {
		return
	}
	field := ""
	for _, step := range err.InstanceLocation {
		if strings.Trim(step, "0123456789") == "" {
			step = "[" + step + "]"
		}
		field = strings.TrimPrefix(strings.ReplaceAll(field+"."+step, ".[", "["), ".")
	}
	names := []string{""}
	switch broken := err.ErrorKind.(type) {
	case *kind.Required:
		names = broken.Missing
	case *kind.DependentRequired:
		names = broken.Missing
	case *kind.AdditionalProperties:
		names = broken.Properties
	}
	for _, name := range names {
		into[cmp.Or(strings.Trim(field+"."+name, "."), "body")] = true
	}
}

// A text that a person writes is more than white space, and everything that is wrong is found.
func TestCheck(t *testing.T) {
	t.Parallel()
	type letter struct {
		Title string   `json:"title" minLength:"2" maxLength:"9"`
		Mail  string   `json:"mail,omitempty" format:"email"`
		Tags  []string `json:"tags,omitempty" maxItems:"2" maxLength:"3"`
		Kind  string   `json:"kind,omitempty" enum:",note,card"`
		Tone  odd      `json:"tone,omitempty"`
	}
	for want, value := range map[string]letter{
		"": {Title: "ab", Mail: "a@b.io", Tags: []string{"a", "b"}, Kind: "card", Tone: 3},
		"title: holds only white space; it needs 2 to 9":                              {Title: " \u3164 "},
		"title: has 1 character without the white space around it; it needs 2 to 9":   {Title: " a "},
		"title: contains the character NUL (U+0000), which is not text; leave it out": {Title: "a\x00b"},
		`kind: is "x"; allowed is note or card; mail: is "ann", which is not an email address, such as ` +
			"ada@example.com; tags: has 3 entries; at most 2 are allowed; tags[1]: has 4 characters; at most 3 are " +
			"allowed; tone: is even": {Title: "ab", Mail: "ann", Tags: []string{"a", "abcd", "c"}, Kind: "x", Tone: 2},
	} {
		got := ""
		if err := openapi.Check(value); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

// A header may have any bytes.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	longest := 9
	j := openapi.Judge{}
	j.Value("X-Name", &huma.Schema{Type: huma.TypeString, MaxLength: &longest}, "a\xff")
	if err := j.Err(); err == nil || err.Error() != "X-Name: is not valid UTF-8; send text" {
		t.Errorf("got %v", err)
	}
}

// odd is a number with a rule of its own.
type odd int

func (o odd) Check(p *validate.Problems, field string) {
	if o%2 == 0 {
		p.Add(field, validate.RuleConflict, "is even")
	}
}
