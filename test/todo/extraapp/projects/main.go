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

type setInput struct {
	TaskID string `path:"task_id"`
	Body   struct {
		Project  string  `json:"project" minLength:"1" maxLength:"50"`
		Estimate float64 `json:"estimate"`
	}
}

type listInput struct {
	Project string `path:"project"`
}

type list struct {
	Titles []string `json:"titles"`
}

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := todo.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "projects")
		if err != nil {
			return nil, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log, Callers: map[schema.Caller]httpapi.Identity{
			schema.CallerUser: httpapi.ByToken("userToken", "The user is the token's subject.")}})
		httpapi.Serve(server, httpapi.Operation{ID: "setProject", Status: 204},
			func(ctx context.Context, in *setInput) (any, error) {
				set := expression.Set(dynamo.Name("project"), expression.Value(in.Body.Project)).
					Set(dynamo.Name("estimate"), expression.Value(in.Body.Estimate))
				err = dynamo.Unless(db.Update(ctx, "SetProject",
					[]any{"TASK#" + httpapi.CallerFrom(ctx).ID, "TASK#" + in.TaskID}, set,
					expression.ConditionBuilder{}, nil), todo.ErrTaskNotFound)
				return nil, err
			})
		httpapi.Serve(server, httpapi.Operation{ID: "listProject"},
			func(ctx context.Context, in *listInput) (found list, err error) {
				query := dynamo.Query{Values: []any{"TASK#" + httpapi.CallerFrom(ctx).ID, in.Project}}
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
