package idempotency_test

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// A request is carried out once, and answered alike however often it comes.
func ExampleKeys_Begin() {
	ctx := context.Background()
	db, err := dynamo.Open(kit.Environment{AWS: aws.Config{Region: "eu-central-1"}, Getenv: os.Getenv},
		askahuman.Platform(), "agentapi")
	if err != nil {
		log.Fatal(err)
	}
	keys := idempotency.New(db, "Guards", func(scope, key string) []any {
		return []any{"IDEMPOTENCY#" + scope + "#" + key}
	})

	claim, replay, err := keys.Begin(ctx, "alice", "report", []byte(`{"title":"Write the report"}`), 0)
	switch {
	case err != nil:
		log.Fatal(err)
	case replay != nil:
		log.Println("as before:", replay.Status, string(replay.Body))
		return
	}
	// The work's transaction, made with idempotency.Transact, keeps the answer too.
	ctx = idempotency.WithClaim(ctx, claim, func(result any) (idempotency.Response, error) {
		return idempotency.Response{Status: 201, Body: []byte(result.(string))}, nil
	})
	_ = ctx
}
