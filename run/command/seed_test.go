package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
)

// loaders are the outputs of stacks with three platforms: links can be loaded, locked may not write, and twice is there
// twice.
var loaders = map[string]string{
	"Links" + schema.Platform{Name: "links"}.SeedOutput(): "loader",
	"BelowSeedLockedFunctionName0A1B2C3D":                 "worker",
	"OneSeedTwiceFunctionName":                            "loader",
	"TwoSeedTwiceFunctionName":                            "worker",
	"LinksApiUrl":                                         "https://api.example.com",
}

// startLoaders runs an assembly of the function loader, which loads its data into the table links, and of worker, whose
// role lets it do nothing.
func startLoaders(t *testing.T) *run.Runner {
	t.Helper()
	r := must.Get(run.Start(t.Context(), run.Options{Assembly: loadersAssembly(t, loaders),
		DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey()}))(t)
	t.Cleanup(r.Close)
	return r
}

// loadersAssembly is the assembly of loader and worker, with these outputs.
func loadersAssembly(t *testing.T, of map[string]string) string {
	t.Helper()
	outputs := map[string]any{}
	for name, value := range of {
		outputs[name] = map[string]string{"Value": value}
	}
	change := assemblytest.Changed(t, "testdata/loaders.json", "{}")
	change["Outputs"] = outputs
	return writeAssembly(t, "./testdata/seeder", string(must.Get(json.Marshal(change))(t)))
}

// linksOf returns how many links the run has.
func linksOf(t *testing.T, r *run.Runner) int32 {
	t.Helper()
	items := must.Get(r.DynamoDB().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("links")}))(t)
	return items.Count
}

func dropLink(t *testing.T, r *run.Runner, id string) {
	t.Helper()
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
	must.Get(r.DynamoDB().DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("links"), Key: key}))(t)
}

// A run loads the initial data of its platforms once it is ready, and says so. A later one with its folder of data
// leaves what people have removed since. A platform whose data cannot be loaded still runs.
func TestRunLoadsInitialData(t *testing.T) {
	t.Parallel()
	folder := loadersAssembly(t, map[string]string{"LinksSeedLinksFunctionName": "loader",
		"LockedSeedLockedFunctionName": "worker"})
	kept, key := t.TempDir(), enginetest.AccessKey()
	const says = "data       links has its 60 items of initial data, 60 of them new (stack S)\n"
	for _, test := range []struct {
		name  string
		loads bool
		data  string
		want  int32
		says  string
	}{{"None", false, "", 0, ""}, {"First", true, kept, 60, says}, {"Again", true, kept, 59, ""},
		{"KeepsNothing", true, "", 60, "links has its 60 items of initial data, 1 of them new"}} {
		var printed wait.Output
		r := must.Get(run.Start(t.Context(), run.Options{
			Assembly: folder, DynamoDB: enginetest.Engine(t).URL(), AccessKey: key, Data: test.data,
			InitialData: test.loads, Log: &printed,
		}))(t)
		if test.loads {
			// It is the last to be loaded.
			wait.Said(t, &printed, "onesynth seed locked tries again")
		}
		warned := strings.Contains(printed.Printed(), "warning: initial data: locked: loaded 0 of")
		if got := linksOf(t, r); got != test.want || warned != test.loads ||
			strings.Contains(printed.Printed(), "data       links has") != (test.says != "") ||
			!strings.Contains(printed.Printed(), test.says) {
			t.Errorf("%s: got %d links, printed\n%s", test.name, got, printed.Printed())
		}
		dropLink(t, r, "link-07")
		r.Close()
	}
}

// invocations is AWS Lambda with the functions of a run.
func invocations(t *testing.T, r *run.Runner) string {
	t.Helper()
	stacks := must.Get(url.Parse(amazon(t, loaders)))(t)
	cloudFormation := httputil.NewSingleHostReverseProxy(stacks)
	mux := http.NewServeMux()
	mux.Handle("POST /", cloudFormation)
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", func(w http.ResponseWriter, request *http.Request) {
		event, err := io.ReadAll(request.Body)
		if err != nil {
			t.Error(err)
		}
		result, err := r.Invoke(request.Context(), request.PathValue("name"), event)
		if err != nil {
			t.Error(err)
		}
		if result.FunctionError != "" {
			w.Header().Set("X-Amz-Function-Error", result.FunctionError)
		}
		w.Write(result.Payload)
	})
	return serve(t, mux.ServeHTTP)
}

// The command loads all data in several invocations, says how far it is, and adds nothing twice: in a run, and in a
// deployed stack. It says what it cannot load, and why.
func TestSeed(t *testing.T) {
	t.Parallel()
	r := startLoaders(t)
	running, deployed := []string{"--console", r.ConsoleURL()}, []string{"--stack", "ask"}
	environment := credentialsOf(invocations(t, r), "key")
	runner := func(flags []string, arguments string) (int, string, string) {
		t.Helper()
		return invokeIn(t, environment, slices.Concat([]string{"seed"}, strings.Fields(arguments), flags)...)
	}
	loads := func(flags []string, added int) {
		t.Helper()
		status, stdout, stderr := runner(flags, "links")
		count := linksOf(t, r)
		const steps = "onesynth: links: 25 of 60 items\nonesynth: links: 50 of 60 items\nonesynth: links: 60 of 60 " +
			"items\n"
		if want := fmt.Sprintf("links has its 60 items of initial data, %d of them new\n", added); status != 0 ||
			stdout != want || stderr != steps || count != 60 {
			t.Errorf("%v: got %d\n%s%swith %d items, want %s", flags, status, stdout, stderr, count, want)
		}
	}
	loads(running, 60)
	for i, flags := range [][]string{deployed, running} {
		dropLink(t, r, fmt.Sprintf("link-%02d", 30*i))
		loads(flags, 1)
		for arguments, says := range map[string]string{
			// after links
			"":                       "locked: loaded 0 of an unknown number of items: function worker failed",
			"--function worker":      "name the platform, too",
			"nope":                   "has initial data of links, locked, twice: name one of these",
			"twice":                  "several platforms twice: choose with --function loader or --function worker",
			"twice --function other": `--function: got "other", allowed are loader, worker`,
			"locked": "locked: loaded 0 of an unknown number of items: function worker failed: item " +
				"1 of 60: ",
			"twice --function worker": "what is loaded stays; repeat the command",
		} {
			if status, stdout, stderr := runner(flags, arguments); status == 0 || (stdout != "") != (arguments == "") ||
				!strings.Contains(stderr, says) {
				t.Errorf("%v %s: got %d\n%s%s, want %q", flags, arguments, status, stdout, stderr, says)
			}
		}
	}
	deployment := loadersAssembly(t, loaders)
	manifest := `{"artifacts": {
		"ask": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "S.template.json"}},
		"other": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "other.json"}}}}`
	for name, text := range map[string]string{"manifest.json": manifest,
		"other.json": `{"Outputs": {"ApiUrl": {"Value": "x"}}}`} {
		must.OK(t, os.WriteFile(filepath.Join(deployment, name), []byte(text), 0o600))
	}
	loads([]string{"--assembly", deployment}, 0)
	if status, _, stderr := runner([]string{"--assembly", deployment, "--stack", "ask"}, "links"); status != 64 ||
		!strings.Contains(stderr, "--assembly with --stack") {
		t.Errorf("got %d %s", status, stderr)
	}
	if status, stdout, stderr := runner([]string{"--assembly", lakeAssembly(t, "{}")}, ""); status != 0 ||
		!strings.Contains(stdout, "has initial data") {
		t.Errorf("got %d %s%s", status, stdout, stderr)
	}
	if status, _, stderr := runner([]string{"--region", "eu-west-1"}, "links"); status != 64 ||
		!strings.Contains(stderr, "--region without --stack") {
		t.Errorf("got %d %s", status, stderr)
	}
	if status, _, stderr := runner([]string{"--stack", "forbidden"}, "links"); status != 1 ||
		!strings.Contains(stderr, "lambda:InvokeFunction on the function are needed") {
		t.Errorf("got %d %s", status, stderr)
	}
	if status, _, stderr := runner([]string{"--console", localRun(t, "", map[string]string{"LinksApiUrl": "x"})},
		"links"); status != 1 || !strings.Contains(stderr, "has no platform with initial data") {
		t.Errorf("got %d %s", status, stderr)
	}
}

// make deploy loads the initial data of what it has deployed.
func TestDeployLoadsInitialData(t *testing.T) {
	t.Parallel()
	makefile := must.Get(os.ReadFile("../../Makefile"))(t)
	if !regexp.MustCompile(
		`(?m)^deploy: .*\n\t.* --app cdk\.out deploy --all\n\tbin/onesynth seed --assembly cdk\.out$`).Match(makefile) {
		t.Error("the target deploy does not end with onesynth seed --assembly cdk.out, right after the deployment")
	}
}

// A function that does not go on ends the command.
func TestSeedErr(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ payload, says string }{
		"NoProgress":  {`"done"`, `answered "done", which is no progress`},
		"NoItems":     {`{}`, "which is not the next step of loading"},
		"StandsStill": {`{"next": 0, "total": 3}`, "which is not the next step of loading"},
		"TooFar":      {`{"next": 4, "total": 3}`, "which is not the next step of loading"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/outputs" {
					json.NewEncoder(w).Encode([]console.StackOutputs{{Outputs: loaders}})
					return
				}
				json.NewEncoder(w).Encode(console.Invocation{Payload: json.RawMessage(test.payload)})
			}))
			defer server.Close()
			if status, _, stderr := invoke(t, "seed", "links", "--console", server.URL); status != 1 ||
				!strings.Contains(stderr, test.says) {
				t.Errorf("got %d %s, want %q", status, stderr, test.says)
			}
		})
	}
}
