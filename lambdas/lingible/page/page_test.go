package page

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://slang.auth.eu-west-1.amazoncognito.com"
	api := must.Get(New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://slang.example.com/"}))(t)
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, lingible.With(lingible.Parts{Page: true}).Routes, "webpage", "/translate", "/trending")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	webapptest.CheckIcons(t, "files")
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
}

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi.json", "")
}

// What people see before they sign in is what the language answers.
func TestExamples(t *testing.T) {
	t.Parallel()
	entries := must.Get(lexicons.Initial())(t)
	l := must.Get(language.New(entries))(t)
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
		got := must.Get(l.Translate(t.Context(), in))(t)
		if len(got.Meanings) == 0 || len(got.Glosses) > 0 {
			t.Errorf("%q became %+v: choose another example", in.Text, got)
		}
		made = append(made, example{in.Text, got.Text, got.Meanings})
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetIndent("", "  ")
	must.OK(t, encoder.Encode(made))
	if goldentest.Check(t, "modules/examples.json", want.Bytes()); t.Failed() {
		t.Log("after -update, go generate embeds the examples")
	}
}

// People choose among the countries whose slang the lexicon has.
func TestRegions(t *testing.T) {
	t.Parallel()
	entries := must.Get(lexicons.Initial())(t)
	var want []string
	for _, entry := range entries {
		want = append(want, entry.Regions...)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	source := must.Get(os.ReadFile("modules/translate.js"))(t)
	line := regexp.MustCompile(`const regions = \[(.*)\];`).Find(source)
	var got []string
	for _, code := range regexp.MustCompile(`[A-Z]{2}`).FindAll(line, -1) {
		got = append(got, string(code))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the regions %v, and the lexicon %v", got, want)
	}
}
