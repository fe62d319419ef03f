//go:build vendoring

package todo

// These imports are never compiled: main packages cannot be imported. They make
// "go mod vendor" of an importer copy the handlers and all that they need, which
// it looks for under every build tag.
import (
	_ "github.com/onesynth-cdk/onesynth/lambdas/todo/eraser"
	_ "github.com/onesynth-cdk/onesynth/lambdas/todo/eventpublisher"
	_ "github.com/onesynth-cdk/onesynth/lambdas/todo/taskpage"
	_ "github.com/onesynth-cdk/onesynth/lambdas/todo/todoapi"
)
