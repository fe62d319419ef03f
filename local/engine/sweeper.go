package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/local/assembly"
)

// SweeperOptions change how expired items are deleted. The zero value is useful.
type SweeperOptions struct {
	// Interval is the time between sweeps of a table. Default: 5 s. A table whose sweep takes long waits ten times as long as
	// that, so that sweeping never takes more than about a tenth of the engine.
	Interval time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets failures of sweeps in the background. Default: none.
	Log *slog.Logger
}

// Sweeper deletes expired items of the tables that declare a time to live, as DynamoDB does: only Numbers count, they are
// seconds since 1970, and items that expired more than five years ago stay ("Using time to live (TTL) in DynamoDB", AWS).
// Unlike AWS, which takes up to days, it deletes within seconds. It is safe for concurrent use.
type Sweeper struct {
	client  *dynamodb.Client
	options SweeperOptions
	tables  []sweptTable

	mutex    sync.Mutex
	watchers map[string][]*expiries
}

type sweptTable struct {
	name, attribute string
	keys            []string
}

// oldest is how long after their expiry AWS still deletes items.
const oldest = 5 * 365 * 24 * time.Hour

// NewSweeper makes a sweeper of the assembly's tables. Its requests go straight to the engine: they count for no function.
func NewSweeper(client *dynamodb.Client, source *assembly.Assembly, options SweeperOptions) (*Sweeper, error) {
	if options.Interval <= 0 {
		options.Interval = 5 * time.Second
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	sweeper := &Sweeper{client: client, options: options, watchers: map[string][]*expiries{}}
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

// Run sweeps until ctx ends. Failures are logged and do not end it.
func (s *Sweeper) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, table := range s.tables {
		group.Go(func() {
			wait := s.options.Interval
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				}
				started := time.Now()
				if _, err := s.sweep(ctx, table); err != nil && ctx.Err() == nil {
					s.options.Log.Error("delete expired items", "table", table.name, "error", err)
				}
				wait = max(s.options.Interval, 10*time.Since(started))
			}
		})
	}
	group.Wait()
}

// Sweep deletes what has expired in every table now, and returns how many items it deleted.
func (s *Sweeper) Sweep(ctx context.Context) (int, error) {
	deleted := 0
	var failures []error
	for _, table := range s.tables {
		count, err := s.sweep(ctx, table)
		deleted += count
		failures = append(failures, err)
	}
	return deleted, errors.Join(failures...)
}

func (s *Sweeper) sweep(ctx context.Context, table sweptTable) (int, error) {
	now := s.options.Now()
	names := map[string]string{"#ttl": table.attribute}
	values := map[string]types.AttributeValue{
		":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix(), 10)},
		":old": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(-oldest).Unix(), 10)},
	}
	// A comparison with a Number is false for every other type, so nothing else is deleted.
	const expired = "#ttl <= :now AND #ttl > :old"
	projection := ""
	filterNames := map[string]string{"#ttl": table.attribute}
	for i, key := range table.keys {
		name := "#k" + strconv.Itoa(i)
		filterNames[name] = key
		if projection != "" {
			projection += ", "
		}
		projection += name
	}
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{
		TableName: aws.String(table.name), FilterExpression: aws.String(expired), ProjectionExpression: aws.String(projection),
		ExpressionAttributeNames: filterNames, ExpressionAttributeValues: values, ConsistentRead: aws.Bool(true),
	})
	deleted := 0
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fmt.Errorf("find expired items of %s: %w", table.name, err)
		}
		var count sync.Mutex
		group, inner := errgroup.WithContext(ctx)
		group.SetLimit(4)
		for _, key := range page.Items {
			group.Go(func() error {
				undo := s.announce(table.name, key)
				_, err := s.client.DeleteItem(inner, &dynamodb.DeleteItemInput{
					TableName: aws.String(table.name), Key: key, ConditionExpression: aws.String(expired),
					ExpressionAttributeNames: names, ExpressionAttributeValues: values,
				})
				var changed *types.ConditionalCheckFailedException
				if errors.As(err, &changed) {
					undo()
					return nil // it lives longer now, or is gone
				}
				if err != nil {
					undo()
					return fmt.Errorf("delete an expired item of %s: %w", table.name, err)
				}
				count.Lock()
				deleted++
				count.Unlock()
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// expiries are keys that the sweeper deletes, for a reader of the table's stream: it must know a deletion by time to live from
// one by a program.
type expiries struct {
	mutex sync.Mutex
	keys  map[string]int
}

// watch returns the table's expiries from now on.
func (s *Sweeper) watch(table string) *expiries {
	watcher := &expiries{keys: map[string]int{}}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.watchers[table] = append(s.watchers[table], watcher)
	return watcher
}

// announce tells the table's watchers of a deletion before it is done, so that none reads its record first.
func (s *Sweeper) announce(table string, key map[string]types.AttributeValue) (undo func()) {
	s.mutex.Lock()
	watchers := s.watchers[table]
	s.mutex.Unlock()
	if len(watchers) == 0 {
		return func() {}
	}
	name := keyName(plainKey(key))
	for _, watcher := range watchers {
		watcher.add(name, 1)
	}
	return func() {
		for _, watcher := range watchers {
			watcher.add(name, -1)
		}
	}
}

func (e *expiries) add(name string, count int) bool {
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
