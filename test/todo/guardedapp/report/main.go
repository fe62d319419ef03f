// Command report is a function of a team's own, behind routes that a function or IAM guards.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/todo/guardedapp/own"
)

func main() {
	kit.StartHTTP("todo", func(_ context.Context, e kit.Environment) (*kit.API, error) {
		joined := todo.Platform().Join(own.Own())
		db, err := dynamo.Open(e, joined, "report")
		if err != nil {
			return nil, err
		}
		count := func(ctx context.Context, user string) (counts own.Report, err error) {
			_, err = db.Get(ctx, "GetTaskCounts", &counts, "COUNTS#"+user, "METADATA")
			invocation := kit.InvocationFrom(ctx)
			counts.Caller, counts.Signer = httpapi.CallerFrom(ctx).ID, invocation.Signer.ARN
			counts.Tier, _ = invocation.Context["tier"].(string)
			return counts, err
		}
		server := httpapi.New(httpapi.Config{Platform: joined, Log: e.Log})
		httpapi.Bind(server, own.PartnerReport,
			func(ctx context.Context, r httpapi.Request[schema.None, schema.None]) (own.Report, error) {
				return count(ctx, r.Caller.ID)
			})
		httpapi.Bind(server, own.ServiceReport,
			func(ctx context.Context, r httpapi.Request[own.UserParams, schema.None]) (own.Report, error) {
				return count(ctx, r.Params.User)
			})
		httpapi.BindDocument(server, own.ReadReports)
		return server.Handler(), nil
	})
}
