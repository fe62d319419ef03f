package command

import (
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
)

// keyTables is a table of keys on a real engine, and the access key of the engine's database that has it.
func keyTables(t *testing.T) (keys *service.AgentKeys, accessKey string) {
	t.Helper()
	tables := dynamotest.Open(t, askahuman.AgentKeys())
	credentials := must.Get(tables.Client.Options().Credentials.Retrieve(t.Context()))(t)
	return &service.AgentKeys{DB: tables.DB}, credentials.AccessKeyID
}

// localRun is the console of a run with those outputs of its stack.
func localRun(t *testing.T, accessKey string, outputs map[string]string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/outputs":
			json.NewEncoder(w).Encode([]console.StackOutputs{
				{Stack: "other", Account: "111122223333", Region: "us-east-1",
					Outputs: map[string]string{"ApiUrl": "http://127.0.0.1"}},
				{Stack: "ask", Account: "111122223333", Region: "eu-west-1", Outputs: outputs},
			})
		case "/dynamodb":
			json.NewEncoder(w).Encode(console.Database{
				Endpoint: enginetest.Engine(t).URL(), Region: engine.Region, AccessKey: enginetest.AccessKey(),
				Environments: []console.EnvironmentDatabase{
					{Account: "111122223333", Region: "us-east-1", AccessKey: enginetest.AccessKey()},
					{Account: "111122223333", Region: "eu-west-1", AccessKey: accessKey},
				},
			})
		default:
			t.Errorf("asked for %s", r.URL.Path)
		}
	})
}

// amazon is CloudFormation with a stack of those outputs, and DynamoDB.
func amazon(t *testing.T, outputs map[string]string) string {
	t.Helper()
	address := must.Get(url.Parse(enginetest.Engine(t).URL()))(t)
	dynamoDB, values := httputil.NewSingleHostReverseProxy(address), map[string]any{}
	for key, value := range outputs {
		values[key] = map[string]string{"Value": value}
	}
	template := must.Get(json.Marshal(map[string]any{"Outputs": values}))(t)
	stacks := cloudFormationOf(t, "", map[string]deployedStack{"ask": {"UPDATE_COMPLETE", string(template)}})
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_") {
			dynamoDB.ServeHTTP(w, r)
			return
		}
		stacks(w, r)
	})
}

// credentialsOf is an environment of the AWS command line.
func credentialsOf(endpoint, accessKey string) []string {
	return []string{"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=eu-west-1", "AWS_ACCESS_KEY_ID=" + accessKey,
		"AWS_SECRET_ACCESS_KEY=secret"}
}

// TestAgent issues, lists and revokes keys, of a run and of a deployed stack.
func TestAgent(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T, accessKey string) (environment, flags []string){
		"Local": func(t *testing.T, accessKey string) ([]string, []string) {
			// AWS is not asked, though the environment names some.
			return credentialsOf("http://127.0.0.1:1", "key"),
				[]string{"--console", localRun(t, accessKey,
					map[string]string{"AskAHumanAgentKeysTableName": "AgentKeys", "AskAHumanGuardsTableName": "x"})}
		},
		"Deployed": func(t *testing.T, accessKey string) ([]string, []string) {
			endpoint := amazon(t, map[string]string{"BelowAskAgentKeysTableName0A1B2C3D": "AgentKeys",
				"AskAHumanApiUrl": "https://api.example.com"})
			return credentialsOf(endpoint, accessKey), []string{"--stack", "ask", "--region", engine.Region}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, accessKey := keyTables(t)
			environment, flags := at(t, accessKey)
			agent := func(arguments ...string) (string, string) {
				t.Helper()
				status, stdout, stderr := invokeIn(t, environment,
					append(append([]string{"agent"}, arguments...), flags...)...)
				if status != 0 {
					t.Fatalf("%v: got %d\n%s%s", arguments, status, stdout, stderr)
				}
				return stdout, stderr
			}
			names := func(key, want string) {
				t.Helper()
				if got, _ := keys.Agent(t.Context(), key); got != want {
					t.Errorf("the key names %q; want %q", got, want)
				}
			}
			if stdout, _ := agent("list"); stdout != "ID  AGENT  CREATED  LAST USED  REVOKED\n" {
				t.Errorf("got %q", stdout)
			}
			created, said := agent("create", "my agent")
			key := strings.TrimSuffix(created, "\n")
			id := askahuman.HashAgentKey(key)[:12]
			if !strings.HasPrefix(key, service.AgentKeyPrefix) || strings.ContainsAny(key, " \n") ||
				strings.Contains(said, key) || !strings.Contains(said, id) || !strings.Contains(said, `"my agent"`) {
				t.Fatalf("got %q and %q", created, said)
			}
			names(key, "my agent")
			second, _ := agent("create", "another")
			listed, _ := agent("list")
			form := regexp.MustCompile(
				`^ID +AGENT +CREATED +LAST USED +REVOKED\n[0-9a-f]{12}  another   20[0-9TZ:-]+ +- +-\n` + id +
					`  my agent  20[0-9TZ:-]+ +20[0-9TZ:-]+ +-\n$`)
			if !form.MatchString(listed) {
				t.Errorf("got\n%s", listed)
			}
			var inJSON []map[string]any
			text, _ := agent("list", "--format", "json")
			if err := json.Unmarshal([]byte(text), &inJSON); err != nil || len(inJSON) != 2 || inJSON[1]["id"] != id ||
				inJSON[1]["agent"] != "my agent" || inJSON[0]["last_used_at"] != nil ||
				inJSON[1]["last_used_at"] == nil || inJSON[1]["revoked_at"] != nil {
				t.Errorf("got %v of %s", err, text)
			}
			if said, _ := agent("revoke", id); !strings.HasPrefix(said,
				id+` of the agent "my agent" is revoked since 20`) {
				t.Errorf("got %q", said)
			}
			names(key, "")
			// A key that was found somewhere is named by itself, and not repeated.
			second = strings.TrimSuffix(second, "\n")
			if said, _ := agent("revoke", second); strings.Contains(said, second) ||
				!strings.Contains(said, `"another"`) {
				t.Errorf("got %q", said)
			}
			names(second, "")
			if listed, _ = agent("list"); strings.Count(listed, "-\n") != 0 || strings.Contains(listed, key[4:]) {
				t.Errorf("got\n%s", listed)
			}
			status, stdout, stderr := invokeIn(t, environment,
				append([]string{"agent", "revoke", "012345678901"}, flags...)...)
			if status != 1 || stdout != "" || !strings.Contains(stderr,
				"there is no such key in the table AgentKeys: onesynth agent list shows their ids") {
				t.Errorf("got %d %s%s", status, stdout, stderr)
			}
		})
	}
}

func TestAgentErr(t *testing.T) {
	t.Parallel()
	_, accessKey := keyTables(t)
	two := map[string]string{"OneAgentKeysTableName": "AgentKeys", "TwoAgentKeysTableName": "gone"}
	aws := credentialsOf(amazon(t, two), accessKey)
	none := localRun(t, accessKey, map[string]string{"AskAHumanGuardsTableName": "guards"})
	both := localRun(t, accessKey, two)
	for name, test := range map[string]struct {
		environment []string
		arguments   string
		status      int
		says        string
	}{
		"Nothing":     {nil, "", 64, "expected one of"},
		"NoName":      {nil, "create", 64, "<name>"},
		"NothingRuns": {nil, "list --console http://127.0.0.1:1", 1, "start it with onesynth local"},
		"NoKeys": {nil, "list --console " + none, 1,
			"has no table of agents' keys: set the prop AgentKeys of Ask-a-Human"},
		"Several": {nil, "list --console " + both, 64,
			"several tables of agents' keys: choose with --table AgentKeys or --table gone"},
		"Chosen": {nil, "list --table AgentKeys --console " + both, 0, "LAST USED"},
		"NoTable": {nil, "list --table other --console " + both, 64,
			`--table: got "other", allowed are AgentKeys, gone`},
		"TableIsGone": {nil, "list --table gone --console " + both, 1, "has no table gone in the Region us-east-1"},
		"BadName": {nil, "create aah_name --table AgentKeys --console " + both, 1,
			"name: begins with aah_, as keys do"},
		"EmptyName": {nil, "create \x00 --table AgentKeys --console " + both, 1, "name: is missing"},
		"NoStack":   {aws, "list --stack other", 1, `stack other: it is not deployed in eu-west-1`},
		"Forbidden": {aws, "list --stack forbidden", 1,
			"a permission is missing: cloudformation:DescribeStacks on the stack, dynamodb:UpdateItem"},
		"SeveralThere": {aws, "list --stack ask", 64, "the stack ask has several tables"},
		"RegionAlone":  {aws, "list --region eu-west-1", 64, "--region without --stack"},
		"NoRegion":     {aws[2:], "list --stack ask", 1, "got no Region: set AWS_REGION"},
		"SignedOut":    {[]string{"AWS_REGION=eu-west-1"}, "list --stack ask", 1, "got no AWS credentials: sign in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"agent"}
			for _, argument := range strings.Fields(test.arguments) {
				arguments = append(arguments, strings.TrimPrefix(argument, "\x00"))
			}
			status, stdout, stderr := invokeIn(t, test.environment, arguments...)
			if status != test.status || !strings.Contains(stdout+stderr, test.says) {
				t.Errorf("got %d\n%s%s", status, stdout, stderr)
			}
		})
	}
}
