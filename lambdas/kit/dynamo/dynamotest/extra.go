package dynamotest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Team is the function that writes what [Extended] adds.
const Team = "team"

// Added returns the name of the text that [Extended] adds to a record, such as added_task.
func Added(record string) string { return "added_" + strings.ToLower(record) }

// Extended returns the platform as if a team had added the text [Added] to each of its records. The API shows the text
// where it has a form of the record.
func Extended(p schema.Platform) schema.Platform {
	var extra []schema.Extra
	for _, r := range p.Records {
		extra = append(extra, schema.Extra{Record: r.Name, Attributes: []schema.ExtraAttribute{{
			Attribute: schema.Attribute{Name: Added(r.Name), Type: schema.String,
				Description: "What a team adds"},
			MaxLength: 100, Writers: []string{Team}, Shown: r.Form != nil,
		}}})
	}
	return p.Extended(extra...)
}

// KeepsExtra checks that a change, which writes the record with that key, keeps the text that [Extended] added: whether
// it was there before, or came just before the write. It returns the record's text after the change. The change makes
// at least one write, and none to the attribute itself.
func (t *Tables) KeepsExtra(tb testing.TB, p schema.Platform, record string, key []string, change func() error) string {
	tb.Helper()
	r, _ := p.Record(record)
	table, _ := p.Database.Table(r.Table)
	name, values, writes := Added(record), []any{}, 0
	for _, part := range key {
		values = append(values, part)
	}
	set := func(ctx context.Context) error {
		value, err := attributevalue.Marshal(fmt.Sprint("version ", writes))
		if err == nil {
			_, err = t.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String(table.Name), Key: t.key(tb, table.Name, values),
				UpdateExpression:          aws.String("SET #a = :v"),
				ConditionExpression:       aws.String("attribute_exists(" + table.Key.Partition + ")"),
				ExpressionAttributeNames:  map[string]string{"#a": name},
				ExpressionAttributeValues: map[string]types.AttributeValue{":v": value},
			})
		}
		return err
	}
	if err := set(tb.Context()); err != nil {
		tb.Fatalf("the record %s %v: %v", record, key, err)
	}
	t.Recorder.FaultsOf(func(ctx context.Context, request Request) error {
		switch request.Action {
		case schema.PutItem, schema.UpdateItem, schema.TransactWriteItems:
			writes++
			return set(context.WithoutCancel(ctx))
		}
		return nil
	}, nil)
	err := change()
	t.Recorder.FaultsOf(nil, nil)
	if err != nil || writes == 0 {
		tb.Fatalf("the change of %s %v made %d writes: %v", record, key, writes, err)
	}
	got := dynamo.Text(t.Item(tb, table.Name, values...), name)
	if want := fmt.Sprint("version ", writes); got != want {
		tb.Errorf("%s %v has %q, want %q: the change lost what a team has added", record, key, got, want)
	}
	return got
}
