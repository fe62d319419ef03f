package lambda

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/onesynth-cdk/onesynth/gobuild"
)

// Workplace builds functions of one module again and again, as their source changes.
type Workplace struct {
	*gobuild.Workshop
	// Packages are the functions' packages, relative to the module, by the functions' names.
	Packages map[string]string
	module   string
}

// OpenWorkplaces returns the workplaces of the functions that have a recipe. The folders are those whose Go modules may require the
// functions' modules; the workplaces may write into the folder scratch for as long as they are used.
func OpenWorkplaces(ctx context.Context, functions []Declared, folders []string, scratch string) ([]*Workplace, error) {
	var places []*Workplace
	for i, b := range builds(functions, folders, func(*Declared) (gobuild.Target, bool) { return gobuild.Host(), true }) {
		shop, err := gobuild.OpenWorkshop(ctx, b.source, filepath.Join(scratch, fmt.Sprint("module", i)))
		if err != nil {
			return nil, err
		}
		place := &Workplace{Workshop: shop, Packages: map[string]string{}, module: b.source.Module}
		for _, f := range b.functions {
			place.Packages[f.Name] = f.recipe.Package
		}
		places = append(places, place)
	}
	return places, nil
}

// Built reports whether the template says how the function is built.
func (d *Declared) Built() bool { return d.recipe != nil }

// Functions are the names of the functions by the import paths of their packages.
func (p *Workplace) Functions() map[string][]string {
	names := map[string][]string{}
	for name, folder := range p.Packages {
		at := path.Join(p.module, filepath.ToSlash(folder))
		names[at] = append(names[at], name)
		slices.Sort(names[at])
	}
	return names
}
