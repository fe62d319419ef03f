package bedrock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/converse/conversetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// most is how many trends the tests ask for.
const most = 2

// The right replies of the three operations.
const (
	goodTranslation = `{"translation":"That is excellent.","confidence":0.9}`
	goodVerdict     = `{"valid":true,"confidence":0.9,"usage_score":7,"reasons":[]}`
	goodTerm        = `{"term":"rizz","definition":"Charm","category":"slang","popularity":87.5,"example":"He has rizz.","origin":"","related":["game"]}`
	goodTrends      = `{"terms":[` + goodTerm + `]}`
)

// fire is what the lexicon says of a term.
var fire = lingible.Gloss{Term: "fire", Plain: "excellent", Meaning: "Very good"}

func open(t *testing.T, environment kit.Environment) *Language {
	t.Helper()
	plain := func(text string, pos lingible.PartOfSpeech) *lingible.Plain {
		return &lingible.Plain{Text: text, PartOfSpeech: pos}
	}
	embedded := must.Get(language.New([]lingible.Entry{
		{Term: fire.Term, Gloss: fire.Meaning, Plain: plain(fire.Plain, lingible.Adjective)},
		{Term: "rizz", Plain: plain("charm", lingible.Noun)},
	}))(t)
	return must.Get(Open(environment, embedded))(t)
}

// operations are the three questions, with a text of a user in each place that one has.
func operations(text string) map[string]func(context.Context, *Language) (any, error) {
	return map[string]func(context.Context, *Language) (any, error){
		"Translate": func(ctx context.Context, l *Language) (any, error) {
			return l.Translate(ctx, lingible.TranslationInput{Text: text})
		},
		"Validate": func(ctx context.Context, l *Language) (any, error) {
			return l.Validate(ctx, lingible.Proposal{Term: text, Meaning: text + "2", Example: text + "3",
				Context: text + "4"})
		},
		"Trends": func(ctx context.Context, l *Language) (any, error) { return l.Trends(ctx, most) },
	}
}

type said struct {
	operation, text string
	want            any // nil: it is of no use
}

// replies are what a model may say.
func replies() map[string]said {
	translation := func(text string) string { return strings.Replace(goodTranslation, "That is excellent.", text, 1) }
	verdict := func(old, new string) string { return strings.Replace(goodVerdict, old, new, 1) }
	reasons := func(n, length int) string {
		return verdict("[]", "["+strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("é", length)+`",`, n), ",")+"]")
	}
	term := func(old, new string) string { return strings.Replace(goodTrends, old, new, 1) }
	x := func(n int) string { return strings.Repeat("é", n) }
	rizz := lingible.ProposedTrend{Term: "rizz", Definition: "Charm", Category: lingible.Slang, Popularity: 87.5,
		Example: "He has rizz.", Related: []string{"game"}}
	second := rizz
	second.Term = "r izz"
	excellent := lingible.Rendering{Text: "That is excellent.", Confidence: 0.9, Terms: []string{"fire"},
		Meanings: []lingible.Gloss{fire}}
	unchanged := lingible.Rendering{Text: "It's fire.", Confidence: 0.9, Unchanged: true, Terms: []string{"fire"}}
	doubtful := excellent
	doubtful.Confidence = 0
	long := excellent
	long.Text = x(500)
	return map[string]said{
		"OKTranslation":       {"Translate", goodTranslation, excellent},
		"OKUnchanged":         {"Translate", translation("It's fire."), unchanged},
		"OKUnchangedInSpace":  {"Translate", translation(` It's fire.\n`), unchanged},
		"OKLongTranslation":   {"Translate", translation(x(500)), long},
		"ErrLongTranslation":  {"Translate", translation(x(501)), nil},
		"ErrEmptyTranslation": {"Translate", translation(""), nil},
		"ErrBlankTranslation": {"Translate", translation(` \n`), nil},
		"ErrNUL":              {"Translate", translation(`a\u0000`), nil},
		"OKHardlyConfident":   {"Translate", strings.Replace(goodTranslation, "0.9", "1e-200", 1), doubtful},
		"ErrConfident":        {"Translate", strings.Replace(goodTranslation, "0.9", "1.1", 1), nil},
		"ErrConfidenceBelow":  {"Translate", strings.Replace(goodTranslation, "0.9", "-0.1", 1), nil},
		"OKVerdict": {"Validate", goodVerdict,
			lingible.Verdict{Valid: true, Confidence: 0.9, Usage: 7, Recommended: true, Reasons: []string{}}},
		"OKUnsureVerdict": {"Validate", verdict("0.9", "1e-200"),
			lingible.Verdict{Valid: true, Usage: 7, Recommended: true, Reasons: []string{}}},
		"OKReasons": {"Validate", reasons(5, 300),
			lingible.Verdict{Valid: true, Confidence: 0.9, Usage: 7,
				Reasons: []string{x(300), x(300), x(300), x(300), x(300)}}},
		"OKInvalid": {"Validate", strings.Replace(reasons(1, 1), "true", "false", 1),
			lingible.Verdict{Confidence: 0.9, Usage: 7, Reasons: []string{"é"}}},
		"ErrInvalidWithoutWord": {"Validate", verdict("true", "false"), nil},
		"ErrSixReasons":         {"Validate", reasons(6, 1), nil},
		"ErrLongReason":         {"Validate", reasons(1, 301), nil},
		"ErrEmptyReason":        {"Validate", reasons(1, 0), nil},
		"ErrUsageAbove":         {"Validate", verdict("7", "11"), nil},
		"ErrUsageBelow":         {"Validate", verdict("7", "0"), nil},
		"ErrVerdictConfident":   {"Validate", verdict("0.9", "1e9"), nil},
		"ErrRecommended":        {"Validate", verdict("{", `{"recommended":true,`), nil},
		"OKTrends":              {"Trends", goodTrends, []lingible.ProposedTrend{rizz}},
		"OKNoTrends":            {"Trends", `{"terms":[]}`, []lingible.ProposedTrend{}},
		"OKTwoTrends": {"Trends", `{"terms":[` + goodTerm + "," +
			strings.Replace(goodTerm, "rizz", "r izz", 1) + `]}`, []lingible.ProposedTrend{rizz, second}},
		"ErrThreeTrends": {"Trends", `{"terms":[` +
			strings.Join([]string{goodTerm, strings.Replace(goodTerm, "rizz", "a", 1),
				strings.Replace(goodTerm, "rizz", "b", 1)}, ",") + `]}`, nil},
		"ErrTrendTwice": {"Trends", `{"terms":[` + goodTerm + "," +
			strings.Replace(goodTerm, "rizz", "RIZZ!", 1) + `]}`, nil},
		"ErrTrendWithoutLetters": {"Trends", term("rizz", "..."), nil},
		"ErrLongTerm":            {"Trends", term("rizz", x(101)), nil},
		"ErrLongSlug":            {"Trends", term("rizz", strings.Repeat("\ufdfa", 100)), nil},
		"ErrLongDefinition":      {"Trends", term("Charm", x(501)), nil},
		"ErrNoDefinition":        {"Trends", term("Charm", ""), nil},
		"ErrCategory":            {"Trends", term(`"slang"`, `"news"`), nil},
		"ErrPopular":             {"Trends", term("87.5", "100.1"), nil},
		"ErrUnpopular":           {"Trends", term("87.5", "-1"), nil},
		"ErrLongExample":         {"Trends", term("He has rizz.", x(501)), nil},
		"ErrNoExample":           {"Trends", term("He has rizz.", ""), nil},
		"ErrLongOrigin":          {"Trends", term(`"origin":""`, `"origin":"`+x(201)+`"`), nil},
		"ErrLongRelated":         {"Trends", term("game", x(101)), nil},
		"ErrManyRelated":         {"Trends", term(`"game"`, `"game"`+strings.Repeat(`,"a"`, 10)), nil},
	}
}

// A reply is a result, or it is of no use. The terms are those that the lexicon finds.
func TestReply(t *testing.T) {
	t.Parallel()
	for name, test := range replies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := open(t, conversetest.Start(t, conversetest.Says(test.text, "end_turn")).Environment(nil))
			got, err := operations("It's fire.")[test.operation](t.Context(), l)
			if test.want != nil {
				if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
					t.Errorf("got %v (-want +got):\n%s", err, diff)
				}
				return
			}
			failed, _ := errors.AsType[*model.Error](err)
			if failed == nil || failed.Failure != model.Unusable {
				t.Fatalf("got %+v, %v, want an error that it is unusable", got, err)
			}
			for _, part := range []string{"é", "rizz", "excellent", "news", "cap"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("the error has a part of the reply: %v", err)
				}
			}
		})
	}
}

// Terms that a translation to slang puts in are found in it.
func TestTermsToSlang(t *testing.T) {
	t.Parallel()
	server := conversetest.Start(t, conversetest.Says(`{"translation":"It's fire.","confidence":0.5}`, "end_turn"))
	l := open(t, server.Environment(nil))
	got, err := l.Translate(t.Context(),
		lingible.TranslationInput{Text: "That rizz is excellent.", Direction: lingible.ToSlang, Region: "GB"})
	want := lingible.Rendering{Text: "It's fire.", Confidence: 0.5, Terms: []string{"fire"},
		Meanings: []lingible.Gloss{fire}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	asked := converse.Question{System: translatePrompt, MaxTokens: 1024,
		Data: sentence{"That rizz is excellent.", lingible.ToSlang, "GB"}}
	if err := server.CheckAsked(asked); err != nil {
		t.Error(err)
	}
	if l.ModelID() != conversetest.Model {
		t.Errorf("got %s", l.ModelID())
	}
	if _, err := Open(kit.Environment{Getenv: func(string) string { return "" }}, nil); err == nil {
		t.Error("no model is no error")
	}
}

// The model is asked about all of a submission as it is.
func TestAskedToValidate(t *testing.T) {
	t.Parallel()
	server := conversetest.Start(t, conversetest.Says(goodVerdict, "end_turn"))
	must.Get(operations(`a "}`)["Validate"](t.Context(), open(t, server.Environment(nil))))(t)
	if err := server.CheckAsked(converse.Question{System: validatePrompt, MaxTokens: 1024,
		Data: lingible.Proposal{Term: `a "}`, Meaning: `a "}2`, Example: `a "}3`, Context: `a "}4`}}); err != nil {
		t.Error(err)
	}
}

// A caller who asks for more trends than fit into a reply gets those that fit.
func TestMostTrends(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 21 {
		all = append(all, strings.Replace(goodTerm, "rizz", fmt.Sprint("term", i), 1))
	}
	list := func(n int) conversetest.Reply {
		return conversetest.Says(`{"terms":[`+strings.Join(all[:n], ",")+`]}`, "end_turn")
	}
	server := conversetest.Start(t, list(20), list(21))
	l := open(t, server.Environment(nil))
	if got, err := l.Trends(t.Context(), 50); len(got) != 20 || err != nil {
		t.Errorf("got %d, %v", len(got), err)
	}
	if err := server.CheckAsked(converse.Question{System: trendsPrompt, Data: request{20},
		MaxTokens: 4096}); err != nil {
		t.Error(err)
	}
	if got, err := l.Trends(t.Context(), 50); err == nil {
		t.Errorf("got %d", len(got))
	}
}

// Any reply that passes is whole and within its bounds.
func FuzzReply(f *testing.F) {
	for _, r := range replies() {
		f.Add(r.text)
	}
	passes := func(text string, reply any, check func(*validate.Problems)) bool {
		if converse.Decode(text, reply) != nil {
			return false
		}
		var p validate.Problems
		check(&p)
		return p.Err() == nil
	}
	isText := func(text string, most int) bool {
		return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= most
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r translation
		if passes(text, &r, r.check) && !(isText(r.Translation, 500) && r.Confidence >= 0 && r.Confidence <= 1) {
			t.Errorf("got %+v", r)
		}
		var v verdict
		if passes(text, &v, v.check) && !(v.Confidence >= 0 && v.Confidence <= 1 && v.UsageScore >= 1 &&
			v.UsageScore <= 10 && len(v.Reasons) <= 5 && (v.Valid || len(v.Reasons) > 0)) {
			t.Errorf("got %+v", v)
		}
		var all trends
		if !passes(text, &all, func(p *validate.Problems) { all.check(p, most) }) {
			return
		}
		for _, trend := range all.Terms {
			if len(all.Terms) > most || !isText(trend.Term, 100) || !isText(trend.Definition, 500) ||
				!isText(trend.Example, 500) || trend.Popularity < 0 || trend.Popularity > 100 {
				t.Errorf("got %+v", all)
			}
		}
	})
}
