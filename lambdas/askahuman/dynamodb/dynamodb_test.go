package dynamodb_test

import (
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/storetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestStore(t *testing.T) {
	t.Parallel()
	for _, shards := range []dynamodb.Shards{{}, {Write: 2, Read: 5}} {
		t.Run(fmt.Sprintf("%+v", shards), func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Store {
				return dynamodb.New(dynamotest.Open(t, schema.AskAHuman().Database).DB, shards)
			})
		})
	}
}
