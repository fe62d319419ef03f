// Command notesapi is the Lambda function that serves the routes.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"example.com/notes/notes"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

type note struct {
	Author string `json:"-" dynamodbav:"author"`
	ID     string `json:"id" dynamodbav:"id"`
	Text   string `json:"text" dynamodbav:"text"`
}

type (
	addInput struct {
		Author string `path:"author"`
		Body   struct {
			Text string `json:"text" minLength:"1" maxLength:"1000"`
		}
	}
	addOutput struct{ Body note }
	listInput struct {
		Author string `path:"author"`
	}
	listOutput struct{ Body []note }
)

func main() {
	kit.StartHTTP("notes", func(_ context.Context, environment kit.Environment) (*kit.API, error) {
		db, err := dynamo.Open(environment, notes.Platform(), "notesapi")
		if err != nil {
			return nil, err
		}
		server := httpapi.New(httpapi.Config{Platform: notes.Platform(), Log: environment.Log})
		httpapi.Register(server, httpapi.Operation{ID: "addNote", Method: "POST", Path: "/authors/{author}/notes", Status: 201},
			func(ctx context.Context, input *addInput) (*addOutput, error) {
				added := note{Author: input.Author, ID: uuid.Must(uuid.NewV7()).String(), Text: input.Body.Text}
				return &addOutput{added}, db.Put(ctx, "AddNote", added, expression.ConditionBuilder{})
			})
		httpapi.Register(server, httpapi.Operation{ID: "listNotes", Method: "GET", Path: "/authors/{author}/notes"},
			func(ctx context.Context, input *listInput) (*listOutput, error) {
				page, err := db.Page(ctx, "ListNotes", dynamo.Query{Values: []any{input.Author}, PageSize: 100})
				if err != nil {
					return nil, err
				}
				output := &listOutput{Body: []note{}}
				return output, attributevalue.UnmarshalListOfMaps(page.Items, &output.Body)
			})
		return server.Handler(), nil
	})
}
