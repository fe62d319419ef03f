package askahuman_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// The contract is valid with the parts that props add, and without those that they leave out.
func TestPlatform(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string]askahuman.Parts{
		"Default": {}, "Whole": {AgentKeys: true, ShareOptions: true, OperatorPage: true},
		"Least": {WithoutMCP: true, WithoutModeration: true, WithoutWaiting: true, WithoutWebhooks: true,
			WithoutPage: true},
	} {
		if err := askahuman.With(parts).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
