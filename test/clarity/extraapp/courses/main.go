// Command courses is a function of a team's own: it puts attempts into courses.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/clarity/extraapp/own"
)

func main() {
	kit.StartHTTP("clarity", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := clarity.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "courses")
		if err != nil {
			return nil, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log})
		httpapi.Bind(server, own.SetCourse,
			func(ctx context.Context, r httpapi.Request[own.AttemptParams, own.Course]) (schema.None, error) {
				return schema.None{}, dynamo.UnlessStale(db.Update(ctx, "SetCourse", []any{r.Params.ID},
					expression.Set(dynamo.Name("course"), expression.Value(r.Body.Course)),
					dynamo.Equal("userId", r.Caller.ID), nil))
			})
		return server.Handler(), nil
	})
}
