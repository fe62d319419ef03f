package dynamo

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// MaxWrites limits the parts of a transaction ("Transactions", DynamoDB developer guide).
	MaxWrites = 100
	// eraseParallel is how many items are deleted at once. One partition key takes 1,000 writes a second.
	eraseParallel = 16
	// eraseReserve is how long before the end of its context an erasure stops: time for an
	// unanswered attempt and the next one.
	eraseReserve = kit.AttemptTimeout + time.Second
)

// Erasure says how to delete everything under a partition key, or what else to do with it.
type Erasure struct {
	// List is the pattern that reads the items: a Query by the partition key alone, of the table or of an index, that
	// returns the key of the table, or one with Values. Make it consistent: an index may lack a new item.
	List string
	// Values are those of List's further conditions, after the partition key. Nil: it has none.
	Values []any
	// Sort begins the sort keys of the items that are meant. Empty: all are.
	Sort string
	// Each runs before an item is deleted, and may stand for its deletion. Its error ends the erasure. Nil: none runs.
	Each func(context.Context, Item) error
	// Delete is the DeleteItem that deletes each item. Empty: Each deals with it alone.
	Delete string
	// Limit bounds the items under a partition key that one call deals with. Zero: the time alone does.
	Limit int
	// GoesOn runs after each page of List, before Erase deletes anything of the page. Its error ends the erasure, so
	// that items which somebody adds after the erasure stay. Nil: the erasure goes on.
	GoesOn func(context.Context) error
	// If returns a further condition for deleting an item, besides that it still exists. Nil: none.
	If func(Item) expression.ConditionBuilder
	// Keep says which items stay. Nil: none.
	Keep func(Item) bool
}

// Erase deletes what is under partition keys of a table. It reports whether all is gone that was there when it began.
// If not, the context ends in less than 3 seconds: call Erase again, in this process or in another one.
//
// The table itself remembers how far an erasure has come, because List no longer lists a deleted item. So a process may
// die at any point, and several may erase the same items. Make sure that something calls Erase again, such as a stream
// record that comes again until it is handled, and that nothing adds items meanwhile.
//
// Erase does not use BatchWriteItem, which IAM cannot allow to delete without allowing it to write. Nor does it use
// transactions, which cost twice as much and conflict if all check the same item.
func (db *DB) Erase(ctx context.Context, e Erasure, partitions ...any) (complete bool, err error) {
	list, err := db.pattern(e.List, schema.Query)
	if err != nil {
		return false, err
	}
	erasing, failed := errgroup.WithContext(ctx)
	erasing.SetLimit(eraseParallel)
	// What has begun ends before Erase does.
	defer func() { err = cmp.Or(erasing.Wait(), err); complete = complete && err == nil }()
	for _, partition := range partitions {
		begun := 0
		query := Query{Values: append([]any{partition}, e.Values...)}
		if e.Limit > 0 {
			query.PageSize = e.Limit + 1
		}
		for first := true; first || query.StartAfter != nil; first = false {
			page, err := db.Page(ctx, e.List, query)
			if err == nil && e.GoesOn != nil {
				err = e.GoesOn(ctx)
			}
			if err != nil {
				return false, err
			}
			for _, item := range page.Items {
				if !strings.HasPrefix(Text(item, list.table.Key.Sort), e.Sort) || e.Keep != nil && e.Keep(item) {
					continue
				}
				if kit.Ends(ctx, eraseReserve) || failed.Err() != nil || e.Limit > 0 && begun == e.Limit {
					return false, nil
				}
				begun++
				erasing.Go(func() error { return db.eraseItem(ctx, e, list.table, item) })
			}
			query.StartAfter = page.Next
		}
	}
	return !kit.Ends(ctx, eraseReserve), nil
}

func (db *DB) eraseItem(ctx context.Context, e Erasure, table schema.Table, item Item) error {
	if e.Each != nil {
		if err := e.Each(ctx, item); err != nil || e.Delete == "" {
			return err
		}
	}
	var key []any
	for _, name := range table.Key.Attributes() {
		key = append(key, item[name])
	}
	// DynamoDB Local tells the table's stream of a second removal, without an item, when two requests without a
	// condition delete one item at the same time.
	condition := expression.AttributeExists(Name(table.Key.Partition))
	if e.If != nil {
		condition = And(condition, e.If(item))
	}
	_, err := Satisfied(db.Delete(ctx, e.Delete, key, condition))
	return err
}

// Texts returns an item of text attributes, such as a key.
func Texts(attributes map[string]string) Item {
	item := make(Item, len(attributes))
	for name, text := range attributes {
		item[name] = &types.AttributeValueMemberS{Value: text}
	}
	return item
}

// Text returns a text attribute of an item, or "" if it is missing or has another type.
func Text(item Item, attribute string) string {
	text, _ := item[attribute].(*types.AttributeValueMemberS)
	if text == nil {
		return ""
	}
	return text.Value
}
