package api_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// stored is the API of users and translations on tables.
func stored(w *lingibletest.World) *kit.API {
	keys := w.Keys()
	keys.Clock = w.Read
	return api.Handler(w.Service, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: keys}, Limiter: w.Limiter(),
		WorkTime: 9 * time.Second, Log: slog.New(slog.DiscardHandler), Clock: w.Read})
}

// The answers of the routes of users and translations, in the very bytes of the wire. The command
// "stored" of the script starts a platform with its tables.
func TestWire(t *testing.T) {
	t.Parallel()
	httpapitest.Script{Start: func(t *testing.T, command string) (http.Handler, *worldtest.World) {
		if command != "stored" {
			t.Fatalf("there is no command %s", command)
		}
		w := lingibletest.New(t)
		w.Know()
		return stored(w), w.World
	}}.Run(t, "testdata/wire.txt")
}

// refusing is a limiter that refuses each call.
type refusing struct{ httpapitest.Unlimited }

func (refusing) CountRequest(context.Context, schema.RateLimit, string, time.Time) (ratelimit.State, error) {
	return ratelimit.State{}, &ratelimit.LimitedError{}
}

// A translation beyond the limit of calls is not charged, its terms do not count, and no one is
// warned.
func TestRefusedTranslation(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	initial := must.Get(lexicons.Initial())(t)
	w.Know(initial...)
	w.Language, w.Log = w.Lexicon, logger
	ann := w.Premium(t, "ann")
	handler := api.Handler(w.Service, httpapi.Config{Limiter: refusing{}, Log: logger, Clock: w.Read})
	got := httptest.NewRecorder()
	handler.ServeHTTP(got, httptest.NewRequestWithContext(kit.WithInvocation(t.Context(), kit.Invocation{
		Claims: map[string]string{"sub": "ann"}}), "POST", "/translate", strings.NewReader(`{"text":"no cap"}`)))
	balance, err := w.Balance(t.Context(), ann)
	if got.Code != http.StatusTooManyRequests || err != nil || balance.DailyUsed != 0 ||
		len(w.Stored(t, "Translations")) != 0 || len(w.Stored(t, "Trending")) != 0 || log.Len() > 0 {
		t.Errorf("got %d %s, and %+v, %v; the log has %s", got.Code, got.Body, balance, err, &log)
	}
}

// After a function was killed, a repeat need wait no longer than a request may take, and is told how long.
func TestLease(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	handler := stored(w)
	w.Premium(t, "ann")
	translate := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/translate", strings.NewReader(`{"text":"no cap"}`))
		r.Header.Set("Idempotency-Key", "k")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r.WithContext(kit.WithInvocation(r.Context(),
			kit.Invocation{Claims: map[string]string{"sub": "ann"}, SourceAddress: "203.0.113.7"})))
		return recorder
	}
	// The transaction stores the translation, under the key that is claimed.
	w.Recorder.Faults(func(action schema.Action) error {
		if action != schema.TransactWriteItems {
			return nil
		}
		w.Kill(0, false)
		return worldtest.ErrKilled
	}, nil)
	translate()
	w.Heal()
	again := translate()
	after, err := strconv.Atoi(again.Header().Get("Retry-After"))
	if again.Code != http.StatusConflict || err != nil || after > 11 {
		t.Errorf("got %d %s, Retry-After %s; want 409, and 11 seconds at most", again.Code, again.Body,
			again.Header().Get("Retry-After"))
	}
	w.Advance(time.Duration(after) * time.Second)
	if last := translate(); last.Code != http.StatusOK {
		t.Errorf("then: got %d %s", last.Code, last.Body)
	}
}
