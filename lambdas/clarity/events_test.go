package clarity_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, clarity.Platform(), "../../docs/reference/events/clarity")
}
