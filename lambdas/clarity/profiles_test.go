package clarity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/platforms/clarity/profiletest"
)

var evaluated = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// evaluatedAttempt is the i-th attempt of a user.
func evaluatedAttempt(user string, i int) clarity.Attempt {
	return profiletest.Attempt(user, fmt.Sprint("attempt ", i), evaluated.Add(time.Duration(i)*time.Second), i%5, 4-i%5,
		3, 3, 3, i%4, 3, 3)
}

func addProfile(t *testing.T, s *service.Service, attempt clarity.Attempt) {
	t.Helper()
	if added, err := s.AddProfile(t.Context(), attempt, 7*24*time.Hour); err != nil || !added {
		t.Fatalf("%s: got %t, %v", attempt.ID, added, err)
	}
}

// history reads all profiles of a user, oldest first, in pages of two.
func history(t *testing.T, s *service.Service, user string) []clarity.Profile {
	t.Helper()
	all := dynamotest.Pages(t, func(from string) ([]clarity.Profile, string, error) {
		page, err := s.Profiles(t.Context(), user, 2, from)
		return page.Profiles, page.NextToken, err
	})
	slices.Reverse(all)
	return all
}

// different compares profiles with a recomputation.
func different(want, got []clarity.Profile) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(clarity.Profile{}, "Recommendations"))
}

// torn answers one query with a part of what the last transaction has written, which the isolation of
// a query allows ("Amazon DynamoDB transactions: how it works": read-committed).
type torn struct {
	dynamo.Client
	spoil func([]dynamo.Item) []dynamo.Item
	// queries counts them.
	queries int
}

func (c *torn) Query(ctx context.Context, input *awsdynamodb.QueryInput,
	options ...func(*awsdynamodb.Options)) (*awsdynamodb.QueryOutput, error) {
	c.queries++
	output, err := c.Client.Query(ctx, input, options...)
	if err == nil && c.spoil != nil {
		output.Items = c.spoil(output.Items)
		c.spoil = nil
	}
	return output, err
}

// An addition that sees another one in part is made again.
func TestAddProfileToHalfAChain(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, clarity.Platform().Database)
	for name, test := range map[string]struct {
		// adds are the attempts that come before the spoiled query, in order, and late the one that
		// makes it. Before the last of adds, the query's answer is kept: stale.
		adds  []int
		late  int
		spoil func(now, stale []dynamo.Item) []dynamo.Item
	}{
		"a new latest one is missing": {[]int{1, 2, 3}, 4, func(now, _ []dynamo.Item) []dynamo.Item {
			return now[1:]
		}},
		"and the one before it still has a mark": {[]int{1, 2, 3}, 4, func(_, stale []dynamo.Item) []dynamo.Item {
			return stale
		}},
		"the first one is missing": {[]int{1}, 2, func(now, _ []dynamo.Item) []dynamo.Item { return nil }},
		"a later one is missing": {[]int{1, 2, 5, 4}, 3, func(now, _ []dynamo.Item) []dynamo.Item {
			return slices.Delete(now, 1, 2)
		}},
		"the next one is missing": {[]int{1, 4, 3}, 2, func(now, _ []dynamo.Item) []dynamo.Item {
			return slices.Delete(now, 1, 2)
		}},
		"the latest one is old": {[]int{1, 2, 5, 4}, 3, func(now, stale []dynamo.Item) []dynamo.Item {
			return append(stale[:1:1], now[1:]...)
		}},
		"the one before was the latest": {[]int{1, 3, 2}, 4, func(_, stale []dynamo.Item) []dynamo.Item {
			return stale
		}},
		"its own is missing": {[]int{1, 2}, 2, func(now, _ []dynamo.Item) []dynamo.Item { return now[1:] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &torn{Client: tables.Client}
			db := dynamotest.Through(t, client, clarity.Platform().Database)
			s := &service.Service{DB: db, CursorKey: dynamo.CursorKey("a secret of thirty-two bytes....")}
			// read is the answer to the query of an addition, of up to ten profiles.
			read := func() (items []dynamo.Item) {
				for item, err := range db.Items(t.Context(), "GetLatestProfile",
					dynamo.Query{Values: []any{name, "#"}}) {
					must.OK(t, err)
					items = append(items, item)
				}
				return items
			}
			var attempts []clarity.Attempt
			var stale []dynamo.Item
			for _, i := range test.adds {
				stale = read()
				attempts = append(attempts, evaluatedAttempt(name, i))
				addProfile(t, s, evaluatedAttempt(name, i))
			}
			now := read()
			client.queries = 0
			client.spoil = func([]dynamo.Item) []dynamo.Item { return test.spoil(now, stale) }
			isNew := !slices.Contains(test.adds, test.late)
			added, err := s.AddProfile(t.Context(), evaluatedAttempt(name, test.late), 7*24*time.Hour)
			if err != nil || added != isNew || client.queries < 2 {
				t.Fatalf("got %t, %v after %d queries; want %t after a further one", added, err, client.queries, isNew)
			}
			if isNew {
				attempts = append(attempts, evaluatedAttempt(name, test.late))
			}
			if diff := different(profiletest.Profiles(attempts), history(t, s, name)); diff != "" {
				t.Errorf("(-defined +stored):\n%s", diff)
			}
		})
	}
}
