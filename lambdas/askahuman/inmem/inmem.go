// Package inmem stores Ask-a-Human in memory, for tests of rules. These make tens of thousands of
// calls, which take microseconds here and about 20 ms each on DynamoDB Local, and some of them run
// on a clock of their own, which allows no network. Package storetest checks this store and the
// real one by the same contract.
package inmem

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

var (
	_ askahuman.AgentStore    = (*Store)(nil)
	_ askahuman.PeopleStore   = (*Store)(nil)
	_ askahuman.NotifierStore = (*Store)(nil)
	_ askahuman.AgentKeyStore = (*Store)(nil)

	_ askahuman.PersonReportStore = (*Store)(nil)
	_ askahuman.AgentReportStore  = (*Store)(nil)
)

// Store implements the stores of package askahuman. The zero value is empty and ready. It
// is safe for concurrent use. It shares slices and maps with its callers, who do not change
// them.
type Store struct {
	// Quota is how many questions of one agent may be open or partial; 0 is
	// [askahuman.DefaultOpenQuestions].
	Quota int

	mu            sync.Mutex
	questions     map[string]askahuman.Question
	responses     []askahuman.Response       // as they came
	stats         map[string]askahuman.Stats // by person
	subscriptions map[string]askahuman.Subscription
	lastOf        map[string]string   // by person: the last subscription that they made
	notified      map[string]notified // by person
	keys          map[string]askahuman.AgentKey
	versions      map[string]webhooks.Version   // by agent
	reporters     map[string]map[string]bool    // by question and answer
	deliveries    map[string]askahuman.Delivery // by question
}

// notified is when a person was last notified, on any device.
type notified struct {
	claimedAt     time.Time // zero: no claim, or it was released
	claimedBefore time.Time // what claimedAt was before that claim
	at            time.Time // zero: never
	question      string
}

// locked calls do while it holds the store's lock, unless the context has ended.
func locked[T any](ctx context.Context, s *Store, do func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions == nil {
		s.questions, s.stats, s.subscriptions = map[string]askahuman.Question{}, map[string]askahuman.Stats{}, map[string]askahuman.Subscription{}
		s.lastOf, s.notified, s.keys = map[string]string{}, map[string]notified{}, map[string]askahuman.AgentKey{}
		s.reporters = map[string]map[string]bool{}
	}
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	return do()
}

// change is [locked] for functions without a result.
func change(ctx context.Context, s *Store, do func() error) error {
	_, err := locked(ctx, s, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// sorted are the items that are wanted, in order.
func sorted[T any](items iter.Seq[T], wanted func(T) bool, order func(a, b T) int) []T {
	list := slices.DeleteFunc(slices.Collect(items), func(item T) bool { return !wanted(item) })
	slices.SortStableFunc(list, order)
	return list
}

// CreateQuestion implements [askahuman.AgentStore].
func (s *Store) CreateQuestion(ctx context.Context, question askahuman.Question) error {
	return change(ctx, s, func() error {
		open := 0
		for _, q := range s.questions {
			if q.AgentID == question.AgentID && q.AnswerableAt(question.CreatedAt) {
				open++
			}
		}
		if open >= cmp.Or(s.Quota, askahuman.DefaultOpenQuestions) {
			return askahuman.ErrQuotaExceeded
		}
		if _, ok := s.questions[question.ID]; ok {
			return fmt.Errorf("question %s exists already", question.ID)
		}
		s.questions[question.ID] = question
		return nil
	})
}

// Question implements the stores of package askahuman.
func (s *Store) Question(ctx context.Context, id string, now time.Time) (askahuman.Question, error) {
	return locked(ctx, s, func() (askahuman.Question, error) {
		q, ok := s.questions[id]
		if !ok || !now.Before(q.ExpiresAt) {
			return askahuman.Question{}, askahuman.ErrQuestionNotFound
		}
		return q, nil
	})
}

// Responses implements [askahuman.AgentStore].
func (s *Store) Responses(ctx context.Context, questionID string) ([]askahuman.Response, error) {
	return locked(ctx, s, func() ([]askahuman.Response, error) {
		return sorted(slices.Values(s.responses), func(r askahuman.Response) bool { return r.QuestionID == questionID },
			func(a, b askahuman.Response) int { return a.CreatedAt.Compare(b.CreatedAt) }), nil
	})
}

// AgentQuestions implements [askahuman.AgentStore].
func (s *Store) AgentQuestions(ctx context.Context, agentID string, status askahuman.Status, limit int, after askahuman.Position, now time.Time) ([]askahuman.Question, askahuman.Position, bool, error) {
	questions, more, err := s.newestFirst(ctx, limit, after, func(q askahuman.Question) bool {
		return q.AgentID == agentID && now.Before(q.ExpiresAt) && (status == "" || q.StatusAt(now) == status)
	})
	if !more {
		return questions, askahuman.Position{}, false, err
	}
	return questions, positionOf(questions[len(questions)-1]), true, nil
}

// OpenQuestions implements [askahuman.PeopleStore].
func (s *Store) OpenQuestions(ctx context.Context, limit int, after askahuman.Position, now time.Time) ([]askahuman.Question, bool, error) {
	return s.newestFirst(ctx, limit, after, func(q askahuman.Question) bool { return q.AnswerableAt(now) })
}

// newestFirst are up to limit questions after a position that are wanted, and
// whether there are more.
func (s *Store) newestFirst(ctx context.Context, limit int, after askahuman.Position, wanted func(askahuman.Question) bool) ([]askahuman.Question, bool, error) {
	order := func(a, b askahuman.Position) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	}
	questions, err := locked(ctx, s, func() ([]askahuman.Question, error) {
		return sorted(maps.Values(s.questions), func(q askahuman.Question) bool {
			return wanted(q) && (after == askahuman.Position{} || order(positionOf(q), after) > 0)
		}, func(a, b askahuman.Question) int { return order(positionOf(a), positionOf(b)) }), nil
	})
	return questions[:min(limit, len(questions))], len(questions) > limit, err
}

func positionOf(q askahuman.Question) askahuman.Position {
	return askahuman.Position{CreatedAt: q.CreatedAt, ID: q.ID}
}

// EndQuestion implements [askahuman.AgentStore] and [askahuman.NotifierStore].
func (s *Store) EndQuestion(ctx context.Context, question askahuman.Question, status askahuman.Status, now time.Time) (bool, error) {
	return locked(ctx, s, func() (bool, error) {
		q, ok := s.questions[question.ID]
		overdue := !now.Before(q.Deadline)
		if !ok || !q.Answerable() || overdue != (status == askahuman.StatusExpired) {
			return false, nil
		}
		q.Status, q.DueAt, q.ExpiresAt = status, time.Time{}, q.Deadline.Add(askahuman.KeepExpired)
		if status == askahuman.StatusClosed {
			q.ClosedAt, q.ExpiresAt = now, now.Add(askahuman.KeepClosed)
		}
		s.questions[q.ID] = q
		return true, nil
	})
}

// KeepReport implements [askahuman.ReportStore].
func (s *Store) KeepReport(ctx context.Context, questionID, responseID, reporter string, _ askahuman.Complaint) error {
	return change(ctx, s, func() error {
		reported := questionID + responseID
		if s.reporters[reported] == nil {
			s.reporters[reported] = map[string]bool{}
		}
		s.reporters[reported][reporter] = true
		return nil
	})
}

// HasAnswered implements [askahuman.PeopleStore].
func (s *Store) HasAnswered(ctx context.Context, questionID, personHash string) (bool, error) {
	return locked(ctx, s, func() (bool, error) { return s.hasAnswered(questionID, personHash), nil })
}

func (s *Store) hasAnswered(questionID, personHash string) bool {
	return slices.ContainsFunc(s.responses, func(r askahuman.Response) bool { return r.QuestionID == questionID && r.PersonHash == personHash })
}

// RecentAnswers implements [askahuman.PeopleStore].
func (s *Store) RecentAnswers(ctx context.Context, personHash string, since time.Time, limit int) ([]askahuman.RecentAnswer, error) {
	return locked(ctx, s, func() (answers []askahuman.RecentAnswer, err error) {
		for _, r := range sorted(slices.Values(s.responses),
			func(r askahuman.Response) bool { return r.PersonHash == personHash && !r.CreatedAt.Before(since) },
			func(a, b askahuman.Response) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
			if limit == 0 || len(answers) < limit {
				answers = append(answers, askahuman.RecentAnswer{
					QuestionID: r.QuestionID, ContentDigest: r.ContentDigest, ContentLength: r.ContentLength, CreatedAt: r.CreatedAt,
				})
			}
		}
		return answers, nil
	})
}

// AnswerState implements [askahuman.PeopleStore].
func (s *Store) AnswerState(ctx context.Context, questionID, personHash string, now time.Time) (state askahuman.AnswerState, err error) {
	if state.Question, err = s.Question(ctx, questionID, now); err != nil {
		return state, err
	}
	if state.Stats, err = s.Stats(ctx, personHash); err != nil {
		return state, err
	}
	return locked(ctx, s, func() (askahuman.AnswerState, error) {
		state.Answered = s.hasAnswered(questionID, personHash)
		if notified := s.notified[personHash]; notified.question == questionID {
			state.NotifiedAt = notified.at
		}
		return state, nil
	})
}

// Stats implements [askahuman.PeopleStore].
func (s *Store) Stats(ctx context.Context, personHash string) (askahuman.Stats, error) {
	return locked(ctx, s, func() (askahuman.Stats, error) {
		stats := s.stats[personHash]
		stats.PersonHash = personHash
		return stats, nil
	})
}

// SubmitResponse implements [askahuman.PeopleStore].
func (s *Store) SubmitResponse(ctx context.Context, question askahuman.Question, response askahuman.Response, stats askahuman.Stats) (askahuman.Submitted, error) {
	return locked(ctx, s, func() (askahuman.Submitted, error) {
		q, ok := s.questions[question.ID]
		switch {
		case s.hasAnswered(question.ID, response.PersonHash):
			return askahuman.Submitted{}, askahuman.ErrAlreadyAnswered
		case !ok:
			return askahuman.Submitted{}, askahuman.ErrQuestionNotFound
		case !q.AnswerableAt(response.CreatedAt):
			return askahuman.Submitted{}, askahuman.ErrQuestionClosed
		case q.CurrentResponses != question.CurrentResponses || s.stats[stats.PersonHash].Version != stats.Version:
			return askahuman.Submitted{}, retry.ErrStale
		}
		q.CurrentResponses++
		q.Status = askahuman.StatusPartial
		if q.CurrentResponses == q.RequiredResponses {
			q.Status, q.DueAt = askahuman.StatusClosed, time.Time{}
			q.ClosedAt, q.ExpiresAt = response.CreatedAt, response.CreatedAt.Add(askahuman.KeepClosed)
		}
		stats.Version++
		s.questions[q.ID], s.responses, s.stats[stats.PersonHash] = q, append(s.responses, response), stats
		return askahuman.Submitted{Status: q.Status, First: q.CurrentResponses == 1}, nil
	})
}

// board are the entries of a leaderboard, highest first.
func (s *Store) board(ctx context.Context, period askahuman.Period, day string) ([]askahuman.BoardEntry, error) {
	return locked(ctx, s, func() ([]askahuman.BoardEntry, error) {
		var entries []askahuman.BoardEntry
		for person, stats := range s.stats {
			switch {
			case period == askahuman.PeriodAllTime:
				entries = append(entries, askahuman.BoardEntry{PersonHash: person, Points: stats.TotalPoints, Answers: stats.TotalAnswers})
			case period == askahuman.PeriodDaily && stats.Day == day:
				entries = append(entries, askahuman.BoardEntry{PersonHash: person, Points: stats.DailyPoints, Answers: stats.DailyAnswers})
			case period == askahuman.PeriodWeekly && stats.Week == day:
				entries = append(entries, askahuman.BoardEntry{PersonHash: person, Points: stats.WeeklyPoints, Answers: stats.WeeklyAnswers})
			}
		}
		slices.SortFunc(entries, func(a, b askahuman.BoardEntry) int {
			return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.PersonHash, b.PersonHash))
		})
		return entries, nil
	})
}

// Top implements [askahuman.PeopleStore].
func (s *Store) Top(ctx context.Context, period askahuman.Period, day string, limit int) ([]askahuman.BoardEntry, error) {
	entries, err := s.board(ctx, period, day)
	return entries[:min(limit, len(entries))], err
}

// Subscribe implements [askahuman.PeopleStore].
func (s *Store) Subscribe(ctx context.Context, subscription askahuman.Subscription) (askahuman.Subscription, error) {
	return locked(ctx, s, func() (askahuman.Subscription, error) {
		person := subscription.PersonHash
		if existing, ok := s.byToken(subscription.Token); ok {
			if person != "" {
				s.notOfPerson(existing, "")
				existing.PersonHash = person
			}
			existing.Interval, existing.UpdatedAt = subscription.Interval, subscription.UpdatedAt
			subscription = renewed(existing)
		}
		s.subscriptions[subscription.ID] = subscription
		if person != "" {
			s.lastOf[person] = subscription.ID
		}
		return subscription, nil
	})
}

// notOfPerson replaces a subscription, which ends or becomes another person's, as its person's last
// one by heir; empty: by none.
func (s *Store) notOfPerson(subscription askahuman.Subscription, heir string) {
	switch {
	case s.lastOf[subscription.PersonHash] != subscription.ID:
	case heir == "":
		delete(s.lastOf, subscription.PersonHash)
	default:
		s.lastOf[subscription.PersonHash] = heir
	}
}

func (s *Store) byToken(token string) (askahuman.Subscription, bool) {
	for _, subscription := range s.subscriptions {
		if subscription.Token == token {
			return subscription, true
		}
	}
	return askahuman.Subscription{}, false
}

// renewed is a subscription that is active with its interval.
func renewed(subscription askahuman.Subscription) askahuman.Subscription {
	if !subscription.LastNotifiedAt.IsZero() {
		subscription.NextNotificationAt = subscription.LastNotifiedAt.Add(subscription.Interval)
	}
	subscription.Active = true
	return subscription
}

// FindSubscription implements [askahuman.PeopleStore].
func (s *Store) FindSubscription(ctx context.Context, personHash string, tokens ...string) (id, token string, err error) {
	found, err := locked(ctx, s, func() (askahuman.Subscription, error) {
		for _, token := range tokens {
			if owner, ok := s.byToken(token); ok {
				return owner, nil
			}
		}
		last, ok := s.subscriptions[s.lastOf[personHash]]
		if !ok {
			return last, askahuman.ErrSubscriptionNotFound
		}
		return last, nil
	})
	return found.ID, found.Token, err
}

// RenewSubscription implements [askahuman.PeopleStore].
func (s *Store) RenewSubscription(ctx context.Context, id, _, token string, interval time.Duration, now time.Time) error {
	_, err := s.ChangeSubscription(ctx, id, token, interval, now)
	return err
}

// ChangeSubscription implements [askahuman.PeopleStore].
func (s *Store) ChangeSubscription(ctx context.Context, id, token string, interval time.Duration, now time.Time) (askahuman.Subscription, error) {
	return locked(ctx, s, func() (askahuman.Subscription, error) {
		subscription, ok := s.subscriptions[id]
		if !ok {
			return askahuman.Subscription{}, askahuman.ErrSubscriptionNotFound
		}
		if owner, taken := s.byToken(token); taken && owner.ID != id {
			heir := ""
			if owner.PersonHash == subscription.PersonHash {
				heir = id
			}
			s.notOfPerson(owner, heir)
			delete(s.subscriptions, owner.ID)
		}
		subscription.Token, subscription.Interval = cmp.Or(token, subscription.Token), cmp.Or(interval, subscription.Interval)
		subscription.UpdatedAt = now
		s.subscriptions[id] = renewed(subscription)
		return s.subscriptions[id], nil
	})
}

// Unsubscribe implements [askahuman.PeopleStore].
func (s *Store) Unsubscribe(ctx context.Context, id string) error {
	return change(ctx, s, func() error {
		subscription, ok := s.subscriptions[id]
		if !ok {
			return askahuman.ErrSubscriptionNotFound
		}
		s.notOfPerson(subscription, "")
		delete(s.subscriptions, id)
		return nil
	})
}

// DueQuestions implements [askahuman.NotifierStore].
func (s *Store) DueQuestions(ctx context.Context, now time.Time, yield func(askahuman.Question) bool) error {
	due, err := locked(ctx, s, func() ([]askahuman.Question, error) {
		return sorted(maps.Values(s.questions),
			func(q askahuman.Question) bool {
				return !q.DueAt.IsZero() && !q.DueAt.After(now) && now.Before(q.ExpiresAt)
			},
			func(a, b askahuman.Question) int { return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID)) }), nil
	})
	for _, q := range due {
		if !yield(q) {
			break
		}
	}
	return err
}

// ClaimQuestion implements [askahuman.NotifierStore].
func (s *Store) ClaimQuestion(ctx context.Context, question askahuman.Question, notifiedAt, next time.Time) (bool, error) {
	return locked(ctx, s, func() (bool, error) {
		q, ok := s.questions[question.ID]
		if !ok || !q.Answerable() || !q.DueAt.Equal(question.DueAt) {
			return false, nil
		}
		q.NotifiedAt, q.DueAt = notifiedAt, next
		s.questions[q.ID] = q
		return true, nil
	})
}

// DueSubscriptions implements [askahuman.NotifierStore].
func (s *Store) DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]askahuman.Subscription, error) {
	return locked(ctx, s, func() ([]askahuman.Subscription, error) {
		due := sorted(maps.Values(s.subscriptions),
			func(s askahuman.Subscription) bool { return s.Active && !s.NextNotificationAt.After(now) },
			func(a, b askahuman.Subscription) int {
				return cmp.Or(a.NextNotificationAt.Compare(b.NextNotificationAt), cmp.Compare(a.ID, b.ID))
			})
		return due[:min(limit, len(due))], nil
	})
}

// ClaimSubscription implements [askahuman.NotifierStore].
func (s *Store) ClaimSubscription(ctx context.Context, subscription askahuman.Subscription, questionID string, now time.Time) (bool, error) {
	return locked(ctx, s, func() (bool, error) {
		stored, ok := s.subscriptions[subscription.ID]
		if !ok || !stored.Active || stored.Token != subscription.Token || stored.PersonHash != subscription.PersonHash ||
			stored.Interval != subscription.Interval || !stored.NextNotificationAt.Equal(subscription.NextNotificationAt) {
			return false, nil
		}
		if person := stored.PersonHash; person != "" {
			notified := s.notified[person]
			if next := notified.at.Add(stored.Interval); next.After(now) {
				stored.LastNotifiedAt, stored.NextNotificationAt = notified.at, next
				s.subscriptions[stored.ID] = stored
				return false, nil
			}
			if notified.claimedAt.Add(stored.Interval).After(now) || s.hasAnswered(questionID, person) {
				return false, nil
			}
			notified.claimedAt, notified.claimedBefore = now, notified.claimedAt
			s.notified[person] = notified
		}
		stored.LastNotifiedAt, stored.NextNotificationAt = now, now.Add(stored.Interval)
		s.subscriptions[stored.ID] = stored
		return true, nil
	})
}

// MarkNotified implements [askahuman.NotifierStore].
func (s *Store) MarkNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error {
	return change(ctx, s, func() error {
		notified := s.notified[personHash]
		notified.at, notified.question = claimedAt, questionID
		s.notified[personHash] = notified
		return nil
	})
}

// ReleaseSubscription implements [askahuman.NotifierStore].
func (s *Store) ReleaseSubscription(ctx context.Context, subscription askahuman.Subscription, claimedAt time.Time) error {
	return change(ctx, s, func() error {
		if stored, ok := s.subscriptions[subscription.ID]; ok && stored.LastNotifiedAt.Equal(claimedAt) && stored.Interval == subscription.Interval {
			stored.LastNotifiedAt, stored.NextNotificationAt = subscription.LastNotifiedAt, subscription.NextNotificationAt
			s.subscriptions[stored.ID] = stored
		}
		if notified := s.notified[subscription.PersonHash]; notified.claimedAt.Equal(claimedAt) {
			notified.claimedAt = notified.claimedBefore
			s.notified[subscription.PersonHash] = notified
		}
		return nil
	})
}

// DeactivateSubscription implements [askahuman.NotifierStore].
func (s *Store) DeactivateSubscription(ctx context.Context, subscription askahuman.Subscription, now time.Time) error {
	return change(ctx, s, func() error {
		if stored, ok := s.subscriptions[subscription.ID]; ok && stored.Token == subscription.Token {
			stored.Active, stored.UpdatedAt = false, now
			s.subscriptions[stored.ID] = stored
		}
		return nil
	})
}

// CreateAgentKey implements [askahuman.AgentKeyStore].
func (s *Store) CreateAgentKey(ctx context.Context, key askahuman.AgentKey) error {
	return change(ctx, s, func() error { s.keys[key.Hash] = key; return nil })
}

// AgentKey implements [askahuman.AgentKeyStore].
func (s *Store) AgentKey(ctx context.Context, hash string) (askahuman.AgentKey, error) {
	return locked(ctx, s, func() (askahuman.AgentKey, error) {
		if key, ok := s.keys[hash]; ok {
			return key, nil
		}
		return askahuman.AgentKey{}, askahuman.ErrAgentKeyNotFound
	})
}

// AgentKeys implements [askahuman.AgentKeyStore].
func (s *Store) AgentKeys(ctx context.Context) ([]askahuman.AgentKey, error) {
	return locked(ctx, s, func() ([]askahuman.AgentKey, error) { return slices.Collect(maps.Values(s.keys)), nil })
}

// RevokeAgentKey implements [askahuman.AgentKeyStore].
func (s *Store) RevokeAgentKey(ctx context.Context, hash string, now time.Time) error {
	return change(ctx, s, func() error {
		key, ok := s.keys[hash]
		if !ok {
			return askahuman.ErrAgentKeyNotFound
		}
		if key.RevokedAt.IsZero() {
			key.RevokedAt = now
		}
		s.keys[hash] = key
		return nil
	})
}

// MarkAgentKeyUsed implements [askahuman.AgentKeyStore].
func (s *Store) MarkAgentKeyUsed(ctx context.Context, hash string, since, now time.Time) (bool, error) {
	return locked(ctx, s, func() (bool, error) {
		key, ok := s.keys[hash]
		if !ok || !key.RevokedAt.IsZero() || key.LastUsedAt.After(since) {
			return false, nil
		}
		key.LastUsedAt = now
		s.keys[hash] = key
		return true, nil
	})
}
