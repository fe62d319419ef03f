// Command projects is a function of a team's own: it serves the routes of projects.
package main

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/todo/extraapp/own"
)

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := todo.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "projects")
		if err != nil {
			return nil, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log})
		httpapi.Bind(server, own.SetProject,
			func(ctx context.Context, r httpapi.Request[own.TaskParams, own.Project]) (schema.None, error) {
				set := expression.Set(dynamo.Name("project"), expression.Value(r.Body.Project)).
					Set(dynamo.Name("estimate"), expression.Value(r.Body.Estimate))
				return schema.None{}, dynamo.Unless(db.Update(ctx, "SetProject",
					[]any{"TASK#" + r.Caller.ID, "TASK#" + r.Params.TaskID}, set,
					expression.ConditionBuilder{}, nil), todo.ErrTaskNotFound)
			})
		httpapi.Bind(server, own.ListProject,
			func(ctx context.Context, r httpapi.Request[own.ProjectParams, schema.None]) (found own.Titles, err error) {
				query := dynamo.Query{Values: []any{"TASK#" + r.Caller.ID, r.Params.Project}}
				for task, err := range dynamo.Read[todo.Task](ctx, db, "ListProject", query) {
					if err != nil {
						return found, err
					}
					found.Titles = append(found.Titles, task.Title)
				}
				slices.Sort(found.Titles)
				return found, nil
			})
		return server.Handler(), nil
	})
}
