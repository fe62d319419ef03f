package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// TrendList has trends.
type TrendList struct {
	Trends []lingible.Trend `json:"trends" nullable:"false" doc:"The most popular first."`
}

type trendsInput struct {
	Limit      int                    `query:"limit" minimum:"1" maximum:"100" default:"10" doc:"How many to return at most. Users of the free tier get 10 at most."`
	Category   lingible.TrendCategory `query:"category" enum:",slang,phrase,expression,meme,hashtag" doc:"Only trends of this category. By default users of the free tier get slang, and premium users all."`
	ActiveOnly bool                   `query:"active_only" default:"true" doc:"false: also terms that are not in use."`
}

func (s *server) registerTrends() {
	httpapi.Serve(s.Server, httpapi.Operation{ID: "listTrends",
		Description: "Returns the terms that are in use, as of the last daily run. New terms have a score of 0 until " +
			"then.",
		Errors: []error{badQuery(), &lingible.SubscriptionError{What: "the category meme of trends"}},
	}, func(ctx context.Context, input *trendsInput) (TrendList, error) {
		trends, err := s.api.Service.Trends(ctx, callerFrom(ctx),
			lingible.TrendQuery{Category: input.Category, ActiveOnly: input.ActiveOnly, Limit: input.Limit})
		return TrendList{append([]lingible.Trend{}, trends...)}, err
	})
}
