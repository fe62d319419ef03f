// Package storetest checks that a store keeps the promises of package askahuman's
// store interfaces, one at a time and under concurrent callers. Every
// implementation runs the same checks.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
)

// Store is what is checked: everything that the platform stores.
type Store interface {
	askahuman.AgentStore
	askahuman.PeopleStore
	askahuman.NotifierStore
	webhooks.DeliveryStore
}

// Quota is how many questions an agent may have open in the stores that are checked. A refused
// question reads each of them: with the default, this would be most of what the checks do.
const Quota = 10

// Run checks stores that newStore returns: a new, empty one for each call, with [Quota]. Checks
// run in parallel.
func Run(t *testing.T, newStore func(t *testing.T) Store) {
	for name, check := range map[string]func(t *testing.T, s Store){
		"CreateQuestion":                    createQuestion,
		"CreateQuestion/QuotaExceeded":      quotaExceeded,
		"CreateQuestion/QuotaRace":          quotaRace,
		"CreateQuestion/LostPlaces":         quotaLostPlaces,
		"Question/NotFound":                 questionNotFound,
		"AgentQuestions":                    agentQuestions,
		"AgentQuestions/Status":             agentQuestionsByStatus,
		"AgentQuestions/OneMoment":          agentQuestionsOfOneMoment,
		"EndQuestion":                       endQuestion,
		"EndQuestion/GivesPlaceBack":        endingGivesPlaceBack,
		"EndQuestion/Race":                  endRace,
		"OpenQuestions":                     openQuestions,
		"OpenQuestions/OneMoment":           openQuestionsOfOneMoment,
		"SubmitResponse":                    submitResponse,
		"SubmitResponse/MultipleChoice":     submitMultipleChoice,
		"SubmitResponse/Refused":            submitRefused,
		"SubmitResponse/Stale":              submitStale,
		"SubmitResponse/HalfWay":            submitHalfWay,
		"SubmitResponse/LastGivesPlaceBack": lastAnswerGivesPlaceBack,
		"RecentAnswers":                     recentAnswers,
		"Stats":                             statsKept,
		"Boards":                            boards,
		"Answer/64RaceFor5":                 raceForPlaces,
		"Answer/OnePersonRacesThemselves":   raceOneself,
		"Answer/OnePersonManyQuestions":     raceManyQuestions,
		"Answer/RaceWithClose":              raceWithClose,
		"Subscribe":                         subscribe,
		"Subscribe/SameToken":               subscribeSameToken,
		"Subscribe/Race":                    subscribeRace,
		"ChangeSubscription":                changeSubscription,
		"ChangeSubscription/TokenMoves":     tokenMoves,
		"ChangeSubscription/Race":           tokenMoveRace,
		"FindSubscription":                  findSubscription,
		"RenewSubscription":                 renewSubscription,
		"Unsubscribe":                       unsubscribe,
		"DueQuestions":                      dueQuestions,
		"ClaimQuestion/Race":                claimQuestionRace,
		"DueSubscriptions":                  dueSubscriptions,
		"ClaimSubscription":                 claimSubscription,
		"ClaimSubscription/Answered":        claimSubscriptionAnswered,
		"ClaimSubscription/Race":            claimSubscriptionRace,
		"ClaimSubscription/Person":          claimPerson,
		"ClaimSubscription/PersonRace":      claimPersonRace,
		"MarkNotified":                      markNotified,
		"ReleaseSubscription":               releaseSubscription,
		"DeactivateSubscription":            deactivateSubscription,
		"Delivery":                          delivery,
		"Cancelled":                         cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newStore(t))
		})
	}
}

// start is when the checks begin. A whole second: stores may keep no more of when
// something may be deleted.
var start = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// awkward is text that a store must keep as it is.
const awkward = "  Is \"naïve\" ☃ 👩‍👩‍👧 right-to-left עברית,\n\ttabs & <tags> {\"$ne\":1} #status :v ?  "

// Must returns a function that fails the test on the error, or else returns the value.
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// OK fails the test on an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newQuestion(agentID string, createdAt time.Time) askahuman.Question {
	return askahuman.Question{
		ID:                askahuman.QuestionID(createdAt),
		Status:            askahuman.StatusOpen,
		Prompt:            awkward,
		Type:              askahuman.TypeText,
		Audience:          []string{"technical", "general"},
		RequiredResponses: 3,
		AgentID:           agentID,
		CreatedAt:         createdAt,
		Deadline:          createdAt.Add(time.Hour),
		ExpiresAt:         createdAt.Add(time.Hour + askahuman.KeepExpired),
		DueAt:             createdAt,
	}
}

func mustCreate(t *testing.T, s Store, questions ...askahuman.Question) {
	t.Helper()
	for _, q := range questions {
		OK(t, s.CreateQuestion(t.Context(), q))
	}
}

func mustRead(t *testing.T, s Store, id string) askahuman.Question {
	t.Helper()
	q := Must(s.Question(t.Context(), id, start))(t)
	return q
}

func newResponse(q askahuman.Question, person string, at time.Time) askahuman.Response {
	return askahuman.Response{
		ID:             askahuman.ResponseID(q.ID, person),
		QuestionID:     q.ID,
		PersonHash:     person,
		Answer:         awkward,
		Type:           askahuman.TypeText,
		ResponseTimeMS: -1,
		CreatedAt:      at,
		Points:         10,
		ContentDigest:  "digest of " + person,
		ContentLength:  70,
	}
}

func statsOf(t *testing.T, s Store, person string) askahuman.Stats {
	t.Helper()
	stats := Must(s.Stats(t.Context(), person))(t)
	return stats
}

// counted are a person's stats with one more answer of some points.
func counted(stats askahuman.Stats, points int, at time.Time) askahuman.Stats {
	stats.TotalAnswers++
	stats.TotalPoints += points
	if stats.CreatedAt.IsZero() {
		stats.CreatedAt = at
	}
	stats.UpdatedAt = at
	return stats
}

func mustSubmit(t *testing.T, s Store, questionID, person string, at time.Time) {
	t.Helper()
	q := mustRead(t, s, questionID)
	Must(s.SubmitResponse(t.Context(), q, newResponse(q, person, at), counted(statsOf(t, s, person), 10, at)))(t)
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func ids(questions []askahuman.Question) []string {
	list := make([]string, len(questions))
	for i, q := range questions {
		list[i] = q.ID
	}
	return list
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

// tally counts equal results, errors by the first of kinds that they are.
func tally(t *testing.T, errs []error, kinds ...error) map[error]int {
	t.Helper()
	counts := map[error]int{}
	for _, err := range errs {
		i := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
		switch {
		case err == nil:
			counts[nil]++
		case i >= 0:
			counts[kinds[i]]++
		default:
			t.Errorf("unexpected error: %v", err)
		}
	}
	return counts
}

func cancelled(t *testing.T, s Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Question(ctx, uuid.NewString(), start)
	wantError(t, err, context.Canceled)
	wantError(t, s.CreateQuestion(ctx, newQuestion("agent", start)), context.Canceled)
}

func person(i int) string { return fmt.Sprintf("%064x", i+1) }

func longText(length int) string { return strings.Repeat("é", length) }
