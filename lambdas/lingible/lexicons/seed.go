package lexicons

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// Store is the storage that [Load] needs. Each method stores something and reports true, or leaves
// what is there unchanged and reports false. After a lost answer it may report false for what it has
// stored.
type Store interface {
	AddEntry(ctx context.Context, entry lingible.Entry) (added bool, err error)
	AddWrongAnswers(ctx context.Context, category lingible.Category, answers []string) (added bool, err error)
}

// Load returns the handler that loads the entries and the wrong answers.
func Load(store Store) (func(context.Context, seed.Request) (seed.Progress, error), error) {
	initial, wrong, err := read(files)
	if err != nil {
		return nil, err
	}
	type item func(context.Context) (bool, error)
	var items []item
	for _, category := range lingible.Categories() {
		items = append(items, func(ctx context.Context) (bool, error) { return store.AddWrongAnswers(ctx, category, wrong[category]) })
	}
	for _, entry := range initial {
		items = append(items, func(ctx context.Context) (bool, error) { return store.AddEntry(ctx, entry) })
	}
	return seed.Load(items, func(ctx context.Context, add item) (bool, error) { return add(ctx) }), nil
}
