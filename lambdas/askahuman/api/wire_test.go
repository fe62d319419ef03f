package api_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// both serves the routes of agents and of people.
func both(agents, people http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/human/") {
			people.ServeHTTP(w, r)
			return
		}
		agents.ServeHTTP(w, r)
	})
}

// The answers of every route, in the very bytes of the wire. The commands of the script:
// "new" starts a platform, "stored" one whose agents' side has its tables, "tokens" one
// whose agents have tokens, "keys" one whose agents have keys, "advance 1s" moves the
// clock, and "fails NAME" starts one whose services fail with that error.
func TestWire(t *testing.T) {
	t.Parallel()
	failures := map[string]error{
		"unknown": errors.New("table aah-questions has a secret"), "quota": askahuman.ErrQuotaExceeded, "no question": askahuman.ErrQuestionNotFound,
		"no subscription": askahuman.ErrSubscriptionNotFound, "answered": askahuman.ErrAlreadyAnswered, "closed": askahuman.ErrQuestionClosed,
		"running": &idempotency.RunningError{Until: began().Add(time.Minute)}, "claim lost": idempotency.ErrClaimLost, "other request": idempotency.ErrOtherRequest,
		"busy": retry.ErrBusy, "stale": askahuman.ErrStale, "unanswered": retry.ErrUnanswered,
	}
	var p *platform
	httpapitest.Script(t, "testdata/wire.txt", func(t *testing.T, command string) http.Handler {
		what, argument, _ := strings.Cut(command, " ")
		err, known := failures[argument]
		switch {
		case what == "new":
			p = newPlatform(t)
			return both(p.agents, p.people)
		case what == "stored":
			p = newStoredPlatform(t)
			return both(p.agents, p.people)
		case what == "tokens":
			p = newPlatform(t)
			p.agentAPI.OpenAgents = false
			return p.agentAPI.Handler()
		case what == "keys":
			p = newPlatform(t)
			p.agentAPI.OpenAgents, p.agentAPI.AgentKeys = false, newKeyed(t).keys
			return p.agentAPI.Handler()
		case what == "advance":
			by, err := time.ParseDuration(argument)
			if err != nil {
				t.Fatal(err)
			}
			p.clock.advance(by)
			return nil
		case what == "fails" && known:
			p = newPlatform(t)
			p.agentAPI.Service = failing{fmt.Errorf("doing it: %w", err)}
			people := (&api.HumanAPI{Service: failing{fmt.Errorf("doing it: %w", err)}, Hasher: testHasher(), Options: api.Options{RateLimiter: p.limiter, Log: slog.New(slog.DiscardHandler), Now: began}}).Handler()
			return both(p.agentAPI.Handler(), people)
		}
		t.Fatalf("there is no command %s", command)
		return nil
	})
}

func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	for name, agents := range map[string]api.AgentIdentity{"token": api.ByToken, "header": api.ByHeader, "key": api.ByKey} {
		_, text := readDocument(t, agents)
		httpapitest.SameAsFile(t, "testdata/openapi-"+name+".json", []byte(text))
	}
}
