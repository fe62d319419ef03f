package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cargo has a field of each kind, and each rule that a tag states.
type cargo struct {
	Number   string             `json:"number" readOnly:"true"`
	Label    string             `json:"label" minLength:"2" maxLength:"4"`
	Code     *string            `json:"code,omitempty" pattern:"^[A-Z]+$"`
	Day      string             `json:"day,omitempty" format:"date"`
	Sent     string             `json:"sent,omitempty" format:"date-time" nullable:"true"`
	Mail     string             `json:"mail,omitempty" format:"email" maxLength:"9"`
	Grams    *int               `json:"grams" nullable:"true" minimum:"1" maximum:"500"`
	Share    float64            `json:"share,omitempty" exclusiveMinimum:"0" multipleOf:"0.5"`
	Fragile  bool               `json:"fragile"`
	Speed    string             `json:"speed,omitempty" enum:"slow,fast"`
	Stamps   []string           `json:"stamps,omitempty" minItems:"1" maxItems:"2" minLength:"3"`
	Inside   []cargo            `json:"inside,omitempty"`
	Weights  map[string]float64 `json:"weights,omitempty" minProperties:"1"`
	Anything any                `json:"anything,omitempty"`
}

// Answers keep the words and the order of huma's validation, which they had first.
func TestJudgeIsHumas(t *testing.T) {
	t.Parallel()
	forms := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	form := forms.Schema(reflect.TypeFor[cargo](), true, "")
	in := &inputForm{Registry: forms}
	scalar := rapid.SampledFrom([]string{`null`, `""`, `"a"`, `"AB"`, `"slow"`, `"Ωß"`, `"2026-02-03"`, `"2026-02-30"`,
		`"2026-02-03T01:02:03Z"`, `"a@b.io"`, `"ann"`, `0`, `1`, `-1`, `0.5`, `1.0`, `0.3`, `501`, `1e30`, `true`, `false`,
		`[]`, `{}`, `[1]`, `["abc"]`, `["a","abc","abc"]`, `{"x":1}`, `{"x":"y"}`, `[[]]`})
	var object func(t *rapid.T, depth int) string
	object = func(t *rapid.T, depth int) string {
		var fields []string
		for i := range reflect.TypeFor[cargo]().NumField() {
			name := strings.Split(reflect.TypeFor[cargo]().Field(i).Tag.Get("json"), ",")[0]
			value := scalar.Draw(t, name)
			if name == "inside" && depth < 2 && rapid.Bool().Draw(t, "deep") {
				value = "[" + object(t, depth+1) + "," + object(t, depth+1) + "]"
			}
			switch rapid.IntRange(0, 9).Draw(t, "how") {
			case 0:
				continue
			case 1:
				name = strings.ToUpper(name)
			}
			fields = append(fields, fmt.Sprintf("%q:%s", name, value))
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
		if err := json.Unmarshal([]byte(body), &value); err != nil {
			t.Fatal(err)
		}
		var result huma.ValidateResult
		huma.Validate(forms, form, huma.NewPathBuffer([]byte("body"), 4), huma.ModeWriteToServer, value, &result)
		var want, got []string
		for _, err := range result.Errors {
			want = append(want, inOurWords(err.(*huma.ErrorDetail)))
		}
		j := &judge{inputForm: in, wrong: map[string]bool{}}
		j.value("", form, value)
		for _, p := range j.found {
			got = append(got, p.Field+": "+p.Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-huma +judge):\n%s", body, diff)
		}
	})
}

// inOurWords is what a judge says of what huma found.
func inOurWords(detail *huma.ErrorDetail) string {
	_, field, inside := strings.Cut(detail.Location, ".")
	var missing string
	if _, err := fmt.Sscanf(detail.Message, "expected required property %s to be present", &missing); err == nil {
		return strings.TrimPrefix(field+"."+missing, ".") + ": is missing, but required"
	}
	if detail.Message == "unexpected property" {
		return field + ": is not known here: leave it out, or check its spelling"
	}
	if quoted := quote(detail.Value); inside && quoted != "" {
		return field + ": " + detail.Message + "; got " + quoted
	}
	return strings.TrimPrefix(detail.Location, "body.") + ": " + detail.Message
}
