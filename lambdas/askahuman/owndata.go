package askahuman

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// dataPage is how many answers, and how many subscriptions, one call exports or deletes.
	dataPage = 100
	// settled is how long after an answer the index of a person's answers surely has it. A deletion that ends sooner
	// could miss the answer.
	settled = 10 * time.Second
	// ofSubscriptions begins the cursors of the pages after the last answer.
	ofSubscriptions = "s."
)

// PersonData reads a page of all that is kept of a person. cursor is the next of the page before. It returns an
// [*validate.Error] for a cursor of another list.
func (s *Service) PersonData(ctx context.Context, personHash, cursor string) (askahuman.PersonData, error) {
	data := askahuman.PersonData{Person: personHash, Answers: []askahuman.PersonAnswer{},
		Subscriptions: []askahuman.PersonSubscription{}}
	group, reading := errgroup.WithContext(ctx)
	if cursor == "" {
		group.Go(func() error { return wrap(s.readKept(reading, &data), "read a person's stats") })
	}
	next, err := ownership.Export(reading, cursor,
		ownership.List{Read: func(ctx context.Context, from string) (next string, err error) {
			data.Answers, next, err = s.keptAnswers(ctx, personHash, from)
			return next, err
		}},
		ownership.List{Prefix: ofSubscriptions, Read: func(ctx context.Context, from string) (next string, err error) {
			data.Subscriptions, next, err = s.keptSubscriptions(ctx, personHash, from)
			return next, err
		}})
	data.NextCursor = next
	if err := cmp.Or(group.Wait(), err); err != nil && !errors.Is(err, errCursor) {
		return data, wrap(err, "read a person's data")
	}
	return data, err
}

// readKept reads the stats and the last notification.
func (s *Service) readKept(ctx context.Context, data *askahuman.PersonData) error {
	var item askahuman.Stats
	found, err := s.DB.Get(ctx, "GetUserStats", &item, data.Person)
	if err != nil {
		return err
	}
	if found {
		st := unstoredStats(item, data.Person)
		data.Stats = &askahuman.PersonStats{
			Handle: askahuman.HandleOf(data.Person, st.Handle), HandleResetAt: wire.Time(st.HandleResetAt),
			TotalPoints: st.TotalPoints, TotalAnswers: st.TotalAnswers, StreakDays: st.StreakDays,
			StreakLastDate: st.StreakLastDate, Badges: st.EarnedBadges(), AnswersByCategory: st.AnswersByCategory,
			NightAnswers: st.NightAnswers, FastAnswers: st.FastAnswers, ConfidentAnswers: st.ConfidentAnswers,
			Day: st.Day, DailyPoints: st.DailyPoints, DailyAnswers: st.DailyAnswers,
			Week: st.Week, WeeklyPoints: st.WeeklyPoints, WeeklyAnswers: st.WeeklyAnswers, Version: st.Version,
			CreatedAt: wire.Time(st.CreatedAt), UpdatedAt: wire.Time(st.UpdatedAt), BlockedAt: wire.Time(st.BlockedAt),
		}
		for id, at := range st.Late {
			if data.Stats.LateAnswers == nil {
				data.Stats.LateAnswers = map[string]wire.Time{}
			}
			data.Stats.LateAnswers[id] = wire.Time(at)
		}
		if data.Stats.AnswersByCategory == nil {
			data.Stats.AnswersByCategory = map[string]int{}
		}
	}
	var notified askahuman.PersonNotified
	found, err = s.DB.Get(ctx, "GetNotified", &notified, notifiedKey(data.Person)...)
	notified.ClaimedAt, notified.NotifiedAt = shownAt(time.Time(notified.ClaimedAt)),
		shownAt(time.Time(notified.NotifiedAt))
	// A claim that was given back leaves an item that says nothing.
	if found && notified != (askahuman.PersonNotified{}) {
		data.Notified = &notified
	}
	return err
}

// keptAnswers reads a page of a person's answers. next is the cursor of the page after.
func (s *Service) keptAnswers(ctx context.Context, personHash, cursor string) (answers []askahuman.PersonAnswer,
	next string, err error) {
	answers = []askahuman.PersonAnswer{}
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	ids, next, err := s.answeredIDs(ctx, personHash, askahuman.Never, dataPage, after)
	if err != nil {
		return nil, "", err
	}
	kept, err := dynamo.ReadBatch[askahuman.Response](ctx, s.DB, "ExportAnswers", responseKeys(ids, personHash)...)
	for _, r := range kept {
		if r == nil || r.PersonHash != personHash {
			continue // deleted, or made nobody's, meanwhile
		}
		answers = append(answers, askahuman.PersonAnswer{
			QuestionID: r.QuestionID, ResponseID: r.ID, Answer: r.Answer, SelectedOption: r.SelectedOption,
			Confidence: r.Confidence, ResponseTimeMS: r.ResponseTimeMS, Points: r.Points, Flags: r.Flags,
			ContentDigest: r.ContentDigest, ContentLength: r.ContentLength,
			CreatedAt: wire.Time(r.CreatedAt), ExpiresAt: wire.Time(r.ExpiresAt), HiddenAt: wire.Time(r.HiddenAt),
		})
	}
	return answers, next, err
}

func responseKeys(questionIDs []string, personHash string) [][]any {
	keys := make([][]any, len(questionIDs))
	for i, id := range questionIDs {
		keys[i] = []any{id, askahuman.ResponseID(id, personHash)}
	}
	return keys
}

// subscribedIDs reads a page of a person's subscriptions, newest first. next is the cursor of the page after.
func (s *Service) subscribedIDs(ctx context.Context, personHash string, after position) (ids []string,
	next string, err error) {
	page, err := s.DB.Page(ctx, "ListOwnSubscriptions", dynamo.Query{Values: []any{personHash}, PageSize: dataPage,
		StartAfter: after.start("fingerprint_hash", personHash, "created_at", "subscription_id")})
	if err != nil {
		return nil, "", err
	}
	var listed []askahuman.Subscription
	if err := attributevalue.UnmarshalListOfMaps(page.Items, &listed); err != nil {
		return nil, "", err
	}
	for _, sub := range listed {
		ids = append(ids, sub.ID)
	}
	if page.Next != nil && len(listed) > 0 {
		last := listed[len(listed)-1]
		next = formatCursor(position{last.CreatedAt, last.ID})
	}
	return ids, next, nil
}

// keptSubscriptions reads a page of a person's subscriptions. next is the cursor of the page after.
func (s *Service) keptSubscriptions(ctx context.Context, personHash,
	cursor string) (subscriptions []askahuman.PersonSubscription, next string, err error) {
	subscriptions = []askahuman.PersonSubscription{}
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	ids, next, err := s.subscribedIDs(ctx, personHash, after)
	if err != nil {
		return nil, "", err
	}
	items, err := dynamo.ReadBatch[askahuman.Subscription](ctx, s.DB, "ExportSubscriptions", keysByID(ids)...)
	for _, sub := range items {
		if sub == nil || sub.PersonHash != personHash {
			continue
		}
		shown := askahuman.PersonSubscription{SubscriptionID: sub.ID, TokenDigest: digest(sub.Token),
			Minutes:        sub.Minutes,
			Active:         sub.Active == askahuman.SubscriptionActive,
			LastNotifiedAt: shownAt(sub.LastNotifiedAt), NextNotificationAt: shownAt(sub.NextNotificationAt),
			CreatedAt: wire.Time(sub.CreatedAt), UpdatedAt: wire.Time(sub.UpdatedAt)}
		subscriptions = append(subscriptions, shown)
	}
	return subscriptions, next, err
}

// shownAt is a moment of a notification as a person reads it: zero for [askahuman.Never], which also stands for at
// once.
func shownAt(at time.Time) wire.Time {
	if !at.After(askahuman.Never) {
		return wire.Time{}
	}
	return wire.Time(at)
}

// DeletePerson deletes what is kept of a person, as far as one request goes: repeat it while there is more. Answers
// stay, without the person. A block stays, and so does the reset of a name.
//
// What says that a person is there, their stats, goes last, and only if no answer has come since they were read. So a
// deletion that dies is repeated from the beginning, and one that meets an answer has more to do.
func (s *Service) DeletePerson(ctx context.Context, personHash string) (deleted askahuman.Deleted, err error) {
	var stats askahuman.Stats
	found, err := s.DB.Get(ctx, "GetUserStats", &stats, personHash)
	if err != nil {
		return deleted, wrap(err, "read a person's stats")
	}
	read := s.Clock.Now()
	var anonymised atomic.Int64
	complete, err := ownership.Deletion{
		DB: s.DB, Owned: askahuman.Owned(s.Parts), Person: personHash, Limit: dataPage, Anonymised: &anonymised,
		Hooks: map[string]func(context.Context) (bool, error){
			"subscriptions": func(ctx context.Context) (bool, error) { return s.forgetSubscriptions(ctx, personHash) },
			"report of the name": func(ctx context.Context) (bool, error) {
				return true, s.forgetNameReport(ctx, personHash)
			}},
	}.Erase(ctx)
	deleted.Answers, deleted.More = int(anonymised.Load()), !complete
	if err != nil || deleted.More {
		return deleted, wrap(err, "delete a person's data")
	}
	if !found {
		return deleted, nil
	}
	if wait := stats.UpdatedAt.Add(settled).Sub(read); wait > 0 {
		deleted.More, deleted.Wait = true, int((min(wait, settled)+time.Second-1)/time.Second)
		if stats.UpdatedAt.After(read) {
			err = s.dateStats(ctx, personHash, stats, read)
		}
		return deleted, wrap(err, "date a person's stats")
	}
	unchanged, err := dynamo.Satisfied(s.forgetStats(ctx, personHash, stats))
	deleted.More = !unchanged
	return deleted, wrap(err, "delete a person's stats")
}

// dateStats dates stats that are ahead of the clock, which was set back, to now, unless an answer has come since they
// were read. So a deletion waits once.
func (s *Service) dateStats(ctx context.Context, personHash string, stats askahuman.Stats, now time.Time) error {
	_, err := dynamo.Satisfied(s.DB.Update(ctx, "DateStats", []any{personHash},
		expression.Set(dynamo.Name("updated_at"), moment(now)).Add(dynamo.Name("version"), expression.Value(1)),
		dynamo.Equal("version", stats.Version), nil))
	return err
}

// forgetSubscriptions ends a page of a person's subscriptions, or as many as the context leaves time for. complete says
// that there are no further ones.
func (s *Service) forgetSubscriptions(ctx context.Context, personHash string) (complete bool, err error) {
	ids, next, err := s.subscribedIDs(ctx, personHash, position{})
	if err != nil {
		return false, err
	}
	// The index may lack the last one, which has an item of its own.
	last, err := s.subscriptionItem(ctx, askahuman.PersonKey(personHash))
	if err != nil {
		return false, err
	}
	if last != nil {
		ids = append(ids, last.TokenOwner)
	}
	// One after the other: each write changes the item of the person's last subscription.
	for _, id := range ids {
		if endsBefore(ctx, lastLook) {
			return false, nil
		}
		if err := s.endSubscription(ctx, id, personHash); err != nil &&
			!errors.Is(err, askahuman.ErrSubscriptionNotFound) {
			return false, err
		}
	}
	return next == "", nil
}

// forgetStats deletes a person's stats as they were read, but for what an operator has decided: a block, and that they
// choose no name.
func (s *Service) forgetStats(ctx context.Context, personHash string, stats askahuman.Stats) error {
	key, unchanged := []any{personHash}, dynamo.Equal("version", stats.Version)
	if stats.BlockedAt.IsZero() && stats.HandleResetAt.IsZero() {
		return s.DB.Delete(ctx, "ForgetStats", key, unchanged)
	}
	update := expression.Add(dynamo.Name("version"), expression.Value(1))
	for _, attribute := range schema.AttributesOf(askahuman.Stats{}) {
		switch attribute.Name {
		case "fingerprint_hash", "version", "blocked_at", "handle_reset_at":
		default:
			update = update.Remove(dynamo.Name(attribute.Name))
		}
	}
	return s.DB.Update(ctx, "ForgetBlocked", key, update, unchanged, nil)
}
