package validate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// even is a number with a rule of its own.
type even int

func (e even) Check(p *validate.Problems, field string) {
	if e%2 != 0 {
		p.Add(field, validate.RuleConflict, "is odd")
	}
}

// order is a form with a rule over two of its fields, and one with rules of its own.
type order struct {
	Speed string `query:"speed"`
	Pairs even   `json:"pairs"`
	Spare *even  `json:"spare,omitempty"`
	Grams int    `json:"grams"`
}

func (o order) Check(p *validate.Problems, _ string) {
	if o.Speed == "fast" && o.Grams > 100 {
		p.Add("grams", validate.RuleConflict, "is too much for speed")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, form := range map[string]order{
		"":            {Speed: "slow", Grams: 101, Pairs: 2},
		"pairs grams": {Speed: "fast", Grams: 101, Pairs: 1},
		"spare":       {Spare: new(even(3))},
	} {
		if got := fields(validate.Check(form)); got != want {
			t.Errorf("%+v: got %q; want %q", form, got, want)
		}
	}
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	type patch struct {
		Title *string `json:"title,omitempty"`
		Count *int    `json:"count,omitempty"`
	}
	for body, want := range map[string]string{
		`{}`:                          `{} <nil>`,
		`{"title":"x"}`:               `{"title":"x"} <nil>`,
		`{"title":null,"count":null}`: `{"title":"","count":0} <nil>`,
		`{"title":7,"count":null}`:    `{"title":"","count":0} json: cannot unmarshal number`,
		`[]`:                          `{} json: cannot unmarshal array`,
	} {
		var p patch
		err := validate.MergePatch([]byte(body), &p)
		written, marshalErr := json.Marshal(p)
		if got := fmt.Sprint(string(written), " ", err); marshalErr != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s; want %s", body, got, want)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	type note struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Count int    `json:"count"`
	}
	type whole struct {
		Title string `json:"title"`
		Count int    `json:"count,omitempty"`
		Other string `json:"-"`
	}
	type change struct {
		Title *string `json:"title,omitzero"`
		Count *int    `json:"count,omitzero"`
	}
	for name, test := range map[string]struct {
		form any
		want note
	}{
		"Whole":   {whole{Title: "b", Other: "x"}, note{"1", "b", 0}},
		"Change":  {change{Count: new(3)}, note{"1", "a", 3}},
		"Cleared": {change{Title: new("")}, note{"1", "", 2}},
		"Nothing": {change{}, note{"1", "a", 2}},
	} {
		got := note{"1", "a", 2}
		if validate.Apply(&got, test.form); got != test.want {
			t.Errorf("%s: got %+v; want %+v", name, got, test.want)
		}
	}
}
