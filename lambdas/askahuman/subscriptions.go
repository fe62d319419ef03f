package askahuman

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// ofPerson returns the write that makes a subscription the person's last one; none for an unknown
// person.
func ofPerson(personHash, subscriptionID string) []dynamo.Write {
	if personHash == "" {
		return nil
	}
	return []dynamo.Write{dynamo.Put("Subscriptions", named(askahuman.PersonKey(personHash), subscriptionID),
		expression.ConditionBuilder{})}
}

// notOfPerson returns the write that removes a subscription, which ends or becomes another
// person's, from its person's item. heir is then their last one; empty: the item is deleted. The write
// holds if the item names the subscription; none for an unknown person. Give it to [Service.transact].
func notOfPerson(sub askahuman.Subscription, heir string) []dynamo.Write {
	if sub.PersonHash == "" {
		return nil
	}
	key, same := askahuman.PersonKey(sub.PersonHash), dynamo.Equal("token_owner", sub.ID)
	if heir != "" {
		return []dynamo.Write{dynamo.Put("Subscriptions", named(key, heir), same)}
	}
	return []dynamo.Write{dynamo.Delete("Subscriptions", []any{key}, same)}
}

// transact makes writes, the first one of a subscription, and with them what
// [notOfPerson] returns, unless the person's item names another subscription. It returns [retry.ErrStale], and the
// subscription as it is, when another condition fails.
func (s *Service) transact(ctx context.Context, pattern string, writes, left []dynamo.Write) (dynamo.Item, error) {
	err := s.DB.Transact(ctx, pattern, slices.Concat(writes, left)...)
	refused, ok := errors.AsType[*dynamo.TransactionError](err)
	if !ok {
		return nil, err
	}
	if len(left) > 0 {
		if _, another := refused.Failed(len(writes)); another {
			return s.transact(ctx, pattern, writes, nil)
		}
	}
	item, _ := refused.Failed(0)
	return item, retry.ErrStale
}

// update is transact with a change of a subscription's attributes as the first write. The change alone costs half: a
// repeat after a lost answer changes the same again.
func (s *Service) update(ctx context.Context, changed askahuman.Subscription, attributes []string,
	condition expression.ConditionBuilder, others, left []dynamo.Write) (dynamo.Item, error) {
	update, err := dynamo.Changes(changed, attributes...)
	if err != nil {
		return nil, err
	}
	key := []any{changed.ID}
	if len(others)+len(left) > 0 {
		return s.transact(ctx, "UpdateSubscription",
			append([]dynamo.Write{dynamo.Update("Subscriptions", key, update, condition)}, others...), left)
	}
	err = s.DB.Update(ctx, "ChangeSubscription", key, update, condition, nil)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		return refused.Item, retry.ErrStale
	}
	return nil, err
}

// What changes of a subscription that becomes active, and of one that was read.
var (
	activated = []string{"active", "updated_at"}
	renewed   = append(slices.Clone(activated), "min_interval_minutes", "next_notification_at", "fingerprint_hash")
)

// named is an item that names a subscription.
func named(key, subscriptionID string) askahuman.Subscription {
	return askahuman.Subscription{ID: key, TokenOwner: subscriptionID}
}

// subscriptionItem reads one item of the table; nil if there is none.
func (s *Service) subscriptionItem(ctx context.Context, id string) (*askahuman.Subscription, error) {
	var item askahuman.Subscription
	found, err := s.DB.Get(ctx, "GetSubscription", &item, id)
	if err != nil || !found {
		return nil, err
	}
	return &item, nil
}

// subscriptionItems reads items of the table at the same time; nil in place of one that is not there.
func (s *Service) subscriptionItems(ctx context.Context, ids ...string) ([]*askahuman.Subscription, error) {
	items := make([]*askahuman.Subscription, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	for i, id := range ids {
		group.Go(func() (err error) {
			items[i], err = s.subscriptionItem(ctx, id)
			return err
		})
	}
	return items, group.Wait()
}

// subscribe stores a subscription. If its token has one already, that one is made active with the new interval and
// person, and returned instead; its times need not be read for that. It returns [retry.ErrStale] when another request
// has changed the token meanwhile.
func (s *Service) subscribe(ctx context.Context, sub askahuman.Subscription) (askahuman.Subscription, error) {
	owner, err := s.subscriptionItem(ctx, askahuman.TokenKey(sub.Token))
	switch {
	case err != nil:
		return sub, err
	case owner != nil:
		return s.subscribeAgain(ctx, owner.TokenOwner, sub)
	}
	err = s.DB.Transact(ctx, "CreateSubscription", append([]dynamo.Write{
		dynamo.Put("Subscriptions", sub, dynamo.Absent("subscription_id")),
		dynamo.Put("Subscriptions", named(askahuman.TokenKey(sub.Token), sub.ID), dynamo.Absent("subscription_id")),
	}, ofPerson(sub.PersonHash, sub.ID)...)...)
	refused, ok := errors.AsType[*dynamo.TransactionError](err)
	if !ok {
		return sub, err
	}
	if _, taken := refused.Failed(0); taken {
		return sub, fmt.Errorf("subscription %s exists already", sub.ID)
	}
	return sub, retry.ErrStale
}

// subscribeAgain renews the subscription that has a token. Most often its person and its interval stay, so
// the first write has that as its condition and needs no read: what it refuses it returns.
func (s *Service) subscribeAgain(ctx context.Context, id string, sub askahuman.Subscription) (askahuman.Subscription,
	error) {
	sub.ID = id
	item, err := s.update(ctx, sub, activated,
		dynamo.Equal("fcm_token", sub.Token).And(samePerson(sub.PersonHash), sameInterval(sub.Minutes)),
		ofPerson(sub.PersonHash, id), nil)
	if !errors.Is(err, retry.ErrStale) {
		return sub, err
	}
	var existing askahuman.Subscription
	if err := attributevalue.UnmarshalMap(item, &existing); err != nil {
		return sub, fmt.Errorf("read subscription %s: %w", id, err)
	}
	if existing.Token != sub.Token {
		return sub, retry.ErrStale
	}
	return s.renew(ctx, existing, sub.Minutes, sub.PersonHash, sub.UpdatedAt)
}

// renew makes a subscription active with an interval, and with a person unless
// that is empty. It returns [retry.ErrStale] when the subscription's token
// has changed meanwhile.
func (s *Service) renew(ctx context.Context, existing askahuman.Subscription, minutes int, personHash string,
	now time.Time) (askahuman.Subscription, error) {
	changed := existing.Renewed(minutes, personHash, now)
	var left []dynamo.Write
	if changed.PersonHash != existing.PersonHash {
		left = notOfPerson(existing, "")
	}
	_, err := s.update(ctx, changed, renewed, unchangedSubscription(existing), ofPerson(personHash, existing.ID), left)
	return changed, err
}

// unchangedSubscription is true while a subscription is as it was read: with the same token and
// person, and neither changed nor notified since.
func unchangedSubscription(existing askahuman.Subscription) expression.ConditionBuilder {
	return dynamo.Equal("fcm_token", existing.Token).And(
		samePerson(existing.PersonHash),
		dynamo.Equal("updated_at", dynamo.FormatTime(existing.UpdatedAt)),
		dynamo.Equal("last_notified_at", dynamo.FormatTime(existing.LastNotifiedAt)))
}

// samePerson is true of a person's subscriptions; empty: of an unknown person's.
func samePerson(personHash string) expression.ConditionBuilder {
	if personHash == "" {
		return dynamo.Absent("fingerprint_hash")
	}
	return dynamo.Equal("fingerprint_hash", personHash)
}

// sameInterval is true of the subscriptions with an interval.
func sameInterval(minutes int) expression.ConditionBuilder {
	return dynamo.Equal("min_interval_minutes", minutes)
}

// findSubscription returns the id of the subscription that has the first of the tokens that any has, or else of the
// last one that the person made (personHash empty: unknown), and the token that it has. It returns
// [askahuman.ErrSubscriptionNotFound].
func (s *Service) findSubscription(ctx context.Context, personHash string, tokens ...string) (id, token string,
	err error) {
	var keys []string
	for _, token := range tokens {
		keys = append(keys, askahuman.TokenKey(token))
	}
	if personHash != "" {
		keys = append(keys, askahuman.PersonKey(personHash))
	}
	owners, err := s.subscriptionItems(ctx, keys...)
	if err != nil {
		return "", "", err
	}
	for i, token := range tokens {
		if owners[i] != nil {
			return owners[i].TokenOwner, token, nil
		}
	}
	if personHash == "" || owners[len(tokens)] == nil {
		return "", "", askahuman.ErrSubscriptionNotFound
	}
	// It may have ended, or gone to another person, since the item was read.
	last, err := s.subscriptionItem(ctx, owners[len(tokens)].TokenOwner)
	switch {
	case err != nil:
		return "", "", err
	case last == nil || last.PersonHash != personHash:
		return "", "", askahuman.ErrSubscriptionNotFound
	}
	return last.ID, last.Token, nil
}

// renewSubscription is changeSubscription with a token for a subscription that was found: from is the token that it
// had. Its conditions say what is known of the
// subscription, so that it need not be read.
func (s *Service) renewSubscription(ctx context.Context, id, from, token string, minutes int,
	now time.Time) error {
	known, attributes := dynamo.Equal("fcm_token", from), activated
	if minutes > 0 {
		known = known.And(sameInterval(minutes))
	}
	var moved []dynamo.Write
	if token != from {
		attributes = append(slices.Clone(activated), "fcm_token")
		moved = []dynamo.Write{
			dynamo.Put("Subscriptions", named(askahuman.TokenKey(token), id), dynamo.Absent("subscription_id")),
			dynamo.Delete("Subscriptions", []any{askahuman.TokenKey(from)}, expression.ConditionBuilder{}),
		}
	}
	changed := askahuman.Subscription{ID: id, Token: token, Active: askahuman.SubscriptionActive, UpdatedAt: now}
	_, err := s.update(ctx, changed, attributes, known, moved, nil)
	if errors.Is(err, retry.ErrStale) {
		_, err = s.changeSubscription(ctx, id, token, minutes, now)
	}
	return err
}

// changeSubscription sets a subscription's token (empty: as it is) and interval (0 minutes: as it is) and makes it
// active. A token that another subscription has moves here and ends that one. It returns
// [askahuman.ErrSubscriptionNotFound].
func (s *Service) changeSubscription(ctx context.Context, id, token string, minutes int,
	now time.Time) (changed askahuman.Subscription, err error) {
	err = retry.Do(ctx, func() error {
		keys := []string{id}
		if token != "" {
			keys = append(keys, askahuman.TokenKey(token))
		}
		items, err := s.subscriptionItems(ctx, keys...)
		if err != nil {
			return err
		}
		existing := items[0]
		if existing == nil || existing.Token == "" {
			return askahuman.ErrSubscriptionNotFound
		}
		if token == "" || token == existing.Token {
			changed, err = s.renew(ctx, *existing, minutes, "", now)
		} else {
			changed, err = s.moveToken(ctx, *existing, items[1], token, minutes, now)
		}
		return err
	})
	return changed, err
}

// moveToken gives a subscription a token, whose owner is as it was read.
func (s *Service) moveToken(ctx context.Context, existing askahuman.Subscription, owner *askahuman.Subscription,
	token string, minutes int, now time.Time) (askahuman.Subscription, error) {
	changed := existing.Renewed(minutes, "", now)
	changed.Token = token
	ownerUnchanged := dynamo.Absent("subscription_id")
	if owner != nil {
		ownerUnchanged = dynamo.Equal("token_owner", owner.TokenOwner)
	}
	others := []dynamo.Write{
		dynamo.Put("Subscriptions", named(askahuman.TokenKey(token), existing.ID), ownerUnchanged),
		dynamo.Delete("Subscriptions", []any{askahuman.TokenKey(existing.Token)}, expression.ConditionBuilder{}),
	}
	var left []dynamo.Write
	if owner != nil && owner.TokenOwner != existing.ID {
		ended, err := s.subscriptionItem(ctx, owner.TokenOwner)
		if err != nil {
			return changed, err
		}
		if ended == nil {
			return changed, retry.ErrStale
		}
		heir := ""
		if ended.PersonHash == existing.PersonHash {
			heir = existing.ID
		}
		others = append(others, dynamo.Delete("Subscriptions", []any{ended.ID}, unchangedSubscription(*ended)))
		left = notOfPerson(*ended, heir)
	}
	_, err := s.update(ctx, changed, append(slices.Clone(renewed), "fcm_token"), unchangedSubscription(existing),
		others, left)
	return changed, err
}

// peoplePerPage is how many subscriptions one request reads, at most.
const peoplePerPage = 250

// dueSubscriptions reads active subscriptions whose interval has passed at now, longest ago first, at most limit.
func (s *Service) dueSubscriptions(ctx context.Context, now time.Time, limit int) ([]askahuman.Subscription, error) {
	var subscriptions []askahuman.Subscription
	for record, err := range dynamo.Read[askahuman.Subscription](ctx, s.DB, "ListDueSubscriptions", dynamo.Query{
		Values: []any{askahuman.SubscriptionActive, dynamo.FormatTime(now)}, PageSize: min(limit, peoplePerPage),
	}) {
		if err != nil {
			return nil, err
		}
		subscriptions = append(subscriptions, record)
		if len(subscriptions) == limit {
			break
		}
	}
	return subscriptions, nil
}

func notifiedKey(personHash string) []any { return []any{"NOTIFIED#" + personHash} }

// notifiedEnd is when a person's item may expire: no interval is longer.
func notifiedEnd(at time.Time) expression.ValueBuilder {
	return expression.Value(dynamo.ExpiryAt(at.Add(askahuman.MaxInterval)))
}

// dueAsRead is true while a subscription is as due as it was read.
func dueAsRead(sub askahuman.Subscription) expression.ConditionBuilder {
	return dynamo.Equal("active", askahuman.SubscriptionActive).And(
		dynamo.Equal("fcm_token", sub.Token),
		samePerson(sub.PersonHash),
		sameInterval(sub.Minutes),
		dynamo.Equal("next_notification_at", dynamo.FormatTime(sub.NextNotificationAt)))
}

func setNotified(last, next time.Time) expression.UpdateBuilder {
	return expression.Set(dynamo.Name("last_notified_at"), moment(last)).
		Set(dynamo.Name("next_notification_at"), moment(next))
}

// errAnswered says that a person has answered a question, and need not be notified of it.
var errAnswered = errors.New("the person has answered the question")

// claimSubscription takes a subscription, and the person who made it, for one notification of a question at now. It
// returns errAnswered if the person has answered the question. Else it reports whether it did: the subscription has to
// be active and its due time as it was read, and nothing may have been sent to the person, on any device, within the
// subscription's interval. It claims the person, and then the subscription: no other run claims a subscription of the
// person in between. A run that dies there makes the person wait, as one does that dies before it sends.
func (s *Service) claimSubscription(ctx context.Context, sub askahuman.Subscription, questionID string,
	now time.Time) (bool, error) {
	if sub.PersonHash != "" {
		if answered, err := s.hasAnswered(ctx, questionID, sub.PersonHash); err != nil {
			return false, err
		} else if answered {
			return false, errAnswered
		}
		if claimed, person, err := s.claimPerson(ctx, sub, now); err != nil {
			return false, err
		} else if !claimed {
			return false, s.deferSubscription(ctx, sub, person, now)
		}
	}
	claimed, _, err := s.claim(ctx, "ClaimSubscription", []any{sub.ID}, setNotified(now, now.Add(sub.Interval())),
		dueAsRead(sub))
	if !claimed && sub.PersonHash != "" {
		ctx, cancel := retry.ToRelease(ctx, time.Now().Add(releaseTime))
		defer cancel()
		err = errors.Join(err, s.releaseSubscription(ctx, sub, now))
	}
	return claimed, err
}

// claimPerson takes a person for one notification. It returns the person's item if nothing may be sent
// within the interval.
func (s *Service) claimPerson(ctx context.Context, sub askahuman.Subscription, now time.Time) (bool, dynamo.Item,
	error) {
	claimedAt := dynamo.Name("claimed_at")
	return s.claim(ctx, "ClaimPerson", notifiedKey(sub.PersonHash),
		expression.Set(claimedAt, moment(now)).
			Set(dynamo.Name("claimed_before"), claimedAt.IfNotExists(moment(askahuman.Never))).
			Set(dynamo.Name("expires_at"), notifiedEnd(now)),
		dynamo.Absent("claimed_at").Or(claimedAt.LessThanEqual(moment(now.Add(-sub.Interval())))))
}

// claim makes a write on a condition that the write itself ends, so that one run alone makes it. The write leaves a
// random token, by which a run recognises its own write when the answer was lost. If another run was
// first, claim returns the item as it is.
func (s *Service) claim(ctx context.Context, pattern string, key []any, update expression.UpdateBuilder,
	condition expression.ConditionBuilder) (bool, dynamo.Item, error) {
	token := rand.Text()
	err := s.DB.Update(ctx, pattern, key, update.Set(dynamo.Name("claim"), expression.Value(token)), condition, nil)
	refused, ok := errors.AsType[*dynamo.ConditionError](err)
	if !ok {
		return err == nil, nil, err
	}
	var last struct {
		Claim string `dynamodbav:"claim"`
	}
	if err := attributevalue.UnmarshalMap(refused.Item, &last); err != nil {
		return false, nil, fmt.Errorf("read the last claim: %w", err)
	}
	return last.Claim == token, refused.Item, nil
}

// deferSubscription makes a subscription due when the interval since its person was last
// notified, on another device, has passed. A claim alone does not count: its
// notification may never be sent.
func (s *Service) deferSubscription(ctx context.Context, sub askahuman.Subscription, person dynamo.Item,
	now time.Time) error {
	var notified askahuman.PersonNotified
	if err := attributevalue.UnmarshalMap(person, &notified); err != nil {
		return fmt.Errorf("read when the person was notified: %w", err)
	}
	last := time.Time(notified.NotifiedAt)
	next := last.Add(sub.Interval())
	if !next.After(now) {
		return nil
	}
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "DeferSubscription", []any{sub.ID},
		setNotified(last, next), dueAsRead(sub), nil))
	return err
}

// markNotified remembers, for the points of a quick answer, that a notification of the question reached the person
// under the claim that was made at claimedAt.
func (s *Service) markNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error {
	return s.DB.Update(ctx, "MarkNotified", notifiedKey(personHash),
		expression.Set(dynamo.Name("notified_at"), moment(claimedAt)).
			Set(dynamo.Name("question_id"), expression.Value(questionID)).
			Set(dynamo.Name("expires_at"), notifiedEnd(claimedAt)),
		expression.ConditionBuilder{}, nil)
}

// releaseSubscription undoes the claim that was made at claimedAt, because the notification was not sent: sub is as it
// was read before the claim. The two writes need no transaction:
// each is right on its own, even if the other's item has changed.
func (s *Service) releaseSubscription(ctx context.Context, sub askahuman.Subscription, claimedAt time.Time) error {
	at := dynamo.FormatTime(claimedAt)
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "ReleaseSubscription", []any{sub.ID},
		setNotified(sub.LastNotifiedAt, sub.NextNotificationAt),
		dynamo.Equal("last_notified_at", at).And(sameInterval(sub.Minutes)), nil))
	if sub.PersonHash == "" {
		return err
	}
	_, personErr := dynamo.Satisfied(s.DB.Update(ctx, "ReleasePerson", notifiedKey(sub.PersonHash),
		expression.Set(dynamo.Name("claimed_at"), dynamo.Name("claimed_before")), dynamo.Equal("claimed_at", at), nil))
	return errors.Join(err, personErr)
}

// deactivateSubscription takes a subscription out of use, if it still has this token.
func (s *Service) deactivateSubscription(ctx context.Context, sub askahuman.Subscription, now time.Time) error {
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "DeactivateSubscription", []any{sub.ID},
		expression.Remove(dynamo.Name("active")).Set(dynamo.Name("updated_at"), moment(now)),
		dynamo.Equal("fcm_token", sub.Token), nil))
	return err
}
