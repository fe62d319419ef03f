// Package ownershiptest finds what the deletion of a person has left in the tables of a platform.
package ownershiptest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Named returns the items of all tables that have the person's id in any attribute, with the name of the table first,
// but those that the platform says it leaves.
func Named(tb testing.TB, tables *dynamotest.Tables, platform schema.Platform, person string) (named []string) {
	tb.Helper()
	for _, table := range platform.Database.Tables {
		for _, item := range tables.Stored(tb, table.Name) {
			var values map[string]any
			must.OK(tb, attributevalue.UnmarshalMap(item, &values))
			isLeft := slices.ContainsFunc(platform.Owned, func(o schema.Owned) bool {
				return o.Kind == schema.LeaveOwned && o.Table == table.Name &&
					strings.HasPrefix(dynamo.Text(item, table.Key.Partition), o.Partition)
			})
			if line := fmt.Sprint(values); !isLeft && strings.Contains(line, person) {
				named = append(named, table.Name+" "+line)
			}
		}
	}
	return named
}
