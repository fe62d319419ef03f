package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/recovery"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
)

// SweeperOptions change how expired items are deleted. The zero value is useful.
type SweeperOptions struct {
	// Interval is the time from the end of a walk to the next one. Default: 30 s; negative: only Sweep deletes.
	Interval time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets failures in the background. Default: none.
	Log *slog.Logger

	// watchers hear of deletions. Default: none does.
	watchers *watchers
}

// Sweeper deletes expired items of the tables that declare a time to live, as DynamoDB does: only Numbers count, they
// are seconds since 1970, and items that expired more than five years ago stay ("Using time to live (TTL) in DynamoDB",
// AWS). AWS takes up to days; walks over the tables find items of usual tables within a minute. It is safe for
// concurrent use.
type Sweeper struct {
	client  *dynamodb.Client
	options SweeperOptions
	tables  []sweptTable
}

type sweptTable struct {
	name, attribute string
	keys            []string
}

const (
	// oldest is how long after their expiry AWS still deletes items.
	oldest = 5 * 365 * 24 * time.Hour
	// walkPage is how many items a walk reads with one request. DynamoDB Local lets no write happen during a page of a
	// scan: it answers so small a one within some 5 ms, and a full one within up to a second.
	walkPage = 25
	// walkShare is which part of the engine's time a walk takes at most: one in so many.
	walkShare = 10
)

// NewSweeper makes a sweeper of the assembly's tables. Its requests go straight to the engine: they count for no
// function.
func NewSweeper(client *dynamodb.Client, source *assembly.Assembly, options SweeperOptions) (*Sweeper, error) {
	if options.Interval == 0 {
		options.Interval = 30 * time.Second
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.watchers == nil {
		options.watchers = &watchers{}
	}
	sweeper := &Sweeper{client: client, options: options}
	for _, resource := range source.Tables() {
		properties, err := readProperties(resource)
		if err != nil {
			return nil, err
		}
		ttl := properties.TimeToLiveSpecification
		if ttl == nil || !ttl.Enabled {
			continue
		}
		table := sweptTable{name: resource.Name, attribute: ttl.AttributeName}
		for _, key := range properties.KeySchema {
			table.keys = append(table.keys, aws.ToString(key.AttributeName))
		}
		sweeper.tables = append(sweeper.tables, table)
	}
	return sweeper, nil
}

// Run walks over the tables and deletes what has expired, until ctx ends. Failures are logged and do not end it. With a
// negative interval it returns at once.
func (s *Sweeper) Run(ctx context.Context) {
	if s.options.Interval < 0 || len(s.tables) == 0 {
		return
	}
	for {
		for _, table := range s.tables {
			err := recovery.Call(func() error {
				_, err := s.sweep(ctx, table, aws.Int32(walkPage), walkShare)
				return err
			})
			if err != nil && ctx.Err() == nil {
				s.options.Log.Error("delete expired items", "error", err)
			}
		}
		if !recovery.Wait(ctx, s.options.Interval) {
			return
		}
	}
}

// Sweep deletes what has expired in every table now, and returns how many items it deleted. It holds up writes
// meanwhile.
func (s *Sweeper) Sweep(ctx context.Context) (deleted int, err error) {
	for _, table := range s.tables {
		count, err := s.sweep(ctx, table, nil, 0)
		if deleted += count; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// sweep scans a table, and deletes the expired items of each page. limit is how many items a page has at most; nil is
// as many as the engine gives. After a page it rests that many times as long as the page took.
func (s *Sweeper) sweep(ctx context.Context, table sweptTable, limit *int32, rest int) (deleted int, err error) {
	projection, names := table.projection()
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{
		TableName: aws.String(table.name), ConsistentRead: aws.Bool(true), Limit: limit,
		ProjectionExpression: projection, ExpressionAttributeNames: names,
		FilterExpression: aws.String(expired), ExpressionAttributeValues: bounds(s.options.Now()),
	})
	for pages.HasMorePages() {
		began := time.Now()
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fmt.Errorf("find expired items of %s: %w", table.name, err)
		}
		for _, item := range page.Items {
			done, err := s.delete(ctx, table, table.keysOf(item))
			if err != nil {
				return deleted, fmt.Errorf("expired items of %s: %w", table.name, err)
			}
			if done {
				deleted++
			}
		}
		if rest > 0 && !recovery.Wait(ctx, time.Duration(rest)*time.Since(began)) {
			return deleted, ctx.Err()
		}
	}
	return deleted, nil
}

// expired is true of items that expired by :now, and no more than five years before. A comparison with a Number is
// false for every other type, so nothing else is deleted.
const expired = "#ttl <= :now AND #ttl > :old"

func bounds(now time.Time) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix(), 10)},
		":old": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(-oldest).Unix(), 10)},
	}
}

// delete deletes an item if it is still one that has expired, and reports whether it was.
func (s *Sweeper) delete(ctx context.Context, table sweptTable, key map[string]types.AttributeValue) (bool, error) {
	undo := s.options.watchers.announce(table.name, key)
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(table.name), Key: key, ConditionExpression: aws.String(expired),
		ExpressionAttributeNames:  map[string]string{"#ttl": table.attribute},
		ExpressionAttributeValues: bounds(s.options.Now()),
	})
	if err == nil {
		return true, nil
	}
	undo()
	if _, changed := errors.AsType[*types.ConditionalCheckFailedException](err); changed {
		return false, nil // it lives longer now, or is gone
	}
	return false, err
}

// projection is of what the sweeper has to know of an item.
func (t sweptTable) projection() (*string, map[string]string) {
	text, names := "#ttl", map[string]string{"#ttl": t.attribute}
	for i, key := range t.keys {
		if key == t.attribute {
			continue // a path may be asked for once
		}
		name := "#k" + strconv.Itoa(i)
		text += ", " + name
		names[name] = key
	}
	return &text, names
}

func (t sweptTable) keysOf(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{}
	for _, name := range t.keys {
		key[name] = item[name]
	}
	return key
}

// watchers are the readers of tables' streams, by table. The zero value has none. It is safe for concurrent use.
type watchers struct {
	mutex  sync.Mutex
	tables map[string][]*expiredKeys
}

// expiredKeys are keys that the sweeper deletes, for a reader of the table's stream: it must know a deletion by time to
// live from one by a program.
type expiredKeys struct {
	of    *watchers
	table string

	mutex sync.Mutex
	keys  map[string]int
}

// watch returns the table's expiredKeys from now on, until they are closed.
func (w *watchers) watch(table string) *expiredKeys {
	watcher := &expiredKeys{of: w, table: table, keys: map[string]int{}}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.tables == nil {
		w.tables = map[string][]*expiredKeys{}
	}
	w.tables[table] = append(w.tables[table], watcher)
	return watcher
}

func (e *expiredKeys) close() {
	e.of.mutex.Lock()
	defer e.of.mutex.Unlock()
	others := slices.Clone(e.of.tables[e.table])
	e.of.tables[e.table] = slices.DeleteFunc(others, func(other *expiredKeys) bool { return other == e })
}

// announce tells the table's watchers of a deletion before it is done, so that none reads its record first.
func (w *watchers) announce(table string, key map[string]types.AttributeValue) (undo func()) {
	w.mutex.Lock()
	all := w.tables[table]
	w.mutex.Unlock()
	name := keyName(plainKey(key))
	for _, watcher := range all {
		watcher.add(name, 1)
	}
	return func() {
		for _, watcher := range all {
			watcher.add(name, -1)
		}
	}
}

func (e *expiredKeys) add(name string, count int) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.keys[name]+count < 0 {
		return false
	}
	if e.keys[name] += count; e.keys[name] == 0 {
		delete(e.keys, name)
	}
	return true
}

// plainKey is a key in DynamoDB's JSON.
func plainKey(key map[string]types.AttributeValue) map[string]map[string]any {
	plain := map[string]map[string]any{}
	for name, value := range key {
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			plain[name] = map[string]any{"S": value.Value}
		case *types.AttributeValueMemberN:
			plain[name] = map[string]any{"N": value.Value}
		case *types.AttributeValueMemberB:
			plain[name] = map[string]any{"B": value.Value}
		}
	}
	return plain
}
