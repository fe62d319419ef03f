package dynamo

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// MaxWrites is how many parts a transaction has at most ("Transactions", DynamoDB
	// developer guide).
	MaxWrites = 100
	// eraseParallel is how many items are deleted at once, each on its own, and transactionsParallel how many
	// transactions of items. One partition key takes 1,000 writes a second.
	eraseParallel, transactionsParallel = 16, 4
	// eraseReserve is how long before the end of its context an erasure stops: time for an
	// unanswered attempt and the next one.
	eraseReserve = kit.AttemptTimeout + time.Second
)

// Erasure says how everything under a partition key is deleted.
type Erasure struct {
	// List is the pattern that reads what is there: a Query by the partition key alone, of the
	// table or of an index, which returns the key of the table. Make it consistent: an index may
	// lack a new item.
	List string
	// Delete is the pattern that deletes. A DeleteItem deletes each item on its own. A
	// TransactWriteItems of Checks and a repeated DeleteItem costs twice as much, and deletes
	// nothing once a check fails.
	Delete string
	// Checks begin each transaction, such as the [Check] that the deletion still goes on.
	Checks []Write
	// Keep says which items stay. Nil: none.
	Keep func(Item) bool
}

// Erase deletes what is under partition keys of a table. It reports whether nothing is
// left of what was there when it began. If not, the context ends in less than 3 seconds:
// call it again, in this process or in another one.
//
// The table itself remembers how far an erasure has come, because a deleted item is not listed
// again. So a process may die at any point, and several may erase the same items. Make sure that
// something calls Erase again, such as a stream record that is retried until it is handled, and
// that nothing adds items meanwhile.
//
// Erase does not use BatchWriteItem, because IAM cannot allow it to delete without allowing it to
// write. Erase returns a [*TransactionError] when a check fails.
func (db *DB) Erase(ctx context.Context, e Erasure, partitions ...any) (complete bool, err error) {
	list, err := db.pattern(e.List, schema.Query)
	if err != nil {
		return false, err
	}
	most := MaxWrites - len(e.Checks)
	var erasing errgroup.Group
	erasing.SetLimit(1)
	if pattern, ok := db.accesses[e.Delete]; ok && pattern.Operation == schema.TransactWriteItems {
		erasing.SetLimit(transactionsParallel)
	}
	// What has begun ends before Erase does.
	defer func() { err = cmp.Or(erasing.Wait(), err); complete = complete && err == nil }()
	var keys [][]any
	for _, partition := range partitions {
		for item, err := range db.Items(ctx, e.List, Query{Values: []any{partition}, PageSize: most}) {
			if err != nil {
				return false, err
			}
			if e.Keep != nil && e.Keep(item) {
				continue
			}
			var key []any
			for _, name := range list.table.Key.Attributes() {
				key = append(key, item[name])
			}
			if keys = append(keys, key); len(keys) < most {
				continue
			}
			if ending(ctx) {
				return false, nil
			}
			full := keys
			erasing.Go(func() error { return db.eraseKeys(ctx, e, list.table, full) })
			keys = nil
		}
	}
	if ending(ctx) {
		return false, nil
	}
	erasing.Go(func() error { return db.eraseKeys(ctx, e, list.table, keys) })
	return true, nil
}

// eraseKeys deletes the items with these keys.
func (db *DB) eraseKeys(ctx context.Context, e Erasure, table schema.Table, keys [][]any) error {
	if len(keys) == 0 {
		return nil
	}
	if pattern, ok := db.accesses[e.Delete]; ok && pattern.Operation == schema.TransactWriteItems {
		writes := slices.Clone(e.Checks)
		for _, key := range keys {
			writes = append(writes, Delete(table.Name, key, expression.ConditionBuilder{}))
		}
		return db.Transact(ctx, e.Delete, writes...)
	}
	var group errgroup.Group
	group.SetLimit(eraseParallel)
	for _, key := range keys {
		group.Go(func() error { return db.Delete(ctx, e.Delete, key, expression.ConditionBuilder{}) })
	}
	return group.Wait()
}

// ending reports whether the context ends before another step could.
func ending(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < eraseReserve
}
