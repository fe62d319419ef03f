package askahuman

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// platform is all sides on tables of their own, at a moment that tests move: agents' by itself. Each function has the
// access patterns that are its own.
type platform struct {
	*Service
	*worldtest.World
	people, notifying, sending *Service
}

// newPlatform is a platform, from which parts may be left out.
func newPlatform(t *testing.T, without ...askahuman.Parts) *platform {
	t.Helper()
	parts := append(without, askahuman.Parts{})[0]
	p := &platform{World: worldtest.New(t, askahuman.With(parts),
		time.Date(2026, 3, 4, 12, 0, 0, 123_456_789, time.UTC))}
	as := func(function string) *Service {
		s := p.as(t, function)
		s.Parts = parts
		return s
	}
	p.Service, p.people, p.notifying, p.sending = as("agentapi"), as("humanapi"), as("notifier"), as("webhooksender")
	return p
}

// as is another instance of a function.
func (p *platform) as(t *testing.T, function string) *Service {
	t.Helper()
	return &Service{DB: p.As(t, function), Shards: Shards{Write: 2, Read: 5}, Clock: p.Now}
}

// faults has errors of before come in place of the answers to requests, from now on; nil: none.
func (p *platform) faults(before func(dynamotest.Request) error) {
	if before == nil {
		p.Tables.Recorder.FaultsOf(nil, nil)
		return
	}
	p.Tables.Recorder.FaultsOf(func(_ context.Context, r dynamotest.Request) error { return before(r) }, nil)
}

// quotaOf are rules by which an agent may have that many questions open.
func quotaOf(questions int) *askahuman.Rules {
	rules := askahuman.DefaultRules()
	rules.OpenQuestions = questions
	return &rules
}

// fewOpen questions are enough: a refused one reads each of them, which would be most of what the tests do.
const fewOpen = 10

// newFew is a platform at ten, on which an agent may have [fewOpen] questions open.
func newFew(t *testing.T) *platform {
	t.Helper()
	t.Parallel()
	p := newPlatform(t)
	p.MoveTo(ten)
	p.Rules = quotaOf(fewOpen)
	return p
}

// ten is when the checks begin. A whole second: the tables keep no more of when something may be deleted.
var ten = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// storedSubscription stores a subscription as it is.
func storedSubscription(ctx context.Context, s *Service, sub askahuman.Subscription) (stored askahuman.Subscription,
	err error) {
	err = retry.Do(ctx, func() (err error) {
		stored, err = s.subscribe(ctx, sub)
		return err
	})
	return stored, err
}

// awkward is text that a store must keep as it is.
const awkward = "  Is \"naïve\" ☃ 👩‍👩‍👧 right-to-left עברית,\n\ttabs & <tags> {\"$ne\":1} #status :v ?  "

func questionAt(agentID string, createdAt time.Time) askahuman.Question {
	return askahuman.Question{
		ID:                wire.NewID(createdAt),
		Status:            askahuman.StatusOpen,
		Prompt:            awkward,
		Type:              askahuman.TypeText,
		Audience:          []string{"technical", "general"},
		RequiredResponses: 3,
		AgentID:           agentID,
		CreatedAt:         wire.Time(createdAt),
		Deadline:          wire.Time(createdAt.Add(time.Hour)),
		ExpiresAt:         createdAt.Add(time.Hour + askahuman.KeepExpired),
		DueAt:             createdAt,
	}
}

func mustCreate(t *testing.T, s *platform, questions ...askahuman.Question) {
	t.Helper()
	for _, q := range questions {
		must.OK(t, s.createQuestion(t.Context(), q))
	}
}

func mustRead(t *testing.T, s *platform, id string) askahuman.Question {
	t.Helper()
	return must.Get(s.people.question(t.Context(), id, ten))(t)
}

func responseTo(q askahuman.Question, person string, at time.Time) askahuman.Response {
	return askahuman.Response{
		ID:            askahuman.ResponseID(q.ID, person),
		QuestionID:    q.ID,
		PersonHash:    person,
		Answer:        new(awkward),
		CreatedAt:     at,
		Points:        10,
		ContentDigest: "digest of " + person,
		ContentLength: 70,
	}
}

func statsOf(t *testing.T, s *platform, person string) askahuman.Stats {
	t.Helper()
	return must.Get(s.people.stats(t.Context(), person))(t)
}

// counted are a person's stats with one more answer of some points.
func counting(stats askahuman.Stats, points int, at time.Time) askahuman.Stats {
	stats.TotalAnswers++
	stats.TotalPoints += points
	if stats.CreatedAt.IsZero() {
		stats.CreatedAt = at
	}
	stats.UpdatedAt = at
	return stats
}

func mustSubmit(t *testing.T, s *platform, questionID, person string, at time.Time) {
	t.Helper()
	q := mustRead(t, s, questionID)
	must.Get(s.people.submitResponse(t.Context(), q, responseTo(q, person, at),
		counting(statsOf(t, s, person), 10, at)))(t)
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
	// People see these errors, so nothing is wrapped around them.
	if _, seen := want.(problem.Problem); seen && err != nil && err.Error() != want.Error() {
		t.Errorf("text = %q, want %q", err, want)
	}
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// atOnce calls f n times at the same moment and returns what each returned.
func atOnce[T any](n int, f func(i int) T) []T {
	results := make([]T, n)
	begin := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-begin
			results[i] = f(i)
		})
	}
	close(begin)
	group.Wait()
	return results
}

func TestCancelled(t *testing.T) {
	s := newFew(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.people.question(ctx, uuid.NewString(), ten)
	wantError(t, err, context.Canceled)
	wantError(t, s.createQuestion(ctx, questionAt("agent", ten)), context.Canceled)
}

func person(i int) string { return fmt.Sprintf("%064x", i+1) }
