package pattern_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/internal/pattern"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// instance is the event of "Creating Amazon EventBridge event patterns", with members of the other pages' examples.
const instance = `{
	"version": "0", "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718", "source": "aws.ec2", "account": "111122223333",
	"detail-type": "EC2 Instance State-change Notification", "time": "2017-12-22T18:43:48Z", "region": "us-west-1",
	"resources": ["arn:aws:ec2:us-west-1:123456789012:instance/i-1", "arn:aws:ec2:us-west-1:123456789012:instance/i-2"],
	"detail": {"instance-id": "i-1", "state": "terminated", "c-count": 5, "d-count": 3, "x-limit": 301.8,
		"sourceIPAddress": "10.0.0.33", "v6": "2001:db8::1", "FileName": "dir/a.PNG", "service": "EventBridge", "path": "a*b\\c",
		"none": null, "empty": "", "on": true, "account": 111122223333, "tags": [], "nested": {"deep": {"x": 1}}}}`

// employees is the event of "JSON Array Matching" (Event Ruler).
const employees = `{"employees": [[{"first": "John", "last": "Doe"}, {"first": "Anna", "last": "Smith"}],
	[{"first": "Peter", "last": "Jones", "age": 7}]], "scores": [1, 2]}`

// The examples of AWS's pages on event patterns, and what the pages say of them.
func TestPasses(t *testing.T) {
	t.Parallel()
	detail := func(pattern string) string { return `{"detail": {` + pattern + `}}` }
	for _, test := range []struct {
		pattern, event string
		want           bool
	}{
		// "Creating Amazon EventBridge event patterns".
		{`{"source": ["aws.ec2"], "detail-type": ["EC2 Instance State-change Notification"], "detail": {"state": ["terminated"]}}`,
			instance, true},
		{`{"source": ["aws.ec2"], "detail": {"state": ["running"]}}`, instance, false},
		{`{"source": ["aws.s3", "aws.ec2"]}`, instance, true},
		{`{"source": ["AWS.EC2"]}`, instance, false},
		{`{"missing": ["x"]}`, instance, false},
		{`{"detail": ["x"]}`, instance, false},
		{detail(`"nested": {"deep": {"x": [1]}}`), instance, true},
		{detail(`"nested.deep.x": [1]`), instance, true},
		{detail(`"nested": {"x": [1]}`), instance, false},
		// "Null values and empty strings".
		{detail(`"none": [null]`), instance, true},
		{detail(`"empty": [null]`), instance, false},
		{detail(`"empty": [""]`), instance, true},
		{detail(`"none": [""]`), instance, false},
		{detail(`"missing": [null]`), instance, false},
		{detail(`"on": [true]`), instance, true},
		{detail(`"on": ["true"]`), instance, false},
		// "Arrays": a non-empty intersection matches.
		{`{"resources": ["arn:aws:ec2:us-west-1:123456789012:instance/i-2", "other"]}`, instance, true},
		{`{"resources": ["other"]}`, instance, false},
		{`{"resources": [{"suffix": "/i-2"}]}`, instance, true},
		{detail(`"tags": ["x"]`), instance, false},
		{`{"employees": {"first": ["Anna"]}}`, employees, true},
		{`{"employees": {"first": ["Anna"], "last": ["Smith"]}}`, employees, true},
		{`{"employees": {"first": ["Anna"], "last": ["Jones"]}}`, employees, false},
		{`{"employees": {"first": ["Anna"], "age": [7]}}`, employees, false},
		{`{"employees": {"first": ["Peter"], "age": [7]}, "scores": [2]}`, employees, true},
		{`{"employees": {"last": ["Doe"], "age": [{"exists": false}]}}`, employees, false},
		{`{"employees": {"first": ["Anna"], "middle": [{"exists": false}]}}`, employees, true},
		{`{"scores": [{"anything-but": 1}]}`, employees, true},
		{`{"scores": [{"anything-but": [1, 2]}]}`, employees, false},
		// Numbers.
		{detail(`"c-count": [5]`), instance, true},
		{detail(`"c-count": [5.0]`), instance, true},
		{detail(`"c-count": ["5"]`), instance, false},
		{detail(`"account": [111122223333]`), instance, true},
		{detail(`"account": [111122223334]`), instance, false},
		{detail(`"account": [{"numeric": [">", 0]}]`), instance, false},
		{detail(`"c-count": [{"numeric": [">", 0, "<=", 5]}], "d-count": [{"numeric": ["<", 10]}], "x-limit": [{"numeric": ["=", 3.018e2]}]`),
			instance, true},
		{detail(`"c-count": [{"numeric": [">", 5]}]`), instance, false},
		{detail(`"c-count": [{"numeric": [">=", 5]}]`), instance, true},
		{detail(`"c-count": [{"numeric": ["<", 5]}]`), instance, false},
		{detail(`"c-count": [{"numeric": [">", 0, "<", 5]}]`), instance, false},
		{detail(`"state": [{"numeric": [">", 0]}]`), instance, false},
		// "Prefix matching" and "Suffix matching", also with equals-ignore-case.
		{`{"time": [{"prefix": "2017-12-22"}]}`, instance, true},
		{`{"time": [{"prefix": "2018"}]}`, instance, false},
		{detail(`"c-count": [{"prefix": "5"}]`), instance, false},
		{detail(`"service": [{"prefix": {"equals-ignore-case": "eventb"}}]`), instance, true},
		{detail(`"service": [{"prefix": {"equals-ignore-case": "ventb"}}]`), instance, false},
		{detail(`"FileName": [{"suffix": ".png"}]`), instance, false},
		{detail(`"FileName": [{"suffix": ".PNG"}]`), instance, true},
		{detail(`"FileName": [{"suffix": {"equals-ignore-case": ".png"}}]`), instance, true},
		{detail(`"service": [{"equals-ignore-case": "eventbridge"}]`), instance, true},
		{detail(`"service": [{"equals-ignore-case": "event"}]`), instance, false},
		// "Anything-but matching".
		{detail(`"state": [{"anything-but": "initializing"}]`), instance, true},
		{detail(`"state": [{"anything-but": "terminated"}]`), instance, false},
		{detail(`"x-limit": [{"anything-but": 123}]`), instance, true},
		{detail(`"x-limit": [{"anything-but": [100, 301.8]}]`), instance, false},
		{detail(`"state": [{"anything-but": ["stopped", "overloaded"]}]`), instance, true},
		{detail(`"state": [{"anything-but": ["stopped", "terminated"]}]`), instance, false},
		{detail(`"missing": [{"anything-but": ["stopped"]}]`), instance, false},
		{detail(`"c-count": [{"anything-but": "5"}]`), instance, true},
		{detail(`"state": [{"anything-but": {"prefix": "init"}}]`), instance, true},
		{detail(`"state": [{"anything-but": {"prefix": ["init", "term"]}}]`), instance, false},
		{detail(`"FileName": [{"anything-but": {"suffix": [".PNG", ".txt"]}}]`), instance, false},
		{detail(`"FileName": [{"anything-but": {"suffix": ".txt"}}]`), instance, true},
		{detail(`"state": [{"anything-but": {"equals-ignore-case": ["TERMINATED", "x"]}}]`), instance, false},
		{detail(`"FileName": [{"anything-but": {"wildcard": "*/lib/*"}}]`), instance, true},
		{detail(`"FileName": [{"anything-but": {"wildcard": ["*/lib/*", "dir/*"]}}]`), instance, false},
		// "IP address matching".
		{detail(`"sourceIPAddress": [{"cidr": "10.0.0.0/24"}]`), instance, true},
		{detail(`"sourceIPAddress": [{"cidr": "10.0.0.0/27"}]`), instance, false},
		{detail(`"v6": [{"cidr": "2001:db8::/32"}]`), instance, true},
		{detail(`"state": [{"cidr": "10.0.0.0/8"}]`), instance, false},
		// "Exists matching": of leaves alone.
		{detail(`"c-count": [{"exists": true}]`), instance, true},
		{detail(`"c-count": [{"exists": false}]`), instance, false},
		{detail(`"missing": [{"exists": false}]`), instance, true},
		{detail(`"nested": [{"exists": true}]`), instance, false},
		{detail(`"nested": [{"exists": false}]`), instance, true},
		{detail(`"missing": {"below": [{"exists": false}]}`), instance, true},
		{detail(`"none": [{"exists": true}]`), instance, true},
		{detail(`"missing": [{"exists": false}, "x"]`), instance, true},
		{detail(`"state": [{"exists": false}, "terminated"]`), instance, true},
		// "Matching using wildcards".
		{detail(`"FileName": [{"wildcard": "dir/*.PNG"}]`), instance, true},
		{detail(`"FileName": [{"wildcard": "dir/*.png"}]`), instance, false},
		{detail(`"FileName": [{"wildcard": "*"}]`), instance, true},
		{detail(`"FileName": [{"wildcard": "dir"}]`), instance, false},
		{detail(`"path": [{"wildcard": "a\\*b\\\\*"}]`), instance, true},
		{detail(`"path": [{"wildcard": "a\\*c*"}]`), instance, false},
		// "Complex example with multiple matching" with "$or" ("Or" of the operators' page, and of Event Ruler).
		{`{"time": [{"prefix": "2017-12-22"}], "detail": {"state": [{"anything-but": "initializing"}], "c-count": [{"numeric": [">", 0, "<=", 5]}], "d-count": [{"numeric": ["<", 10]}], "x-limit": [{"anything-but": [100, 200, 300]}]}}`,
			instance, true},
		{detail(`"$or": [{"c-count": [{"numeric": [">", 5]}]}, {"d-count": [{"numeric": ["<", 10]}]}]`), instance, true},
		{detail(`"$or": [{"c-count": [{"numeric": [">", 5]}]}, {"d-count": [{"numeric": [">", 10]}]}]`), instance, false},
		{`{"source": ["aws.ec2"], "$or": [{"region": ["eu-west-1"]}, {"region": ["us-west-1"], "account": ["111122223333"]}]}`,
			instance, true},
		{`{"source": ["aws.s3"], "$or": [{"region": ["eu-west-1"]}, {"region": ["us-west-1"]}]}`, instance, false},
		{`{"$or": [{"region": ["eu-west-1"], "$or": [{"source": ["aws.ec2"]}, {"source": ["aws.s3"]}]}, {"region": ["us-west-1"], "$or": [{"source": ["aws.s3"]}, {"detail": {"state": ["terminated"]}}]}]}`,
			instance, true},
		{`{"$or": [{"source": ["a"]}, {"source": ["aws.ec2"]}], "detail": {"$or": [{"state": ["b"]}, {"on": [false]}]}}`,
			instance, false},
	} {
		filter, err := pattern.New(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		if got, err := filter.Passes([]byte(test.event)); err != nil || got != test.want {
			t.Errorf("%s: got %v, %v, want %v", test.pattern, got, err, test.want)
		}
	}
}

// An event passes no filter, or one of several.
func TestSeveralPatterns(t *testing.T) {
	t.Parallel()
	for want, patterns := range map[bool][]string{
		true:  {`{"source": ["aws.s3"]}`, `{"source": ["aws.ec2"]}`},
		false: {`{"source": ["aws.s3"]}`, `{"source": ["aws.sqs"]}`},
	} {
		filter := must.Get(pattern.New(patterns...))(t)
		if got, err := filter.Passes([]byte(instance)); err != nil || got != want {
			t.Errorf("%q: got %v, %v", patterns, got, err)
		}
	}
	none, err := pattern.New()
	if got, failed := none.Passes([]byte(`{}`)); err != nil || failed != nil || !got {
		t.Errorf("without patterns: got %v, %v, %v", got, err, failed)
	}
	filter := must.Get(pattern.New(`{"a": [1]}`))(t)
	if _, err := filter.Passes([]byte(`[1]`)); err == nil {
		t.Error("an event that is no object: got no error")
	}
}

// AWS refuses these patterns, and so does a run.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	many := make([]string, 32)
	for i := range many {
		many[i] = fmt.Sprintf(`{"x%d": [1]}`, i)
	}
	branches := `"$or": [` + strings.Join(many, ",") + `]`
	for text, problem := range map[string]string{
		``:                                           "EOF",
		`[]`:                                         "cannot unmarshal",
		`{"a": ["x"]} {"b": ["y"]}`:                  "more than one",
		`{}`:                                         "empty object",
		`{"a": {}}`:                                  "empty object",
		`{"a": []}`:                                  "empty list",
		`{"a": "x"}`:                                 "write a list",
		`{"a": [["x"]]}`:                             "list within a list",
		`{"a": [{}]}`:                                "got 0 operators",
		`{"a": [{"prefix": "x", "suffix": ""}]}`:     "got 2 operators",
		`{"a": [{"contains": "x"}]}`:                 `operator "contains"`,
		`{"a": [{"exists": "true"}]}`:                "write true or false",
		`{"a": [{"prefix": 5}]}`:                     "write a text",
		`{"a": [{"prefix": {"suffix": "x"}}]}`:       "equals-ignore-case",
		`{"a": [{"equals-ignore-case": 1}]}`:         "write a text",
		`{"a": [{"cidr": "10.0.0.1"}]}`:              "range of addresses",
		`{"a": [{"wildcard": "a**b"}]}`:              "two in a row",
		`{"a": [{"wildcard": "a\\b"}]}`:              "backslash",
		`{"a": [{"wildcard": "a\\"}]}`:               "backslash",
		`{"a": [{"numeric": [">"]}]}`:                "numeric",
		`{"a": [{"numeric": ["=", "5"]}]}`:           "numeric",
		`{"a": [{"numeric": ["!", 5]}]}`:             "numeric",
		`{"a": [{"numeric": ["<", 5, ">", 1]}]}`:     "numeric",
		`{"a": [{"numeric": [">", 5, "<", 1]}]}`:     "numeric",
		`{"a": [{"numeric": ["=", 5000000001]}]}`:    "numeric",
		`{"a": [{"anything-but": []}]}`:              "empty list",
		`{"a": [{"anything-but": ["x", 1]}]}`:        "either texts or numbers",
		`{"a": [{"anything-but": null}]}`:            "write texts or numbers",
		`{"a": [{"anything-but": 111122223333}]}`:    "write a number from",
		`{"a": [{"anything-but": {"prefix": ""}}]}`:  "empty text",
		`{"a": [{"anything-but": {"cidr": "x"}}]}`:   "wildcard",
		`{"a": [{"anything-but": {"prefix": [1]}}]}`: "write a text",
		`{"$or": [{"a": ["x"]}]}`:                    "two or more",
		`{"$or": [{"a": ["x"]}, "y"]}`:               "write an object",
		`{"$or": [{"a": ["x"]}, {"prefix": ["y"]}]}`: "operator",
		`{"$or": {"a": ["x"]}, "b": []}`:             "empty list",
		`{"dynamodb": {"NewImage": {"n": {"N": [{"numeric": ["=", 1]}]}}}}`: "as text",
		`{` + branches + `, "detail": {` + branches + `}}`:                  "1000 combinations",
	} {
		if _, err := pattern.New(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q in it", text, err, problem)
		}
	}
}

// FuzzPasses reads any pattern, and matches any event by it: neither panics, and the decision stays the same.
func FuzzPasses(f *testing.F) {
	f.Add(`{"source": [{"prefix": "aws."}], "$or": [{"a": [1]}, {"b": [null]}]}`, instance)
	f.Add(`{"employees": {"first": ["Anna"], "last": [{"anything-but": {"suffix": "x"}}]}}`, employees)
	f.Add(`{"a": [{"wildcard": "*a\\*"}, {"cidr": "::/0"}, {"numeric": [">", 1]}, {"exists": false}]}`, `{"a": [[[]], {}]}`)
	f.Fuzz(func(t *testing.T, text, event string) {
		filter, err := pattern.New(text)
		if err != nil {
			return
		}
		first, err := filter.Passes([]byte(event))
		if second, again := filter.Passes([]byte(event)); first != second || (err == nil) != (again == nil) {
			t.Errorf("%s on %s: got %v, %v, and then %v, %v", text, event, first, err, second, again)
		}
	})
}

// FuzzWildcard compares with a regular expression.
func FuzzWildcard(f *testing.F) {
	f.Add("dir/*.png", "dir/a.png")
	f.Add("*a*a*", "aa")
	f.Add("aa*aa", "aaa")
	f.Fuzz(func(t *testing.T, wildcard, text string) {
		if strings.Contains(wildcard, `\`) || strings.Contains(wildcard, "**") || !utf8.ValidString(wildcard) ||
			!utf8.ValidString(text) {
			return
		}
		given := must.Get(json.Marshal(map[string]any{"a": []any{map[string]string{"wildcard": wildcard}}}))(t)
		event := must.Get(json.Marshal(map[string]string{"a": text}))(t)
		filter := must.Get(pattern.New(string(given)))(t)
		parts := strings.Split(wildcard, "*")
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(part)
		}
		want := regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(text)
		if got, err := filter.Passes(event); err != nil || got != want {
			t.Errorf("%q on %q: got %v, %v, want %v", wildcard, text, got, err, want)
		}
	})
}
