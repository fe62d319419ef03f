package webapp_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
)

// No Retry-After makes a page wait for nothing, for ever, or for a time that no timer takes.
func TestRetryAfterOfAnyLength(t *testing.T) {
	t.Parallel()
	webapptest.Run(t, "testdata/problems.mjs", "modules/requests.js")
}
