package enginetest

import (
	_ "embed"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Sessions declares a table, with the name sessions, in CloudFormation's JSON: it has the keys of [Session], a stream,
// an index and a time to live.
//
//go:embed sessions.json
var Sessions string

// Put puts an item into a table.
func Put(t testing.TB, client *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()
	must.Get(client.PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String(table), Item: item}))(t)
}

// Session is an item with the keys id and part, a status, and the time to live ttl; nil: it has none.
func Session(id string, ttl types.AttributeValue) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		"id": &types.AttributeValueMemberS{Value: id}, "part": &types.AttributeValueMemberN{Value: "1"},
		"status": &types.AttributeValueMemberS{Value: "OPEN"},
	}
	if ttl != nil {
		item["ttl"] = ttl
	}
	return item
}

// Seconds is a time as a time to live has it.
func Seconds(at time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix(), 10)}
}
