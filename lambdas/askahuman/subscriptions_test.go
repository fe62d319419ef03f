package askahuman

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// Devices change hands, tokens move and subscriptions end, several at once: what names
// a subscription goes with it, and nothing stays for good.
func TestItemsOfSubscriptionsGoWithThem(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	tables := dynamotest.Open(t, askahuman.Platform().Database)
	store := &Service{DB: tables.DB}
	var moments atomic.Int64
	now := func() time.Time { return start.Add(time.Duration(moments.Add(1)) * time.Millisecond) }
	var mu sync.Mutex
	var ids []string
	any := func(random *rand.Rand) string {
		mu.Lock()
		defer mu.Unlock()
		if len(ids) == 0 {
			return uuid.NewString()
		}
		return ids[random.IntN(len(ids))]
	}
	change := func(random *rand.Rand) error {
		token := fmt.Sprint("token-", random.IntN(3))
		switch random.IntN(8) {
		case 6, 7:
			id, from, err := store.findSubscription(ctx, fmt.Sprint("person-", random.IntN(2)),
				fmt.Sprint("token-", random.IntN(3)))
			if err != nil {
				return err
			}
			return store.renewSubscription(ctx, id, from, token, 60*random.IntN(2), now())
		case 0:
			return store.Unsubscribe(ctx, any(random))
		case 1, 2:
			_, err := store.changeSubscription(ctx, any(random), token, 0, now())
			return err
		default:
			at := now()
			sub, err := storedSubscription(ctx, store, subscriptionAt(token, fmt.Sprint("person-", random.IntN(2)), at))
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, sub.ID)
			return err
		}
	}
	for round := range uint64(12) {
		var group sync.WaitGroup
		for worker := range uint64(4) {
			group.Go(func() {
				random := rand.New(rand.NewPCG(round, worker))
				for range 3 {
					if err := change(random); err != nil && !errors.Is(err, askahuman.ErrSubscriptionNotFound) &&
						!errors.Is(err, retry.ErrStale) {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		checkSubscriptionItems(t, tables)
	}
}

func checkSubscriptionItems(t *testing.T, tables *dynamotest.Tables) {
	t.Helper()
	items := tables.Stored(t, "Subscriptions")
	personOf, tokens := map[string]string{}, 0
	for _, item := range items {
		if dynamo.Text(item, "fcm_token") != "" {
			personOf[dynamo.Text(item, "subscription_id")] = dynamo.Text(item, "fingerprint_hash")
		}
	}
	for _, item := range items {
		id, owner := dynamo.Text(item, "subscription_id"), dynamo.Text(item, "token_owner")
		person, there := personOf[owner]
		switch {
		case strings.HasPrefix(id, "TOKEN#"):
			tokens++
			if !there {
				t.Errorf("%s names a subscription that is not there", id)
			}
		case strings.HasPrefix(id, "PERSON#"):
			if !there || "PERSON#"+person != id {
				t.Errorf("%s names a subscription that is not theirs: there %t, of %q", id, there, person)
			}
		}
	}
	if tokens != len(personOf) {
		t.Errorf("%d tokens have an owner, for %d subscriptions", tokens, len(personOf))
	}
}
