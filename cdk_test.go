package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	shared "github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// copyTree copies what a synth needs of the module.
func copyTree(t *testing.T, to string) {
	t.Helper()
	for _, folder := range []string{"schema", "constructs", "gobuild", "lambdas"} {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"cdk.go", "cdk.json", "go.mod", "go.sum"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, file), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v in %s: %v\n%s", command.Args, command.Dir, err, text)
	}
	return string(text)
}

// digests returns the SHA-256 of every file below a folder by path.
func digests(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		all[path] = hex.EncodeToString(sum[:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every platform that cdk.json may describe is a stack, and its handlers are there.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	members := reflect.TypeFor[environment]()
	var names []string
	for _, p := range (environment{}).platforms() {
		names = append(names, p.name)
		if p.description == "" || len(p.handlers.Packages) == 0 {
			t.Errorf("%s: no description, or no handlers", p.name)
		}
		for _, folder := range p.handlers.Packages {
			if _, err := os.Stat(filepath.Join(folder, "main.go")); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
		}
	}
	for i := range members.NumField() {
		if !slices.Contains(names, strings.ToLower(members.Field(i).Name)) {
			t.Errorf("cdk.json may describe %s, but no stack is made of it: got stacks of %v", members.Field(i).Name, names)
		}
	}
}

func TestChoosePlatforms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		value any
		want  []string
		err   string
	}{
		"All":        {nil, []string{"askahuman", "todo"}, ""},
		"One":        {"todo", []string{"todo"}, ""},
		"Several":    {"todo,askahuman", []string{"todo", "askahuman"}, ""},
		"ErrUnknown": {"todo,clarify", nil, `got "clarify", allowed are askahuman, todo`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chosen, err := choosePlatforms(map[string]any{"platform": test.value}, environment{}.platforms())
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want an error with %q", err, test.err)
			}
			if test.err == "" && err != nil {
				t.Error(err)
			}
			var got []string
			for _, p := range chosen {
				got = append(got, p.name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("platforms (-want +got):\n%s", diff)
			}
		})
	}
}

// Two copies of the module, each with its own app and its own cache of handlers,
// give the same assembly to the byte.
func TestSynthIsReproducible(t *testing.T) {
	t.Parallel()
	folders := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "a folder with another name")}
	// The second is a copy of the first: the module may be at work meanwhile.
	copyTree(t, folders[0])
	if err := os.CopyFS(folders[1], os.DirFS(folders[0])); err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", "cdk-app", ".")
		build.Dir = folder
		output(t, build)
	}
	for _, environment := range []string{"dev", "prod"} {
		var assemblies []map[string]string
		for _, folder := range folders {
			assembly := filepath.Join(folder, environment)
			synth := exec.Command(filepath.Join(folder, "cdk-app"), "-c", "env="+environment)
			synth.Dir = folder
			synth.Env = append(os.Environ(), "CDK_OUTDIR="+assembly, "ONESYNTH_CACHE="+filepath.Join(folder, "cache"))
			output(t, synth)
			assemblies = append(assemblies, digests(t, assembly))
		}
		if diff := cmp.Diff(assemblies[0], assemblies[1]); diff != "" {
			t.Errorf("%s: two folders gave (-first +second):\n%s", environment, diff)
		}
		for _, platform := range []string{"askahuman", "todo"} {
			stack := "onesynth-" + platform + "-" + environment
			if assemblies[0][stack+".template.json"] == "" {
				t.Errorf("%s: no template of stack %s", environment, stack)
			}
		}
		binaries := 0
		for path, hash := range assemblies[0] {
			if filepath.Base(path) == "bootstrap" {
				binaries++
				// The CDK hashes what it is given as the hash once more.
				sum := sha256.Sum256([]byte(hash))
				if want := "asset." + hex.EncodeToString(sum[:]) + "/bootstrap"; path != want {
					t.Errorf("asset: got %s, want %s: named after its content", path, want)
				}
			}
		}
		if binaries != 7 {
			t.Errorf("%s: binaries: got %d, want 7", environment, binaries)
		}
	}
}

// contextOfFile returns the context of cdk.json.
func contextOfFile(t *testing.T) map[string]any {
	t.Helper()
	var configuration struct{ Context map[string]any }
	if err := readJSON("cdk.json", &configuration); err != nil {
		t.Fatal(err)
	}
	return configuration.Context
}

func TestChooseEnvironment(t *testing.T) {
	t.Parallel()
	dev := environment{
		AskAHuman: askahuman.Props{Props: shared.Props{RemoveWithStack: true, LogLevel: "debug", NoAlarms: true, NoDashboard: true}, OpenAgents: true},
		Todo:      todo.Props{Props: shared.Props{RemoveWithStack: true, LogLevel: "debug", NoAlarms: true, NoDashboard: true}},
	}
	prod := environment{
		AskAHuman: askahuman.Props{Props: shared.Props{Prefix: "aah", DeletionProtection: true}, AgentKeys: true},
		Todo:      todo.Props{Props: shared.Props{Prefix: "todo", DeletionProtection: true}},
	}
	tests := map[string]struct {
		env, arch    string
		name         string
		want         environment
		architecture gofunction.Architecture
	}{
		"Default": {"", "", "dev", dev, ""},
		"DevARM":  {"dev", "arm64", "dev", dev, gofunction.ARM64},
		"Prod":    {"prod", "", "prod", prod, ""},
		"Tokens":  {"tokens", "", "tokens", environment{}, ""},
		"ProdX86": {"prod", "x86_64", "prod", prod, gofunction.X86_64},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := contextOfFile(t)
			values["env"], values["arch"] = test.env, test.arch
			got, settings, err := chooseEnvironment(values)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.name {
				t.Errorf("environment: got %s, want %s", got, test.name)
			}
			want := test.want
			want.AskAHuman.Architecture, want.Todo.Architecture = test.architecture, test.architecture
			if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", settings)); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			for _, p := range settings.platforms() {
				if err := p.props.Validate(); err != nil {
					t.Errorf("%s: %v", p.name, err)
				}
			}
		})
	}
}

// Whom alarms notify, and how, is a setting of an environment.
func TestChooseEnvironmentWithOperations(t *testing.T) {
	t.Parallel()
	var values map[string]any
	if err := json.Unmarshal([]byte(`{"env":"e","environments":{"e":{
		"askahuman":{"alarmTopicARN":"arn:aws:sns:eu-west-1:111122223333:alerts","runbook":"https://wiki.example.com/alarms","metricNamespace":"Acme"},
		"todo":{"alarmEmail":"ops@example.com","alarms":{"SlowAlarm":{"threshold":2500,"period":600000000000},"ClientErrorAlarm":{"off":true}},
			"email":{"from":"To-Do <hello@example.com>"},"lakeFirstDay":"2026-11-15"}
	}}}`), &values); err != nil {
		t.Fatal(err)
	}
	_, got, err := chooseEnvironment(values)
	if err != nil {
		t.Fatal(err)
	}
	want := environment{
		AskAHuman: askahuman.Props{Props: shared.Props{AlarmTopicARN: "arn:aws:sns:eu-west-1:111122223333:alerts", Runbook: "https://wiki.example.com/alarms", MetricNamespace: "Acme"}},
		Todo: todo.Props{
			Props: shared.Props{
				AlarmEmail: "ops@example.com", Alarms: map[string]alarm.Options{"SlowAlarm": {Threshold: 2500, Period: 10 * time.Minute}, "ClientErrorAlarm": {Off: true}},
			},
			UserProps: shared.UserProps{
				Email: identity.Email{From: "To-Do <hello@example.com>"},
			},
			LakeProps: shared.LakeProps{LakeFirstDay: "2026-11-15"},
		},
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for _, p := range got.platforms() {
		if err := p.props.Validate(); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
	}
}

func TestChooseEnvironmentErr(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ values, want string }{
		"Empty":           {`{}`, `env: got ""`},
		"Unknown":         {`{"env":"staging","environments":{"prod":{},"dev":{}}}`, `got "staging", allowed is one of dev, prod`},
		"UnknownPlatform": {`{"env":"dev","environments":{"dev":{"askhuman":{}}}}`, `unknown field "askhuman"`},
		"UnknownProp":     {`{"env":"dev","environments":{"dev":{"askahuman":{"shard":2}}}}`, `unknown field "shard"`},
		"WrongType":       {`{"env":"dev","environments":{"dev":{"askahuman":{"shards":"2"}}}}`, "context.environments.dev"},
		"WrongSharedType": {`{"env":"dev","environments":{"dev":{"askahuman":{"prefix":2}}}}`, ".AskAHuman.Prefix of type string"},
		"NoField":         {`{"env":"dev","environments":{"dev":{"askahuman":{"props":{"prefix":"aah"}}}}}`, `unknown field "props"`},
		"NoObject":        {`{"env":"dev","environments":["dev"]}`, `got "dev"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var values map[string]any
			if err := json.Unmarshal([]byte(test.values), &values); err != nil {
				t.Fatal(err)
			}
			if _, _, err := chooseEnvironment(values); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestReadContext(t *testing.T) {
	overflow := filepath.Join(t.TempDir(), "context.json")
	if err := os.WriteFile(overflow, []byte(`{"long":"value"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		handed, overflow string
		arguments        []string
		want             map[string]any
		err              string
	}{
		"Command":     {handed: `{"env":"prod"}`, want: map[string]any{"env": "prod"}},
		"Overflow":    {handed: `{"env":"prod"}`, overflow: overflow, want: map[string]any{"env": "prod", "long": "value"}},
		"Option":      {handed: `{"env":"prod"}`, arguments: []string{"-c", "env=dev", "-c", "arch=a=b"}, want: map[string]any{"env": "dev", "arch": "a=b"}},
		"ErrJSON":     {handed: `{`, err: "CDK_CONTEXT_JSON"},
		"ErrOverflow": {handed: `{}`, overflow: overflow + "x", err: "reading the context"},
		"ErrOption":   {handed: `{}`, arguments: []string{"-c", "env"}, err: "key=value"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CDK_CONTEXT_JSON", test.handed)
			t.Setenv("CONTEXT_OVERFLOW_LOCATION", test.overflow)
			got, err := readContext(test.arguments)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want an error with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("File", func(t *testing.T) {
		t.Setenv("CDK_CONTEXT_JSON", "")
		got, err := readContext([]string{"-c", "env=prod"})
		if err != nil {
			t.Fatal(err)
		}
		environments, _ := got["environments"].(map[string]any)
		if got["env"] != "prod" || len(environments) != 3 {
			t.Errorf("got env %v and environments %v, want prod of three", got["env"], environments)
		}
	})
}
