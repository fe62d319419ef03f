package dev

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

func TestFind(t *testing.T) {
	t.Parallel()
	functions := []lambda.Declared{
		{Function: lambda.Function{Name: "stack-One", Label: "one"}},
		{Function: lambda.Function{Name: "stack-Two", Label: "two"}},
		{Function: lambda.Function{Name: "three", Label: "three"}},
	}
	for i, names := range [][]string{{"one", "stack-One"}, {"two", "stack-Two"}, {"three"}} {
		for _, name := range names {
			if got, err := Find(functions, name); err != nil || got != &functions[i] {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
	}
	if _, err := Find(functions, "One"); err == nil ||
		!strings.Contains(err.Error(),
			`got "One", which is not a function of the run: write one of one (stack-One), three, two (stack-Two)`) {
		t.Errorf("got %v", err)
	}
}
