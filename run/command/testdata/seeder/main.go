// A function that loads the initial data of a platform, for the tests of the command.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
)

func main() {
	kit.StartResponder("links", func(_ context.Context,
		e kit.Environment) (func(context.Context, seed.Request) (seed.Progress, error), error) {
		client := dynamodb.NewFromConfig(e.AWS)
		var ids []string
		for i := range 60 {
			ids = append(ids, fmt.Sprintf("link-%02d", i))
		}
		return seed.Load(ids, func(ctx context.Context, id string) (bool, error) {
			_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: aws.String("links"), Item: map[string]types.AttributeValue{
					"id": &types.AttributeValueMemberS{Value: id}},
				ConditionExpression: aws.String("attribute_not_exists(id)"),
			})
			if _, there := errors.AsType[*types.ConditionalCheckFailedException](err); there {
				return false, nil
			}
			return err == nil, err
		}), nil
	})
}
