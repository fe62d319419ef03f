package lingible_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, lingible.Platform(), "../../docs/reference/events/lingible")
}
