package bedrock

import (
	"context"
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
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// most is how many trends the tests ask for.
const most = 2

// Right replies.
const (
	goodVerdict = `{"valid":true,"confidence":0.9,"usage_score":7,"reasons":[]}`
	goodTerm    = `{"term":"rizz","definition":"Charm","category":"slang","popularity":87.5,` +
		`"example":"He has rizz.","origin":"","related":["game"]}`
)

// replies is the file of the replies that a model may give.
const replies = "testdata/replies.txt"

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

// A reply is a result, or it is of no use. The terms are those that the lexicon finds.
func TestReply(t *testing.T) {
	t.Parallel()
	conversetest.CheckReplies(t, replies, func(t *testing.T, c conversetest.Case,
		server *conversetest.Server) (any, error) {
		got, err := operations("It's fire.")[c.Question](t.Context(), open(t, server.Environment(nil)))
		for _, part := range []string{"é", "rizz", "excellent", "news", "cap"} {
			if err != nil && strings.Contains(err.Error(), part) {
				t.Errorf("the error has a part of the reply: %v", err)
			}
		}
		return got, err
	})
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
	for _, c := range conversetest.Cases(f, replies) {
		f.Add(c.Reply)
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
