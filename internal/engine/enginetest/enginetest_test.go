package enginetest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestEachClientHasItsOwnDatabase(t *testing.T) {
	t.Parallel()
	first, second := enginetest.Client(t), enginetest.Client(t)
	must.Get(first.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String("things"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	}))(t)
	for name, want := range map[*dynamodb.Client]int{first: 1, second: 0} {
		got := must.Get(name.ListTables(t.Context(), &dynamodb.ListTablesInput{}))(t)
		if len(got.TableNames) != want {
			t.Errorf("got tables %v, want %d", got.TableNames, want)
		}
	}
}
