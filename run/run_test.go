package run_test

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda/lambdatest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

type object = map[string]any

// declared has template.json, a CloudFormation template of one table, API, schedule and queue and so on, and changes of
// its resources. Its function has the longest time-out that Lambda allows: a busy machine may take any time.
//
//go:embed testdata/*.json
var declared embed.FS

// template is the platform with changes of its resources, each in JSON or the name of a file of it. A change has what
// it adds or replaces, within objects too, and null for what it takes away (RFC 7396).
func template(changes ...string) object {
	t := read("template")
	for _, change := range changes {
		assemblytest.Merge(t["Resources"].(object), read(change))
	}
	return t
}

func read(change string) (read object) {
	text := []byte(change)
	if !strings.HasPrefix(change, "{") {
		text, _ = declared.ReadFile("testdata/" + change + ".json")
	}
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("ARCHITECTURE"), []byte(architecture)), &read); err != nil {
		panic(fmt.Sprintf("%s: %v", change, err))
	}
	return read
}

func properties(t object, id string) object {
	return t["Resources"].(object)[id].(object)["Properties"].(object)
}

var (
	buildOnce sync.Once
	code      string
)

func TestMain(m *testing.M) {
	cache, err := os.MkdirTemp("", "onesynth-cache-")
	if err == nil {
		err = os.Setenv("ONESYNTH_CACHE", cache)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(code)
	os.RemoveAll(cache)
	os.Exit(status)
}

// write puts a cloud assembly on disk: of one stack, Items, and further ones, Items2 and so on.
func write(t testing.TB, templates ...object) string {
	t.Helper()
	return writeIn(t, slices.Repeat([]string{assemblytest.Anywhere}, len(templates)), templates...)
}

// writeIn is write, with the accounts and regions of the stacks.
func writeIn(t testing.TB, environments []string, templates ...object) string {
	t.Helper()
	buildOnce.Do(func() {
		dir := must.Get(os.MkdirTemp("", "onesynth-code-"))(t)
		lambdatest.Build(t, "./testdata/function", dir)
		code = dir
	})
	stacks := map[string]assemblytest.Stack{}
	for i, template := range templates {
		stacks[[]string{"Items", "Items2", "Items3"}[i]] = assemblytest.Stack{Environment: environments[i],
			Template: string(must.Get(json.Marshal(template))(t))}
	}
	dir := assemblytest.WriteStacks(t, stacks, "code")
	must.OK(t, os.Link(filepath.Join(code, "bootstrap"), filepath.Join(dir, "asset.code", "bootstrap")))
	return dir
}

// start runs a template against the test process's engine, in a database of its own.
func start(t testing.TB, template object, change func(*run.Options)) (*run.Runner, *wait.Output) {
	t.Helper()
	printed := &wait.Output{}
	options := run.Options{
		Assembly: write(t, template), DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(),
		NoSchedules: true, Log: printed,
		RetryDelay: func(int) time.Duration { return time.Millisecond },
	}
	if change != nil {
		change(&options)
	}
	r, err := run.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	t.Cleanup(r.Close)
	return r, printed
}

func call(t testing.TB, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(console.Header, "test")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, strings.TrimSpace(string(text))
}

func want(t *testing.T, status int, body string) func(int, string) {
	t.Helper()
	return func(gotStatus int, gotBody string) {
		t.Helper()
		if gotStatus != status || !strings.Contains(gotBody, body) {
			t.Errorf("got %d %s, want %d %s", gotStatus, gotBody, status, body)
		}
	}
}

// answers waits until the run answers a GET request of the path with the body.
func answers(t *testing.T, r *run.Runner, path, body string) {
	t.Helper()
	wait.For(t, "GET "+path, body, func() string {
		_, got := call(t, "GET", r.URL("")+path, "")
		return got
	}, wait.On(runtest.Of(r)))
}

// delivered waits until the first stream has no record left to deliver.
func delivered(t *testing.T, r *run.Runner) {
	t.Helper()
	wait.Until(t, "all records are delivered", func() (any, bool) {
		state := r.Parts().Mappings.Streams()[0]
		return state, state.Waiting == 0
	}, wait.On(runtest.Of(r)))
}

func TestRun(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template("pages"), nil)
	url := r.URL("Items")
	pages := "\npage       " + url + "/\neditors    " + url + "/editor\n"
	if !strings.Contains(printed.String(), pages) {
		t.Errorf("printed %s, without the pages%s", printed, pages)
	}
	if lines := strings.Split(strings.TrimSpace(printed.String()), "\n"); lines[len(lines)-1] != "ready" ||
		!strings.Contains(printed.String(), url) || !strings.Contains(printed.String(), "tick") {
		t.Errorf("printed %s", printed)
	}
	if got := r.Parts().Assembly.Stacks[0].Outputs["Url"].Value; got != url {
		t.Errorf("output of the API's address is %s, it is at %s", got, url)
	}

	t.Run("HTTP", func(t *testing.T) {
		want(t, 200, "null")(call(t, "PUT", url+"/items/a", `"ü"`))
		want(t, 200, `"\"ü\""`)(call(t, "GET", url+"/items/a", ""))
		want(t, 404, `{"message":"Not Found"}`)(call(t, "POST", url+"/items/a", ""))
	})
	t.Run("RefusedByRole", func(t *testing.T) {
		want(t, 502, "is not authorized to perform: dynamodb:DeleteItem")(call(t, "DELETE", url+"/items/a", ""))
		refused := r.Parts().AWS.Refused()
		if len(refused) != 1 || refused[0].Action != "dynamodb:DeleteItem" || refused[0].Function != "worker" {
			t.Errorf("got %+v", refused)
		}
	})
	t.Run("Queue", func(t *testing.T) {
		want(t, 200, "null")(call(t, "POST", url+"/messages", "hello"))
		queue := r.Parts().AWS.Queues()[0]
		if messages := queue.Messages(); len(messages) != 1 || messages[0].Body != "hello" {
			t.Errorf("got %+v", messages)
		}
		queue.Purge()
	})
	t.Run("Secret", func(t *testing.T) {
		_, first := call(t, "GET", url+"/secret", "")
		want(t, 200, first)(call(t, "GET", url+"/secret", ""))
		if len(first) != 22 {
			t.Errorf("got %s", first)
		}
	})
	t.Run("Bucket", func(t *testing.T) {
		want(t, 200, "null")(call(t, "PUT", url+"/objects/a", "content"))
		want(t, 200, `"content"`)(call(t, "GET", url+"/objects/a", ""))
		// The role may not list the bucket, so the answer does not say that the object is missing.
		want(t, 502, "AccessDenied")(call(t, "GET", url+"/objects/missing", ""))
		name := r.Parts().Buckets.Buckets()[0].Name
		want(t, 200, `"objects": 1`)(call(t, "GET", r.ConsoleURL()+"/buckets", ""))
		want(t, 200, `"key": "events/a"`)(call(t, "GET", r.ConsoleURL()+"/buckets/"+name+"?prefix=events/", ""))
		want(t, 200, `[]`)(call(t, "GET", r.ConsoleURL()+"/buckets/"+name+"?prefix=results/", ""))
		want(t, 200, `content`)(call(t, "GET", r.ConsoleURL()+"/buckets/"+name+"/objects/events/a", ""))
		want(t, 404, `no such object`)(call(t, "GET", r.ConsoleURL()+"/buckets/"+name+"/objects/events/b", ""))
		want(t, 404, `no such bucket`)(call(t, "GET", r.ConsoleURL()+"/buckets/none/objects/events/a", ""))
		want(t, 404, `no such bucket`)(call(t, "GET", r.ConsoleURL()+"/buckets/none", ""))
		if content, err := runtest.Of(r).Object(name, "events/a"); err != nil || string(content) != "content" {
			t.Errorf("got the content %q, %v", content, err)
		}
	})
	t.Run("Created", func(t *testing.T) {
		queue := r.Parts().AWS.Queues()[0]
		want(t, 200, "null")(call(t, "PUT", url+"/objects/fail", "content"))
		want(t, 200, "null")(call(t, "PUT", url+"/objects/heard", "content"))
		wait.Until(t, "the function hears of the objects", func() (any, bool) {
			lines, messages := runtest.Of(r).Lines("worker"), queue.Messages()
			return messages, len(messages) == 1 && strings.Contains(messages[0].Body, "object failed") &&
				strings.Contains(strings.Join(lines, "\n"), "created events/heard 7")
		}, wait.On(runtest.Of(r)))
		queue.Purge()
	})
	t.Run("StandsInForPush", func(t *testing.T) {
		want(t, 200, `"push":"`+r.Parts().Inbox.URL()+`"`)(call(t, "GET", url+"/environment", ""))
	})
	t.Run("Schedule", func(t *testing.T) {
		must.OK(t, r.RunSchedule(t.Context(), "tick"))
		want(t, 200, `"1"`)(call(t, "GET", url+"/items/tick", ""))
	})
	t.Run("Stream", func(t *testing.T) {
		want(t, 200, "null")(call(t, "PUT", url+"/items/watched", "1"))
		answers(t, r, "/items/seen", `"INSERT watched"`)
		delivered(t, r)
		if state := r.Parts().Mappings.Streams()[0]; state.Function != "worker" || state.Done == 0 ||
			state.Failures != 0 {
			t.Errorf("got %+v", state)
		}
	})
	t.Run("Authorizer", func(t *testing.T) {
		want(t, 401, `{"message":"Unauthorized"}`)(call(t, "GET", url+"/me", ""))
		status, body := call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"alice"}`)
		var token console.Token
		if err := json.Unmarshal([]byte(body), &token); err != nil || status != 200 {
			t.Fatalf("got %d %s", status, body)
		}
		want(t, 200, `"alice"`)(call(t, "GET", url+"/me", "", "Authorization", "Bearer "+token.AccessToken))
		_, body = call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"alice","aud":"other"}`)
		must.OK(t, json.Unmarshal([]byte(body), &token))
		want(t, 401, "Unauthorized")(call(t, "GET", url+"/me", "", "Authorization", "Bearer "+token.AccessToken))
	})
	t.Run("AsynchronousFailure", func(t *testing.T) {
		must.Get(r.Parts().Functions.InvokeAsync(t.Context(), "worker", []byte(`{"Tick":"fail"}`)))(t)
		queue := r.Parts().AWS.Queues()[0]
		wait.For(t, "the messages about the failed event", 1, func() int { return len(queue.Messages()) },
			wait.On(runtest.Of(r)))
		if body := queue.Messages()[0].Body; !strings.Contains(body, "RetriesExhausted") ||
			!strings.Contains(body, "tick failed") {
			t.Errorf("got %s", body)
		}
		queue.Purge()
	})
	t.Run("KillLosesNothingElse", func(t *testing.T) {
		want(t, 200, "pid")(call(t, "GET", url+"/environment", ""))
		must.Get(r.Kill("worker"))(t)
		want(t, 200, `ü`)(call(t, "GET", url+"/items/a", ""))
	})
	t.Run("Console", func(t *testing.T) { testConsole(t, r) })
	for _, form := range []string{`(?m)^\d\d:\d\d:\d\d  GET /items/a  200  \d+ ms  1 read  worker`,
		`(?m)^\d\d:\d\d:\d\d  schedule \S+  ok  \d+ ms.*\n          tick 1$`} {
		if !regexp.MustCompile(form).MatchString(printed.String()) {
			t.Errorf("printed no %s:\n%s", form, printed)
		}
	}
}

// TestLogJSON runs functions and an API whose lines are printed as they come.
func TestLogJSON(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template(), func(o *run.Options) { o.LogFormat = run.LogJSON })
	want(t, 200, "pid")(call(t, "GET", r.URL("")+"/environment", ""))
	wait.Said(t, printed, "[items] access GET /environment 200")
	if strings.Contains(printed.String(), " ms  ") {
		t.Errorf("printed %s", printed)
	}
}

func testConsole(t *testing.T, r *run.Runner) {
	base := r.ConsoleURL()
	for path, contains := range map[string]string{
		"/": `"GET /functions"`, "/functions": `"worker"`, "/capacity": `"PutItem"`, "/schedules": `"Europe/Vienna"`,
		"/push": `[]`, "/queues": `"messages"`,
		"/queues/" + r.Parts().AWS.Queues()[0].Name: `"arn"`, "/tables": `expires_at`,
		"/used-permissions": `logs:PutLogEvents`, "/refused": `dynamodb:DeleteItem`,
		"/streams": `"source_arn"`, "/lakes": `[]`,
		"/lines?function=worker": "tick 1", "/faults": `"throttle"`, "/.well-known/jwks.json": `"RS256"`,
		"/.well-known/openid-configuration": "jwks_uri",
	} {
		want(t, 200, contains)(call(t, "GET", base+path, ""))
	}
	want(t, 404, "GET / lists")(call(t, "GET", base+"/nothing", ""))
	want(t, 404, "no queue")(call(t, "GET", base+"/queues/none", ""))
	want(t, 404, "no queue")(call(t, "POST", base+"/queues/none/due", ""))
	want(t, 200, `"messages": 0`)(call(t, "POST", base+"/queues/"+r.Parts().AWS.Queues()[0].Name+"/due", ""))
	want(t, 200, "[]")(call(t, "GET", base+"/lines?function=none", ""))
	want(t, 404, "no such schedule")(call(t, "POST", base+"/schedules/none/run", ""))
	want(t, 200, "tick")(call(t, "POST", base+"/schedules/tick/run", ""))
	want(t, 200, "deleted")(call(t, "POST", base+"/sweep", ""))
	// The worker's write makes another record, which may come after the flush.
	wait.Until(t, "a flush leaves nothing waiting", func() (any, bool) {
		status, body := call(t, "POST", base+"/streams/flush", "")
		return body, status == 200 && strings.Contains(body, `"waiting": 0`)
	}, wait.On(runtest.Of(r)))
	want(t, 200, "killed")(call(t, "POST", base+"/functions/worker/kill", ""))
	want(t, 400, "probability")(call(t, "POST", base+"/faults", `{"throttle":2}`))
	want(t, 400, "probability")(call(t, "POST", base+"/faults", `{"thirst":1}`))
	want(t, 200, "0.25")(call(t, "POST", base+"/faults", `{"throttle":0.25}`))
	want(t, 200, `"throttle": 0`)(call(t, "POST", base+"/faults", `{}`))
	want(t, 400, "subject")(call(t, "POST", base+"/token", `{}`))
	want(t, 400, "body")(call(t, "POST", base+"/token", `{"who":1}`))
	want(t, 400, "expires")(call(t, "POST", base+"/token", `{"sub":"a","expires":"soon"}`))
	want(t, 204, "")(call(t, "POST", base+"/push/faults", `{"token":"x","error":"UNREGISTERED"}`))
	want(t, 400, "FCM knows")(call(t, "POST", base+"/push/faults", `{"token":"x","error":"WHATEVER"}`))
	want(t, 204, "")(call(t, "DELETE", base+"/push", ""))
	want(t, 204, "")(call(t, "DELETE", base+"/capacity", ""))
	want(t, 200, "deleted")(call(t, "POST", base+"/sweep", ""))
	want(t, 403, "Onesynth-Console")(call(t, "POST", base+"/sweep", "", console.Header, ""))
	// Behind each port is a guard.
	_, index := call(t, "GET", base, "")
	var addresses struct {
		AWS string `json:"aws_endpoint"`
	}
	if err := json.Unmarshal([]byte(index), &addresses); err != nil || addresses.AWS == "" {
		t.Fatalf("got %s, %v", index, err)
	}
	for what, address := range map[string]string{"console": base, "API of stack Items": r.URL(""),
		"push inbox": r.Parts().Inbox.URL(), "endpoint of AWS": addresses.AWS} {
		want(t, 403, what)(call(t, "GET", address, "", "Host", "evil.example"))
		if address != r.URL("") { // whose CORS allows every origin
			want(t, 403, what)(call(t, "GET", address, "", "Sec-Fetch-Site", "cross-site"))
		}
	}
	// Pages of the APIs are devices of the push inbox, by any name of this machine, and nothing else there.
	inbox := r.Parts().Inbox.URL()
	r.Parts().Inbox.Close()
	for _, origin := range []string{r.URL(""), strings.Replace(r.URL(""), "127.0.0.1", "localhost", 1)} {
		want(t, 200, "")(call(t, "GET", inbox+"/devices/page", "", "Origin", origin))
		want(t, 403, "push inbox")(call(t, "POST", inbox+"/token", "", "Origin", origin))
	}
	for _, origin := range []string{base, "http://evil.example",
		strings.Replace(r.URL(""), "127.0.0.1", "evil.example", 1)} {
		want(t, 403, "push inbox")(call(t, "GET", inbox+"/devices/page", "", "Origin", origin))
	}
}

func TestRolesAreKept(t *testing.T) {
	t.Parallel()
	without := func(names ...string) func(*run.Options) {
		return func(o *run.Options) {
			o.Revoke = func(_, action, _ string) bool { return slices.Contains(names, action) }
		}
	}
	t.Run("Schedule", func(t *testing.T) {
		t.Parallel()
		r, _ := start(t, template(), without("lambda:InvokeFunction"))
		if err := r.RunSchedule(t.Context(), "tick"); err == nil ||
			!strings.Contains(err.Error(), "not authorized to perform: lambda:InvokeFunction") {
			t.Errorf("got %v", err)
		}
	})
	for name, refused := range map[string][]string{"ScheduleDeadLetter": {"lambda:InvokeFunction"},
		"ScheduleWithoutDeadLetter": {"lambda:InvokeFunction", "sqs:SendMessage"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := template()
			schedule := properties(changed, "Schedule")
			schedule["ScheduleExpression"] = "at(2026-01-01T00:00:01)"
			schedule["ScheduleExpressionTimezone"] = "UTC"
			schedule["Target"].(object)["RetryPolicy"] = object{"MaximumRetryAttempts": 0}
			r, _ := start(t, changed, func(o *run.Options) {
				without(refused...)(o)
				o.NoSchedules = false
				// The clock stands still: the time has not passed when the run is ready, however long that takes.
				o.Now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
			})
			queue := r.Parts().AWS.Queues()[0]
			wait.For(t, "the refused requests and the messages in the dead-letter queue", 2, func() int {
				return len(r.Parts().AWS.Refused()) + len(queue.Messages())
			}, wait.On(runtest.Of(r)))
			messages := queue.Messages()
			if len(refused) == 2 {
				if len(messages) > 0 {
					t.Errorf("got %+v; want no message", messages)
				}
			} else if message := messages[0]; message.Body != `{"Tick":"1"}` ||
				message.Attributes["ERROR_CODE"].StringValue != "AccessDeniedException" {
				t.Errorf("got %+v", message)
			}
		})
	}
	t.Run("Logs", func(t *testing.T) {
		t.Parallel()
		r, printed := start(t, template(), without("logs:PutLogEvents"))
		must.OK(t, r.RunSchedule(t.Context(), "tick"))
		wait.Said(t, printed, "logs:PutLogEvents") // the runner says that lines are dropped
		if strings.Contains(printed.String(), "tick 1") {
			t.Errorf("printed %s", printed)
		}
	})
	t.Run("Permission", func(t *testing.T) {
		t.Parallel()
		changed := template()
		properties(changed, "Permission")["SourceArn"] = "arn:aws:execute-api:us-east-1:000000000000:other/*/*"
		r, printed := start(t, changed, nil)
		want(t, 500, "Internal Server Error")(call(t, "GET", r.URL("")+"/secret", ""))
		if !strings.Contains(printed.String(), "no AWS::Lambda::Permission") {
			t.Errorf("printed %s", printed)
		}
	})
}

func TestPermissionsBoundary(t *testing.T) {
	t.Parallel()
	t.Run("Declared", func(t *testing.T) {
		t.Parallel()
		r, printed := start(t, template(`{"Limit": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {
			"PolicyDocument": {"Statement": [
				{"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"},
				{"Effect": "Deny", "Action": "sqs:SendMessage", "Resource": {"Fn::GetAtt": ["Queue", "Arn"]}}
			]}}},
			"Role": {"Properties": {"PermissionsBoundary": {"Ref": "Limit"}}},
			"ScheduleRole": {"Properties": {"PermissionsBoundary": {"Ref": "Limit"}}}}`), nil)
		want(t, 200, "")(call(t, "PUT", r.URL("")+"/items/1", "one"))
		want(t, 502, "because no permissions boundary allows the s3:PutObject action")(
			call(t, "PUT", r.URL("")+"/objects/1", "one"))
		want(t, 502, "with an explicit deny in a permissions boundary")(call(t, "POST", r.URL("")+"/messages", "one"))
		if err := r.RunSchedule(t.Context(), "tick"); err != nil {
			t.Error(err)
		}
		if strings.Contains(printed.String(), "permissions boundary arn:") {
			t.Errorf("printed %s", printed)
		}
	})
	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		changed := template()
		for _, role := range []string{"Role", "ScheduleRole"} {
			properties(changed, role)["PermissionsBoundary"] = "arn:aws:iam::000000000000:policy/company"
		}
		r, printed := start(t, changed, nil)
		want(t, 200, "")(call(t, "PUT", r.URL("")+"/items/1", "one"))
		const warning = "warning: the assembly does not declare the permissions boundary " +
			"arn:aws:iam::000000000000:policy/company"
		if got := strings.Count(printed.String(), warning); got != 1 {
			t.Errorf("warned %d times: %s", got, printed)
		}
	})
}

func TestDataSurvives(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	keep := func(o *run.Options) { o.DynamoDB, o.AccessKey, o.Data = "", "", data }
	first, _ := start(t, template(), keep)
	want(t, 200, "null")(call(t, "PUT", first.URL("")+"/items/kept", "1"))
	want(t, 200, "null")(call(t, "PUT", first.URL("")+"/objects/kept", "1"))
	_, secret := call(t, "GET", first.URL("")+"/secret", "")
	// The function writes once more when it gets the first change.
	for range 2 {
		must.OK(t, first.FlushStreams(t.Context()))
	}
	if state := first.Parts().Mappings.Streams()[0]; state.Done != 2 {
		t.Errorf("got %+v", state)
	}
	pid := first.EnginePID()
	first.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the engine's process: %v", err)
	}
	second, _ := start(t, template(), keep)
	want(t, 200, `"1"`)(call(t, "GET", second.URL("")+"/items/kept", ""))
	want(t, 200, `"1"`)(call(t, "GET", second.URL("")+"/objects/kept", ""))
	want(t, 200, secret)(call(t, "GET", second.URL("")+"/secret", ""))
	must.OK(t, second.FlushStreams(t.Context()))
	if state := second.Parts().Mappings.Streams()[0]; state.Done != 0 {
		t.Errorf("the second run delivered again: %+v", state)
	}
	// The run ends with its engine.
	must.OK(t, syscall.Kill(second.EnginePID(), syscall.SIGKILL))
	wait.Until(t, "the console answers no more", func() (any, bool) {
		answer, err := http.Get(second.ConsoleURL())
		if err == nil {
			_ = answer.Body.Close()
		}
		return err, err != nil
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	limited := template()
	properties(limited, "Function")["Timeout"] = 1
	r, printed := start(t, limited, nil)
	want(t, 500, `{"message":"Internal Server Error"}`)(call(t, "GET", r.URL("")+"/slow", ""))
	if !strings.Contains(printed.String(), "Task timed out after 1.00 seconds") {
		t.Errorf("printed %s", printed)
	}
}

// A run does not need the assembly after its start: the next synth may replace it.
func TestRunSurvivesItsAssembly(t *testing.T) {
	t.Parallel()
	folder := ""
	r, _ := start(t, template(), func(o *run.Options) { folder = o.Assembly })
	want(t, 200, "")(call(t, http.MethodPut, r.URL("")+"/items/a", `"kept"`))
	must.OK(t, os.RemoveAll(folder))
	must.Get(r.Kill("worker"))(t)
	want(t, 200, "kept")(call(t, http.MethodGet, r.URL("")+"/items/a", ""))
	if functions := r.Parts().Functions.Functions(); functions[0].ColdStarts < 2 {
		t.Errorf("got %d starts of the function, want a second one without the assembly", functions[0].ColdStarts)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { taken.Close() })
	port := taken.Addr().(*net.TCPAddr).Port
	for name, test := range map[string]struct {
		// change is one of the resources; port is the template's.
		change  string
		port    int
		options func(*run.Options)
		is      error
		says    []string
	}{
		"Unsupported": {
			change: `{"Cluster": {"Type": "AWS::EKS::Cluster"}, "Cache": {"Type": "AWS::ElastiCache::CacheCluster",
				"Metadata": {"aws:cdk:path": "Items/Cache"}}}`,
			is: run.ErrUnsupported, says: []string{"AWS::ElastiCache::CacheCluster", "Items/Cache",
				"AWS::EKS::Cluster", "--allow-unsupported"},
		},
		"NestedStack": {
			change: `{"Inner": {"Type": "AWS::CloudFormation::Stack",
				"Properties": {"TemplateURL": "https://example.com/inner.json"}}}`,
			is: run.ErrUnsupported, says: []string{"AWS::CloudFormation::Stack Inner",
				"put the platform in it into a stack of its own"},
		},
		"EventsToFunction": {change: `{"NotedPermission": null}`,
			says: []string{"no AWS::Lambda::Permission lets events.amazonaws.com invoke worker from"}},
		"EventsToQueue": {change: `{"QueuePolicy": null}`,
			says: []string{"no AWS::SQS::QueuePolicy lets events.amazonaws.com send to Items-Queue from"}},
		"UnsupportedProperty": {
			change: `{"Function": {"Properties": {"Layers": ["arn:aws:lambda:eu-west-1:1:layer:x:1"]}}}`,
			is:     run.ErrUnsupported, says: []string{"Layers: put what the layers hold into the function's code",
				"--allow-unsupported AWS::Lambda::Function.Layers"},
		},
		"CustomResource": {
			change: `{"Own": {"Type": "Custom::Own",
				"Properties": {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}}}}`,
			is: run.ErrUnsupported, says: []string{"Custom::Own", "during a deployment", "--stack"},
		},
		"Environment": {options: func(o *run.Options) {
			o.Environment = map[string]map[string]string{"wroker": {"OWN": "x"}}
		}, says: []string{`environment: got "wroker", which is not a function of the run: write one of worker`}},
		"NoAssembly": {options: func(o *run.Options) {
			o.Assembly = os.TempDir()
		}, is: assembly.ErrNoAssembly, says: []string{"make synth"}},
		"WebhookEndpoint": {
			options: func(o *run.Options) {
				o.WebhookEndpoints = []string{"http://127.0.0.1:9000/hooks", "https://hooks.example"}
			},
			is: run.ErrWebhookEndpoint, says: []string{"https://hooks.example", "http://127.0.0.1:9000/hooks"},
		},
		"ConsolePort": {options: func(o *run.Options) {
			o.ConsolePort = port
		}, is: run.ErrPort, says: []string{fmt.Sprint(port), "--console-port", "make run PORT="}},
		"APIPort": {options: func(o *run.Options) {
			o.Port = port
		}, is: run.ErrPort, says: []string{fmt.Sprint(port), "--port", "make run PORT="}},
		"WantedPort": {
			port: port,
			options: func(o *run.Options) {
				o.Port = run.PlatformPorts
			}, is: run.ErrPort, says: []string{fmt.Sprint(port)},
		},
		"Stack": {options: func(o *run.Options) { o.Stacks = []string{"Other"} }, says: []string{"Other", "Items"}},
		"Runtime": {change: `{"Function": {"Properties": {"Runtime": "nodejs22.x"}}}`,
			says: []string{"nodejs22.x", "bootstrap"}},
		"Layers": {change: `{"Function": {"Properties": {"Layers": ["arn:layer"]}}}`, says: []string{"layers"}},
		"Trust": {change: `{"Role": {"Properties": {"AssumeRolePolicyDocument": {"Statement": [{"Effect": "Allow",
			"Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}]}}}}`,
			says: []string{"lambda.amazonaws.com"}},
		"ScheduleTrust": {change: `{"ScheduleRole": {"Properties": {"AssumeRolePolicyDocument": {"Statement": [
			{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}]}}}}`,
			says: []string{"scheduler.amazonaws.com"}},
		"Cron": {change: `{"Schedule": {"Properties": {"ScheduleExpression": "cron(* * * * * *)"}}}`,
			says: []string{"tick", "exactly one"}},
		"Payload": {change: `{"Integration": {"Properties": {"PayloadFormatVersion": "1.0"}}}`, says: []string{"2.0"}},
		"WebSocket": {change: `{"Api": {"Properties": {"ProtocolType": "WEBSOCKET"}}}`,
			says: []string{"WEBSOCKET"}},
		"NoStage": {change: `{"Stage": null}`, says: []string{"no stage"}},
		"Route":   {change: `{"PutItem": {"Properties": {"RouteKey": "PUT items"}}}`, says: []string{"METHOD /path"}},
		"Authorizer": {change: `{"Authorizer": {"Properties": {"AuthorizerType": "REQUEST"}}}`,
			says: []string{"AWS::ApiGatewayV2::Authorizer Authorizer", "not a function of the assembly"}},
		"Notification": {change: `{"Bucket": {"Properties": {"NotificationConfiguration": {
			"EventBridgeConfiguration": null, "QueueConfigurations": [{"Event": "s3:ObjectCreated:*"}]}}}}`,
			says: []string{"NotificationConfiguration"}},
		"RuleNotPermitted": {change: `{"RulePermission": null}`,
			says: []string{"Rule", "no AWS::Lambda::Permission lets events.amazonaws.com invoke worker"}},
		"RuleInput": {change: `{"Rule": {"Properties": {"Targets": [{"Id": "Function",
			"Arn": {"Fn::GetAtt": ["Function", "Arn"]}, "InputPath": "$..detail"}]}}}`,
			says: []string{"Rule", `InputPath: got "$..detail"`}},
		"RulePattern": {change: `{"Rule": {"Properties": {"EventPattern": {"detail": {"object": {
			"key": null, "size": [{"contains": "1"}]}}}}}}`, says: []string{"Rule", `got operator "contains"`}},
		"RuleDeadLetters": {change: `{"Rule": {"Properties": {"Targets": [{"Id": "Function",
			"Arn": {"Fn::GetAtt": ["Function", "Arn"]},
			"DeadLetterConfig": {"Arn": "arn:aws:sqs:us-east-1:000000000000:none"}}]}}}`,
			says: []string{"Rule", "dead-letter queue"}},
		"Catalog": {change: `{"Query": {"Type": "AWS::Athena::NamedQuery",
			"Properties": {"Database": "nowhere", "QueryString": "SELECT 1"}}}`, says: []string{"nowhere"}},
		"OtherAuthorization": {change: `{"PutItem": {"Properties": {"AuthorizationType": "API_KEY"}}}`,
			says: []string{`authorization "API_KEY"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := template(cmp.Or(test.change, "{}"))
			changed["Metadata"] = object{"onesynth": object{"localPort": test.port}}
			options := run.Options{Assembly: write(t, changed), DynamoDB: enginetest.Engine(t).URL(),
				AccessKey: enginetest.AccessKey(), NoSchedules: true}
			if test.options != nil {
				test.options(&options)
			}
			r, err := run.Start(t.Context(), options)
			if err == nil {
				r.Close()
				t.Fatal("it started")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			for _, text := range test.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v does not say %q", err, text)
				}
			}
		})
	}
}

// TestRedelivery: after the kill of a function, or a lost place in the stream, batches come again and none is lost.
func TestRedelivery(t *testing.T) {
	t.Parallel()
	changed := template()
	properties(changed, "Mapping")["BatchSize"] = 3
	r, _ := start(t, changed, nil)
	want(t, 200, `"redeliver": 0.5`)(call(t, "POST", r.ConsoleURL()+"/faults", `{"redeliver":0.5,"seed":7}`))
	for n := range 20 {
		want(t, 200, "null")(call(t, "PUT", fmt.Sprint(r.URL(""), "/items/", n), "1"))
		if n%5 == 0 {
			// The function may have no instance at this moment.
			_, _ = r.Kill("worker")
		}
	}
	answers(t, r, "/items/seen", `"INSERT 19"`)
	want(t, 200, `"redeliver": 0`)(call(t, "POST", r.ConsoleURL()+"/faults", `{}`))
	delivered(t, r)
	if state := r.Parts().Mappings.Streams()[0]; state.Redelivered == 0 || state.Done < state.Read ||
		state.GivenUp != 0 {
		t.Errorf("got %+v", state)
	}
}

// TestTokensOfSeveralStacks: one token is for the APIs of all stacks, or for those of one stack. The first token of a
// user of a pool invokes the pool's function.
func TestTokensOfSeveralStacks(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template(),
		func(o *run.Options) { o.Assembly = write(t, template(), template("second")) })
	for _, test := range []struct {
		request       string
		first, second int
	}{
		{`{"sub":"alice"}`, 200, 200},
		{`{"sub":"alice","stack":"Items"}`, 200, 401},
		{`{"sub":"alice","stack":"Items2"}`, 401, 200},
		{`{"sub":"alice","aud":"second"}`, 401, 200},
		{`{"sub":"alice","aud":"other"}`, 401, 401},
		{`{"sub":"alice","iss":"https://other.example"}`, 401, 401},
		{`{"sub":"alice","expires":"-1h"}`, 401, 401},
	} {
		status, body := call(t, "POST", r.ConsoleURL()+"/token", test.request)
		var token console.Token
		if err := json.Unmarshal([]byte(body), &token); err != nil || status != 200 {
			t.Fatalf("%s: got %d %s", test.request, status, body)
		}
		for stack, wanted := range map[string]int{"Items": test.first, "Items2": test.second} {
			if got, body := call(t, "GET", r.URL(stack)+"/me", "", "Authorization",
				"Bearer "+token.AccessToken); got != wanted || got == 200 && body != `"alice"` {
				t.Errorf("%s at %s: got %d %s, want %d", test.request, stack, got, body, wanted)
			}
		}
	}
	want(t, 400, "Items, Items2")(call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"alice","stack":"None"}`))
	want(t, 200, `"PostConfirmation_ConfirmSignUp alice@example.com"`)(
		call(t, "GET", r.URL("Items2")+"/items/user", ""))
	want(t, 200, "null")(call(t, "GET", r.URL("Items")+"/items/user", ""))
	want(t, 502, "sign-up not confirmed: fail at user pool")(
		call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"fail","stack":"Items2"}`))
	want(t, 200, "access_token")(call(t, "POST", r.ConsoleURL()+"/token", `{"sub":"fail","stack":"Items"}`))
	want(t, 200, `"post_confirmation": "worker2",
    "sign_ups": 1,
    "failures": 1`)(call(t, "GET", r.ConsoleURL()+"/user-pools", ""))
	for _, line := range []string{"without effect here: PreSignUp of AWS::Cognito::UserPool Users (Users)\n",
		`attempt 1: worker2 failed: {"errorMessage":"sign-up failed"`} {
		if !strings.Contains(printed.String(), line) {
			t.Errorf("printed %s, want %q", printed, line)
		}
	}
}

// A page of the run's API signs a person in at the console's address, which its function knows in place of the user
// pool's domain, and no page of another origin gets tokens there.
func TestSignIn(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template("signin"), nil)
	want(t, 200, `"own":"`+r.ConsoleURL()+`"`)(call(t, "GET", r.URL("")+"/environment", ""))

	var pools []cognito.Status
	_, body := call(t, "GET", r.ConsoleURL()+"/user-pools", "")
	must.OK(t, json.Unmarshal([]byte(body), &pools))
	_, body = call(t, "GET", r.ConsoleURL()+"/user-pools/"+pools[0].ID+"/.well-known/openid-configuration", "")
	var discovered map[string]any
	if err := json.Unmarshal([]byte(body), &discovered); err != nil ||
		discovered["issuer"] != "https://cognito-idp.us-east-1.amazonaws.com/"+pools[0].ID {
		t.Fatalf("got %s", body)
	}
	want(t, 404, "GET /user-pools lists")(
		call(t, "GET", r.ConsoleURL()+"/user-pools/none/.well-known/openid-configuration", ""))
	jar := must.Get(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar, CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if next.URL.Path == "/in" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	send := func(method, address string, form neturl.Values, origin string) (*http.Response, string) {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), method, address,
			strings.NewReader(form.Encode())))(t)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		response := must.Get(browser.Do(request))(t)
		defer response.Body.Close()
		text := must.Get(io.ReadAll(response.Body))(t)
		return response, string(text)
	}
	client, proof := r.Parts().APIs[0].Audience[0], strings.Repeat("v", 43)
	query := neturl.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {r.URL("") + "/in"},
		"code_challenge_method": {"S256"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(proof)}}
	shown, form := send("GET", discovered["authorization_endpoint"].(string)+"?"+query.Encode(), nil, "")
	_, stamped, _ := strings.Cut(form, `name="_csrf" value="`)
	stamp, _, _ := strings.Cut(stamped, `"`)
	filled := neturl.Values{"_csrf": {stamp}, "username": {"olga"}}
	if refused, text := send("POST", shown.Request.URL.String(), filled, r.URL("")); refused.StatusCode != 403 {
		t.Errorf("a form of another origin: got %d %s", refused.StatusCode, text)
	}
	back, text := send("POST", shown.Request.URL.String(), filled, r.ConsoleURL())
	to, err := back.Location()
	if err != nil {
		t.Fatalf("got %d %s", back.StatusCode, text)
	}
	exchange := neturl.Values{"grant_type": {"authorization_code"}, "client_id": {client},
		"code": {to.Query().Get("code")}, "redirect_uri": {r.URL("") + "/in"}, "code_verifier": {proof}}
	if refused, text := send("POST", discovered["token_endpoint"].(string), exchange,
		"https://evil.example"); refused.StatusCode != 403 || !strings.Contains(text, "add a callback URL") {
		t.Errorf("a page of another origin: got %d %s", refused.StatusCode, text)
	}
	answered, text := send("POST", discovered["token_endpoint"].(string), exchange, r.URL(""))
	var token console.Token
	if err := json.Unmarshal([]byte(text), &token); err != nil || answered.StatusCode != 200 ||
		answered.Header.Get("Access-Control-Allow-Origin") != r.URL("") {
		t.Fatalf("got %d %v %s", answered.StatusCode, answered.Header, text)
	}
	want(t, 200, `"olga"`)(call(t, "GET", r.URL("")+"/me", "", "Authorization", "Bearer "+token.AccessToken))
}

// A version or an alias of a function runs the function.
func TestAliases(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		r, _ := start(t, template("alias"), nil)
		want(t, 200, "https://push.example")(call(t, "GET", r.URL("")+"/environment", ""))
		// The API has no page: a browser learns how to get a token.
		want(t, 404, "onesynth token --sub alice --console "+r.ConsoleURL())(call(t, "GET", r.URL("")+"/", "", "Accept",
			"text/html"))
		want(t, 404, `{"message":"Not Found"}`)(call(t, "GET", r.URL("")+"/", ""))
		want(t, 200, "")(call(t, "PUT", r.URL("")+"/items/1", "one"))
		must.OK(t, r.FlushStreams(t.Context()))
		want(t, 200, "INSERT 1")(call(t, "GET", r.URL("")+"/items/seen", ""))
		must.OK(t, r.RunSchedule(t.Context(), "tick"))
		want(t, 200, "1")(call(t, "GET", r.URL("")+"/items/tick", ""))
	})
	// As on AWS, a permission of the function does not cover its alias.
	t.Run("ErrPermission", func(t *testing.T) {
		t.Parallel()
		r, printed := start(t, template("alias",
			`{"Permission": {"Properties": {"FunctionName": {"Ref": null, "Fn::GetAtt": ["Function", "Arn"]}}}}`), nil)
		want(t, 500, "Internal Server Error")(call(t, "GET", r.URL("")+"/environment", ""))
		if !strings.Contains(printed.String(), "no AWS::Lambda::Permission") {
			t.Errorf("printed %s", printed)
		}
	})
	t.Run("ErrScheduleRole", func(t *testing.T) {
		t.Parallel()
		r, _ := start(t, template("alias", `{"ScheduleRole": {"Properties": {"Policies": [{"PolicyName": "p",
			"PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "lambda:InvokeFunction",
			"Resource": {"Fn::GetAtt": ["Function", "Arn"]}}]}}]}}}`), nil)
		if err := r.RunSchedule(t.Context(), "tick"); err == nil ||
			!strings.Contains(err.Error(), "lambda:InvokeFunction on resource: "+
				"arn:aws:lambda:us-east-1:000000000000:function:worker:live") {
			t.Errorf("got %v", err)
		}
	})
}

// Resources without effect are named once, in one line.
func TestWithoutEffect(t *testing.T) {
	t.Parallel()
	_, printed := start(t, template("beside"), func(o *run.Options) {
		o.AllowUnsupported = []string{"AWS::EKS::Cluster", "AWS::Lambda::Function.Layers"}
	})
	const line = "without effect here: AWS::EKS::Cluster (1), AWS::Events::Rule (1, which fire nothing), " +
		"AWS::Lambda::Function.Layers (1), AWS::Lambda::Function.VpcConfig (1), AWS::Route53::HostedZone (1), " +
		"AWS::Route53::RecordSet (2)\n"
	if got := printed.String(); strings.Count(got, line) != 1 || strings.Count(got, "without effect") != 1 {
		t.Errorf("printed %s", got)
	}
	_, plain := start(t, template(), nil)
	if strings.Contains(plain.String(), "without effect") {
		t.Errorf("nothing of the kind there, and printed %s", plain)
	}
}

// takenPorts are the ports that freePort has returned.
var takenPorts sync.Map

// freePort returns a port that nothing listens on, and that the system gives to no client meanwhile.
func freePort(t *testing.T) int {
	t.Helper()
	for port := 20000 + os.Getpid()%10000; port < 32768; port += 10 {
		free, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil && free.Close() == nil {
			if _, taken := takenPorts.LoadOrStore(port, true); !taken {
				return port
			}
		}
	}
	t.Fatal("no port is free")
	return 0
}

func TestPlatformPorts(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	changed := template(`{
		"OtherApi": {"Type": "AWS::ApiGatewayV2::Api", "Properties": {"Name": "other", "ProtocolType": "HTTP"}},
		"OtherStage": {"Type": "AWS::ApiGatewayV2::Stage",
			"Properties": {"ApiId": {"Ref": "OtherApi"}, "StageName": "$default"}}}`)
	changed["Metadata"] = object{"onesynth": object{"localPort": port}}
	r, _ := start(t, changed, func(o *run.Options) { o.Port = run.PlatformPorts })
	if apis := r.Parts().APIs; len(apis) != 2 || apis[0].Name != "items" ||
		apis[0].URL != fmt.Sprint("http://127.0.0.1:", port) || apis[1].URL == apis[0].URL {
		t.Errorf("got %+v", apis)
	}
}

// A function has the variables that only this machine has, beside those of its template.
func TestEnvironmentOfThisMachine(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), func(o *run.Options) {
		o.Environment = map[string]map[string]string{"worker": {"OWN": "of this machine"}}
	})
	code, body := call(t, "GET", r.Parts().APIs[0].URL+"/environment", "")
	if code != 200 || !strings.Contains(body, `"own":"of this machine"`) || strings.Contains(body, `"table":""`) {
		t.Errorf("got %d %s", code, body)
	}
}

// A run lists its APIs by the ports that their stacks ask for, whatever ports they get.
func TestOrderOfAPIs(t *testing.T) {
	t.Parallel()
	low, high := freePort(t), freePort(t)
	if low > high {
		low, high = high, low
	}
	api := func(name string, port int) object {
		return object{"Metadata": object{"onesynth": object{"localPort": port}}, "Resources": object{
			"Api": object{"Type": "AWS::ApiGatewayV2::Api",
				"Properties": object{"Name": name, "ProtocolType": "HTTP"}},
			"Stage": object{"Type": "AWS::ApiGatewayV2::Stage",
				"Properties": object{"ApiId": object{"Ref": "Api"}, "StageName": "$default"}},
		}}
	}
	folder := write(t, api("second", high), api("first", low), api("last", 0))
	for _, port := range []int{0, run.PlatformPorts} {
		printed := &wait.Output{}
		r := must.Get(run.Start(t.Context(), run.Options{Assembly: folder, Port: port,
			DynamoDB: enginetest.Engine(t).URL(), AccessKey: enginetest.AccessKey(), Log: printed}))(t)
		var listed []string
		for _, api := range r.Parts().APIs {
			listed = append(listed, api.Name)
		}
		r.Close()
		order := regexp.MustCompile(`(?s)API .*\(first,.*API .*\(second,.*API .*\(last,`)
		if fmt.Sprint(listed) != "[first second last]" || !order.MatchString(printed.String()) {
			t.Errorf("port %d: got %v\n%s", port, listed, printed)
		}
	}
}

// A port for a stack overrides those of its template and of the run.
func TestPortsOfStacks(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	changed := template()
	changed["Metadata"] = object{"onesynth": object{"localPort": 1}}
	r, _ := start(t, changed, func(o *run.Options) {
		o.Port, o.Ports = run.PlatformPorts, map[string]int{"Items": port}
	})
	if got := r.URL("Items"); got != fmt.Sprint("http://127.0.0.1:", port) {
		t.Errorf("got %s, want port %d", got, port)
	}
	r, err := run.Start(t.Context(), run.Options{Assembly: write(t, template()),
		DynamoDB: enginetest.Engine(t).URL(), Ports: map[string]int{"Itmes": port}})
	if err == nil {
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), `port of stack "Itmes": the assembly has no stack of that name`) {
		t.Errorf("got %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	printed := &wait.Output{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	options := run.Options{Assembly: write(t, template()), DynamoDB: enginetest.Engine(t).URL(),
		AccessKey: enginetest.AccessKey(), Log: printed}
	go func() {
		err := run.Run(ctx, options)
		printed.End(err)
		ended <- err
	}()
	wait.Said(t, printed, "\nready\n")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func BenchmarkGetItem(b *testing.B) {
	r, _ := start(b, template(), nil)
	url := r.URL("")
	if status, body := call(b, "PUT", url+"/items/a", "1"); status != 200 {
		b.Fatal(body)
	}
	call(b, "GET", url+"/items/a", "")
	r.Parts().AWS.ResetCapacity()
	for b.Loop() {
		if status, body := call(b, "GET", url+"/items/a", ""); status != 200 {
			b.Fatal(body)
		}
	}
	for _, row := range r.Parts().AWS.Capacity() {
		if row.Operation == "GetItem" {
			b.ReportMetric(float64(row.Time.Microseconds())/float64(row.Requests), "µs-dynamodb/op")
		}
	}
}

// BenchmarkClients measures a function with more and more processes, called by 32 clients at once.
func BenchmarkClients(b *testing.B) {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	client := &http.Client{Transport: transport}
	for _, instances := range []int{1, 2, 4, 8, 16, 32} {
		b.Run(fmt.Sprint(instances, "instances"), func(b *testing.B) {
			r, _ := start(b, template(), func(o *run.Options) { o.MaxInstances = instances })
			url := r.URL("") + "/items/a"
			if status, body := call(b, "PUT", url, "1"); status != 200 {
				b.Fatal(body)
			}
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					response, err := client.Get(url)
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
		})
	}
}
