package main

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference"
)

// The schemas of all platforms are valid, with all parts that props add, and docs/reference/access-patterns shows them.
func TestAccessPatternReference(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		for _, described := range []schema.Platform{p.Schema, p.Whole} {
			if err := described.Validate(); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
		}
		reference.Compare(t, "access-patterns/"+p.Name()+".md", p.Whole.Document())
	}
}
