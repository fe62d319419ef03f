package askahuman

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// dueKey is the partition key of questions that the notifier has to look at.
const dueKey = "DUE"

// placesAtOnce is how many questions are read at once to find lost places of a quota.
const placesAtOnce = 16

// stored is a question as the table has it: the keys of the indexes have the number of a shard.
func (s *Service) stored(q askahuman.Question) askahuman.Question {
	if !q.DueAt.IsZero() {
		q.Due = s.Shards.key(dueKey, q.ID)
	}
	q.Status = askahuman.Status(s.Shards.key(string(q.Status), q.ID))
	return q
}

// unstored is a question of the table without the number of its shard.
func unstored(q askahuman.Question) askahuman.Question {
	q.Status, q.Due = askahuman.StatusOf(string(q.Status)), ""
	return q
}

func questionOf(item dynamo.Item) (askahuman.Question, error) {
	var q askahuman.Question
	if err := attributevalue.UnmarshalMap(item, &q); err != nil {
		return askahuman.Question{}, fmt.Errorf("read question: %w", err)
	}
	return unstored(q), nil
}

// quota and the key of an idempotency key are keys in the Guards table. They contain a digest of
// callers' text, which may be longer than a key can be.
func quota(agentID string) []any { return []any{"OPEN#" + digest(agentID)} }

// Keys returns the idempotency keys of agents' requests. Their scope is the agent.
func (s *Service) Keys() *idempotency.Keys {
	return idempotency.New(s.DB, "Guards", func(agentID, key string) []any {
		return []any{"IDEMPOTENCY#" + digest(agentID, key)}
	})
}

// openQuestions is the item of Guards that lists an agent's questions that are open or partial.
// Each question uses one place of the quota. The item is a set instead of a count, so that repeated
// returns free a place once, and a lost place can be found.
type openQuestions struct {
	IDs []string `dynamodbav:"open_question_ids,stringset"`
	// BlockedAt is when an operator blocked the agent; empty: not blocked. It is here because each ask
	// writes the item, so that a block costs nothing, and counts for an ask that is under way.
	BlockedAt string `dynamodbav:"blocked_at"`
	askahuman.LastDecision
}

func idSet(ids ...string) expression.ValueBuilder {
	return expression.Value(&types.AttributeValueMemberSS{Value: ids})
}

// quotaEnd is when the list of an agent's open questions may go: after every question
// that was asked by then.
func quotaEnd(now time.Time) expression.ValueBuilder {
	return expression.Value(dynamo.ExpiryAt(now.Add(2 * askahuman.MaxTimeout)))
}

// placeTimeout is how long a place may be without its question, which is stored after it: an ask takes at
// most half of it.
const placeTimeout = 2 * time.Minute

// createQuestion stores a question together with its place in the agent's quota. Questions that take no answers when
// the new one is created use no place, even if nothing has marked them yet, so the agent need not wait for the
// schedule. It returns [askahuman.ErrQuotaExceeded] or [askahuman.ErrBlocked]. Under a claim of [Service.Keys] it keeps
// the answer to the ask, and may return [idempotency.ErrClaimLost].
func (s *Service) createQuestion(ctx context.Context, q askahuman.Question) error {
	ctx, cancel := context.WithTimeout(ctx, placeTimeout/2)
	defer cancel()
	for {
		full, err := s.createOnce(ctx, q)
		if full == nil {
			return err
		}
		if full.BlockedAt != "" {
			return askahuman.ErrBlocked
		}
		freed, err := s.freePlaces(ctx, q.AgentID, full.IDs, time.Time(q.CreatedAt))
		if err != nil {
			return err
		}
		if freed == 0 {
			return askahuman.ErrQuotaExceeded
		}
	}
}

// createOnce tries once. It returns the agent's open questions if they leave no place, or the agent is blocked.
//
// The write that takes the place counts the call, too, which is then not counted on its own.
//
// The place is taken before the question is stored, each by a write of its own, which costs half of a transaction. A
// place without a question becomes free after placeTimeout. A claimed ask keeps its answer with its question, so
// it is a transaction.
func (s *Service) createOnce(ctx context.Context, q askahuman.Question) (full *openQuestions, err error) {
	ids := dynamo.Name("open_question_ids")
	// Each attempt has an update of its own: the SDK's keep what is added to them.
	place := func() expression.UpdateBuilder {
		return expression.Add(ids, idSet(q.ID)).
			Set(dynamo.Name("expires_at"), quotaEnd(time.Time(q.CreatedAt)))
	}
	// The first attempt at the write may have taken the place, and its answer may be lost.
	free := dynamo.Absent("blocked_at").And(dynamo.Absent("open_question_ids").Or(
		ids.Size().LessThan(expression.Value(s.rules().OpenQuestions)), ids.Contains(q.ID)))
	var item dynamo.Item
	if idempotency.ClaimFrom(ctx) == nil {
		err = ratelimit.CallFrom(ctx).With(func(counting ratelimit.Counting) (int, error) {
			var counted struct {
				Requests int `dynamodbav:"requests"`
			}
			var out any
			if counting.Counts() {
				out = &counted
			}
			err := s.DB.Update(dynamo.WithoutWaiting(ctx), "TakePlace", quota(q.AgentID), counting.Update(place()),
				counting.And(free), out)
			return counted.Requests, err
		})
		if err == nil {
			return nil, s.storeQuestion(ctx, q)
		}
		refused, ok := errors.AsType[*dynamo.ConditionError](err)
		if !ok {
			return nil, err
		}
		item = refused.Item
	} else {
		err = idempotency.Transact(ctx, s.DB, "CreateQuestion", q,
			dynamo.Put("Questions", s.stored(q), dynamo.Absent("question_id")),
			dynamo.Update("Guards", quota(q.AgentID), place(), free))
		refused, ok := errors.AsType[*dynamo.TransactionError](err)
		if !ok {
			return nil, err
		}
		if item, ok = refused.Failed(1); !ok {
			return nil, questionExists(q.ID)
		}
	}
	full = &openQuestions{}
	if err := attributevalue.UnmarshalMap(item, full); err != nil {
		return nil, fmt.Errorf("read the agent's open questions: %w", err)
	}
	return full, nil
}

// storeQuestion stores a question that has its place.
func (s *Service) storeQuestion(ctx context.Context, q askahuman.Question) error {
	err := s.DB.Put(ctx, "StoreQuestion", s.stored(q), dynamo.Absent("question_id"))
	refused, ok := errors.AsType[*dynamo.ConditionError](err)
	if !ok {
		return err
	}
	stored, err := questionOf(refused.Item)
	// The answer to the write may have been lost.
	if err == nil &&
		(stored.AgentID != q.AgentID || !stored.CreatedAt.Equal(q.CreatedAt) || stored.Prompt != q.Prompt) {
		return questionExists(q.ID)
	}
	return err
}

func questionExists(id string) error { return fmt.Errorf("question %s exists already", id) }

// freePlaces returns the places of questions that take no answers at now, and reports how many
// these are. Nothing marked them expired, and DynamoDB may have deleted them since. A listed question that cannot be
// read is gone, unless its ask may still be running.
func (s *Service) freePlaces(ctx context.Context, agentID string, open []string, now time.Time) (int, error) {
	var mu sync.Mutex
	var lost []string
	reading, readingCtx := errgroup.WithContext(ctx)
	reading.SetLimit(placesAtOnce)
	for _, id := range open {
		reading.Go(func() error {
			q, err := s.question(readingCtx, id, now)
			switch {
			case errors.Is(err, askahuman.ErrQuestionNotFound):
				if now.Before(askahuman.AskedAt(id).Add(placeTimeout)) {
					return nil
				}
			case err != nil:
				return err
			case q.AnswerableAt(now):
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			lost = append(lost, id)
			return nil
		})
	}
	if err := reading.Wait(); err != nil {
		return 0, fmt.Errorf("look for lost places of the quota: %w", err)
	}
	if len(lost) == 0 {
		return 0, nil
	}
	err := s.DB.Update(ctx, "FreePlaces", quota(agentID),
		expression.Delete(dynamo.Name("open_question_ids"), idSet(lost...)),
		expression.AttributeExists(dynamo.Name("open_question_ids")), nil)
	_, err = dynamo.Satisfied(err)
	return len(lost), err
}

// question reads a question as it is now. It returns [askahuman.ErrQuestionNotFound], also when the retention has
// ended.
func (s *Service) question(ctx context.Context, id string, now time.Time) (askahuman.Question, error) {
	var q askahuman.Question
	found, err := s.DB.Get(ctx, "GetQuestion", &q, id)
	if err != nil {
		return askahuman.Question{}, err
	}
	return readAt(q, found, now)
}

// readAt returns the question as it was read at now, if it was found. DynamoDB deletes expired items late.
func readAt(q askahuman.Question, found bool, now time.Time) (askahuman.Question, error) {
	if !found || !q.ExpiresAt.After(now) {
		return askahuman.Question{}, askahuman.ErrQuestionNotFound
	}
	return unstored(q), nil
}

// How many of an agent's questions one page is chosen from, when few have its status: of all, and of those that take
// answers, which are read one by one. Either is at most 25 read units for questions of the usual size.
const agentExamined, openExamined = 300, 40

// agentQuestions reads up to limit of an agent's questions after a cursor, newest first. status is the status at now;
// empty means any. next is the cursor of further ones, if there may be any. Questions that take answers are in the list
// of the agent's quota. Ended ones are looked for among all, in pages that grow.
func (s *Service) agentQuestions(ctx context.Context, agentID string, status askahuman.Status, limit int,
	cursor string, now time.Time) (_ []askahuman.Question, next string, _ error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if status == askahuman.StatusOpen || status == askahuman.StatusPartial {
		return s.agentOpenQuestions(ctx, agentID, status, limit, after, now)
	}
	filter := dynamo.Name("expires_at").GreaterThan(expression.Value(now.Unix()))
	overdue := dynamo.Name("deadline").LessThanEqual(moment(now))
	stored := dynamo.Name("status").BeginsWith(string(status))
	switch status {
	case "":
	case askahuman.StatusExpired:
		filter = filter.And(stored.Or(answerable().And(overdue)))
	default:
		filter = filter.And(stored)
	}
	query := dynamo.Query{Values: []any{agentID}, Filter: filter, PageSize: limit + 1,
		StartAfter: after.start("agent_id", agentID, "created_at", "question_id")}
	questions := []askahuman.Question{}
	for evaluated := 0; ; query.PageSize *= 2 {
		page, err := s.DB.Page(ctx, "ListAgentQuestions", query)
		if err != nil {
			return nil, "", err
		}
		for _, item := range page.Items {
			q, err := questionOf(item)
			if err != nil {
				return nil, "", err
			}
			if len(questions) == limit {
				return questions, cursorAfter(questions[limit-1]), nil
			}
			questions = append(questions, q)
		}
		if page.Next == nil {
			return questions, "", nil
		}
		if evaluated += page.Evaluated; evaluated >= agentExamined {
			last, err := questionOf(page.Next)
			return questions, cursorAfter(last), err
		}
		query.StartAfter = page.Next
	}
}

// agentOpenQuestions is AgentQuestions for questions that take answers.
func (s *Service) agentOpenQuestions(ctx context.Context, agentID string, status askahuman.Status, limit int,
	after position, now time.Time) (_ []askahuman.Question, next string, _ error) {
	listed, err := s.openIDs(ctx, agentID)
	if err != nil {
		return nil, "", err
	}
	ids := listed.IDs
	if after != (position{}) {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id >= after.ID })
	}
	found, examined := []askahuman.Question{}, 0
	for chunk := range slices.Chunk(ids, limit+1) {
		if examined >= openExamined {
			last := ids[examined-1]
			return found, formatCursor(position{askahuman.AskedAt(last), last}), nil
		}
		examined += len(chunk)
		open, err := s.answerable(ctx, "GetAgentQuestions", chunk, now)
		if err != nil {
			return nil, "", err
		}
		for _, q := range open {
			if q.Status != status {
				continue
			}
			if len(found) == limit {
				return found, cursorAfter(found[limit-1]), nil
			}
			found = append(found, q)
		}
	}
	return found, "", nil
}

func positionOf(q askahuman.Question) position { return position{time.Time(q.CreatedAt), q.ID} }

func cursorAfter(q askahuman.Question) string { return formatCursor(positionOf(q)) }

// openIDs returns the ids of the questions that have a place in the agent's quota, newest first, and what operators
// decided about the agent. Each question that takes answers has a place.
func (s *Service) openIDs(ctx context.Context, agentID string) (listed openQuestions, err error) {
	_, err = s.DB.Get(ctx, "GetOpenQuestionIDs", &listed, quota(agentID)...)
	// Ids begin with the moment.
	slices.Sort(listed.IDs)
	slices.Reverse(listed.IDs)
	return listed, err
}

// answerable reads questions by a pattern, and returns those that take answers.
func (s *Service) answerable(ctx context.Context, pattern string, ids []string,
	now time.Time) (open []askahuman.Question, err error) {
	questions, err := dynamo.ReadBatch[askahuman.Question](ctx, s.DB, pattern, keysByID(ids)...)
	for _, q := range questions {
		if q != nil && unstored(*q).AnswerableAt(now) {
			open = append(open, unstored(*q))
		}
	}
	return open, err
}

// keysByID are the keys of items that have nothing but an id in theirs.
func keysByID(ids []string) [][]any {
	keys := make([][]any, len(ids))
	for i, id := range ids {
		keys[i] = []any{id}
	}
	return keys
}

// endQuestion closes an open or partial question, or marks an overdue one expired, sets its retention and gives back
// its place in the quota. It reports false when the question had ended already.
func (s *Service) endQuestion(ctx context.Context, q askahuman.Question, now time.Time) (bool, error) {
	update, err := dynamo.Changes(s.stored(q.Ended(now)), ending...)
	if err != nil {
		return false, err
	}
	return dynamo.Satisfied(s.DB.Transact(ctx, "EndQuestion",
		dynamo.Update("Questions", []any{q.ID}, update, answerable()),
		returnPlace(q, now)))
}

// ending are the attributes of a question that its end changes.
var ending = []string{"status", "due", "due_at", "closed_at", "expires_at"}

// returnPlace gives a question's place of its agent's quota back.
func returnPlace(q askahuman.Question, now time.Time) dynamo.Write {
	return dynamo.Update("Guards", quota(q.AgentID),
		expression.Delete(dynamo.Name("open_question_ids"), idSet(q.ID)).
			// An update creates a missing item, which must not stay for ever.
			Set(dynamo.Name("expires_at"), dynamo.Name("expires_at").IfNotExists(quotaEnd(now))),
		expression.ConditionBuilder{})
}

// openQuestions reads up to limit questions that are open or partial and before their deadline, newest first, after a
// position: what a feed shows of them alone. It merges the open and the partial questions of all shards, so that none
// of them waits behind another. more says whether there may be further ones.
func (s *Service) openQuestions(ctx context.Context, limit int, after position,
	now time.Time) (_ []askahuman.Question, more bool, _ error) {
	// Any timestamp is below "9". One question more than the limit shows that there are further
	// ones, and the question before the page is read again.
	from, wanted := "9", limit+1
	if after != (position{}) {
		from, wanted = dynamo.FormatTime(after.CreatedAt), wanted+1
	}
	var lists []list
	for _, status := range []askahuman.Status{askahuman.StatusOpen, askahuman.StatusPartial} {
		for _, key := range s.Shards.keys(string(status)) {
			lists = append(lists, s.DB.Items(ctx, "ListOpenQuestions", dynamo.Query{
				Values:   []any{key, from},
				Filter:   dynamo.Name("deadline").GreaterThan(moment(now)),
				PageSize: s.Shards.pageSize(wanted),
			}))
		}
	}
	// The index returns questions of one millisecond in no order. They are sorted, from begun on,
	// because the position of a page depends on their order.
	questions, begun := make([]askahuman.Question, 0, limit+1), 0
	sort := func() {
		slices.SortFunc(questions[begun:], func(a, b askahuman.Question) int { return strings.Compare(b.ID, a.ID) })
		begun = len(questions)
	}
	seen := make(map[string]bool, limit+1)
	for item, err := range merge("created_at", true, lists...) {
		if err != nil {
			return nil, false, err
		}
		q, err := questionOf(item)
		if err != nil {
			return nil, false, err
		}
		if begun < len(questions) && !questions[begun].CreatedAt.Equal(q.CreatedAt) {
			if sort(); begun >= limit {
				return questions[:limit], true, nil
			}
		}
		before := time.Time(q.CreatedAt).Equal(after.CreatedAt) && q.ID >= after.ID
		// A question that turns partial, or gets the key of another number of shards,
		// meanwhile can be in two lists.
		if !before && !seen[q.ID] {
			seen[q.ID] = true
			questions = append(questions, q)
		}
	}
	sort()
	if len(questions) > limit {
		return questions[:limit], true, nil
	}
	return questions, false, nil
}

// keysPerPage is how many keys of due questions one request reads.
const keysPerPage = questionsPerRun/2 + 1

// dueQuestions lists the ids of the questions that are due at now, longest due first.
func (s *Service) dueQuestions(ctx context.Context, now time.Time) iter.Seq2[string, error] {
	return s.dueIDs(ctx, "ListDueQuestions", "due_at", now)
}

// overdueQuestions lists the ids of the open and partial questions whose deadline has passed at now, earliest deadline
// first.
func (s *Service) overdueQuestions(ctx context.Context, now time.Time) iter.Seq2[string, error] {
	return s.dueIDs(ctx, "ListOverdueQuestions", "deadline", now)
}

// dueIDs lists ids of an index of due questions, whose sort key is a moment, up to now. It reads a page when the caller
// needs it.
func (s *Service) dueIDs(ctx context.Context, pattern, sortKey string, now time.Time) iter.Seq2[string, error] {
	var lists []list
	for _, key := range s.Shards.keys(dueKey) {
		lists = append(lists, s.DB.Items(ctx, pattern, dynamo.Query{
			Values: []any{key, dynamo.FormatTime(now)}, PageSize: s.Shards.pageSize(keysPerPage),
		}))
	}
	return func(yield func(string, error) bool) {
		for item, err := range merge(sortKey, false, lists...) {
			var key askahuman.Question
			if err == nil {
				err = attributevalue.UnmarshalMap(item, &key)
			}
			if !yield(key.ID, err) || err != nil {
				return
			}
		}
	}
}

// questionsByID reads questions of a list of due ones as they are now, also after their retention: an index may be a
// moment behind, and nothing has marked them yet. It leaves out those that are gone.
func (s *Service) questionsByID(ctx context.Context, ids []string) (questions []askahuman.Question, err error) {
	read, err := dynamo.ReadBatch[askahuman.Question](ctx, s.DB, "GetDueQuestions", keysByID(ids)...)
	for _, q := range read {
		if q != nil {
			questions = append(questions, unstored(*q))
		}
	}
	return questions, err
}

// claimQuestion makes the question due again at next, and sets when people were notified (zero: no one was), if it is
// still open or partial and its due time is as it was read. It reports whether it did.
func (s *Service) claimQuestion(ctx context.Context, q askahuman.Question, notifiedAt, next time.Time) (bool, error) {
	claimed := q
	claimed.NotifiedAt, claimed.DueAt = notifiedAt, next
	update, err := dynamo.Changes(claimed, "due_at", "notified_at")
	if err != nil {
		return false, err
	}
	// One write in a transaction: by its token a retry recognises its own write after a lost
	// answer. An update would take it for another run's.
	return dynamo.Satisfied(s.DB.Transact(ctx, "ClaimQuestion", dynamo.Update("Questions", []any{q.ID}, update,
		answerable().And(dynamo.Equal("due_at", dynamo.FormatTime(q.DueAt))))))
}
