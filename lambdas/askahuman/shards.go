package askahuman

import (
	"cmp"
	"hash/fnv"
	"iter"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

// Shards is the number of partition keys over which the busiest index keys are spread:
// the statuses of questions, the questions that are due, and the leaderboards. One key
// takes 1,000 writes a second ("Best practices for designing and using partition
// keys effectively", DynamoDB). The zero value is one key, as in the origin.
//
// A key is value itself for one shard, and value#0, value#1, … for several. So a higher number
// includes the keys of every lower one, except value itself, which is always read. Stores whose
// Read is high enough can write with different numbers at the same time, so the number of a live
// table can change.
type Shards struct {
	// Write is the number of keys that are written; under 1 means 1.
	Write int
	// Read is the highest number with which any item in the table may have been
	// written; under Write means Write.
	Read int
}

// read is the highest number with which any item may have been written.
func (s Shards) read() int { return max(1, s.Write, s.Read) }

// key returns the key that a value is written under, for the item with an id.
func (s Shards) key(value, id string) string {
	if s.Write <= 1 {
		return value
	}
	hash := fnv.New32a()
	hash.Write([]byte(id))
	return numbered(value, int(hash.Sum32()%uint32(s.Write)))
}

// keys returns all keys that a value may have been written under.
func (s Shards) keys(value string) []string {
	keys := []string{value}
	if most := s.read(); most > 1 {
		for shard := range most {
			keys = append(keys, numbered(value, shard))
		}
	}
	return keys
}

// pageSize is how many items of each key to read at a time for limit items in total: twice each
// key's average share, so that one page is nearly always enough.
func (s Shards) pageSize(limit int) int {
	return min(limit, 2*limit/s.read()+spare)
}

const (
	// spare is how many items above the average a key with few may have.
	spare = 4
	// parallel is how many keys are read at once: more would cost more in connections than they
	// save.
	parallel = 32
)

func numbered(value string, shard int) string { return value + "#" + strconv.Itoa(shard) }

func unsharded(value string) string {
	value, _, _ = strings.Cut(value, "#")
	return value
}

// list is a query's items, in the order of its sort key.
type list = iter.Seq2[dynamo.Item, error]

// merge makes one list of several that are each sorted by an attribute. It reads each list only as
// far as the caller iterates, and ends after an error.
func merge(attribute string, descending bool, lists ...list) list {
	return func(yield func(dynamo.Item, error) bool) {
		type source struct {
			head dynamo.Item
			next func() (dynamo.Item, error, bool)
		}
		var sources []*source
		for _, l := range lists {
			next, stop := iter.Pull2(l)
			defer stop()
			sources = append(sources, &source{next: next})
		}
		advance := func(s *source) error {
			item, err, _ := s.next()
			s.head = item
			return err
		}
		var beginnings errgroup.Group
		beginnings.SetLimit(parallel)
		for _, s := range sources {
			beginnings.Go(func() error { return advance(s) })
		}
		if err := beginnings.Wait(); err != nil {
			yield(nil, err)
			return
		}
		for {
			var first *source
			for _, s := range sources {
				if s.head == nil {
					continue
				}
				if first != nil {
					order := compare(s.head[attribute], first.head[attribute])
					if order == 0 || order > 0 != descending {
						continue
					}
				}
				first = s
			}
			if first == nil || !yield(first.head, nil) {
				return
			}
			if err := advance(first); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// compare orders two values of a sort key, which are of one type.
func compare(a, b types.AttributeValue) int {
	if a, ok := a.(*types.AttributeValueMemberS); ok {
		b, _ := b.(*types.AttributeValueMemberS)
		return strings.Compare(a.Value, b.Value)
	}
	number := func(v types.AttributeValue) float64 {
		n, _ := v.(*types.AttributeValueMemberN)
		f, _ := strconv.ParseFloat(n.Value, 64)
		return f
	}
	return cmp.Compare(number(a), number(b))
}
