//go:build vendoring

package lingible

// These imports are never compiled: main packages cannot be imported. They make
// "go mod vendor" of an importer copy the handlers and all that they need, which
// it looks for under every build tag.
import (
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/accountcleaner"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/eventpublisher"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/exporter"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/lexiconseeder"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibleapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/profilecreator"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/revalidator"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/submissionvalidator"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/trendingjob"
	_ "github.com/onesynth-cdk/onesynth/lambdas/lingible/webpage"
)
