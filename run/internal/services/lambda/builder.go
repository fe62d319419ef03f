package lambda

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
)

// Builder builds functions of one module again and again, as their source changes.
type Builder struct {
	*gobuild.Workshop
	// Packages are the functions' packages, relative to the module, by the functions' names.
	Packages map[string]string
}

// OpenBuilders returns the builders of the functions that have a recipe. The folders are those whose Go modules may
// require the functions' modules; the builders may write into the folder scratch for as long as they are used.
func OpenBuilders(ctx context.Context, functions []Declared, folders []string, scratch string) ([]*Builder, error) {
	var builders []*Builder
	for i, b := range builds(functions, folders, func(*Declared) (gobuild.Target, bool) {
		return gobuild.Host(), true
	}) {
		shop, err := gobuild.OpenWorkshop(ctx, b.source, filepath.Join(scratch, fmt.Sprint("module", i)))
		if err != nil {
			return nil, err
		}
		builder := &Builder{Workshop: shop, Packages: map[string]string{}}
		for _, f := range b.functions {
			builder.Packages[f.Name] = f.recipe.Package
		}
		builders = append(builders, builder)
	}
	return builders, nil
}

// Built reports whether the template says how the function is built.
func (d *Declared) Built() bool { return d.recipe != nil }
