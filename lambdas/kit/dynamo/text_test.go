package dynamo_test

import (
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func TestKeyTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"": {""}, "cafe": {"cafe"},
		"caf\u00e9":  {"caf\u00e9", "cafe\u0301"},
		"cafe\u0301": {"caf\u00e9", "cafe\u0301"}} {
		if got := dynamo.KeyTexts(text); !slices.Equal(got, want) || got[0] != dynamo.KeyText(text) {
			t.Errorf("%+q: got %+q, want %+q", text, got, want)
		}
	}
}
