// Package ownership deletes and exports what a person owns, as the contract of a platform declares it ([schema.Owned]).
//
// A request begins a deletion by a write after which nothing can be added for the person. Then [Deletion.Erase] deals
// with one thing after the other. The tables themselves remember how far it has come: it may die at any point, several
// may do it at once, and another process goes on. [Eraser] is the function that goes on when the request could not.
package ownership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Deletion is the deletion of what a person owns.
type Deletion struct {
	// DB are the tables, as the function may use them.
	DB *dynamo.DB
	// Owned is that of the platform.
	Owned []schema.Owned
	// Person is the person's id.
	Person string
	// Hooks do what is of the kind [schema.HookOwned], by its name.
	Hooks map[string]func(context.Context) (complete bool, err error)
	// GoesOn, If and Keep are those of [dynamo.Erasure].
	GoesOn func(context.Context) error
	If     func(dynamo.Item) expression.ConditionBuilder
	Keep   func(dynamo.Item) bool
	// Limit bounds the items of one thing that one call deals with. Zero: the time alone does.
	Limit int
	// Anonymised counts the items that the person was taken out of. Nil: nothing counts.
	Anonymised *atomic.Int64
}

// Erase deals with what the person owns, one thing after the other, and reports whether all is done that was there when
// it began. If not, the context ends soon, or Limit is reached: call it again, in this process or in another one.
func (d Deletion) Erase(ctx context.Context) (complete bool, err error) {
	for _, owned := range d.Owned {
		if complete, err = d.erase(ctx, owned); err != nil {
			return false, fmt.Errorf("%s %s: %w", owned.Kind, owned.Name, err)
		}
		if !complete {
			return false, nil
		}
	}
	return true, nil
}

func (d Deletion) erase(ctx context.Context, owned schema.Owned) (complete bool, err error) {
	erasure := dynamo.Erasure{List: owned.List, Sort: owned.Sort, Delete: owned.Write, GoesOn: d.GoesOn, If: d.If,
		Keep: d.Keep, Limit: d.Limit}
	if owned.From != "" {
		erasure.Values = []any{owned.From}
	}
	switch owned.Kind {
	case schema.LeaveOwned:
		return true, nil
	case schema.HookOwned:
		hook, ok := d.Hooks[owned.Name]
		if !ok {
			return false, errors.New("no hook has this name: add one to Hooks")
		}
		return hook(ctx)
	case schema.AnonymiseOwned:
		erasure.Delete, erasure.Each = "", func(ctx context.Context, listed dynamo.Item) error {
			return d.anonymise(ctx, owned, listed)
		}
	case schema.DecrementOwned:
		erasure.Each = func(ctx context.Context, listed dynamo.Item) error {
			return d.decrement(ctx, owned, listed)
		}
	case schema.DeleteOwned:
		if owned.List == "" {
			return true, d.DB.Delete(ctx, owned.Write, []any{owned.Partition + d.Person}, expression.ConditionBuilder{})
		}
	}
	return d.DB.Erase(ctx, erasure, owned.Partition+d.Person)
}

// anonymise takes the person out of the item that a listed one names, if it is still the person's.
func (d Deletion) anonymise(ctx context.Context, owned schema.Owned, listed dynamo.Item) error {
	var update expression.UpdateBuilder
	for _, name := range owned.Fields {
		update = update.Remove(dynamo.Name(name))
	}
	own := dynamo.Equal(owned.Fields[0], d.Person)
	done, err := dynamo.Satisfied(d.DB.Update(ctx, owned.Write, owned.Key(d.Person, texts(listed)), update, own, nil))
	if done && d.Anonymised != nil {
		d.Anonymised.Add(1)
	}
	return err
}

// decrement takes the person out of the item that a listed one names, if that is there and counts the person.
func (d Deletion) decrement(ctx context.Context, owned schema.Owned, listed dynamo.Item) error {
	counter := owned.Counter
	update := expression.Add(dynamo.Name(counter.Name), expression.Value(-1)).Delete(dynamo.Name(counter.Members),
		expression.Value(&types.AttributeValueMemberSS{Value: []string{d.Person}}))
	_, err := dynamo.Satisfied(d.DB.Update(ctx, counter.Update, owned.Key(d.Person, texts(listed)), update,
		dynamo.Name(counter.Members).Contains(d.Person), nil))
	return err
}

func texts(item dynamo.Item) map[string]string {
	read := map[string]string{}
	for name := range item {
		read[name] = dynamo.Text(item, name)
	}
	return read
}

// Eraser is the function that goes on with deletions. The stream of a table tells it of them, or a queue by which the
// publisher of events passes changes on.
type Eraser[D comparable] struct {
	// Of returns the deletion that a change tells of. The zero value: it tells of none.
	Of func(change events.DynamoDBStreamRecord) (deletion D, err error)
	// Erase carries a deletion out, as far as the context leaves time.
	Erase func(ctx context.Context, deletion D) (complete bool, err error)
	// Batch has the queue of failures.
	Batch *trigger.Stream
	// Metrics get how many deletions are complete by the first of Names, and by the second, if there is one, how many
	// failed.
	Metrics *kit.Metrics
	Names   []string
}

// Handle carries out the deletions of a batch. One that fails holds up no other: people have nothing in common. One for
// which there was no time is delivered again.
func (e Eraser[D]) Handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	var erased, failed int
	response, err := e.Batch.Each(ctx, event, func(ctx context.Context, change events.DynamoDBStreamRecord) error {
		deletion, err := e.Of(change)
		if none := *new(D); err != nil || deletion == none {
			return err
		}
		complete, err := e.Erase(ctx, deletion)
		switch {
		case err != nil:
			failed++
		case complete:
			erased++
		default:
			err = trigger.ErrUnfinished
		}
		return err
	})
	var counts []kit.Metric
	for i, name := range e.Names {
		counts = append(counts, kit.Count(name, []int{erased, failed}[i]))
	}
	e.Metrics.Emit(ctx, counts...)
	return response, err
}

// List is a list of an export.
type List struct {
	// Prefix begins the cursors of the list, and those of no other. The first list has "".
	Prefix string
	// Read reads a page, from a cursor without the prefix on; "" is the beginning. next is "" after the last page.
	Read func(ctx context.Context, cursor string) (next string, err error)
}

// Export reads a page of what a person owns: list after list from the cursor on, until one goes on. next is the cursor
// of the next page, or "" after the last one.
func Export(ctx context.Context, cursor string, lists ...List) (next string, err error) {
	for i, list := range slices.Backward(lists) {
		from, ok := strings.CutPrefix(cursor, list.Prefix)
		if !ok {
			continue
		}
		for _, list := range lists[i:] {
			if next, err = list.Read(ctx, from); err != nil {
				return "", err
			}
			if next != "" {
				return list.Prefix + next, nil
			}
			from = ""
		}
		break
	}
	return "", nil
}
