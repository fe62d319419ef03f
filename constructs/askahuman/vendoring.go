//go:build vendoring

package askahuman

// These imports are never compiled: main packages cannot be imported. They make
// "go mod vendor" of an importer copy the handlers and all that they need, which
// it looks for under every build tag.
import (
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/agentapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/eventpublisher"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/humanapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/mcpapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/moderationapi"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/notifier"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/operatorpage"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhookqueuer"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooksender"
	_ "github.com/onesynth-cdk/onesynth/lambdas/askahuman/webpage"
)
