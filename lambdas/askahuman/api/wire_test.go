package api_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/openapi"
)

// The tests of the package cover the access patterns of the functions of the API.
func TestMain(m *testing.M) {
	database := askahuman.Platform().Database
	database.AccessPatterns = slices.DeleteFunc(database.AccessPatterns, func(p schema.AccessPattern) bool {
		return !slices.ContainsFunc(p.Functions, func(f string) bool { return strings.HasSuffix(f, "api") })
	})
	os.Exit(dynamotest.Covering(m.Run, database)())
}

// The answers of every route, in the very bytes of the wire. The commands of the script: "new" starts a platform,
// "quota N" one without limits of calls where an agent may have N questions open, "tokens" one whose agents have
// tokens, "keys" one whose agents have keys, "without PART" one that leaves a part out, and "fails NAME" one whose
// tables fail with that error. Each answer of the first two kinds is as the document says, and no log has a fingerprint
// or a secret. "metrics" are what was counted, by who called, and "sent" the webhooks that were queued.
func TestWire(t *testing.T) {
	t.Parallel()
	all := answered{counted: map[string]string{}, refused: map[string]bool{}}
	httpapitest.Run(t, "testdata/wire.txt", all.script, func() {
		for who, function := range map[string]string{"agent": "agentapi", "human": "humanapi",
			"operator": "moderationapi"} {
			metricstest.Complete(t, all.counted[who], schema.MetricsOf(function, askahuman.Platform().Metrics))
		}
		free := []string{"listQuestions", "readQuestion", "closeQuestion"} // of blocked agents
		for _, route := range askahuman.Platform().Routes {
			if route.Caller == askahuman.CallerAgent && !route.OutsideAPI && !slices.Contains(free, route.ID) &&
				!all.refused[route.ID+" BLOCKED"] {
				t.Errorf("the script does not say that %s refuses a blocked agent", route.ID)
			}
			if route.Caller == askahuman.CallerOperator && route.Method == http.MethodPut &&
				!all.refused[route.ID+" DECIDED_MEANWHILE"] {
				t.Errorf("the script does not say what %s answers after the decision of another operator", route.ID)
			}
		}
	})
}

// answered collects what the requests of all sections did.
type answered struct {
	mu      sync.Mutex
	counted map[string]string // the metrics, by who called
	refused map[string]bool   // by operation and code of the error
}

// script is a platform as [TestWire] describes it.
func (a *answered) script(t *testing.T) httpapitest.Script {
	failures := map[string]error{
		"unknown": errors.New("table aah-questions has a secret"), "quota": askahuman.ErrQuotaExceeded,
		"running":    &idempotency.RunningError{Until: began().Add(time.Minute)},
		"claim lost": idempotency.ErrClaimLost, "busy": retry.ErrBusy, "stale": retry.ErrStale,
		"unanswered": retry.ErrUnanswered,
	}
	var p *platform
	as := func(r *http.Request, caller string) bool { return p.as(r, caller) }
	return httpapitest.Script{As: as, Start: func(command string) (http.Handler, *worldtest.World) {
		what, argument, _ := strings.Cut(command, " ")
		err, known := failures[argument]
		switch {
		case what == "new":
			p = newPlatform(t)
			return a.described(t, p), p.world
		case what == "tokens":
			p = newPlatform(t, withTokens)
		case what == "keys":
			p = newPlatform(t, withKeys(t))
		case what == "without":
			parts := must.Get(askahuman.ParseParts(argument))(t)
			p = newPlatform(t, func(p *platform) {
				p.agentAPI.Parts, p.humanAPI.Parts = parts, parts
				if parts.WithoutWebhooks {
					p.agentAPI.Webhooks, p.service.CheckCallback = nil, nil
				}
			})
		case what == "quota":
			rules := askahuman.DefaultRules()
			rules.OpenQuestions = must.Get(strconv.Atoi(argument))(t)
			p = newPlatform(t, unlimited, func(p *platform) { p.service.Rules, p.agentAPI.Rules = &rules, &rules })
			return a.described(t, p), p.world
		case what == "fails" && known:
			p = newPlatform(t, unlimited)
			p.world.Recorder.Faults(func(schema.Action) error { return fmt.Errorf("doing it: %w", err) }, nil)
		default:
			t.Fatalf("there is no command %s", command)
		}
		return p, p.world
	}, Verbs: map[string]func(string) string{"metrics": func(string) (lines string) {
		for who, counted := range p.counted {
			for name, sum := range metricstest.Sums(t, counted) {
				lines += fmt.Sprintln(who, name, sum)
			}
		}
		return lines
	}, "sent": func(string) string { return cmp.Or(strings.Join(p.sent.bodies, "\n"), "nothing") },
	}}
}

// as gives a request its caller: a person shows a fingerprint, an open agent an id, and the others a token.
func (p *platform) as(r *http.Request, caller string) bool {
	switch {
	case strings.HasPrefix(r.URL.Path, "/human/"):
		r.Header.Set("X-Fingerprint", caller)
	case strings.HasPrefix(r.URL.Path, "/operator/") || !p.agentAPI.OpenAgents && p.agentAPI.AgentKeys == nil:
		return false
	default:
		r.Header.Set("X-Agent-Id", caller)
	}
	return true
}

// described is the platform, each of whose answers is checked by the document and whose log by what was sent.
func (a *answered) described(t *testing.T, p *platform) http.Handler {
	document := openDocument(t)
	code := regexp.MustCompile(`^{"error":{"code":"(\w+)"`)
	fields := strings.NewReplacer(`"level":`, "")
	var busy sync.RWMutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		busy.RLock()
		p.ServeHTTP(w, r)
		busy.RUnlock()
		document.IsKept(t, r, w.(*httptest.ResponseRecorder))
		busy.Lock()
		defer busy.Unlock()
		for _, secret := range append(r.Header["X-Fingerprint"], "whsec_", "secret@") {
			if len(secret) > 2 && strings.Contains(fields.Replace(p.log.String()), secret) {
				t.Errorf("after %s %s the log has %q: %s", r.Method, r.URL, secret, &p.log)
			}
		}
		who, _, _ := strings.Cut(r.URL.Path[1:], "/")
		p.counted[who] += p.metrics.String()
		operation, _ := document.Operation(r)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.counted[who] += p.metrics.String()
		p.metrics.Reset()
		if of := code.FindStringSubmatch(w.(*httptest.ResponseRecorder).Body.String()); of != nil {
			a.refused[operation.OperationID+" "+of[1]] = true
		}
	})
}

func TestDocumentBytes(t *testing.T) {
	t.Parallel()
	under := func(parts askahuman.Parts, openAgents bool) schema.Platform {
		return askahuman.Under(parts, askahuman.DefaultRules(), openAgents)
	}
	for name, p := range map[string]schema.Platform{"token": under(askahuman.Parts{}, false),
		"header": under(askahuman.Parts{}, true), "key": under(askahuman.Parts{AgentKeys: true}, false)} {
		body := must.Get(openapi.Document(p))(t)
		httpapitest.SameAsFile(t, "testdata/openapi-"+name+".json", body)
	}
}

// The document has nothing of a part that is left out.
func TestDocumentWithoutParts(t *testing.T) {
	t.Parallel()
	for part, words := range map[string][]string{"moderation": {"/reports", "/operator/"},
		"webhooks": {"webhook-secrets", "public Internet"}, "waiting": {`"seen"`}} {
		document := must.Get(openapi.Document(askahuman.With(must.Get(askahuman.ParseParts(part))(t))))(t)
		for _, word := range words {
			if strings.Contains(string(document), word) || !json.Valid(document) {
				t.Errorf("without %s the document has %s, or is no JSON", part, word)
			}
		}
	}
}

// The document is served as the synth writes it, whatever parts the platform has.
func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	for _, leftOut := range []string{"", "", "moderation", "waiting", "webhooks", "moderation,waiting,webhooks"} {
		parts := must.Get(askahuman.ParseParts(leftOut))(t)
		want := must.Get(openapi.Document(askahuman.Under(parts, askahuman.DefaultRules(), true)))(t)
		p := newPlatform(t, func(p *platform) { p.agentAPI.Parts, p.humanAPI.Parts = parts, parts })
		if w := p.serve("GET /openapi.json"); w.Code != 200 ||
			w.Header().Get("Content-Type") != "application/json" || w.Body.String() != string(want) {
			t.Errorf("without %q: got %d %v, %d bytes", leftOut, w.Code, w.Header(), w.Body.Len())
		}
	}
}
