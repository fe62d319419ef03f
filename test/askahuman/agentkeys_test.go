package askahuman

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/cmd/onesynth/commandtest"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/trace"
	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// maxMarkTries is how often a test repeats a request until the last use of a key is stored.
const maxMarkTries = 10

// keyedTarget is a run of the environment prod, whose agents show keys.
type keyedTarget struct {
	*target
	log  *output
	keys *service.AgentKeys
}

// output is all that a run prints. It is safe for concurrent use.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.String()
}

func keyedRun(t testing.TB, options local.Options) *keyedTarget {
	t.Helper()
	k := &keyedTarget{log: &output{}}
	options.Log, options.LogFormat = k.log, local.LogJSON
	k.target = &target{suite.OwnRunOf(t, "prod", options)}
	if physical := k.Tables["AgentKeys"]; physical != "aah-agent-keys" {
		t.Fatalf("got table %q; want aah-agent-keys", physical)
	}
	db, err := dynamo.New(k.Database, askahuman.AgentKeys(), k.Tables)
	if err != nil {
		t.Fatal(err)
	}
	k.keys = &service.AgentKeys{DB: db}
	return k
}

// newAgent is an agent with a key.
func (k *keyedTarget) newAgent(t testing.TB, c *client) agent {
	t.Helper()
	a := c.newAgent()
	key, _, err := k.keys.Issue(t.Context(), a.id)
	if err != nil {
		t.Fatal(err)
	}
	a.key = key
	return a
}

// An agent asks with a key that the command issued, in every way in which it can send
// one, until the command revokes it; and the key itself is nowhere.
func TestAgentKeys(t *testing.T) {
	t.Parallel()
	k := keyedRun(t, local.Options{})
	c := newClient(t, k.target)
	onesynth := commandtest.Path(t)
	command := func(arguments ...string) string {
		t.Helper()
		run := exec.CommandContext(t.Context(), onesynth,
			append([]string{"agent"}, append(arguments, "--console", k.Run.ConsoleURL())...)...)
		var complaint strings.Builder
		run.Stderr = &complaint
		printed, err := run.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, &complaint)
		}
		return strings.TrimSuffix(string(printed), "\n")
	}
	send := func(method, path string, body any, headers ...string) onesynthtest.Reply {
		t.Helper()
		header := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		return c.MustSend(t, method, path, header, body)
	}

	ann, spare, bob := command("create", "ann"), command("create", "ann"), command("create", "bob")
	question := textQuestion(1)
	question.IdempotencyKey = "once"
	asked := onesynthtest.Read[submission](t, send(http.MethodPost, "/agent/questions", question, "X-Agent-Id", ann),
		http.StatusCreated)
	path := "/agent/questions/" + asked.QuestionID
	repeated := onesynthtest.Read[submission](t,
		send(http.MethodPost, "/agent/questions", question, "Authorization", "Bearer "+spare), http.StatusCreated)
	if repeated.QuestionID != asked.QuestionID {
		t.Error("with another key, the same agent's repeated request asked another question")
	}
	c.newPerson().answer(t, textAnswer(asked.QuestionID))
	for name, headers := range map[string][]string{
		"Header": {"X-Agent-Id", ann}, "Bearer": {"Authorization", "Bearer " + ann}, "Spare": {"X-Agent-Id", spare},
		"Both": {"X-Agent-Id", "my label", "Authorization", "bearer " + ann},
	} {
		if got := onesynthtest.Read[agentQuestion](t, send(http.MethodGet, path, nil, headers...),
			http.StatusOK); got.Status != "CLOSED" {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	refused(t, send(http.MethodGet, path, nil, "X-Agent-Id", bob), http.StatusNotFound, "QUESTION_NOT_FOUND")
	if item := k.Item(t, "Questions", "question_id", asked.QuestionID); item["agent_id"] != "ann" {
		t.Errorf("the question is kept as that of %v", item["agent_id"])
	}

	// Last uses, and the ids to revoke by. A request leaves a mark to the next one when
	// the database is slower than the time that marks may take.
	type row struct {
		ID, Agent  string
		LastUsedAt *time.Time `json:"last_used_at"`
	}
	var listed []row
	for range maxMarkTries {
		listed = nil
		if err := json.Unmarshal([]byte(command("list", "--format", "json")), &listed); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(listed, func(r row) bool { return r.LastUsedAt == nil }) {
			break
		}
		for _, key := range []string{ann, spare, bob} {
			send(http.MethodGet, path, nil, "X-Agent-Id", key)
		}
	}
	for _, one := range listed {
		if one.LastUsedAt == nil || time.Since(*one.LastUsedAt) > time.Hour {
			t.Errorf("got %+v; want a use in the last hour", one)
		}
	}
	if len(listed) != 3 || listed[2].Agent != "bob" {
		t.Errorf("got %+v; want ann's two keys and bob's", listed)
	}
	command("revoke", askahuman.HashAgentKey(ann)[:12])
	for _, headers := range [][]string{{"X-Agent-Id", ann}, nil} {
		refused(t, send(http.MethodGet, path, nil, headers...), http.StatusUnauthorized, "UNAUTHORIZED")
	}
	onesynthtest.Read[agentQuestion](t, send(http.MethodGet, path, nil, "X-Agent-Id", spare), http.StatusOK)
	// People need none.
	onesynthtest.Read[map[string]any](t, c.MustSend(t, http.MethodGet, "/human/leaderboard", nil, nil), http.StatusOK)

	for _, refusal := range rooms.Of(k.Run).AWS.Refused() {
		t.Errorf("got refusal %+v under the roles as synthesised", refusal)
	}
	for _, grant := range rooms.Of(k.Run).AWS.UnusedGrants(k.Function(t, "AgentAPI")) {
		if strings.Contains(grant.Resource, "agent-keys") {
			t.Errorf("nothing has used %v", grant)
		}
	}
	k.checkNowhere(t, ann, spare, bob)
}

// checkNowhere checks that no key is in what the run prints, in the functions' logs or
// in any table.
func (k *keyedTarget) checkNowhere(t *testing.T, keys ...string) {
	t.Helper()
	places := map[string]string{"the run's output": k.log.String()}
	for _, line := range rooms.Of(k.Run).Trace.Lines(trace.LineFilter{}) {
		places["the log of "+line.Function] += line.Text + "\n"
	}
	for name := range k.Tables {
		text, err := json.Marshal(k.Items(t, name))
		if err != nil {
			t.Fatal(err)
		}
		places["the table "+name] = string(text)
	}
	if access := places["the run's output"]; !strings.Contains(access,
		`"routeKey":"GET /agent/questions/{question_id}"`) {
		t.Errorf("the output has no line of the API's access log:\n%.1000s", access)
	}
	for place, text := range places {
		for _, key := range keys {
			if strings.Contains(text, strings.TrimPrefix(key, service.AgentKeyPrefix)) {
				t.Errorf("%s has a key", place)
			}
		}
	}
}

// Without permission to read keys, every agent is refused; without permission to mark them, none
// is.
func TestAgentKeyGrants(t *testing.T) {
	t.Parallel()
	for action, status := range map[string]int{"dynamodb:GetItem": http.StatusInternalServerError,
		"dynamodb:UpdateItem": http.StatusOK} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			k := keyedRun(t, local.Options{Revoke: func(_, granted, resource string) bool {
				return granted == action && strings.HasSuffix(resource, "/aah-agent-keys")
			}})
			asker := k.newAgent(t, newClient(t, k.target))
			r := asker.try(t, http.MethodGet, "/agent/questions", nil)
			if r.Status != status {
				t.Errorf("got %v; want %d", r, status)
			}
			if refusals := rooms.Of(k.Run).AWS.Refused(); len(refusals) != 1 || refusals[0].Action != action {
				t.Errorf("got refusals %+v; want one of %s", refusals, action)
			}
			if status == http.StatusOK && !strings.Contains(k.log.String(), "the last use of a key was not kept") {
				t.Errorf("the log does not say so:\n%s", k.log)
			}
			k.checkRefusalHidesKey(t, r, asker.key)
		})
	}
}

func (k *keyedTarget) checkRefusalHidesKey(t *testing.T, r onesynthtest.Reply, key string) {
	t.Helper()
	for place, text := range map[string]string{"the answer": string(r.Body), "the output": k.log.String()} {
		if strings.Contains(text, strings.TrimPrefix(key, service.AgentKeyPrefix)) ||
			strings.Contains(text, askahuman.HashAgentKey(key)) {
			t.Errorf("%s has the key or its hash", place)
		}
	}
}

// The published clients work in prod as they are: their agent id is a key.
func TestPublishedClientsWithKeys(t *testing.T) {
	t.Parallel()
	for name, clientOf := range map[string]func(*testing.T) []string{"npm": npmClient, "PyPI": pythonClient} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := clientOf(t)
			k := keyedRun(t, local.Options{})
			c := newClient(t, k.target)
			runClient(t, k.target, func() agent { return k.newAgent(t, c) }, command...)
		})
	}
}
