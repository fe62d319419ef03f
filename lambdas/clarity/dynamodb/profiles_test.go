package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/profiletest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/schema"
)

var evaluated = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// evaluatedAttempt is the i-th attempt of a user.
func evaluatedAttempt(user string, i int) clarity.Attempt {
	return profiletest.Attempt(user, fmt.Sprint("attempt ", i), evaluated.Add(time.Duration(i)*time.Second), i%5, 4-i%5, 3, 3, 3, i%4, 3, 3)
}

func addProfile(t *testing.T, store *dynamodb.Store, attempt clarity.Attempt) {
	t.Helper()
	if added, err := store.AddProfile(t.Context(), attempt, 7*24*time.Hour); err != nil || !added {
		t.Fatalf("%s: got %t, %v", attempt.ID, added, err)
	}
}

// history reads all profiles of a user, oldest first, in pages of two.
func history(t *testing.T, store *dynamodb.Store, user string) (all []clarity.Profile) {
	t.Helper()
	for token := ""; ; {
		page, err := store.Profiles(t.Context(), user, 2, token)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Profiles...)
		if token = page.NextToken; token == "" {
			slices.Reverse(all)
			return all
		}
	}
}

// different compares profiles with a recomputation.
func different(want, got []clarity.Profile) string {
	return cmp.Diff(want, got, cmpopts.IgnoreFields(clarity.Profile{}, "Recommendations"))
}

// A user reads their own profiles, newest first and page by page, and no one else's.
func TestReadProfiles(t *testing.T) {
	t.Parallel()
	store := dynamodb.New(dynamotest.Open(t, schema.Clarity().Database).DB)
	store.CursorKey = cursor.Key("a secret of thirty-two bytes....")
	attempts := map[string][]clarity.Attempt{}
	for _, user := range []string{"ada", "ada2"} {
		for i := range 5 {
			attempts[user] = append(attempts[user], evaluatedAttempt(user, i))
			addProfile(t, store, attempts[user][i])
		}
		want := profiletest.Profiles(attempts[user])
		if diff := different(want, history(t, store, user)); diff != "" {
			t.Errorf("(-defined +listed):\n%s", diff)
		}
		latest, err := store.LatestProfile(t.Context(), user)
		if diff := different(want[4:], []clarity.Profile{latest}); err != nil || diff != "" {
			t.Errorf("%v (-defined +latest):\n%s", err, diff)
		}
		if len(latest.Recommendations) != len(latest.Weaknesses) || len(latest.Weaknesses) == 0 {
			t.Errorf("got %d recommendations for %v", len(latest.Recommendations), latest.Weaknesses)
		}
	}
	page, err := store.Profiles(t.Context(), "ada", 2, "")
	if err != nil || page.NextToken == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	for _, test := range []struct{ user, token string }{{"ada2", page.NextToken}, {"bob", page.NextToken}, {"ada", page.NextToken[1:]}, {"ada", "x"}} {
		page, err := store.Profiles(t.Context(), test.user, 2, test.token)
		if _, refused := errors.AsType[*validate.Error](err); !refused || len(page.Profiles) > 0 {
			t.Errorf("%s with %q: got %+v, %v", test.user, test.token, page, err)
		}
	}
	if got, err := store.Profiles(t.Context(), "bob", 2, ""); err != nil || got.Profiles == nil || len(got.Profiles) > 0 || got.NextToken != "" {
		t.Errorf("got %+v, %v; want an empty list", got, err)
	}
	if got, err := store.LatestProfile(t.Context(), "bob"); !errors.Is(err, clarity.ErrNoProfile) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// torn answers one query with a part of what the last transaction has written, which the isolation of
// a query allows ("Amazon DynamoDB transactions: how it works": read-committed).
type torn struct {
	dynamo.Client
	spoil func([]dynamo.Item) []dynamo.Item
	// queries counts them.
	queries int
}

func (c *torn) Query(ctx context.Context, input *awsdynamodb.QueryInput, options ...func(*awsdynamodb.Options)) (*awsdynamodb.QueryOutput, error) {
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
	tables := dynamotest.Open(t, schema.Clarity().Database)
	for name, test := range map[string]struct {
		// adds are the attempts that come before the spoiled query, in order, and late the one that
		// makes it. Before the last of adds, the query's answer is kept: stale.
		adds  []int
		late  int
		spoil func(now, stale []dynamo.Item) []dynamo.Item
	}{
		"a new latest one is missing":            {[]int{1, 2, 3}, 4, func(now, _ []dynamo.Item) []dynamo.Item { return now[1:] }},
		"and the one before it still has a mark": {[]int{1, 2, 3}, 4, func(_, stale []dynamo.Item) []dynamo.Item { return stale }},
		"the first one is missing":               {[]int{1}, 2, func(now, _ []dynamo.Item) []dynamo.Item { return nil }},
		"a later one is missing":                 {[]int{1, 2, 5, 4}, 3, func(now, _ []dynamo.Item) []dynamo.Item { return slices.Delete(now, 1, 2) }},
		"the next one is missing":                {[]int{1, 4, 3}, 2, func(now, _ []dynamo.Item) []dynamo.Item { return slices.Delete(now, 1, 2) }},
		"the latest one is old":                  {[]int{1, 2, 5, 4}, 3, func(now, stale []dynamo.Item) []dynamo.Item { return append(stale[:1:1], now[1:]...) }},
		"the one before was the latest":          {[]int{1, 3, 2}, 4, func(_, stale []dynamo.Item) []dynamo.Item { return stale }},
		"its own is missing":                     {[]int{1, 2}, 2, func(now, _ []dynamo.Item) []dynamo.Item { return now[1:] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &torn{Client: tables.Client}
			db, err := dynamo.New(client, schema.Clarity().Database, map[string]string{"Attempts": "Attempts", "Profiles": "Profiles", "Scenarios": "Scenarios", "Guards": "Guards"})
			if err != nil {
				t.Fatal(err)
			}
			store := dynamodb.New(db)
			store.CursorKey = cursor.Key("a secret of thirty-two bytes....")
			// read is the answer to the query of an addition, of up to ten profiles.
			read := func() (items []dynamo.Item) {
				for item, err := range db.Items(t.Context(), "GetLatestProfile", dynamo.Query{Values: []any{name, "#"}}) {
					if err != nil {
						t.Fatal(err)
					}
					items = append(items, item)
				}
				return items
			}
			var attempts []clarity.Attempt
			var stale []dynamo.Item
			for _, i := range test.adds {
				stale = read()
				attempts = append(attempts, evaluatedAttempt(name, i))
				addProfile(t, store, evaluatedAttempt(name, i))
			}
			now := read()
			client.queries = 0
			client.spoil = func([]dynamo.Item) []dynamo.Item { return test.spoil(now, stale) }
			isNew := !slices.Contains(test.adds, test.late)
			added, err := store.AddProfile(t.Context(), evaluatedAttempt(name, test.late), 7*24*time.Hour)
			if err != nil || added != isNew || client.queries < 2 {
				t.Fatalf("got %t, %v after %d queries; want %t after a further one", added, err, client.queries, isNew)
			}
			if isNew {
				attempts = append(attempts, evaluatedAttempt(name, test.late))
			}
			if diff := different(profiletest.Profiles(attempts), history(t, store, name)); diff != "" {
				t.Errorf("(-defined +stored):\n%s", diff)
			}
		})
	}
}

// profileCases make the requests of the access patterns of profiles. The user has twelve, so that
// the window is full.
func profileCases(t *testing.T, store *dynamodb.Store) dynamotest.Cases {
	t.Helper()
	for i := range 12 {
		addProfile(t, store, evaluatedAttempt("measured", i))
	}
	return dynamotest.Cases{
		"GetLatestProfile": func() func() error {
			return func() error {
				_, err := store.LatestProfile(t.Context(), "measured")
				return err
			}
		},
		"ListProfiles": func() func() error {
			return func() error {
				page, err := store.Profiles(t.Context(), "measured", 20, "")
				if err == nil && len(page.Profiles) != 12 {
					err = fmt.Errorf("got %d profiles", len(page.Profiles))
				}
				return err
			}
		},
		"AddProfile": func() func() error {
			return func() error { addProfile(t, store, evaluatedAttempt("measured", 12)); return nil }
		},
	}
}
