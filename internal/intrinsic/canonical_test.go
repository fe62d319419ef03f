package intrinsic_test

import (
	"encoding/json"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/intrinsic"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"Fn::GetAtt": "A.Arn"}`:                                           `{"Fn::GetAtt":["A","Arn"]}`,
		`{"Fn::GetAtt": "A.Outputs.B"}`:                                     `{"Fn::GetAtt":["A","Outputs.B"]}`,
		`{"Fn::Sub": "https://${A}/${B.Arn}/${!C}"}`:                        `{"Fn::Join":["",["https://",{"Ref":"A"},"/",{"Fn::GetAtt":["B","Arn"]},"/${C}"]]}`,
		`{"Fn::Sub": ["${A}-${B}", {"A": "a"}]}`:                            `{"Fn::Join":["",["a-",{"Ref":"B"}]]}`,
		`{"Fn::Sub": "plain"}`:                                              `"plain"`,
		`{"Fn::Sub": "${A}"}`:                                               `{"Ref":"A"}`,
		`{"Fn::Sub": "${A"}`:                                                `{"Fn::Sub":"${A"}`,
		`{"Fn::Join": ["/", ["a", "b", {"Ref": "C"}]]}`:                     `{"Fn::Join":["",["a/b/",{"Ref":"C"}]]}`,
		`{"Fn::Join": ["", ["a", {"Fn::Sub": "b${C}d"}, "e"]]}`:             `{"Fn::Join":["",["ab",{"Ref":"C"},"de"]]}`,
		`{"Fn::Join": [",", {"Fn::GetAZs": ""}]}`:                           `{"Fn::Join":[",",{"Fn::GetAZs":""}]}`,
		`{"Name": [{"Fn::Join": ["", ["a", {"Ref": "B"}, {"Ref": "C"}]]}]}`: `{"Name":[{"Fn::Join":["",["a",{"Ref":"B"},{"Ref":"C"}]]}]}`,
	} {
		var parsed any
		must.OK(t, json.Unmarshal([]byte(value), &parsed))
		if got, err := json.Marshal(intrinsic.Canonical(parsed)); err != nil || string(got) != want {
			t.Errorf("%s: got %s, want %s", value, got, want)
		}
	}
}
