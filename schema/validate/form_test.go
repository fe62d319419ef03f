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

// box has every limit that a tag can state.
type box struct {
	Grams int      `json:"grams" minimum:"1" maximum:"500"`
	Email string   `json:"email,omitempty" format:"email"`
	Note  *string  `json:"note,omitempty" maxLength:"5"`
	Label string   `json:"label,omitempty" minLength:"2" maxLength:"4"`
	Inks  []string `json:"inks" enum:"red,blue"`
	Rank  *int64   `json:"rank" minimum:"-1"`
	Other bool     `json:"other" minimum:"1"`
}

// order is a form with an embedded one, and a rule over two of its fields.
type order struct {
	Speed string `query:"speed" enum:"slow,fast"`
	box
	Stamps []string `json:"stamps,omitempty" minLength:"2" maxLength:"3"`
	Day    string   `json:"day,omitempty" format:"date"`
	Pairs  even     `json:"pairs"`
	Secret string   `json:"-" maxLength:"1"`
}

func (o order) Check(p *validate.Problems, _ string) {
	if o.Speed == "fast" && o.Grams > 100 {
		p.Add("grams", validate.RuleConflict, "is too much for speed")
	}
}

func TestCheckers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		form order
		want string // the fields, in their order
	}{
		"OK": {order{Speed: "slow", box: box{Grams: 1, Email: "a@b.io", Note: new("12345"),
			Label: " ßß ", Inks: []string{"red", "blue"}, Rank: new(int64(-1))},
			Stamps: []string{"abc"}, Day: "2026-02-28", Secret: "xyz"}, ""},
		"OKLeftOut": {order{box: box{Grams: 500}}, ""},
		"Err": {order{Speed: "x", box: box{Email: "a", Note: new("123456"), Label: "a", Inks: []string{"red", "x"},
			Rank: new(int64(-2))}, Stamps: []string{"abc", "d"}, Day: "2026-02-30", Pairs: 1},
			"speed grams email note label inks[1] rank stamps[1] day pairs"},
		"ErrBeyond": {order{box: box{Grams: 501, Note: new("a\x00"), Label: "   a "}}, "grams note label"},
		"ErrOwn":    {order{Speed: "fast", box: box{Grams: 101}}, "grams"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fields(validate.Form(test.form)); got != test.want {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
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
