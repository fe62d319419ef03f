// Package todo checks To-Do from outside: over HTTP, through the assembly that would
// be deployed. Package platform says how.
//
// client_test.go has the client; each other file has one concern.
package todo

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

var suite = platform.Suite{Platform: todo.With(todo.Parts{Page: true}), Construct: "Todo",
	Errors: []any{todo.ErrorResponse{}, todo.InvalidResponse{}}}

func TestMain(m *testing.M) { suite.Main(m) }
