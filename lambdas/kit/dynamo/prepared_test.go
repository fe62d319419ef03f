package dynamo_test

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
)

var numberInKey = regexp.MustCompile(`"_at":{"N":"(\d+)"}`)

// echo answers with an item under each key.
func echo(_ context.Context, _, body string) (string, error) {
	return fmt.Sprintf(`{"Item":{"status":{"S":"kept"},%s}}`, numberInKey.FindString(body)), nil
}

// wrapped is a client that is not the SDK's own.
type wrapped struct{ *dynamodb.Client }

// The SDK's middlewares are made once for many calls of a pattern, one after the other or at once, and each call has
// its own answer. A client of another kind makes its calls as it does.
func TestCallsShareMiddlewares(t *testing.T) {
	t.Parallel()
	const callers, each = 4, 50
	for name, wrap := range map[string]func(*dynamodb.Client) dynamo.Client{
		"own":   func(c *dynamodb.Client) dynamo.Client { return c },
		"other": func(c *dynamodb.Client) dynamo.Client { return wrapped{c} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var made atomic.Int64
			client := dynamodb.New(dynamodb.Options{
				Region: "us-east-1", HTTPClient: dynamotest.Engine(echo),
				Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
				APIOptions: []func(*middleware.Stack) error{func(*middleware.Stack) error {
					made.Add(1)
					return nil
				}},
			})
			db := dynamotest.Through(t, wrap(client), notes())
			var calls sync.WaitGroup
			for caller := range callers {
				calls.Go(func() {
					for i := range each {
						var got note
						at := caller*each + i
						found, err := db.Get(t.Context(), "Get", &got, key(at)...)
						if !found || err != nil || got.At != at {
							t.Errorf("got %+v, %v, %v; want the note %d", got, found, err, at)
						}
					}
				})
			}
			calls.Wait()
			if got := made.Load(); name == "other" && got != callers*each || name == "own" && got > callers*each/2 {
				t.Errorf("middlewares were made %d times for %d calls", got, callers*each)
			}
		})
	}
}
