package gobuild

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a template says of a function is read as it was written.
func TestRecipe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Recipe{
		"OK":        {Module: "example.com/orders", Package: "lambdas/hello", Flags: Flags()},
		"Directory": {Module: "example.com/orders", Package: "hello", Flags: []string{"-trimpath"}, Directory: "../orders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, value := want.Metadata()
			text, err := json.Marshal(map[string]any{key: value, "aws:cdk:path": "stack/hello"})
			if err != nil {
				t.Fatal(err)
			}
			var metadata map[string]any
			if err := json.Unmarshal(text, &metadata); err != nil {
				t.Fatal(err)
			}
			got, ok, err := ReadRecipe(metadata)
			if err != nil || !ok {
				t.Fatalf("got %v, %v, want the recipe", ok, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadRecipeErr(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		metadata string
		err      string
	}{
		"None":          {`{}`, ""},
		"SomebodyElses": {`{"aws:cdk:path": "stack/hello", "onesynth": {"localPort": 8080}}`, ""},
		"ErrText":       {`{"onesynth": "build"}`, "Metadata.onesynth.build"},
		"ErrNoModule":   {`{"onesynth": {"build": {"package": "hello"}}}`, "no module"},
		"ErrNoPackage":  {`{"onesynth": {"build": {"module": "example.com/orders"}}}`, "relative to the module"},
		"ErrFlag":       {`{"onesynth": {"build": {"module": "example.com/orders", "package": "hello", "flags": ["std"]}}}`, "-name=value"},
		"ErrFlagModule": {`{"onesynth": {"build": {"module": "-mod=mod", "package": "hello"}}}`, "path of a Go module"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var metadata map[string]any
			if err := json.Unmarshal([]byte(test.metadata), &metadata); err != nil {
				t.Fatal(err)
			}
			_, ok, err := ReadRecipe(metadata)
			if ok || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, %v, want no recipe and an error with %q", ok, err, test.err)
			}
		})
	}
}
