package dynamodb

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// CreateTables creates the tables of the assembly that the engine lacks, and changes no other, as a run does in an
// engine that was given by URL.
func CreateTables(ctx context.Context, client *dynamodb.Client, source *assembly.Assembly) error {
	return CreateOrAlterTables(ctx, client, source, nil)
}

// CreateOrAlterTables creates the tables of the assembly and alters those that the engine has, as a run does in an
// engine of its own. Progress gets a line for each change, from several goroutines.
func CreateOrAlterTables(ctx context.Context, client *dynamodb.Client, source *assembly.Assembly,
	progress func(line string)) error {
	return eachTable(ctx, source, func(ctx context.Context, table *assembly.Resource,
		input *dynamodb.CreateTableInput) error {
		_, err := createTable(ctx, client, input, table.Existing, false, progress)
		return err
	})
}
