package askahuman

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// keyedTarget is a run of the environment prod, whose agents show keys.
type keyedTarget struct {
	*platform.Target
	log string // the file with all that the run prints
}

func keyedRun(t testing.TB, options run.Options) *keyedTarget {
	t.Helper()
	log := must.Get(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	t.Cleanup(func() { log.Close() })
	options.Log, options.LogFormat = log, run.LogJSON
	on := suite.OwnRunOf(t, "prod", options)
	if physical := on.Tables["AgentKeys"]; physical != "aah-agent-keys" {
		t.Fatalf("got table %q; want aah-agent-keys", physical)
	}
	return &keyedTarget{on, log.Name()}
}

// newKeyed is a new agent with a key.
func newKeyed(t testing.TB, on *platform.Target) agent {
	t.Helper()
	id, db := onesynthtest.Unique("agent"), must.Get(dynamo.New(on.Database, askahuman.AgentKeys(), on.Tables))(t)
	key, _, err := (&service.AgentKeys{DB: db}).Issue(t.Context(), id)
	must.OK(t, err)
	return agentOf(platform.NewClient(t, on), id, key)
}

// An agent asks with a key that the command issued, until the command revokes it. The function may read and mark keys,
// and the key itself is nowhere.
func TestAgentKeys(t *testing.T) {
	t.Parallel()
	k := keyedRun(t, run.Options{})
	c := platform.NewClient(t, k.Target)
	command := func(arguments ...string) string {
		t.Helper()
		runner := exec.CommandContext(t.Context(), commandtest.Path(t),
			append([]string{"agent"}, append(arguments, "--console", k.Run.ConsoleURL())...)...)
		var complaint strings.Builder
		runner.Stderr = &complaint
		printed, err := runner.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", arguments, err, &complaint)
		}
		return strings.TrimSuffix(string(printed), "\n")
	}
	ann := agentOf(c, "ann", command("create", "ann"))
	asked := ann.ask(t, textQuestion(1))
	answer(t, newPerson(c), textAnswer(asked.QuestionID))
	if item := k.Item(t, "Questions", "question_id", asked.QuestionID); item["agent_id"] != "ann" {
		t.Errorf("the question is kept as that of %v", item["agent_id"])
	}
	// A request leaves the mark to the next one when the database is slower than the time that it may take.
	hash := askahuman.HashAgentKey(ann.key)
	wait.Until(t, "the last use of the key is kept", func() (any, bool) {
		ann.question(t, asked.QuestionID)
		item := k.Item(t, "AgentKeys", "key_hash", hash)
		return item, item["last_used_at"] != nil
	}, wait.On(k))
	command("revoke", hash[:12])
	suite.Refused(t, ann.Try(t, http.MethodGet, asked.PollURL, nil), http.StatusUnauthorized, "UNAUTHORIZED")

	for _, refusal := range runtest.Of(k.Run).Refused() {
		t.Errorf("got refusal %+v under the roles as synthesised", refusal)
	}
	for _, grant := range runtest.Of(k.Run).UnusedGrants(k.Function(t, "AgentAPI")) {
		if strings.Contains(grant.Resource, "agent-keys") {
			t.Errorf("nothing has used %v", grant)
		}
	}
	k.checkNowhere(t, ann.key)
}

// checkNowhere checks that no key is in what the run prints, in the functions' logs or
// in any table.
func (k *keyedTarget) checkNowhere(t *testing.T, keys ...string) {
	t.Helper()
	places := map[string]string{"the run's output": string(must.Get(os.ReadFile(k.log))(t)),
		"the functions' logs": strings.Join(runtest.Of(k.Run).Lines(""), "\n")}
	for name := range k.Tables {
		text := must.Get(json.Marshal(k.Items(t, name)))(t)
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

// The published clients work in prod as they are: their agent id is a key.
func TestPublishedClientsWithKeys(t *testing.T) {
	t.Parallel()
	for name, clientOf := range map[string]func(*testing.T) []string{"npm": npmClient, "PyPI": pythonClient} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := clientOf(t)
			k := keyedRun(t, run.Options{})
			runClient(t, k.Target, func() agent { return newKeyed(t, k.Target) }, command...)
		})
	}
}
