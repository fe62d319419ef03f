package askahuman

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// A limited route says what is left of its limit, and refuses what is beyond. Of a limit of reads, a caller of
// several instances of a function gets 95 to 105 %.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	target := shared(t)
	c := newClient(t, target)
	c.Retry = onesynthtest.Busy
	asker, other := c.newAgent(), c.newAgent()
	asked := other.ask(t, textQuestion(50))

	tests := map[string]struct {
		limit int
		send  func(i int) (onesynthtest.Reply, error)
		// refusals also count
		status int
		// reads: several instances may be ahead of the count, or behind
		reads bool
	}{
		"Create": {60, func(int) (onesynthtest.Reply, error) {
			return asker.Send(t.Context(), http.MethodPost, "/agent/questions", nil,
				map[string]string{"prompt": "short"})
		}, http.StatusBadRequest, false},
		"Poll": {600, func(int) (onesynthtest.Reply, error) {
			return asker.Send(t.Context(), http.MethodGet, "/agent/questions?limit=1", nil, nil)
		}, http.StatusOK, true},
		// Of unknown persons, the address.
		"ReadUnknown": {300, func(int) (onesynthtest.Reply, error) {
			return c.Send(t.Context(), http.MethodGet, "/human/leaderboard?limit=1", nil, nil)
		}, http.StatusOK, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "ReadUnknown" {
				target.LocalOnly(t, "it uses up an hour's calls of this machine's address")
			}
			avoidEndOfHour(t)
			// In any order of counting, each count is reported once.
			const workers = 8
			told := make(chan limits, 2*test.limit)
			var retries atomic.Int32 // each may have been counted, too
			if err := onesynthtest.Together(workers, func(worker int) error {
				refusals := 0
				for i := worker; ; i += workers {
					if i >= test.limit && !test.reads || refusals == 10 {
						return nil
					}
					r, err := test.send(i)
					if err != nil {
						return err
					}
					if retries.Add(int32(r.Retries)) > 0 && r.Status == http.StatusTooManyRequests {
						return nil
					}
					if test.reads && r.Status == http.StatusTooManyRequests {
						refusals++
						continue
					}
					refusals = 0
					if r.Status != test.status {
						return fmt.Errorf("call %d: got %v; want %d", i, r, test.status)
					}
					l, err := parseLimits(r)
					if err != nil {
						return err
					}
					told <- l
				}
			}); err != nil {
				t.Fatal(err)
			}
			close(told)
			remaining, calls := map[int]bool{}, 0
			for l := range told {
				calls++
				if l.limit != test.limit || !test.reads && remaining[l.remaining] {
					t.Errorf("got limit %d with %d remaining; want limit %d and every count once", l.limit, l.remaining,
						test.limit)
				}
				if in := time.Until(time.Unix(int64(l.reset), 0)); in <= 0 || in > time.Hour {
					t.Errorf("got a reset in %v; want within the hour", in)
				}
				remaining[l.remaining] = true
			}
			if test.reads {
				if 100*calls > 105*test.limit || 100*calls < 95*test.limit && retries.Load() == 0 {
					t.Errorf("got %d calls; want 95 to 105 %% of %d", calls, test.limit)
				}
			} else if !remaining[0] && retries.Load() == 0 {
				t.Error("no call was told that it was the last")
			}

			r, err := test.send(test.limit)
			if err != nil {
				t.Fatal(err)
			}
			suite.Refused(t, r, http.StatusTooManyRequests, "RATE_LIMITED")
			if after, told := r.RetryAfter(); !told || after > time.Hour {
				t.Errorf("got Retry-After %q; want 1 to 3600 seconds", r.Header.Get("Retry-After"))
			}
			if l, err := parseLimits(r); err != nil || l.limit != test.limit || l.remaining != 0 {
				t.Errorf("got %+v, %v; want nothing remaining of %d", l, err, test.limit)
			}
		})
	}
	// Each caller has a limit of its own, also behind the same address.
	if r := c.newPerson().Try(t, http.MethodGet, "/human/leaderboard", nil); r.Status != http.StatusOK {
		t.Errorf("got %v; want the leaderboard", r)
	}
	if got := c.newPerson().answer(t, textAnswer(asked.QuestionID)); got.TotalPoints == 0 {
		t.Errorf("got %+v; want points", got)
	}
	c.newAgent().ask(t, textQuestion(1))
}

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
		if err := onesynthtest.Together(len(turn), func(i int) error {
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
		}); err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(left, func(i int) bool { return ids[i] != "" })
	}
	target.forgetAsks(t, asker.id)
	return ids
}
