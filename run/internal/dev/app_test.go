package dev

import (
	"fmt"
	"testing"
)

func TestGoRun(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go run .":                                     "[] [.] []",
		"go run -tags x . --all":                       "[-tags x] [.] [--all]",
		"go run -mod=mod ./cmd/app":                    "[-mod=mod] [./cmd/app] []",
		"go run example.com/app@v1 dev":                "[] [example.com/app@v1] [dev]",
		"go mod download && go run main.go other.go x": "[] [main.go other.go] [x]",
		"npx ts-node bin/app.ts":                       "[] [] []",
		"go run":                                       "[] [] []",
	} {
		flags, packages, arguments := goRun(command)
		if got := fmt.Sprint(flags, " ", packages, " ", arguments); got != want {
			t.Errorf("%s: got %s, want %s", command, got, want)
		}
	}
}
