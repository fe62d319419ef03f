package intrinsic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// names knows one parameter and one attribute, and nothing else.
type names struct{}

var errUnknown = errors.New("unknown")

func (names) Ref(name, _ string) (any, error) {
	switch name {
	case "Stage":
		return "prod", nil
	case "Zones":
		return []any{"a", "b"}, nil
	}
	return nil, errUnknown
}

func (names) Attribute(id, attribute, _ string) (any, error) {
	if id == "Table" && attribute == "Arn" {
		return "arn:table", nil
	}
	return nil, errUnknown
}

func (names) Call(string, any, string) (any, error) { return nil, errUnknown }

func evaluator(partial bool) *intrinsic.Evaluator {
	return &intrinsic.Evaluator{
		Names: names{}, Partial: partial,
		Conditions: map[string]any{
			"IsProd":  map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "Stage"}, "prod"}},
			"Not":     map[string]any{"Fn::Not": []any{map[string]any{"Condition": "IsProd"}}},
			"Itself":  map[string]any{"Condition": "Itself"},
			"Unknown": map[string]any{"Fn::Equals": []any{map[string]any{"Ref": "Other"}, "x"}},
		},
		Mappings: map[string]map[string]map[string]any{"Sizes": {"prod": {"memory": json.Number("512")}}},
		Problem:  func(path, problem string) error { return fmt.Errorf("%s: %s", path, problem) },
	}
}

func parse(t *testing.T, text string) (value any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	must.OK(t, decoder.Decode(&value))
	return value
}

// Both ways evaluate what is known. What is unknown is a problem in one, and stays in the other.
func TestValue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ value, want, problem string }{
		"scalars": {`{"a": [1, true, null, "x"]}`, `{"a": [1, true, null, "x"]}`, ""},
		"join":    {`{"Fn::Join": ["-", ["a", {"Ref": "Stage"}, 1]]}`, `"a-prod-1"`, ""},
		"join unknown": {`{"Fn::Join": ["-", [{"Ref": "Stage"}, {"Ref": "Other"}]]}`,
			`{"Fn::Join": ["-", ["prod", {"Ref": "Other"}]]}`, "unknown"},
		"sub": {`{"Fn::Sub": ["${Stage}-${Table.Arn}-${x}-${!x}", {"x": {"Ref": "Stage"}}]}`,
			`"prod-arn:table-prod-${x}"`, ""},
		"sub unknown": {`{"Fn::Sub": "${Stage}-${Other}"}`, `{"Fn::Sub": "${Stage}-${Other}"}`, "unknown"},
		"select of split": {`{"Fn::Select": [1, {"Fn::Split": [":", {"Fn::GetAtt": ["Table", "Arn"]}]}]}`,
			`"table"`, ""},
		"select of list":    {`{"Fn::Select": ["1", {"Ref": "Zones"}]}`, `"b"`, ""},
		"attribute unknown": {`{"Fn::GetAtt": ["Queue", "Arn"]}`, `{"Fn::GetAtt": ["Queue", "Arn"]}`, "unknown"},
		"if": {
			`[{"Fn::If": ["IsProd", "a", {"Ref": "AWS::NoValue"}]}, {"Fn::If": ["Not", "a", {"Ref": "AWS::NoValue"}]}]`,
			`["a"]`, ""},
		"if unknown": {`{"Fn::If": ["Unknown", {"Ref": "Stage"}, "b"]}`,
			`{"Fn::If": ["Unknown", "prod", "b"]}`, "unknown"},
		"condition of none": {`{"Fn::If": ["Never", "a", "b"]}`, `{"Fn::If": ["Never", "a", "b"]}`,
			`Fn::If[0]: got "Never"`},
		"condition of self": {`{"Fn::If": ["Itself", "a", "b"]}`, `{"Fn::If": ["Itself", "a", "b"]}`,
			"depends on itself"},
		"mapping": {`{"Fn::FindInMap": ["Sizes", {"Ref": "Stage"}, "memory"]}`, `512`, ""},
		"no mapping": {`{"Fn::FindInMap": ["Sizes", "dev", "memory"]}`,
			`{"Fn::FindInMap": ["Sizes", "dev", "memory"]}`, "no such entry"},
		"cidr":              {`{"Fn::Cidr": ["10.0.0.0/16", 2, 8]}`, `["10.0.0.0/24", "10.0.1.0/24"]`, ""},
		"many blocks":       {`{"Fn::Cidr": ["10.0.0.0/16", 257, 8]}`, `{"Fn::Cidr": ["10.0.0.0/16", 257, 8]}`, "1 to"},
		"a large block":     {`{"Fn::Cidr": ["10.0.0.0/16", 1, 17]}`, `{"Fn::Cidr": ["10.0.0.0/16", 1, 17]}`, "1 to"},
		"property left out": {`{"a": {"Ref": "AWS::NoValue"}, "b": 1}`, `{"b": 1}`, ""},
		"beside other keys": {`{"Fn::Sub": "x", "b": {"Ref": "Stage"}}`, `{"Fn::Sub": "x", "b": "prod"}`,
			"stands alone"},
		"unknown function":    {`{"Fn::Length": [{"Ref": "Stage"}]}`, `{"Fn::Length": ["prod"]}`, "unknown"},
		"function of nothing": {`{"Fn::Split": {"Ref": "AWS::NoValue"}}`, `{}`, "write a list of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := parse(t, test.want)
			got, err := evaluator(true).Value(parse(t, test.value), "At")
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("partial: got %v, %v, want %v", got, err, want)
			}
			got, err = evaluator(false).Value(parse(t, test.value), "At")
			switch {
			case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
				t.Errorf("got %v, %v, want the problem %q", got, err, test.problem)
			case test.problem == "" && (err != nil || !reflect.DeepEqual(got, want)):
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

// Where everything is known, both ways agree; and no value, however deep and wrong, is a problem for the partial one.
func TestPartialAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := expression(t, 4)
		want, err := evaluator(false).Value(value, "")
		got, partialErr := evaluator(true).Value(value, "")
		if partialErr != nil || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: got %v, %v, want %v, %v", value, got, partialErr, want, err)
		}
	})
}

// An unknown expression is evaluated once at any depth: twice at each level would take exponential
// time.
func TestDepth(t *testing.T) {
	t.Parallel()
	value := any(map[string]any{"Ref": "Other"})
	for range 200 {
		value = map[string]any{"Fn::Join": []any{"", []any{value, map[string]any{"Ref": "Stage"}}}}
	}
	got, err := evaluator(true).Value(value, "")
	if text, _ := json.Marshal(got); err != nil || strings.Count(string(text), "prod") != 200 {
		t.Errorf("got %s, %v", text, err)
	}
}

func expression(t *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]any{"x", "a:b", json.Number("1"), true, nil, map[string]any{"Ref": "Stage"},
			map[string]any{"Ref": "Other"},
			map[string]any{"Ref": "AWS::NoValue"}, map[string]any{"Fn::GetAtt": []any{"Table", "Arn"}}}).Draw(t,
			"value")
	}
	list := func() []any {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return expression(t, depth-1) }), 0, 3).Draw(t,
			"list")
	}
	switch rapid.SampledFrom([]string{"list", "object", "join", "split", "select", "if", "sub", "any"}).Draw(t,
		"kind") {
	case "list":
		return list()
	case "object":
		return map[string]any{"a": expression(t, depth-1), "b": expression(t, depth-1)}
	case "join":
		return map[string]any{"Fn::Join": []any{",", list()}}
	case "split":
		return map[string]any{"Fn::Split": []any{":", expression(t, depth-1)}}
	case "select":
		return map[string]any{"Fn::Select": []any{json.Number("0"), list()}}
	case "if":
		return map[string]any{"Fn::If": []any{rapid.SampledFrom([]string{"IsProd", "Not", "Itself", "Unknown"}).Draw(t,
			"condition"), expression(t, depth-1), expression(t, depth-1)}}
	case "sub":
		return map[string]any{"Fn::Sub": []any{"${a}-${Stage}", map[string]any{"a": expression(t, depth-1)}}}
	}
	return map[string]any{rapid.SampledFrom(
		[]string{"Fn::Cidr", "Fn::FindInMap", "Fn::GetAtt", "Ref", "Fn::Length"}).Draw(t, "function"): list()}
}
