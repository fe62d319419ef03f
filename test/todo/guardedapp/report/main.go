// Command report is a function of a team's own, behind routes that a function or IAM guards.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/test/todo/guardedapp/own"
)

type report struct {
	Pending int `json:"pending" dynamodbav:"pending"`
	// Caller is who asks, Tier what the gate says of a partner, and Signer the name of a service.
	Caller string `json:"caller" dynamodbav:"-"`
	Tier   string `json:"tier" dynamodbav:"-"`
	Signer string `json:"signer" dynamodbav:"-"`
}

type ofUser struct {
	User string `path:"user_id" maxLength:"100"`
}

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := todo.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "report")
		if err != nil {
			return nil, err
		}
		count := func(ctx context.Context, user string) (counts report, err error) {
			_, err = db.Get(ctx, "GetTaskCounts", &counts, "COUNTS#"+user, "METADATA")
			invocation := kit.InvocationFrom(ctx)
			counts.Caller, counts.Signer = httpapi.CallerFrom(ctx).ID, invocation.Signer.ARN
			counts.Tier, _ = invocation.Context["tier"].(string)
			return counts, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log})
		httpapi.Serve(server, httpapi.Operation{ID: "partnerReport"},
			func(ctx context.Context, _ *struct{}) (report, error) { return count(ctx, httpapi.CallerFrom(ctx).ID) })
		httpapi.Serve(server, httpapi.Operation{ID: "serviceReport"},
			func(ctx context.Context, of *ofUser) (report, error) { return count(ctx, of.User) })
		httpapi.RegisterDocument(server, httpapi.Operation{ID: "readReports"}, server.Document)
		return server.Handler(), nil
	})
}
