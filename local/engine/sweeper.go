package engine

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
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/recovery"
)

// SweeperOptions change how expired items are deleted. The zero value is useful.
type SweeperOptions struct {
	// Interval is the time between two looks at what is due. Default: 5 s; negative: only Sweep deletes, and writes are not noted.
	Interval time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets failures in the background. Default: none.
	Log *slog.Logger
}

// Sweeper deletes expired items of the tables that declare a time to live, as DynamoDB does: only Numbers count, they are
// seconds since 1970, and items that expired more than five years ago stay ("Using time to live (TTL) in DynamoDB", AWS).
// Unlike AWS, which takes up to days, it deletes within seconds; of items that are due together, some 25 to 45 a second. It is safe for concurrent use.
//
// It never scans a table while others wait: DynamoDB Local lets no write happen during a page of a scan, which takes up to a
// second. Wrote notes what functions write, so Run knows when to look at which item. What was written in other ways, or by an
// earlier run, a slow walk of small pages finds.
type Sweeper struct {
	client  *dynamodb.Client
	options SweeperOptions
	tables  []sweptTable
	agenda  agenda

	mutex    sync.Mutex
	watchers map[string][]*expiries
}

type sweptTable struct {
	name, attribute string
	keys            []string
}

const (
	// oldest is how long after their expiry AWS still deletes items.
	oldest = 5 * 365 * 24 * time.Hour
	// batch is how many items one request reads. DynamoDB Local answers it within some 5 ms.
	batch = 25
	// share is which part of the engine's time the background takes at most: one in so many.
	share = 10
	// walks is the time from the end of a walk to the next one.
	walks = time.Minute
)

// NewSweeper makes a sweeper of the assembly's tables. Its requests go straight to the engine: they count for no function.
func NewSweeper(client *dynamodb.Client, source *assembly.Assembly, options SweeperOptions) (*Sweeper, error) {
	if options.Interval == 0 {
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

// succeed takes over from another sweeper which items to look at when, and who hears of deletions. The other one notes no more.
func (s *Sweeper) succeed(former *Sweeper) {
	places := map[int]int{}
	for i, table := range former.tables {
		if at := slices.IndexFunc(s.tables, func(t sweptTable) bool { return t.name == table.name }); at >= 0 {
			places[i] = at
		}
	}
	for _, item := range former.agenda.all() {
		if place, ok := places[item.table]; ok {
			s.note(place, item.key, item.at)
		}
	}
	former.mutex.Lock()
	defer former.mutex.Unlock()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for table, watchers := range former.watchers {
		for _, watcher := range watchers {
			if !slices.Contains(s.watchers[table], watcher) {
				s.watchers[table] = append(s.watchers[table], watcher)
			}
		}
	}
}

// Run deletes what expires until ctx ends. Failures are logged and do not end it. With a negative interval it returns at once.
func (s *Sweeper) Run(ctx context.Context) {
	if !s.tracks() {
		return
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			err := recovery.Call(func() error { s.walk(ctx); return nil })
			if err == nil {
				return
			}
			s.options.Log.Error("look for items that expire", "error", err)
			if !wait(ctx, walks) {
				return
			}
		}
	})
	for wait(ctx, s.options.Interval) {
		for {
			began := time.Now()
			looked := 0
			err := recovery.Call(func() (err error) {
				looked, _, err = s.look(ctx)
				return err
			})
			if err != nil && ctx.Err() == nil {
				s.options.Log.Error("delete expired items", "error", err)
			}
			if err != nil || looked == 0 || !wait(ctx, share*time.Since(began)) {
				break
			}
		}
	}
	group.Wait()
}

// tracks reports whether there is something to run for.
func (s *Sweeper) tracks() bool { return s.options.Interval > 0 && len(s.tables) > 0 }

func (s *Sweeper) note(table int, key string, at int64) {
	if s.tracks() {
		s.agenda.add(table, key, at)
	}
}

// walk notes when the items of all tables are due, slowly and again and again.
func (s *Sweeper) walk(ctx context.Context) {
	for {
		for i, table := range s.tables {
			pages := dynamodb.NewScanPaginator(s.client, s.scan(table, batch))
			for pages.HasMorePages() {
				began := time.Now()
				page, err := pages.NextPage(ctx)
				if err != nil {
					if ctx.Err() == nil {
						s.options.Log.Error("look for items that expire", "table", table.name, "error", err)
					}
					break
				}
				for _, item := range page.Items {
					if at, ok := expiry(item[table.attribute], s.options.Now()); ok {
						s.note(i, table.keyOf(item), at)
					}
				}
				if !wait(ctx, share*time.Since(began)) {
					return
				}
			}
		}
		if !wait(ctx, walks) {
			return
		}
	}
}

// scan reads keys and expiries of all items; limit 0 is as many a page as the engine gives.
func (s *Sweeper) scan(table sweptTable, limit int32) *dynamodb.ScanInput {
	projection, names := table.projection()
	input := &dynamodb.ScanInput{
		TableName: aws.String(table.name), ProjectionExpression: projection, ExpressionAttributeNames: names, ConsistentRead: aws.Bool(true),
	}
	if limit > 0 {
		input.Limit = aws.Int32(limit)
	}
	return input
}

// Sweep deletes what has expired in every table now, however it was written, and returns how many items it deleted.
// It scans the tables, and holds up writes meanwhile.
func (s *Sweeper) Sweep(ctx context.Context) (deleted int, err error) {
	for i, table := range s.tables {
		now := s.options.Now()
		input := s.scan(table, 0)
		input.FilterExpression, input.ExpressionAttributeValues = aws.String(expired), bounds(now)
		for pages := dynamodb.NewScanPaginator(s.client, input); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return deleted, fmt.Errorf("find expired items of %s: %w", table.name, err)
			}
			var keys []string
			for _, item := range page.Items {
				keys = append(keys, table.keyOf(item))
			}
			for part := range slices.Chunk(keys, batch) {
				count, err := s.lookAt(ctx, i, part, now)
				deleted += count
				if err != nil {
					return deleted, fmt.Errorf("expired items of %s: %w", table.name, err)
				}
			}
		}
	}
	return deleted, nil
}

// look reads the items of a batch that it is time to look at, deletes those of them that have expired, and notes when to look
// at the others.
func (s *Sweeper) look(ctx context.Context) (looked, deleted int, err error) {
	now := s.options.Now()
	due := s.agenda.due(now.Unix(), batch)
	if len(due) == 0 {
		return 0, 0, nil
	}
	var failures []error
	for i, table := range s.tables {
		var keys []string
		for _, entry := range due {
			if entry.table == i {
				keys = append(keys, entry.key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		count, err := s.lookAt(ctx, i, keys, now)
		deleted += count
		if invalid(err) && len(keys) > 1 {
			// One key is enough for the engine to refuse all.
			err = nil
			for _, key := range keys {
				count, failure := s.lookAt(ctx, i, []string{key}, now)
				deleted += count
				if failure != nil && !invalid(failure) {
					s.note(i, key, now.Unix())
				}
				err = errors.Join(err, failure)
			}
		} else if err != nil && !invalid(err) {
			for _, key := range keys {
				s.note(i, key, now.Unix())
			}
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("expired items of %s: %w", table.name, err))
		}
	}
	return len(due), deleted, errors.Join(failures...)
}

// invalid reports whether the engine called a request invalid, as it would again.
func invalid(err error) bool {
	refused, ok := errors.AsType[smithy.APIError](err)
	return ok && refused.ErrorCode() == "ValidationException"
}

// lookAt looks at items of one table, and logs keys that no item can have. After an error some of them may not have been looked at.
func (s *Sweeper) lookAt(ctx context.Context, index int, keys []string, now time.Time) (deleted int, err error) {
	table := s.tables[index]
	projection, names := table.projection()
	request := types.KeysAndAttributes{ProjectionExpression: projection, ExpressionAttributeNames: names, ConsistentRead: aws.Bool(true)}
	for _, key := range keys {
		values, err := keyValues(key)
		if err != nil {
			s.options.Log.Error("no item has the key", "table", table.name, "key", key, "error", err)
			continue
		}
		request.Keys = append(request.Keys, values)
	}
	if len(request.Keys) == 0 {
		return 0, nil
	}
	for asked := map[string]types.KeysAndAttributes{table.name: request}; len(asked) > 0; {
		read, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return deleted, err
		}
		for _, item := range read.Responses[table.name] {
			at, ok := expiry(item[table.attribute], now)
			switch {
			case !ok:
			case at > now.Unix():
				s.note(index, table.keyOf(item), at)
			default:
				done, err := s.delete(ctx, table, table.keysOf(item), now)
				if err != nil {
					return deleted, err
				}
				if done {
					deleted++
				} else {
					s.note(index, table.keyOf(item), now.Unix())
				}
			}
		}
		asked = read.UnprocessedKeys
	}
	return deleted, nil
}

// expired is true of items that expired by :now, and no more than five years before. A comparison with a Number is false for
// every other type, so nothing else is deleted.
const expired = "#ttl <= :now AND #ttl > :old"

func bounds(now time.Time) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":now": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Unix(), 10)},
		":old": &types.AttributeValueMemberN{Value: strconv.FormatInt(now.Add(-oldest).Unix(), 10)},
	}
}

// delete deletes an item if it is still one that has expired, and reports whether it was.
func (s *Sweeper) delete(ctx context.Context, table sweptTable, key map[string]types.AttributeValue, now time.Time) (bool, error) {
	undo := s.announce(table.name, key)
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: aws.String(table.name), Key: key, ConditionExpression: aws.String(expired),
		ExpressionAttributeNames: map[string]string{"#ttl": table.attribute}, ExpressionAttributeValues: bounds(now),
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

func (t sweptTable) keyOf(item map[string]types.AttributeValue) string {
	return agendaKey(plainKey(t.keysOf(item)))
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
