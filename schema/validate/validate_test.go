package validate_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// All that is wrong is said at once, for people and, by its rule, for programs.
func ExampleProblems() {
	var p validate.Problems
	p.Text("title", "Why", 5, 200)
	p.Number("limit", 500, 1, 100)
	p.Email("email", "ann")
	validate.OneOf(&p, "level", "hard", []string{"beginner", "advanced"})
	if !p.Date("due", "2026-02-30") {
		fmt.Println("there is no day")
	}
	err := p.Err()
	fmt.Println(err)
	if wrong, ok := errors.AsType[*validate.Error](err); ok {
		fmt.Println(wrong.Problems[1].Field, wrong.Problems[1].Constraint.Rule, *wrong.Problems[1].Constraint.Max)
	}
	// Output:
	// there is no day
	// title: has 3 characters; it needs 5 to 200; limit: is 500; allowed is 1 to 100; email: is "ann", which is not an email address, such as ada@example.com; level: is "hard"; allowed is beginner or advanced; due: is "2026-02-30"; a day is written YYYY-MM-DD, such as 2026-02-28
	// limit range 100
}

func TestRules(t *testing.T) {
	t.Parallel()
	type check func(*validate.Problems)
	text := func(value string, min int) check { return func(p *validate.Problems) { p.Text("f", value, min, 10) } }
	number := func(value int) check { return func(p *validate.Problems) { p.Number("f", value, 1, 2) } }
	count := func(n int) check { return func(p *validate.Problems) { p.Count("f", n, 1, 2) } }
	email := func(value string) check { return func(p *validate.Problems) { p.Email("f", value) } }
	date := func(value string) check { return func(p *validate.Problems) { p.Date("f", value) } }
	for name, test := range map[string]struct {
		check check
		want  string // "": all is well
	}{
		"OK":          {text(strings.Repeat("ß", 10), 1), ""},
		"OKEmpty":     {text("", 0), ""},
		"OKBlank":     {text(" ", 0), ""},
		"OKPadded":    {text("  abc  ", 3), ""},
		"OKLeast":     {number(1), ""},
		"OKMost":      {number(2), ""},
		"OKCount":     {count(1), ""},
		"OKEmail":     {email(strings.Repeat("a", 64) + "@example.com"), ""},
		"OKNoDate":    {date(""), ""},
		"OKFirstDate": {date("0001-01-01"), ""},
		"OKLastDate":  {date("9999-12-31"), ""},
		"ErrLong":     {text(strings.Repeat("ß", 11), 1), "f: has 11 characters; it needs 1 to 10"},
		"ErrEmpty":    {text("", 1), "f: is empty; it needs 1 to 10"},
		"ErrBlank":    {text(" \u200b\t", 1), "f: holds only white space; it needs 1 to 10"},
		"ErrPadded": {text("  ab  ", 3),
			"f: has 2 characters without the white space around it; it needs 3 to 10"},
		"ErrNUL":     {text("a\x00", 1), "f: contains the character NUL (U+0000), which is not text; leave it out"},
		"ErrUTF8":    {text("a\xff", 1), "f: is not valid UTF-8; send text"},
		"ErrLow":     {number(0), "f: is 0; allowed is 1 to 2"},
		"ErrHigh":    {number(3), "f: is 3; allowed is 1 to 2"},
		"ErrCount":   {count(3), "f: has 3 entries; it needs 1 to 2"},
		"ErrNoEmail": {email(""), "f: is empty; it needs an email address, such as ada@example.com"},
		"ErrLocalPart": {email(strings.Repeat("a", 65) + "@x.io"),
			`f: is "` + strings.Repeat("a", 40) + `"…, which is not an email address, such as ada@example.com`},
		"ErrLongAddress": {email(strings.Repeat("a", 250) + "@x.io"),
			"f: has 255 characters; at most 254 are allowed"},
		"ErrYearZero": {date("0000-01-01"),
			`f: is "0000-01-01"; a day is written YYYY-MM-DD, such as 2026-02-28`},
		"ErrTwo": {func(p *validate.Problems) {
			p.Number("f", 0, 1, 2)
			p.Add("g", validate.RuleConflict, "is %s", "odd")
		}, "f: is 0; allowed is 1 to 2; g: is odd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p validate.Problems
			test.check(&p)
			got := ""
			if err := p.Err(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}

func fields(err error) string {
	var names []string
	if wrong, ok := errors.AsType[*validate.Error](err); ok {
		for _, problem := range wrong.Problems {
			names = append(names, problem.Field)
		}
	}
	return strings.Join(names, " ")
}

// Package cron tests which names there are.
func TestTimezone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "UTC", "Asia/Tokyo"} {
		zone, err := validate.Timezone(name)
		if err != nil || name != "" && zone.String() != name {
			t.Errorf("%s: got %v, %v", name, zone, err)
		}
	}
	for _, name := range []string{"Local", "Mars/Olympus", "posixrules"} {
		_, err := validate.Timezone(name)
		if wrong, ok := errors.AsType[*validate.Error](err); !ok || wrong.Problems[0].Field != "X-Timezone" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What breaks a rule is worded from the rule, and a sentence has the field before it.
func TestSentence(t *testing.T) {
	t.Parallel()
	two, ten, none := 2, 10, 0
	type rule = validate.Constraint
	broken := func(c rule) validate.Problem { return validate.Broken("f", c) }
	for want, p := range map[string]validate.Problem{
		"f is 7; it must be a text": broken(rule{Rule: validate.RuleType, Type: "string", Got: 7.0}),
		"f is an object; it must be a list": broken(rule{Rule: validate.RuleType, Type: "array",
			Got: map[string]any{}}),
		"the body is null; it must be an object": validate.Broken("body",
			rule{Rule: validate.RuleType, Type: "object"}),
		"f has 1 character; it needs 2 to 10": broken(rule{Rule: validate.RuleLength, Min: &two, Max: &ten, Got: "a"}),
		"f has 1 character without the white space around it; it needs 2 to 10": broken(
			rule{Rule: validate.RuleLength, Min: &two, Max: &ten, Got: " a "}),
		"f holds only white space; it needs 2 to 10": broken(
			rule{Rule: validate.RuleLength, Min: &two, Max: &ten, Got: "   "}),
		"f is empty; it needs at least 2": broken(rule{Rule: validate.RuleLength, Min: &two, Got: []any{}}),
		"f has 11 entries; at most 10 are allowed": broken(
			rule{Rule: validate.RuleLength, Min: &none, Max: &ten, Got: 11}),
		"f is 1; allowed is 2 or more":   broken(rule{Rule: validate.RuleRange, Min: &two, Got: 1.0}),
		"f is 11; allowed is at most 10": broken(rule{Rule: validate.RuleRange, Max: &ten, Got: int64(11)}),
		`f is "x"; allowed is a, b or c`: broken(
			rule{Rule: validate.RuleEnum, Allowed: []string{"", "a", "b", "c"}, Got: "x"}),
		`f is "x"; allowed is a`:               broken(rule{Rule: validate.RuleEnum, Allowed: []string{"a"}, Got: "x"}),
		"f has an entry twice; give each once": broken(rule{Rule: validate.RuleUnique}),
		`f is "x"; it must be a UUID`:          broken(rule{Rule: validate.RuleFormat, Got: "x", Wanted: "a UUID"}),
		"the query cannot be read":             {Field: "query", Message: "cannot be read"},
		"the body is missing, but required":    validate.Broken("body", rule{Rule: validate.RuleRequired}),
		"x is not JSON":                        {Field: "body", Message: "x is not JSON"},
	} {
		if got := p.Sentence(); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}

// On the wire a field has no index, which the text and a member of its own have.
func TestWire(t *testing.T) {
	t.Parallel()
	one := 1
	for name, want := range map[string]validate.Problem{
		"title":             {Field: "title"},
		"options[1]":        {Field: "options", Index: &one},
		"answers[1].answer": {Field: "answers.answer", Index: &one},
		"a[1].b[2]":         {Field: "a.b", Index: &one},
		"a[b]":              {Field: "a[b]"},
	} {
		want.Message = "is wrong"
		err := validate.Errorf(name, "", "is wrong")
		var wrong *validate.Error
		if !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		if got := wrong.Wire(); len(got) != 1 || !reflect.DeepEqual(got[0], want) ||
			wrong.Error() != name+": is wrong" {
			t.Errorf("%s: got %+v and %q", name, got, wrong)
		}
	}
	if got := validate.Refused(413, "body", validate.Constraint{}, "it is too long"); got.Status != 413 ||
		got.Error() != "it is too long" || got.Problems[0].Field != "body" {
		t.Errorf("got %+v", got)
	}
}

// A text is blank if all of its characters are invisible, also those that Unicode calls letters, marks or symbols.
func TestInvisibleIsBlank(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, " \t\u00a0": true, "\u200b": true, "\u3164": true,
		"\u115f\u1160": true, "\uffa0": true, "\u2800": true, "\u034f": true, "\ufe0f": true, "\U000e0100": true,
		"a": false, "\u3164a": false, "नम": false, "가": false, "😀": false, "?": false} {
		if got := validate.IsBlank(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
