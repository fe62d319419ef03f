package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// ErrTableDiffers reports a table that the engine has, as from an earlier run, and that the assembly now has in another
// way. Keys and local indexes of a table cannot be changed.
var ErrTableDiffers = errors.New("the engine's table differs from the assembly's: remove the data folder, or keep " +
	"the data of each design in a folder of its own; in an engine of your own, change the table")

// tableProperties are those of AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable that the engine takes.
type tableProperties struct {
	KeySchema              []types.KeySchemaElement
	AttributeDefinitions   []types.AttributeDefinition
	LocalSecondaryIndexes  []types.LocalSecondaryIndex
	GlobalSecondaryIndexes []struct {
		IndexName                          *string
		KeySchema                          []types.KeySchemaElement
		Projection                         *types.Projection
		ProvisionedThroughput              *types.ProvisionedThroughput
		WriteProvisionedThroughputSettings *writeSettings
	}
	BillingMode                        types.BillingMode
	ProvisionedThroughput              *types.ProvisionedThroughput
	WriteProvisionedThroughputSettings *writeSettings
	// Replicas in other regions are not made; what only AWS has, such as encryption, policies, insights and Kinesis
	// streams, is left out of all.
	Replicas                []replica
	StreamSpecification     *struct{ StreamViewType types.StreamViewType }
	TimeToLiveSpecification *struct {
		AttributeName string
		Enabled       bool
	}

	// region is that of the stack.
	region string
}

func readProperties(resource *assembly.Resource) (*tableProperties, error) {
	properties := &tableProperties{region: resource.Stack.Region}
	if err := resource.Decode(properties); err != nil {
		return nil, err
	}
	return properties, nil
}

type replica struct {
	Region                            string
	ReadProvisionedThroughputSettings *struct {
		ReadCapacityUnits               *int64
		ReadCapacityAutoScalingSettings *scaling
	}
}

type scaling struct{ MinCapacity, SeedCapacity int64 }

type writeSettings struct{ WriteCapacityAutoScalingSettings *scaling }

func (s *scaling) units() int64 {
	switch {
	case s == nil:
		return 1
	case s.SeedCapacity > 0:
		return s.SeedCapacity
	}
	return max(s.MinCapacity, 1)
}

// throughput is nil for on-demand tables. The engine reports provisioned capacity but does not enforce it.
func (p *tableProperties) throughput(given *types.ProvisionedThroughput,
	write *writeSettings) *types.ProvisionedThroughput {
	if p.billing() == types.BillingModePayPerRequest {
		return nil
	}
	if given != nil {
		return given
	}
	units := &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
	if write == nil {
		write = p.WriteProvisionedThroughputSettings
	}
	if write != nil {
		units.WriteCapacityUnits = aws.Int64(write.WriteCapacityAutoScalingSettings.units())
	}
	own := slices.IndexFunc(p.Replicas, func(r replica) bool { return r.Region == p.region })
	if own >= 0 && p.Replicas[own].ReadProvisionedThroughputSettings != nil {
		read := p.Replicas[own].ReadProvisionedThroughputSettings
		if units.ReadCapacityUnits = read.ReadCapacityUnits; units.ReadCapacityUnits == nil {
			units.ReadCapacityUnits = aws.Int64(read.ReadCapacityAutoScalingSettings.units())
		}
	}
	return units
}

// billing is PROVISIONED unless on-demand is asked for: CloudFormation's default.
func (p *tableProperties) billing() types.BillingMode {
	if p.BillingMode == "" {
		return types.BillingModeProvisioned
	}
	return p.BillingMode
}

func (p *tableProperties) input(name string) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName: aws.String(name), KeySchema: p.KeySchema, AttributeDefinitions: p.AttributeDefinitions,
		LocalSecondaryIndexes: p.LocalSecondaryIndexes, BillingMode: p.billing(),
		ProvisionedThroughput: p.throughput(p.ProvisionedThroughput, nil),
	}
	for _, index := range p.GlobalSecondaryIndexes {
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection,
			ProvisionedThroughput: p.throughput(index.ProvisionedThroughput, index.WriteProvisionedThroughputSettings),
		})
	}
	if p.StreamSpecification != nil {
		input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: p.StreamSpecification.StreamViewType}
	}
	return input
}

func eachTable(ctx context.Context, source *assembly.Assembly,
	create func(context.Context, *assembly.Resource, *dynamodb.CreateTableInput) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, resource := range source.Tables() {
		group.Go(func() error {
			properties, err := readProperties(resource)
			if err != nil {
				return err
			}
			if err := create(ctx, resource, properties.input(resource.Name)); err != nil {
				return fmt.Errorf("table %s: %w", resource, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// createTable alters a table that the engine has if progress is not nil. With keep, indexes and a stream that are not
// asked for stay.
func createTable(ctx context.Context, client *dynamodb.Client, input *dynamodb.CreateTableInput, existing, keep bool,
	progress func(string)) (made bool, err error) {
	_, err = client.CreateTable(ctx, input)
	var exists *types.ResourceInUseException
	kept := errors.As(err, &exists)
	if err != nil && !kept {
		return false, err
	}
	table, err := engine.Active(ctx, client, input.TableName)
	if err != nil || !kept {
		return err == nil, err
	}
	switch {
	case existing:
		table = needed(table, input)
	case progress != nil:
		if keep {
			input = withKept(table, input)
		}
		if table, err = alter(ctx, client, table, input, progress); err != nil {
			return false, err
		}
	}
	if got, want := shapeOf(table), shapeOfInput(input); got != want {
		return false, fmt.Errorf("%w: got %s, want %s", ErrTableDiffers, got, want)
	}
	return false, nil
}

// withKept is the input with the indexes of the table that it does not name, and with its stream if it asks for none.
func withKept(table *types.TableDescription, input *dynamodb.CreateTableInput) *dynamodb.CreateTableInput {
	all := *input
	all.GlobalSecondaryIndexes = slices.Clone(input.GlobalSecondaryIndexes)
	all.AttributeDefinitions = slices.Clone(input.AttributeDefinitions)
	for _, index := range table.GlobalSecondaryIndexes {
		if slices.ContainsFunc(input.GlobalSecondaryIndexes, func(asked types.GlobalSecondaryIndex) bool {
			return aws.ToString(asked.IndexName) == aws.ToString(index.IndexName)
		}) {
			continue
		}
		all.GlobalSecondaryIndexes = append(all.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection,
		})
		for _, attribute := range table.AttributeDefinitions {
			known := slices.ContainsFunc(all.AttributeDefinitions, func(other types.AttributeDefinition) bool {
				return aws.ToString(other.AttributeName) == aws.ToString(attribute.AttributeName)
			})
			if !known {
				all.AttributeDefinitions = append(all.AttributeDefinitions, attribute)
			}
		}
	}
	if all.StreamSpecification == nil && viewOf(table.StreamSpecification) != "" {
		all.StreamSpecification = table.StreamSpecification
	}
	return &all
}

// check returns why a table that the engine has could not become what the input asks for.
func check(ctx context.Context, client *dynamodb.Client, input *dynamodb.CreateTableInput) error {
	described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: input.TableName})
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		return nil
	}
	if err != nil {
		return err
	}
	fixed, declared := withoutChangeable(described.Table, input)
	if got, want := shapeOf(fixed), shapeOfInput(declared); got != want {
		return fmt.Errorf("%w: got %s, want %s", ErrTableDiffers, got, want)
	}
	return fits(ctx, client, input, newIndexes(described.Table, input))
}

// needed is the part of a table that the input asks for.
func needed(table *types.TableDescription, input *dynamodb.CreateTableInput) *types.TableDescription {
	part := &types.TableDescription{KeySchema: table.KeySchema, AttributeDefinitions: table.AttributeDefinitions}
	for _, index := range table.GlobalSecondaryIndexes {
		if slices.ContainsFunc(input.GlobalSecondaryIndexes, func(asked types.GlobalSecondaryIndex) bool {
			return aws.ToString(asked.IndexName) == aws.ToString(index.IndexName)
		}) {
			part.GlobalSecondaryIndexes = append(part.GlobalSecondaryIndexes, index)
		}
	}
	if input.StreamSpecification != nil {
		part.StreamSpecification = table.StreamSpecification
	}
	return part
}

// shapeOf writes down what decides whether kept data fits: keys, indexes and stream.
func shapeOf(table *types.TableDescription) string {
	attributes := kinds(table.AttributeDefinitions)
	var indexes []string
	for _, index := range table.GlobalSecondaryIndexes {
		indexes = append(indexes, shapeOfIndex(index.IndexName, index.KeySchema, index.Projection, attributes))
	}
	for _, index := range table.LocalSecondaryIndexes {
		indexes = append(indexes, shapeOfIndex(index.IndexName, index.KeySchema, index.Projection, attributes))
	}
	return shape(shapeOfKeys(table.KeySchema, attributes), indexes, table.StreamSpecification)
}

func shapeOfInput(input *dynamodb.CreateTableInput) string {
	attributes := kinds(input.AttributeDefinitions)
	var indexes []string
	for _, index := range input.GlobalSecondaryIndexes {
		indexes = append(indexes, shapeOfIndex(index.IndexName, index.KeySchema, index.Projection, attributes))
	}
	for _, index := range input.LocalSecondaryIndexes {
		indexes = append(indexes, shapeOfIndex(index.IndexName, index.KeySchema, index.Projection, attributes))
	}
	return shape(shapeOfKeys(input.KeySchema, attributes), indexes, input.StreamSpecification)
}

func shape(keys string, indexes []string, stream *types.StreamSpecification) string {
	view := ""
	if stream != nil && aws.ToBool(stream.StreamEnabled) {
		view = " stream " + string(stream.StreamViewType)
	}
	slices.Sort(indexes)
	return fmt.Sprintf("keys %s indexes %v%s", keys, indexes, view)
}

func shapeOfIndex(name *string, keys []types.KeySchemaElement, projection *types.Projection,
	attributes map[string]types.ScalarAttributeType) string {
	kind := types.ProjectionTypeAll
	var included []string
	if projection != nil {
		kind, included = projection.ProjectionType, slices.Sorted(slices.Values(projection.NonKeyAttributes))
	}
	return fmt.Sprintf("%s %s %s%v", aws.ToString(name), shapeOfKeys(keys, attributes), kind, included)
}

func shapeOfKeys(keys []types.KeySchemaElement, attributes map[string]types.ScalarAttributeType) string {
	var parts []string
	for _, key := range keys {
		name := aws.ToString(key.AttributeName)
		parts = append(parts, name+" "+string(attributes[name])+" "+string(key.KeyType))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// kinds are the types of a table's key attributes.
func kinds(attributes []types.AttributeDefinition) map[string]types.ScalarAttributeType {
	kinds := map[string]types.ScalarAttributeType{}
	for _, attribute := range attributes {
		kinds[aws.ToString(attribute.AttributeName)] = attribute.AttributeType
	}
	return kinds
}

// Design is what a table is, without what is in it.
type Design struct {
	Name string `json:"name"`
	ARN  string `json:"arn"`
	// LogicalID and Stack tell where the template declares it. LogicalID is empty for a table that exists.
	LogicalID string  `json:"logical_id"`
	Stack     string  `json:"stack"`
	Keys      []Key   `json:"keys"`
	Indexes   []Index `json:"indexes"`
	Billing   string  `json:"billing"`
	// Stream is the view type of the table's stream, or empty.
	Stream string `json:"stream,omitempty"`
	// TimeToLive is the attribute that the template names; the run's own sweeper, not the engine, deletes by it.
	TimeToLive string `json:"time_to_live,omitempty"`
}

// Table is a table as the engine describes it, with what only the template says of it.
type Table struct {
	Design
	Status string `json:"status"`
	Items  int64  `json:"items"`
}

// Key is an attribute of a key.
type Key struct {
	Attribute string `json:"attribute"`
	// Type is S, N or B; Role is HASH or RANGE.
	Type string `json:"type"`
	Role string `json:"role"`
}

// Index is a secondary index.
type Index struct {
	Name string `json:"name"`
	Keys []Key  `json:"keys"`
	// Projection is ALL, KEYS_ONLY or INCLUDE; Attributes are those that INCLUDE adds to the keys.
	Projection string   `json:"projection"`
	Attributes []string `json:"attributes,omitempty"`
	Status     string   `json:"status,omitempty"`
	Local      bool     `json:"local,omitempty"`
}

// describedAtOnce bounds the requests of DescribeTables.
const describedAtOnce = 8

// DescribeTables describes every table of the assembly, in the assembly's order.
func DescribeTables(ctx context.Context, client *dynamodb.Client, source *assembly.Assembly) ([]Table, error) {
	resources := source.Tables()
	tables := make([]Table, len(resources))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(describedAtOnce)
	for i, resource := range resources {
		group.Go(func() error {
			properties, err := readProperties(resource)
			if err != nil {
				return err
			}
			described, err := client.DescribeTable(ctx,
				&dynamodb.DescribeTableInput{TableName: aws.String(resource.Name)})
			if err != nil {
				return fmt.Errorf("describe %s: %w", resource, err)
			}
			tables[i] = Table{designOf(resource, properties, described.Table),
				string(described.Table.TableStatus), aws.ToInt64(described.Table.ItemCount)}
			return nil
		})
	}
	return tables, group.Wait()
}

// design describes a table as the assembly declares it, without asking the engine: to describe a table, that counts its
// items, which takes long if there are many.
func (p *tableProperties) design(resource *assembly.Resource) Design {
	input := p.input(resource.Name)
	described := &types.TableDescription{
		AttributeDefinitions: input.AttributeDefinitions, KeySchema: input.KeySchema,
		BillingModeSummary:  &types.BillingModeSummary{BillingMode: input.BillingMode},
		StreamSpecification: input.StreamSpecification,
	}
	for _, index := range input.GlobalSecondaryIndexes {
		described.GlobalSecondaryIndexes = append(described.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndexDescription{IndexName: index.IndexName, KeySchema: index.KeySchema,
				Projection: index.Projection})
	}
	for _, index := range input.LocalSecondaryIndexes {
		described.LocalSecondaryIndexes = append(described.LocalSecondaryIndexes,
			types.LocalSecondaryIndexDescription{IndexName: index.IndexName, KeySchema: index.KeySchema,
				Projection: index.Projection})
	}
	return designOf(resource, p, described)
}

func designOf(resource *assembly.Resource, properties *tableProperties, described *types.TableDescription) Design {
	attributes := map[string]string{}
	for _, attribute := range described.AttributeDefinitions {
		attributes[aws.ToString(attribute.AttributeName)] = string(attribute.AttributeType)
	}
	keys := func(schema []types.KeySchemaElement) (keys []Key) {
		for _, element := range schema {
			name := aws.ToString(element.AttributeName)
			keys = append(keys, Key{Attribute: name, Type: attributes[name], Role: string(element.KeyType)})
		}
		return keys
	}
	table := Design{
		Name: resource.Name, ARN: resource.ARN, LogicalID: resource.LogicalID, Stack: resource.Stack.Name,
		Keys: keys(described.KeySchema), Indexes: []Index{}, Billing: string(types.BillingModeProvisioned),
	}
	if described.BillingModeSummary != nil {
		table.Billing = string(described.BillingModeSummary.BillingMode)
	}
	if stream := described.StreamSpecification; stream != nil && aws.ToBool(stream.StreamEnabled) {
		table.Stream = string(stream.StreamViewType)
	}
	if ttl := properties.TimeToLiveSpecification; ttl != nil && ttl.Enabled {
		table.TimeToLive = ttl.AttributeName
	}
	add := func(name *string, schema []types.KeySchemaElement, projection *types.Projection, status string,
		local bool) {
		index := Index{Name: aws.ToString(name), Keys: keys(schema), Status: status, Local: local}
		if projection != nil {
			index.Projection, index.Attributes = string(projection.ProjectionType),
				slices.Sorted(slices.Values(projection.NonKeyAttributes))
		}
		table.Indexes = append(table.Indexes, index)
	}
	for _, index := range described.GlobalSecondaryIndexes {
		add(index.IndexName, index.KeySchema, index.Projection, string(index.IndexStatus), false)
	}
	for _, index := range described.LocalSecondaryIndexes {
		add(index.IndexName, index.KeySchema, index.Projection, "", true)
	}
	slices.SortFunc(table.Indexes, func(a, b Index) int { return strings.Compare(a.Name, b.Name) })
	return table
}
