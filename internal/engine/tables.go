package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
)

// Active describes a table once it and its indexes can be used. DynamoDB Local can leave an index CREATING for ever:
// after a minute, and the time that its items take at the most, Active gives up.
func Active(ctx context.Context, client *dynamodb.Client, name *string) (*types.TableDescription, error) {
	for began := time.Now(); ; {
		described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
		if err != nil {
			return nil, err
		}
		table := described.Table
		waits := ""
		if table.TableStatus != types.TableStatusActive {
			waits = "the table is " + string(table.TableStatus)
		}
		for _, index := range table.GlobalSecondaryIndexes {
			if index.IndexStatus != types.IndexStatusActive {
				waits = fmt.Sprintf("its index %s is %s", aws.ToString(index.IndexName), index.IndexStatus)
			}
		}
		switch most := tableTimeout + time.Duration(aws.ToInt64(table.ItemCount))*itemTimeout; {
		case waits == "":
			return table, nil
		case time.Since(began) > most:
			return nil, fmt.Errorf("%s for %s: DynamoDB Local does not go on: start the run again, and if that does "+
				"not help, remove the data folder", waits, most.Round(time.Second))
		case !recovery.Wait(ctx, 50*time.Millisecond):
			return nil, fmt.Errorf("%s: %w", waits, ctx.Err())
		}
	}
}

// A change of a table fails after tableTimeout, and itemTimeout for each of its items.
const (
	tableTimeout = time.Minute
	itemTimeout  = 10 * time.Millisecond
)
