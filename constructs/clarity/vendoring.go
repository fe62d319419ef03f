//go:build vendoring

package clarity

// These imports are never compiled: main packages cannot be imported. They make
// "go mod vendor" of an importer copy the handlers and all that they need, which
// it looks for under every build tag.
import (
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/accounteraser"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/clarityapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/evaluator"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/eventpublisher"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/profiler"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarioseeder"
	_ "github.com/onesynth-cdk/onesynth/lambdas/clarity/webpage"
)
