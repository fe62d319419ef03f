package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// Every platform of the list has its packages, and its handlers are there.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	all := platforms.All()
	for _, p := range all {
		if p.Purpose == "" || !strings.EqualFold(p.ID, p.Name()) {
			t.Errorf("%s: got the id %q and the purpose %q, want the name in upper and lower case, and a purpose",
				p.Name(), p.ID, p.Purpose)
		}
		if got := reflect.TypeOf(p.Props).Elem().PkgPath(); got != importertest.ModulePath+"/constructs/"+p.Name() {
			t.Errorf("%s: its props are those of %s", p.Name(), got)
		}
		if err := p.Props.Validate(); err != nil {
			t.Errorf("%s: zero props: %v", p.Name(), err)
		}
		for _, folder := range []string{"platforms/" + p.Name(), "constructs/" + p.Name(), "lambdas/" + p.Name(),
			"test/" + p.Name()} {
			if _, err := os.Stat(filepath.FromSlash(folder)); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
		}
		bench, err := os.ReadFile(filepath.Join("tools", "bench", "routes", p.Name()+".go"))
		if method := "\nfunc (described) " + p.ID + "() Measured {"; err != nil ||
			!strings.Contains(string(bench), method) {
			t.Errorf("tools/bench/routes/%s.go has no %q: %v", p.Name(), method, err)
		}
		if len(p.Handlers().Packages) == 0 {
			t.Errorf("%s has no handlers", p.Name())
		}
		for _, folder := range p.Handlers().Packages {
			if _, err := os.Stat(filepath.Join(folder, "main.go")); err != nil {
				t.Errorf("%s: %v", p.Name(), err)
			}
		}
	}
	// Platforms that have no line in the list.
	constructs := must.Get(filepath.Glob(filepath.Join("test", "*", "main_test.go")))(t)
	for _, main := range constructs {
		// The tests of a platform's page are beside it; those of Ask-a-Human's are test/page.
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(main)), "page")
		if !slices.Contains(append(namesOf(all), "console", "security", ""), name) {
			t.Errorf("test/%s tests no platform of the list", name)
		}
	}
}

// namesOf returns the names of platforms.
func namesOf(all []*platforms.Platform) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name())
	}
	return names
}

func TestChoosePlatforms(t *testing.T) {
	t.Parallel()
	all := platforms.All()
	names := namesOf(all)
	first, last := names[0], names[len(names)-1]
	tests := map[string]struct {
		value any
		want  []string
		err   string
	}{
		"All":     {nil, names, ""},
		"One":     {last, []string{last}, ""},
		"Several": {last + "," + first, []string{last, first}, ""},
		"ErrUnknown": {last + ",clarify", nil, `platform: got "clarify", allowed are ` + strings.Join(names, ", ") +
			": choose with -c platform=…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chosen, err := choosePlatforms(map[string]any{"platform": test.value}, all)
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want an error with %q", err, test.err)
			}
			if test.err == "" && err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(test.want, namesOf(chosen)); diff != "" {
				t.Errorf("platforms (-want +got):\n%s", diff)
			}
		})
	}
}

// contextOfFile returns the context of cdk.json.
func contextOfFile(t *testing.T) map[string]any {
	t.Helper()
	var configuration struct{ Context map[string]any }
	must.OK(t, readJSON("cdk.json", &configuration))
	return configuration.Context
}

// The environments of cdk.json are valid, for each processor. The golden files show what their props do.
func TestChooseEnvironment(t *testing.T) {
	t.Parallel()
	values := contextOfFile(t)
	environments, _ := values["environments"].(map[string]any)
	for name := range environments {
		for _, arch := range []gofunction.Architecture{"", gofunction.ARM64, gofunction.X86_64} {
			values["env"], values["arch"] = name, string(arch)
			got, all, err := chooseEnvironment(values)
			if err != nil || got != name {
				t.Fatalf("environment: got %s, %v, want %s", got, err, name)
			}
			for _, p := range all {
				if err := p.Props.Validate(); err != nil {
					t.Errorf("%s: %s: %v", name, p.Name(), err)
				}
				if p.Handlers().Architecture != arch {
					t.Errorf("%s: %s: architecture: got %q, want %q", name, p.Name(), p.Handlers().Architecture, arch)
				}
			}
		}
	}
	if got, _, err := chooseEnvironment(contextOfFile(t)); err != nil || got != "dev" {
		t.Errorf("without an environment: got %s, %v, want dev", got, err)
	}
}

// A stage of its own has the settings of its environment, and names of its own.
func TestChooseStage(t *testing.T) {
	t.Parallel()
	name := platforms.All()[0].Name()
	environments := map[string]any{
		"dev":    map[string]any{name: map[string]any{"removeWithStack": true}},
		"dev-eu": map[string]any{name: map[string]any{"removeWithStack": true, "prefix": "eu"}},
		"prod":   map[string]any{name: map[string]any{"prefix": "own", "deletionProtection": true}},
	}
	for stage, want := range map[string]struct {
		removed, protected bool
		prefix             string
	}{
		"dev":             {true, false, ""},
		"dev-alice":       {true, false, ""},
		"dev-pr-17":       {true, false, ""},
		"dev-eu":          {true, false, "eu"},
		"dev-eu-alice":    {true, false, "eu-alice"},
		"dev-europe":      {true, false, ""},
		"prod":            {false, true, "own"},
		"prod-blue-green": {false, true, "own-blue-green"},
	} {
		got, all, err := chooseEnvironment(map[string]any{"env": stage, "environments": environments})
		if err != nil || got != stage {
			t.Errorf("%s: got %q, %v", stage, got, err)
			continue
		}
		if set := all[0].Common(); set.RemoveWithStack != want.removed || set.DeletionProtection != want.protected ||
			set.Prefix != want.prefix {
			t.Errorf("%s: got RemoveWithStack %t, DeletionProtection %t, Prefix %q; want %+v", stage,
				set.RemoveWithStack, set.DeletionProtection, set.Prefix, want)
		}
		if err := all[0].Props.Validate(); err != nil {
			t.Errorf("%s: %v", stage, err)
		}
	}
}

func TestChooseEnvironmentErr(t *testing.T) {
	t.Parallel()
	name := platforms.All()[0].Name()
	tests := map[string]struct{ values, want string }{
		"Empty": {`{}`, `env: got ""`},
		"Unknown": {`{"env":"staging","environments":{"prod":{},"dev":{}}}`,
			`got "staging", allowed is one of dev, prod, or one with a suffix`},
		"UnknownOfStage": {`{"env":"development-alice","environments":{"prod":{},"dev":{}}}`,
			`got "development-alice", allowed is one of dev, prod`},
		"NoSuffix": {`{"env":"dev-","environments":{"dev":{}}}`,
			`got "dev-": after dev- write at most 20 lower-case letters`},
		"WrongSuffix": {`{"env":"dev-Alice","environments":{"dev":{}}}`, `got "dev-Alice": after dev-`},
		"LongSuffix":  {`{"env":"dev-` + strings.Repeat("x", 21) + `","environments":{"dev":{}}}`, `after dev-`},
		"UnknownPlatform": {`{"env":"dev","environments":{"dev":{"clarify":{}}}}`,
			`context.environments.dev in cdk.json: json: unknown field "clarify": its members are platforms`},
		"UnknownProp": {`{"env":"dev","environments":{"dev":{"` + name + `":{"prefixes":2}}}}`,
			name + `: json: unknown field "prefixes"`},
		"WrongType": {`{"env":"dev","environments":{"dev":{"` + name + `":{"noAlarms":"2"}}}}`,
			"context.environments.dev in cdk.json: " + name + ": json: cannot unmarshal string"},
		"NoObject": {`{"env":"dev","environments":["dev"]}`, `got "dev"`},
		"NoPlatforms": {`{"env":"dev","environments":{"dev":[]}}`,
			"context.environments.dev in cdk.json: json: cannot unmarshal array"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var values map[string]any
			must.OK(t, json.Unmarshal([]byte(test.values), &values))
			if _, _, err := chooseEnvironment(values); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

func TestReadContext(t *testing.T) {
	overflow := filepath.Join(t.TempDir(), "context.json")
	must.OK(t, os.WriteFile(overflow, []byte(`{"long":"value"}`), 0o644))
	tests := map[string]struct {
		handed, overflow string
		arguments        []string
		want             map[string]any
		err              string
	}{
		"Command": {handed: `{"env":"prod"}`, want: map[string]any{"env": "prod"}},
		"Overflow": {handed: `{"env":"prod"}`, overflow: overflow,
			want: map[string]any{"env": "prod", "long": "value"}},
		"Option": {handed: `{"env":"prod"}`, arguments: []string{"-c", "env=dev", "-c", "arch=a=b"},
			want: map[string]any{"env": "dev", "arch": "a=b"}},
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
			must.OK(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("context (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("File", func(t *testing.T) {
		t.Setenv("CDK_CONTEXT_JSON", "")
		got := must.Get(readContext([]string{"-c", "env=prod"}))(t)
		environments, _ := got["environments"].(map[string]any)
		if got["env"] != "prod" || len(environments) != 3 {
			t.Errorf("got env %v and environments %v, want prod of three", got["env"], environments)
		}
	})
}
