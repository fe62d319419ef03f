package dynamodb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
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

// How many questions an agent may have open is a team's to choose.
func TestQuota(t *testing.T) {
	t.Parallel()
	store := dynamodb.New(dynamotest.Open(t, schema.AskAHuman().Database).DB, dynamodb.Shards{})
	store.Quota = 2
	for i, want := range []error{nil, nil, askahuman.ErrQuotaExceeded} {
		if err := store.CreateQuestion(t.Context(), newQuestion("agent", i)); !errors.Is(err, want) {
			t.Errorf("question %d: got %v; want %v", i+1, err, want)
		}
	}
}
