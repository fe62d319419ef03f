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
	name, item := Added(record), map[string]string{}
	for i, attribute := range table.Key.Attributes() {
		item[attribute] = key[i]
	}
	marshalled, err := attributevalue.MarshalMap(item)
	if err != nil {
		tb.Fatal(err)
	}
	writes := 0
	set := func(ctx context.Context) error {
		value, err := attributevalue.Marshal(fmt.Sprint("version ", writes))
		if err == nil {
			_, err = t.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: aws.String(table.Name), Key: marshalled, UpdateExpression: aws.String("SET #a = :v"),
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
	err = change()
	t.Recorder.FaultsOf(nil, nil)
	if err != nil || writes == 0 {
		tb.Fatalf("the change of %s %v made %d writes: %v", record, key, writes, err)
	}
	read, err := t.Client.GetItem(tb.Context(), &dynamodb.GetItemInput{TableName: aws.String(table.Name),
		Key: marshalled, ConsistentRead: aws.Bool(true)})
	var got string
	if err == nil {
		err = attributevalue.Unmarshal(read.Item[name], &got)
	}
	if want := fmt.Sprint("version ", writes); err != nil || got != want {
		tb.Errorf("%s %v has %q, %v, want %q: the change lost what a team has added", record, key, got, err, want)
	}
	return got
}
