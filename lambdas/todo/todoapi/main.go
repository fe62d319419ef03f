// Command todoapi is the Lambda function that serves all routes of To-Do.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func main() {
	kit.StartHTTP("todo", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		db, err := dynamo.Open(environment, todo.Platform(), "todoapi")
		if err != nil {
			return nil, err
		}
		cursorKey, err := dynamo.ReadCursorKey(ctx, environment)
		if err != nil {
			return nil, err
		}
		tasks := &service.Service{DB: db, CursorKey: cursorKey, Metrics: environment.Metrics}
		return api.Handler(tasks, httpapi.Config{Extra: db.Extra(), Log: environment.Log,
			Idempotency: httpapi.Idempotency{Keys: service.Keys(db)}}), nil
	})
}
