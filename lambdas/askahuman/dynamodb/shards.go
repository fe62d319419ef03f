package dynamodb

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

// shard returns an index key value spread over the shards by an item's id.
func (s *Store) shard(value, id string) string {
	hash := fnv.New32a()
	hash.Write([]byte(id))
	return s.shardValue(value, int(hash.Sum32()%uint32(s.shards)))
}

func (s *Store) shardValue(value string, shard int) string {
	if s.shards == 1 {
		return value
	}
	return value + "#" + strconv.Itoa(shard)
}

func unsharded(value string) string {
	value, _, _ = strings.Cut(value, "#")
	return value
}

// list is a query's items, in the order of its sort key.
type list = iter.Seq2[dynamo.Item, error]

// merge makes one list of several that are each sorted by an attribute, reading
// of each no further than is wanted. It ends after an error.
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
