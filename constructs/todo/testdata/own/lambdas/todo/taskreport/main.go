// Command taskreport is a function of a team's own.
package main

import (
	"context"

	own "example.com/shortener/own/todo"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := todo.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "taskreport")
		if err != nil {
			return nil, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log})
		httpapi.Bind(server, own.Report,
			func(ctx context.Context, r httpapi.Request[schema.None, schema.None]) (counts own.Counts, err error) {
				_, err = db.Get(ctx, "GetTaskCounts", &counts, "COUNTS#"+r.Caller.ID, "METADATA")
				return counts, err
			})
		return server.Handler(), nil
	})
}
