package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/color"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

var update = flag.Bool("update", false, "draw the icons, and write the operations and the examples")

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://slang.auth.eu-west-1.amazoncognito.com"
	api, err := New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://slang.example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, lingible.With(lingible.Parts{Page: true}).Routes, "webpage", "/translate", "/trending")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	p.CheckCompressed(t)
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
}

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi.json", "", *update)
}

// What people see before they sign in is what the language answers.
func TestExamples(t *testing.T) {
	t.Parallel()
	entries, err := lexicons.Initial()
	if err != nil {
		t.Fatal(err)
	}
	l, err := language.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	type example struct {
		Original string           `json:"original_text"`
		Text     string           `json:"translated_text"`
		Meanings []lingible.Gloss `json:"meanings"`
	}
	var made []example
	for _, in := range []lingible.TranslationInput{
		{Text: "No cap, that burger is bussin."}, {Text: "He ghosted me, so I'm salty."},
		{Text: "Honestly, I am exhausted.", Direction: lingible.ToSlang, Region: "GB"},
	} {
		got, err := l.Translate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Meanings) == 0 || len(got.Glosses) > 0 {
			t.Errorf("%q became %+v: choose another example", in.Text, got)
		}
		made = append(made, example{in.Text, got.Text, got.Meanings})
	}
	const name = "modules/examples.json"
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(made); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the language answers (%v): run the test with -update, then go generate", name, err)
	}
}

// People choose among the countries whose slang the lexicon has.
func TestRegions(t *testing.T) {
	t.Parallel()
	entries, err := lexicons.Initial()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, entry := range entries {
		want = append(want, entry.Regions...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	source, err := os.ReadFile("modules/translate.js")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`const regions = \[(.*)\];`).Find(source)
	var got []string
	for _, code := range regexp.MustCompile(`[A-Z]{2}`).FindAll(line, -1) {
		got = append(got, string(code))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the regions %v, and the lexicon %v", got, want)
	}
}

// The icons that an installed page has are the shapes of icon.svg on a square ground.
func TestIcons(t *testing.T) {
	t.Parallel()
	stroke := webapptest.Stroke
	shaft, upper, lower := stroke(6, 14, 25, 42, 25), stroke(6, 33, 16, 42, 25), stroke(6, 42, 25, 33, 34)
	arrow := func(x, y float64) float64 { return min(shaft(x, y), upper(x, y), lower(x, y)) }
	amber := color.NRGBA{0xd9, 0x82, 0x2b, 0xff}
	webapptest.Icon{Ground: color.NRGBA{0x2f, 0x5d, 0x50, 0xff}, Shapes: []webapptest.Shape{
		{Ink: color.NRGBA{0xfb, 0xfa, 0xf7, 0xff}, Distance: arrow},
		{Ink: amber, Distance: stroke(6, 50, 43, 24, 43)},
		{Ink: amber, Distance: webapptest.Disc(15, 43, 3)},
	}}.Check(t, "files", *update)
}
