package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine"
)

// ErrUnfitItems reports a new index whose keys have another type in items that the table has. DynamoDB Local would
// never finish such an index, or would take the items into it; AWS does neither.
var ErrUnfitItems = errors.New("items of the table do not fit its new index: change or delete them in a run of the " +
	"former design, or remove the data folder")

// alter changes the global indexes and the stream of a kept table, one at a time, until they are as declared, and
// describes it then. It changes nothing when something else differs, or when items do not fit.
func alter(ctx context.Context, client *dynamodb.Client, table *types.TableDescription,
	input *dynamodb.CreateTableInput, progress func(string)) (*types.TableDescription, error) {
	had, wants := map[string]string{}, map[string]string{}
	attributes := kinds(table.AttributeDefinitions)
	for _, index := range table.GlobalSecondaryIndexes {
		had[aws.ToString(index.IndexName)] = shapeOfIndex(index.IndexName, index.KeySchema, index.Projection,
			attributes)
	}
	for _, index := range input.GlobalSecondaryIndexes {
		wants[aws.ToString(index.IndexName)] = shapeOfIndex(index.IndexName, index.KeySchema, index.Projection,
			kinds(input.AttributeDefinitions))
	}
	if fixed, declared := withoutChangeable(table, input); shapeOf(fixed) != shapeOfInput(declared) {
		return table, nil
	}
	added := newIndexes(table, input)
	if err := fits(ctx, client, input, added); err != nil {
		return nil, err
	}
	update := func(what string, change *dynamodb.UpdateTableInput) (err error) {
		progress(fmt.Sprintf("table %s: %s", aws.ToString(input.TableName), what))
		change.TableName = input.TableName
		if _, err := client.UpdateTable(ctx, change); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if table, err = engine.Active(ctx, client, input.TableName); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if had[name] == wants[name] {
			continue
		}
		if err := update("removes index "+name, &dynamodb.UpdateTableInput{
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
				{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &name}}},
		}); err != nil {
			return nil, err
		}
	}
	for _, index := range added {
		create := &types.CreateGlobalSecondaryIndexAction{
			IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection,
			ProvisionedThroughput: index.ProvisionedThroughput,
		}
		// The kept table may have another billing mode, which an index has to have too.
		if billing := table.BillingModeSummary; billing != nil &&
			billing.BillingMode == types.BillingModePayPerRequest {
			create.ProvisionedThroughput = nil
		} else if create.ProvisionedThroughput == nil {
			create.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1),
				WriteCapacityUnits: aws.Int64(1)}
		}
		items := strconv.FormatInt(aws.ToInt64(table.ItemCount), 10)
		if err := update("adds index "+aws.ToString(index.IndexName)+" to "+items+" items", &dynamodb.UpdateTableInput{
			AttributeDefinitions:        definitions(input, index.KeySchema),
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}},
		}); err != nil {
			return nil, err
		}
	}
	streamed, want := viewOf(table.StreamSpecification), viewOf(input.StreamSpecification)
	if streamed != want && streamed != "" {
		if err := update("ends its stream of "+streamed,
			&dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{
				StreamEnabled: aws.Bool(false)}}); err != nil {
			return nil, err
		}
	}
	if streamed != want && want != "" {
		if err := update("begins a stream of "+want,
			&dynamodb.UpdateTableInput{StreamSpecification: input.StreamSpecification}); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// withoutChangeable leaves out what alter can change: global indexes and the stream.
func withoutChangeable(table *types.TableDescription, input *dynamodb.CreateTableInput) (*types.TableDescription,
	*dynamodb.CreateTableInput) {
	fixed, declared := *table, *input
	fixed.GlobalSecondaryIndexes, declared.GlobalSecondaryIndexes = nil, nil
	fixed.StreamSpecification, declared.StreamSpecification = nil, nil
	return &fixed, &declared
}

// newIndexes are the global indexes of the input that the table does not have like that.
func newIndexes(table *types.TableDescription, input *dynamodb.CreateTableInput) (added []types.GlobalSecondaryIndex) {
	had, attributes := map[string]string{}, kinds(table.AttributeDefinitions)
	for _, index := range table.GlobalSecondaryIndexes {
		had[aws.ToString(index.IndexName)] = shapeOfIndex(index.IndexName, index.KeySchema, index.Projection,
			attributes)
	}
	for _, index := range input.GlobalSecondaryIndexes {
		if had[aws.ToString(index.IndexName)] != shapeOfIndex(index.IndexName, index.KeySchema, index.Projection,
			kinds(input.AttributeDefinitions)) {
			added = append(added, index)
		}
	}
	return added
}

func viewOf(stream *types.StreamSpecification) string {
	if stream == nil || !aws.ToBool(stream.StreamEnabled) {
		return ""
	}
	return string(stream.StreamViewType)
}

// definitions are those of the attributes of a key.
func definitions(input *dynamodb.CreateTableInput, key []types.KeySchemaElement) (defined []types.AttributeDefinition) {
	for _, attribute := range input.AttributeDefinitions {
		if slices.ContainsFunc(key, func(e types.KeySchemaElement) bool {
			return aws.ToString(e.AttributeName) == aws.ToString(attribute.AttributeName)
		}) {
			defined = append(defined, attribute)
		}
	}
	return defined
}

// fits looks for an item that has a key of a new index as another type.
func fits(ctx context.Context, client *dynamodb.Client, input *dynamodb.CreateTableInput,
	added []types.GlobalSecondaryIndex) error {
	var schema []types.KeySchemaElement
	for _, index := range added {
		schema = append(schema, index.KeySchema...)
	}
	keys := definitions(input, schema)
	if len(keys) == 0 {
		return nil
	}
	var conditions, projected []string
	names, values := map[string]string{}, map[string]types.AttributeValue{}
	project := func(attribute *string) string {
		for name, known := range names {
			if known == aws.ToString(attribute) {
				return name
			}
		}
		name := "#a" + strconv.Itoa(len(names))
		names[name] = aws.ToString(attribute)
		projected = append(projected, name)
		return name
	}
	for i, key := range keys {
		name, value := project(key.AttributeName), ":t"+strconv.Itoa(i)
		values[value] = &types.AttributeValueMemberS{Value: string(key.AttributeType)}
		conditions = append(conditions, "(attribute_exists("+name+") AND NOT attribute_type("+name+", "+value+"))")
	}
	for _, element := range input.KeySchema {
		project(element.AttributeName)
	}
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
		TableName: input.TableName, FilterExpression: aws.String(strings.Join(conditions, " OR ")),
		ProjectionExpression:     aws.String(strings.Join(projected, ", ")),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("look for items that do not fit a new index: %w", err)
		}
		for _, item := range page.Items {
			for _, index := range added {
				for _, key := range definitions(input, index.KeySchema) {
					name := aws.ToString(key.AttributeName)
					if kind := kindOf(item[name]); kind != "" && kind != string(key.AttributeType) {
						own := map[string]types.AttributeValue{}
						for _, element := range input.KeySchema {
							own[aws.ToString(element.AttributeName)] = item[aws.ToString(element.AttributeName)]
						}
						return fmt.Errorf("%w: index %s has the key %s of type %s, and the item %s has it as %s",
							ErrUnfitItems, aws.ToString(index.IndexName), name, key.AttributeType,
							keyName(plainKey(own)), kind)
					}
				}
			}
		}
	}
	return nil
}

// kindOf is a value's type as DynamoDB writes it, empty for none.
func kindOf(value types.AttributeValue) string {
	if value == nil {
		return ""
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", value), "*types.AttributeValueMember")
}
