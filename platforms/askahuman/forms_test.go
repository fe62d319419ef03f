package askahuman_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
	"github.com/onesynth-cdk/onesynth/schema/validate/validatetest"
)

// What agents and people send is refused by its fields. testdata/wire.txt of lambdas/askahuman/api has the wording.
func TestForms(t *testing.T) {
	t.Parallel()
	prompt := func(s string) askahuman.Ask { return askahuman.Ask{Prompt: s, Type: askahuman.TypeText} }
	options := func(options ...string) askahuman.Ask {
		return askahuman.Ask{Prompt: "Which of these is better?", Type: askahuman.TypeMultipleChoice, Options: options}
	}
	to := func(audience ...string) askahuman.Ask {
		return askahuman.Ask{Prompt: "Is this a good name?", Type: askahuman.TypeText, Audience: audience}
	}
	for name, test := range map[string]struct {
		form any
		want []string // nil: valid
	}{
		"an ask, all of it": {askahuman.Ask{Type: "essay", Audience: []string{"martians"}, MinResponses: new(51),
			TimeoutSeconds: new(1), IdempotencyKey: new(" ")},
			[]string{"audience[0]", "idempotency_key", "min_responses", "prompt", "timeout_seconds", "type"}},
		"a prompt of 9 and blanks":     {prompt(" 123456789 \n"), []string{"prompt"}},
		"a prompt of 1999 and a blank": {prompt(strings.Repeat("é", 1999) + " "), nil},
		"a prompt of 2000 and a blank": {prompt(strings.Repeat("é", 2000) + " "), []string{"prompt"}},
		"a prompt of blanks":           {prompt(strings.Repeat(" \t\u00a0\u200b", 10)), []string{"prompt"}},
		"a type as long as a book": {askahuman.Ask{Prompt: "Is this a good name?",
			Type: askahuman.QuestionType(strings.Repeat("\xff", 100_000))}, []string{"type"}},
		"an option of blanks":         {options("a", " \u200b"), []string{"options[1]"}},
		"options that look the same":  {options("a", " a"), []string{"options[1]"}},
		"options of two normal forms": {options("caf\u00e9", "cafe\u0301"), []string{"options[1]"}},
		"options that differ in case": {options("a", "A"), nil},
		"eleven options, two of them wrong": {options("1", "2", "3", "", "5", "6", "7", "8", "9", "0", "1"),
			[]string{"options", "options[3]", "options[10]"}},
		"every audience":    {to(askahuman.Audiences()...), nil},
		"an audience twice": {to("ethics", "ethics"), []string{"audience[1]"}},
		"an answer without anything": {askahuman.Answer{Confidence: new(9), ResponseTimeMS: new(int64(-9))},
			[]string{"confidence", "response_time_ms", "answer"}},
		"a report of nothing":      {askahuman.PersonReport{Reason: "spam"}, []string{"question_id"}},
		"an answer of both":        {askahuman.Answer{Text: new("yes"), Option: new(0)}, []string{"answer"}},
		"a token with a line feed": {askahuman.NewSubscription{Token: "a\n"}, []string{"fcm_token"}},
		"a token too long": {askahuman.NewSubscription{Token: strings.Repeat("x", 4097)},
			[]string{"fcm_token"}},
		"a new token with a blank": {askahuman.SubscriptionChange{Token: new("a b")}, []string{"fcm_token"}},
		"an interval of a day":     {askahuman.NewSubscription{Token: "token", Interval: new(1440)}, nil},
		"an interval over a day": {askahuman.SubscriptionChange{Interval: new(1441)},
			[]string{"min_interval_minutes"}},
	} {
		if diff := cmp.Diff(test.want, validatetest.Fields(t, openapi.Check(test.form))); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", name, diff)
		}
	}
}

// An answer has to fit its question.
func TestValidateFor(t *testing.T) {
	t.Parallel()
	text, choice := askahuman.Question{Type: askahuman.TypeText},
		askahuman.Question{Type: askahuman.TypeMultipleChoice, Options: []string{"yes", "no"}}
	for name, test := range map[string]struct {
		question askahuman.Question
		answer   askahuman.Answer
		want     []string
	}{
		"a text":            {text, askahuman.Answer{Text: new("yes")}, nil},
		"text for a choice": {choice, askahuman.Answer{Text: new("yes")}, []string{"selected_option"}},
		"choice for a text": {text, askahuman.Answer{Option: new(0)}, []string{"answer"}},
		"option 0 of 2":     {choice, askahuman.Answer{Option: new(0)}, nil},
		"option 2 of 2":     {choice, askahuman.Answer{Option: new(2)}, []string{"selected_option"}},
	} {
		if diff := cmp.Diff(test.want, validatetest.Fields(t, test.answer.ValidateFor(test.question))); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", name, diff)
		}
	}
}

// A question is kept as it was asked, with the white space.
func TestQuestionIsAsAsked(t *testing.T) {
	t.Parallel()
	ask := askahuman.Ask{Prompt: " Which one? \n", Type: askahuman.TypeMultipleChoice, Options: []string{" a", "b "}}
	got := ask.WithDefaults().Question("agent", time.Now())
	if got.Prompt != ask.Prompt || !slices.Equal(got.Options, ask.Options) {
		t.Errorf("kept %q %q; want %q %q", got.Prompt, got.Options, ask.Prompt, ask.Options)
	}
}
