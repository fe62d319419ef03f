package lexicons

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Load returns the handler that loads the entries and the wrong answers.
func Load(s *service.Service) (seed.Handler, error) {
	initial, wrong, err := read(files)
	if err != nil {
		return nil, err
	}
	type item func(context.Context) (bool, error)
	var items []item
	for _, category := range lingible.Categories() {
		items = append(items, func(ctx context.Context) (bool, error) {
			return s.AddWrongAnswers(ctx, category, wrong[category])
		})
	}
	for _, entry := range initial {
		items = append(items, func(ctx context.Context) (bool, error) { return s.AddEntry(ctx, entry) })
	}
	return seed.Load(items, func(ctx context.Context, add item) (bool, error) { return add(ctx) }), nil
}
