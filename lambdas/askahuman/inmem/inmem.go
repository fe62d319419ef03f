// Package inmem stores Ask-a-Human in memory, for tests of code that uses a store. It
// keeps the promises of the store interfaces, as package storetest checks, and forgets
// everything when the process ends.
package inmem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
)

var (
	_ askahuman.AgentStore    = (*Store)(nil)
	_ askahuman.PeopleStore   = (*Store)(nil)
	_ askahuman.NotifierStore = (*Store)(nil)
)

// Store implements the three stores of package askahuman. The zero value is empty
// and ready. It is safe for concurrent use.
type Store struct {
	// Quota is how many questions of one agent may be open or partial; 0 is
	// [askahuman.DefaultOpenQuestions].
	Quota int

	mu            sync.Mutex
	questions     map[string]askahuman.Question
	responses     map[string][]askahuman.Response // by question
	stats         map[string]askahuman.Stats      // by person
	subscriptions map[string]askahuman.Subscription
	lastOf        map[string]string   // by person: the last subscription that they made
	notified      map[string]notified // by person
}

// notified is when a person was last notified, on any device.
type notified struct {
	claimedAt     time.Time // zero: no claim, or it was released
	claimedBefore time.Time // what claimedAt was before that claim
	at            time.Time // zero: never
	question      string
}

// lock locks the store and makes its maps.
func (s *Store) lock() func() {
	s.mu.Lock()
	if s.questions == nil {
		s.questions = map[string]askahuman.Question{}
		s.responses = map[string][]askahuman.Response{}
		s.stats = map[string]askahuman.Stats{}
		s.subscriptions = map[string]askahuman.Subscription{}
		s.lastOf = map[string]string{}
		s.notified = map[string]notified{}
	}
	return s.mu.Unlock
}

// CreateQuestion implements [askahuman.AgentStore].
func (s *Store) CreateQuestion(ctx context.Context, question askahuman.Question) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.lock()()
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
	s.questions[question.ID] = copyOf(question)
	return nil
}

func copyOf(q askahuman.Question) askahuman.Question {
	q.Options, q.Audience = slices.Clone(q.Options), slices.Clone(q.Audience)
	return q
}

// Question implements the stores of package askahuman.
func (s *Store) Question(ctx context.Context, id string, now time.Time) (askahuman.Question, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.Question{}, err
	}
	defer s.lock()()
	q, ok := s.questions[id]
	if !ok || !now.Before(q.ExpiresAt) {
		return askahuman.Question{}, askahuman.ErrQuestionNotFound
	}
	return copyOf(q), nil
}

// Responses implements [askahuman.AgentStore].
func (s *Store) Responses(ctx context.Context, questionID string) ([]askahuman.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer s.lock()()
	responses := slices.Clone(s.responses[questionID])
	slices.SortStableFunc(responses, func(a, b askahuman.Response) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return responses, nil
}

// AgentQuestions implements [askahuman.AgentStore].
func (s *Store) AgentQuestions(ctx context.Context, agentID string, status askahuman.Status, limit int, after askahuman.Position, now time.Time) ([]askahuman.Question, askahuman.Position, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, askahuman.Position{}, false, err
	}
	defer s.lock()()
	questions, more := s.newestFirst(limit, after, func(q askahuman.Question) bool {
		return q.AgentID == agentID && now.Before(q.ExpiresAt) && (status == "" || q.StatusAt(now) == status)
	})
	if !more {
		return questions, askahuman.Position{}, false, nil
	}
	return questions, positionOf(questions[len(questions)-1]), true, nil
}

// OpenQuestions implements [askahuman.PeopleStore].
func (s *Store) OpenQuestions(ctx context.Context, limit int, after askahuman.Position, now time.Time) ([]askahuman.Question, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	defer s.lock()()
	questions, more := s.newestFirst(limit, after, func(q askahuman.Question) bool { return q.AnswerableAt(now) })
	return questions, more, nil
}

// newestFirst are up to limit questions after a position that are wanted, and
// whether there are more. The store is locked.
func (s *Store) newestFirst(limit int, after askahuman.Position, wanted func(askahuman.Question) bool) ([]askahuman.Question, bool) {
	var questions []askahuman.Question
	for _, q := range s.questions {
		if wanted(q) && (after == askahuman.Position{} || newestOrder(positionOf(q), after) > 0) {
			questions = append(questions, copyOf(q))
		}
	}
	slices.SortFunc(questions, func(a, b askahuman.Question) int { return newestOrder(positionOf(a), positionOf(b)) })
	if len(questions) > limit {
		return questions[:limit], true
	}
	return questions, false
}

func positionOf(q askahuman.Question) askahuman.Position {
	return askahuman.Position{CreatedAt: q.CreatedAt, ID: q.ID}
}

func newestOrder(a, b askahuman.Position) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
}

// EndQuestion implements [askahuman.AgentStore] and [askahuman.NotifierStore].
func (s *Store) EndQuestion(ctx context.Context, question askahuman.Question, status askahuman.Status, now time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer s.lock()()
	q, ok := s.questions[question.ID]
	overdue := !now.Before(q.Deadline)
	if !ok || !q.Answerable() || overdue != (status == askahuman.StatusExpired) {
		return false, nil
	}
	q.Status, q.DueAt = status, time.Time{}
	if status == askahuman.StatusClosed {
		q.ClosedAt, q.ExpiresAt = now, now.Add(askahuman.KeepClosed)
	} else {
		q.ExpiresAt = q.Deadline.Add(askahuman.KeepExpired)
	}
	s.questions[q.ID] = q
	return true, nil
}

// HasAnswered implements [askahuman.PeopleStore].
func (s *Store) HasAnswered(ctx context.Context, questionID, personHash string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer s.lock()()
	return s.hasAnswered(questionID, personHash), nil
}

func (s *Store) hasAnswered(questionID, personHash string) bool {
	return slices.ContainsFunc(s.responses[questionID], func(r askahuman.Response) bool { return r.PersonHash == personHash })
}

// RecentAnswers implements [askahuman.PeopleStore].
func (s *Store) RecentAnswers(ctx context.Context, personHash string, since time.Time, limit int) ([]askahuman.RecentAnswer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer s.lock()()
	var answers []askahuman.RecentAnswer
	for _, responses := range s.responses {
		for _, r := range responses {
			if r.PersonHash == personHash && !r.CreatedAt.Before(since) {
				answers = append(answers, askahuman.RecentAnswer{
					QuestionID: r.QuestionID, ContentDigest: r.ContentDigest, ContentLength: r.ContentLength, CreatedAt: r.CreatedAt,
				})
			}
		}
	}
	slices.SortFunc(answers, func(a, b askahuman.RecentAnswer) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if limit > 0 && len(answers) > limit {
		answers = answers[:limit]
	}
	return answers, nil
}

// NotifiedAt implements [askahuman.PeopleStore].
func (s *Store) NotifiedAt(ctx context.Context, questionID, personHash string) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	defer s.lock()()
	if notified := s.notified[personHash]; notified.question == questionID {
		return notified.at, nil
	}
	return time.Time{}, nil
}

// Stats implements [askahuman.PeopleStore].
func (s *Store) Stats(ctx context.Context, personHash string) (askahuman.Stats, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.Stats{}, err
	}
	defer s.lock()()
	stats := s.stats[personHash]
	stats.PersonHash = personHash
	stats.Badges = slices.Clone(stats.Badges)
	stats.AnswersByCategory = maps.Clone(stats.AnswersByCategory)
	return stats, nil
}

// SubmitResponse implements [askahuman.PeopleStore].
func (s *Store) SubmitResponse(ctx context.Context, question askahuman.Question, response askahuman.Response, stats askahuman.Stats) (askahuman.Submitted, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.Submitted{}, err
	}
	defer s.lock()()
	q, ok := s.questions[question.ID]
	switch {
	case s.hasAnswered(question.ID, response.PersonHash):
		return askahuman.Submitted{}, askahuman.ErrAlreadyAnswered
	case !ok:
		return askahuman.Submitted{}, askahuman.ErrQuestionNotFound
	case !q.AnswerableAt(response.CreatedAt):
		return askahuman.Submitted{}, askahuman.ErrQuestionClosed
	case q.CurrentResponses != question.CurrentResponses || s.stats[stats.PersonHash].Version != stats.Version:
		return askahuman.Submitted{}, askahuman.ErrStale
	}
	q.CurrentResponses++
	q.Status = askahuman.StatusPartial
	if q.CurrentResponses == q.RequiredResponses {
		q.Status, q.DueAt = askahuman.StatusClosed, time.Time{}
		q.ClosedAt, q.ExpiresAt = response.CreatedAt, response.CreatedAt.Add(askahuman.KeepClosed)
	}
	s.questions[q.ID] = q
	response.Flags = slices.Clone(response.Flags)
	s.responses[q.ID] = append(s.responses[q.ID], response)
	stats.Version++
	stats.Badges = slices.Clone(stats.Badges)
	stats.AnswersByCategory = maps.Clone(stats.AnswersByCategory)
	s.stats[stats.PersonHash] = stats
	return askahuman.Submitted{Status: q.Status, First: q.CurrentResponses == 1}, nil
}

// board are the entries of a leaderboard, highest first. The store is locked.
func (s *Store) board(period askahuman.Period, day string) []askahuman.BoardEntry {
	var entries []askahuman.BoardEntry
	for _, stats := range s.stats {
		entry := askahuman.BoardEntry{PersonHash: stats.PersonHash}
		switch {
		case period == askahuman.PeriodAllTime:
			entry.Points, entry.Answers = stats.TotalPoints, stats.TotalAnswers
		case period == askahuman.PeriodDaily && stats.Day == day:
			entry.Points, entry.Answers = stats.DailyPoints, stats.DailyAnswers
		case period == askahuman.PeriodWeekly && stats.Week == day:
			entry.Points, entry.Answers = stats.WeeklyPoints, stats.WeeklyAnswers
		default:
			continue
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b askahuman.BoardEntry) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.PersonHash, b.PersonHash))
	})
	return entries
}

// Top implements [askahuman.PeopleStore].
func (s *Store) Top(ctx context.Context, period askahuman.Period, day string, limit int) ([]askahuman.BoardEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer s.lock()()
	entries := s.board(period, day)
	return entries[:min(limit, len(entries))], nil
}

// CountAbove implements [askahuman.PeopleStore].
func (s *Store) CountAbove(ctx context.Context, period askahuman.Period, day string, points int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	defer s.lock()()
	above := 0
	for _, entry := range s.board(period, day) {
		if entry.Points > points {
			above++
		}
	}
	return min(above, askahuman.MaxRank), nil
}

// Subscribe implements [askahuman.PeopleStore].
func (s *Store) Subscribe(ctx context.Context, subscription askahuman.Subscription) (askahuman.Subscription, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.Subscription{}, err
	}
	defer s.lock()()
	if existing, ok := s.byToken(subscription.Token); ok {
		if subscription.PersonHash != "" {
			s.notOfPerson(existing, "")
			existing.PersonHash = subscription.PersonHash
			s.lastOf[subscription.PersonHash] = existing.ID
		}
		return s.renew(existing, subscription.Interval, subscription.UpdatedAt), nil
	}
	s.subscriptions[subscription.ID] = subscription
	if subscription.PersonHash != "" {
		s.lastOf[subscription.PersonHash] = subscription.ID
	}
	return subscription, nil
}

// notOfPerson takes a subscription, which ends or becomes another person's, out of
// what its person made last: that is then heir, empty: none. The store is locked.
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

// renew stores a subscription as active with an interval. The store is locked.
func (s *Store) renew(subscription askahuman.Subscription, interval time.Duration, now time.Time) askahuman.Subscription {
	if interval > 0 {
		subscription.Interval = interval
	}
	if !subscription.LastNotifiedAt.IsZero() {
		subscription.NextNotificationAt = subscription.LastNotifiedAt.Add(subscription.Interval)
	}
	subscription.Active = true
	subscription.UpdatedAt = now
	s.subscriptions[subscription.ID] = subscription
	return subscription
}

// FindSubscription implements [askahuman.PeopleStore].
func (s *Store) FindSubscription(ctx context.Context, token, personHash string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	defer s.lock()()
	if token != "" {
		if owner, ok := s.byToken(token); ok {
			return owner.ID, nil
		}
		return "", askahuman.ErrSubscriptionNotFound
	}
	if last, ok := s.lastOf[personHash]; ok {
		return last, nil
	}
	return "", askahuman.ErrSubscriptionNotFound
}

// ChangeSubscription implements [askahuman.PeopleStore].
func (s *Store) ChangeSubscription(ctx context.Context, id, token string, interval time.Duration, now time.Time) (askahuman.Subscription, error) {
	if err := ctx.Err(); err != nil {
		return askahuman.Subscription{}, err
	}
	defer s.lock()()
	subscription, ok := s.subscriptions[id]
	if !ok {
		return askahuman.Subscription{}, askahuman.ErrSubscriptionNotFound
	}
	if token != "" {
		if owner, taken := s.byToken(token); taken && owner.ID != id {
			heir := ""
			if owner.PersonHash == subscription.PersonHash {
				heir = id
			}
			s.notOfPerson(owner, heir)
			delete(s.subscriptions, owner.ID)
		}
		subscription.Token = token
	}
	return s.renew(subscription, interval, now), nil
}

// Unsubscribe implements [askahuman.PeopleStore].
func (s *Store) Unsubscribe(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.lock()()
	subscription, ok := s.subscriptions[id]
	if !ok {
		return askahuman.ErrSubscriptionNotFound
	}
	s.notOfPerson(subscription, "")
	delete(s.subscriptions, id)
	return nil
}

// DueQuestions implements [askahuman.NotifierStore].
func (s *Store) DueQuestions(ctx context.Context, now time.Time, yield func(askahuman.Question) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, q := range s.dueQuestions(now) {
		if !yield(q) {
			return nil
		}
	}
	return nil
}

func (s *Store) dueQuestions(now time.Time) []askahuman.Question {
	defer s.lock()()
	var due []askahuman.Question
	for _, q := range s.questions {
		if !q.DueAt.IsZero() && !q.DueAt.After(now) && now.Before(q.ExpiresAt) {
			due = append(due, copyOf(q))
		}
	}
	slices.SortFunc(due, func(a, b askahuman.Question) int {
		return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID))
	})
	return due
}

// ClaimQuestion implements [askahuman.NotifierStore].
func (s *Store) ClaimQuestion(ctx context.Context, question askahuman.Question, notifiedAt, next time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer s.lock()()
	q, ok := s.questions[question.ID]
	if !ok || !q.Answerable() || !q.DueAt.Equal(question.DueAt) {
		return false, nil
	}
	q.NotifiedAt, q.DueAt = notifiedAt, next
	s.questions[q.ID] = q
	return true, nil
}

// DueSubscriptions implements [askahuman.NotifierStore].
func (s *Store) DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]askahuman.Subscription, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer s.lock()()
	var due []askahuman.Subscription
	for _, subscription := range s.subscriptions {
		if subscription.Active && !subscription.NextNotificationAt.After(now) {
			due = append(due, subscription)
		}
	}
	slices.SortFunc(due, func(a, b askahuman.Subscription) int {
		return cmp.Or(a.NextNotificationAt.Compare(b.NextNotificationAt), cmp.Compare(a.ID, b.ID))
	})
	return due[:min(limit, len(due))], nil
}

// ClaimSubscription implements [askahuman.NotifierStore].
func (s *Store) ClaimSubscription(ctx context.Context, subscription askahuman.Subscription, questionID string, now time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer s.lock()()
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
}

// MarkNotified implements [askahuman.NotifierStore].
func (s *Store) MarkNotified(ctx context.Context, personHash, questionID string, claimedAt time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.lock()()
	notified := s.notified[personHash]
	notified.at, notified.question = claimedAt, questionID
	s.notified[personHash] = notified
	return nil
}

// ReleaseSubscription implements [askahuman.NotifierStore].
func (s *Store) ReleaseSubscription(ctx context.Context, subscription askahuman.Subscription, claimedAt time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.lock()()
	if stored, ok := s.subscriptions[subscription.ID]; ok && stored.LastNotifiedAt.Equal(claimedAt) && stored.Interval == subscription.Interval {
		stored.LastNotifiedAt, stored.NextNotificationAt = subscription.LastNotifiedAt, subscription.NextNotificationAt
		s.subscriptions[stored.ID] = stored
	}
	if notified := s.notified[subscription.PersonHash]; notified.claimedAt.Equal(claimedAt) {
		notified.claimedAt = notified.claimedBefore
		s.notified[subscription.PersonHash] = notified
	}
	return nil
}

// DeactivateSubscription implements [askahuman.NotifierStore].
func (s *Store) DeactivateSubscription(ctx context.Context, subscription askahuman.Subscription, now time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer s.lock()()
	stored, ok := s.subscriptions[subscription.ID]
	if ok && stored.Token == subscription.Token {
		stored.Active, stored.UpdatedAt = false, now
		s.subscriptions[stored.ID] = stored
	}
	return nil
}
