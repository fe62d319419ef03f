package dynamodb

// The engine's streams.

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// Stream is the stream of a table.
type Stream struct {
	// ARN is the engine's: a table whose stream ended and began again has another.
	ARN string

	engine           *engine.Engine
	accessKey, table string
	expired          *expiredKeys
}

// Shard is a part of a stream: it is read after its parent, if it has one.
type Shard struct {
	ID     string `json:"ShardId"`
	Parent string `json:"ParentShardId"`
}

// StreamPage are records of a shard. Iterator is for the next page, and End says that there is none.
type StreamPage struct {
	Records  []json.RawMessage
	Iterator string `json:"NextShardIterator"`
	End      bool   `json:"-"`
}

// MaxRecords is the most records of a page ("GetRecords", Amazon DynamoDB Streams API reference).
const MaxRecords = 1000

// Positions of iterators.
const (
	TrimHorizon = "TRIM_HORIZON"
	Latest      = "LATEST"
	AfterRecord = "AFTER_SEQUENCE_NUMBER"
	atRecord    = "AT_SEQUENCE_NUMBER"
)

// OpenStream opens the stream of a table, which must exist. Close ends it.
func (d *Databases) OpenStream(ctx context.Context, table *assembly.Resource) (*Stream, error) {
	for _, one := range d.all {
		if one.environment() != table.Stack.Environment() {
			continue
		}
		s := &Stream{engine: d.engine, accessKey: one.accessKey, table: table.Name}
		var described struct {
			Table struct{ LatestStreamArn string }
		}
		input := map[string]any{"TableName": table.Name}
		if err := s.call(ctx, "DynamoDB_20120810.DescribeTable", input, &described); err != nil {
			return nil, fmt.Errorf("stream of %s: %w", table, err)
		}
		if s.ARN = described.Table.LatestStreamArn; s.ARN == "" {
			return nil, fmt.Errorf("stream of %s: the engine's table has no stream", table)
		}
		s.expired = one.watchers.watch(table.Name)
		return s, nil
	}
	return nil, fmt.Errorf("stream of %s: %w", table, ErrNoTable)
}

// Close ends what Expired knows.
func (s *Stream) Close() { s.expired.close() }

// call makes one request to the engine. The JSON of records passes as it is: it is what functions get.
func (s *Stream) call(ctx context.Context, target string, input, output any) error {
	return s.engine.Call(ctx, s.accessKey, target, input, output)
}

// Shards are all shards of the stream.
func (s *Stream) Shards(ctx context.Context) (all []Shard, err error) {
	start := ""
	for {
		input := map[string]any{"StreamArn": s.ARN}
		if start != "" {
			input["ExclusiveStartShardId"] = start
		}
		var described struct {
			StreamDescription struct {
				Shards               []Shard
				LastEvaluatedShardId string
			}
		}
		if err := s.call(ctx, "DynamoDBStreams_20120810.DescribeStream", input, &described); err != nil {
			return nil, err
		}
		all = append(all, described.StreamDescription.Shards...)
		if start = described.StreamDescription.LastEvaluatedShardId; start == "" {
			return all, nil
		}
	}
}

// Iterator returns an iterator for a position in a shard, such as AfterRecord with a sequence number.
func (s *Stream) Iterator(ctx context.Context, shard, position, sequence string) (string, error) {
	input := map[string]any{"StreamArn": s.ARN, "ShardId": shard, "ShardIteratorType": position}
	if len(sequence) > dayDigits {
		input["SequenceNumber"] = strings.Repeat("0", dayDigits) + sequence[dayDigits:]
	}
	var got struct{ ShardIterator string }
	err := s.call(ctx, "DynamoDBStreams_20120810.GetShardIterator", input, &got)
	return got.ShardIterator, err
}

// Records reads the records at an iterator.
func (s *Stream) Records(ctx context.Context, iterator string) (StreamPage, error) {
	return s.page(ctx, iterator, MaxRecords)
}

func (s *Stream) page(ctx context.Context, iterator string, limit int) (page StreamPage, err error) {
	input := map[string]any{"ShardIterator": iterator, "Limit": limit}
	err = s.call(ctx, "DynamoDBStreams_20120810.GetRecords", input, &page)
	if err != nil {
		return page, err
	}
	page.End = page.Iterator == ""
	for i, record := range page.Records {
		if page.Records[i], err = grown(record); err != nil {
			return page, fmt.Errorf("record of %s: %w", s.ARN, err)
		}
	}
	return page, nil
}

// dayDigits are the first of the digits of a sequence number, which DynamoDB Local leaves 0.
const dayDigits = 6

// grown is the record with a sequence number that is above those of all records before it, as on AWS: its day comes
// first. DynamoDB Local counts from 1 again when it has removed all records, at a start 30 hours after the last.
func grown(record json.RawMessage) (json.RawMessage, error) {
	var event struct {
		Change struct {
			SequenceNumber              string
			ApproximateCreationDateTime float64
		} `json:"dynamodb"`
	}
	if err := json.Unmarshal(record, &event); err != nil {
		return nil, err
	}
	number := event.Change.SequenceNumber
	day := int(event.Change.ApproximateCreationDateTime / (24 * time.Hour).Seconds())
	member := func(number string) []byte { return []byte(`"SequenceNumber":"` + number + `"`) }
	// An attribute of that name has an object, and quotes within a text are escaped.
	if bytes.Count(record, member(number)) != 1 {
		return nil, fmt.Errorf("got no member SequenceNumber of %q", number)
	}
	return bytes.Replace(record, member(number),
		member(fmt.Sprintf("%0*d%s", dayDigits, day, number[min(dayDigits, len(number)):])), 1), nil
}

// Oldest reads the first records of a shard. The page of a shard without records has no iterator: where its first
// record will be is known when there is one. DynamoDB Local counts the changes of all tables in one sequence, and from
// 1 again after it has removed all: an iterator that it gives out before the first record may be behind it, or be
// refused.
func (s *Stream) Oldest(ctx context.Context, shard string) (StreamPage, error) {
	iterator, err := s.Iterator(ctx, shard, TrimHorizon, "")
	if err != nil {
		return StreamPage{}, err
	}
	page, err := s.Records(ctx, iterator)
	if engine.Trimmed(err) {
		return StreamPage{}, nil
	}
	if len(page.Records) == 0 {
		page.Iterator = ""
	}
	return page, err
}

// firstKey is the key of the item that begins a stream.
const firstKey = "onesynth: the first record of the stream"

// beginStream gives the stream of a table its first records, of an item that comes and goes, if it has none.
//
// DynamoDB Local keeps the records of all tables in one store, and looks for those of a table from its beginning: the
// first write to a table after 100,000 of others takes half a second, and so do all that follow. A table with a numeric
// partition key is left alone, as the number might be an item's.
func (d *Databases) beginStream(ctx context.Context, of *database, table *assembly.Resource,
	input *dynamodb.CreateTableInput) error {
	key := map[string]types.AttributeValue{}
	for _, part := range input.KeySchema {
		for _, attribute := range input.AttributeDefinitions {
			switch name := aws.ToString(attribute.AttributeName); {
			case name != aws.ToString(part.AttributeName):
			case attribute.AttributeType == types.ScalarAttributeTypeS:
				key[name] = &types.AttributeValueMemberS{Value: firstKey}
			case attribute.AttributeType == types.ScalarAttributeTypeB:
				key[name] = &types.AttributeValueMemberB{Value: []byte(firstKey)}
			case part.KeyType == types.KeyTypeRange:
				key[name] = &types.AttributeValueMemberN{Value: "0"}
			default:
				return nil
			}
		}
	}
	s, err := d.OpenStream(ctx, table)
	if err != nil {
		return err
	}
	defer s.Close()
	shards, err := s.Shards(ctx)
	if err != nil || len(shards) != 1 {
		return err
	}
	if oldest, err := s.Oldest(ctx, shards[0].ID); err != nil || len(oldest.Records) > 0 {
		return err
	}
	if _, err := of.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: input.TableName, Item: key}); err != nil {
		return fmt.Errorf("begin the stream of %s: %w", table, err)
	}
	if _, err = of.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: input.TableName, Key: key}); err != nil {
		return fmt.Errorf("begin the stream of %s: %w", table, err)
	}
	return nil
}

// BeginsStream reports whether a record is one of those with which a run begins a stream: nobody asked for them.
func BeginsStream(record json.RawMessage) bool {
	binary := base64.StdEncoding.EncodeToString([]byte(firstKey))
	if !bytes.Contains(record, []byte(firstKey)) && !bytes.Contains(record, []byte(binary)) {
		return false
	}
	var event struct {
		Change struct{ Keys map[string]map[string]string } `json:"dynamodb"`
	}
	if json.Unmarshal(record, &event) != nil {
		return false
	}
	for _, key := range event.Change.Keys {
		if key["S"] == firstKey || key["B"] == binary {
			return true
		}
	}
	return false
}

// Has reports whether the shard still has the record of a sequence number.
func (s *Stream) Has(ctx context.Context, shard, sequence string) (bool, error) {
	iterator, err := s.Iterator(ctx, shard, atRecord, sequence)
	if err != nil {
		return false, err
	}
	page, err := s.page(ctx, iterator, 1)
	if engine.Trimmed(err) {
		return false, nil
	}
	if err != nil || len(page.Records) == 0 {
		return false, err
	}
	var first struct {
		Change struct{ SequenceNumber string } `json:"dynamodb"`
	}
	if err := json.Unmarshal(page.Records[0], &first); err != nil {
		return false, fmt.Errorf("record of %s: %w", s.ARN, err)
	}
	return first.Change.SequenceNumber == sequence, nil
}

// Writes changes with each write to the table that the run knows of. The channel is closed at the next write to any.
func (s *Stream) Writes() (count uint64, next <-chan struct{}) {
	return s.engine.Writes(s.accessKey, s.table)
}

// Wake makes who waits for a write look again.
func (s *Stream) Wake() { s.engine.Wrote(s.accessKey, s.table) }

// Expired reports whether time to live has deleted an item since the stream was opened. It says so once for each time.
// The key is in DynamoDB's JSON.
func (s *Stream) Expired(key map[string]map[string]any) bool { return s.expired.add(keyName(key), -1) }

// keyName writes a key in one way, for any order of its attributes.
func keyName(key map[string]map[string]any) string {
	text, err := json.Marshal(key)
	if err != nil {
		return ""
	}
	return string(text)
}
