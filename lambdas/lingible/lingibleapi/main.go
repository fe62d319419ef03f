// Command lingibleapi is the Lambda function that serves all routes of Lingible.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartHTTP("lingible", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		users, store, err := setup.Users(environment, "lingibleapi")
		if err != nil {
			return nil, err
		}
		if store.CursorKey, err = cursor.ReadKey(ctx, environment); err != nil {
			return nil, err
		}
		language, lexicon, err := setup.Language(environment, store)
		if err != nil {
			return nil, err
		}
		moderation, err := setup.Moderation(environment, users, store, language)
		if err != nil {
			return nil, err
		}
		count := setup.Count(environment.Metrics)
		trends := &lingible.Trends{Users: users, Store: store, Lexicon: lexicon, Count: count, Log: environment.Log}
		routes := &api.API{
			Users:      users,
			Translator: &lingible.Translator{Users: users, Store: store, Language: language, Terms: trends, Count: count},
			Moderation: moderation, Trends: trends,
			Quiz: &lingible.Quiz{Users: users, Store: store, Lexicon: lexicon, Count: count},
			Keys: store.Keys(), Limiter: store.Limiter(), WorkTime: setup.WorkTime(environment), Log: environment.Log,
		}
		return routes.Handler(), nil
	})
}
