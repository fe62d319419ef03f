package platform

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
)

// QueryLake lets Amazon Athena run a query of the stack's lake. It returns the first
// 999 rows, with NULL as an empty text.
func (p *Target) QueryLake(ctx context.Context, query string) ([][]string, error) {
	database, group := p.Outputs["LakeDatabaseName"], p.Outputs["LakeWorkGroupName"]
	started, err := p.athena.StartQueryExecution(ctx, &athena.StartQueryExecutionInput{
		QueryString: &query, WorkGroup: &group,
		QueryExecutionContext: &types.QueryExecutionContext{Database: &database},
	})
	if err != nil {
		return nil, fmt.Errorf("start the query %s: %w", query, err)
	}
	for state := types.QueryExecutionStateQueued; state != types.QueryExecutionStateSucceeded; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
		run, err := p.athena.GetQueryExecution(ctx,
			&athena.GetQueryExecutionInput{QueryExecutionId: started.QueryExecutionId})
		if err != nil {
			return nil, fmt.Errorf("look at the query %s: %w", query, err)
		}
		status := run.QueryExecution.Status
		state = status.State
		if state == types.QueryExecutionStateFailed || state == types.QueryExecutionStateCancelled {
			return nil, fmt.Errorf("the query %s: %s: %s", query, state, aws.ToString(status.StateChangeReason))
		}
	}
	results, err := p.athena.GetQueryResults(ctx,
		&athena.GetQueryResultsInput{QueryExecutionId: started.QueryExecutionId})
	if err != nil {
		return nil, fmt.Errorf("read what the query %s found: %w", query, err)
	}
	var rows [][]string
	for _, row := range results.ResultSet.Rows {
		values := make([]string, len(row.Data))
		for i, datum := range row.Data {
			values[i] = aws.ToString(datum.VarCharValue)
		}
		rows = append(rows, values)
	}
	// The first row has the names of the columns.
	return rows[min(1, len(rows)):], nil
}
