package askahuman

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// avoidEndOfHour waits when the windows of the limits are about to end, because counts
// begin at zero then.
func avoidEndOfHour(t testing.TB) {
	t.Helper()
	if rest := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); rest < time.Minute {
		time.Sleep(rest)
	}
}

// fillQuota asks as many questions for one answer as an agent may have open. They are more than it may ask in an hour,
// so the count of the hour begins at zero for each turn. What is made again counts again: requests by the client, and
// counting by the platform, if an answer of the database is lost. So a question that is one too many of a turn is asked
// in the next one, under its key; for a second, an instance may refuse that one, too.
func fillQuota(t testing.TB, target *target, asker agent) []string {
	t.Helper()
	asker.Retry = onesynthtest.Busy
	ids, keys, left := make([]string, 100), make([]string, 100), make([]int, 100)
	for i := range ids {
		keys[i], left[i] = onesynthtest.Unique("key"), i
	}
	for len(left) > 0 {
		target.forgetAsks(t, asker.id)
		turn := left[:min(50, len(left))]
		must.OK(t, onesynthtest.Together(len(turn), func(i int) error {
			question := textQuestion(1)
			question.IdempotencyKey = &keys[turn[i]]
			r, err := asker.Send(t.Context(), http.MethodPost, "/agent/questions", nil, question)
			if err != nil {
				return err
			}
			if r.Status == http.StatusCreated {
				ids[turn[i]] = onesynthtest.Field(r.Body, "question_id")
				return nil
			}
			if p, err := suite.IsError(r); err != nil || p.Code != "RATE_LIMITED" {
				return fmt.Errorf("question %d: got %v; want 201", turn[i], r)
			}
			return nil
		}))
		left = slices.DeleteFunc(left, func(i int) bool { return ids[i] != "" })
	}
	target.forgetAsks(t, asker.id)
	return ids
}
