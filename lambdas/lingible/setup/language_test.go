package setup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/bedrock"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The environment decides between the model and the embedded language. Both have the lexicon of the
// exports.
func TestLanguage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		variables map[string]string
		want      any
		says      string
	}{
		"OK": {map[string]string{"EXPORTS_BUCKET": "exports"}, &language.Live{}, ""},
		"OKModel": {map[string]string{"EXPORTS_BUCKET": "exports", schema.ModelVariable: "nova"},
			&bedrock.Language{}, ""},
		"ErrNoBucket": {nil, nil, "EXPORTS_BUCKET"},
		"ErrGuardrail": {map[string]string{"EXPORTS_BUCKET": "exports", schema.ModelVariable: "nova",
			schema.GuardrailVariable: "g"},
			nil, schema.GuardrailVersionVariable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, lexicon, err := Language(kit.Environment{Getenv: func(name string) string {
				return test.variables[name]
			}}, nil)
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %q", err, test.says)
				}
				return
			}
			if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", test.want) || lexicon == nil || err != nil {
				t.Errorf("got %T, %v, %v", got, lexicon, err)
			}
		})
	}
}
