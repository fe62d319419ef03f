package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// docs/reference/events.md ends with the events of all platforms, as their schemas have them.
func TestEventReference(t *testing.T) {
	t.Parallel()
	const file, heading = "docs/reference/events.md", "## The events\n"
	content := must.Get(os.ReadFile(file))(t)
	var want strings.Builder
	want.WriteString(heading)
	for _, p := range platforms.All() {
		fmt.Fprintf(&want,
			"\n### %s\n\n| Event | Made of | When | Fields; *about a person* |\n| --- | --- | --- | --- |\n",
			p.Schema.Title)
		for _, e := range p.Whole.Events {
			var fields []string
			for _, f := range e.Fields() {
				if name := "`" + f.Name + "`"; f.Personal {
					fields = append(fields, "*"+name+"*")
				} else {
					fields = append(fields, name)
				}
			}
			fmt.Fprintf(&want, "| [`%s`](events/%s/%s.json) %d | %s | %s | %s |\n", e.Name, p.Name(), e.Name,
				e.Version, e.Table,
				e.Description, strings.Join(fields, ", "))
		}
	}
	before, _, _ := strings.Cut(string(content), heading)
	reference.Compare(t, "events.md", before+want.String())
}

// synthesiseApp runs the app with the arguments.
func synthesiseApp(arguments []string) {
	if err := run(context.Background(), arguments); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// synthesiseEvents declares the platforms with events twice, as docs/guide/import.md says: with a build of all Handlers,
// and each with a build of its own. It writes the assembly into the folder that is its argument.
func synthesiseEvents(arguments []string) {
	defer props.Close()
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: &arguments[0], AnalyticsReporting: jsii.Bool(false)})
	together, apart := platforms.All(), platforms.All()
	var all gofunction.Source
	for _, p := range slices.Concat(together, apart) {
		p.Common().Events, p.Common().NoAlarms, p.Common().NoDashboard = true, true, true
		all.Packages = append(all.Packages, p.Handlers().Packages...)
	}
	build := gofunction.Start(context.Background(), all)
	for _, p := range together {
		p.Common().Build = build
		p.Declare(awscdk.NewStack(app, jsii.String(p.Name()+"-together"), nil))
	}
	for _, p := range apart {
		p.Common().Build = gofunction.Start(context.Background(), p.Handlers())
		p.Declare(awscdk.NewStack(app, jsii.String(p.Name()+"-apart"), nil))
	}
	app.Synth(nil)
}

// Several platforms of one app publish events, each by its own function.
func TestEventsTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds all handlers: go test without -short does")
	}
	environment := map[string]any{}
	for _, p := range platforms.All() {
		environment[p.Name()] = map[string]any{"events": true}
	}
	values := must.Get(json.Marshal(map[string]any{"environments": map[string]any{"events": environment}}))(t)
	t.Run("App", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		app := childCommand(t, "app", "-c", "env=events")
		app.Env = append(app.Env, "CDK_CONTEXT_JSON="+string(values), "CDK_OUTDIR="+folder)
		importertest.Output(t, app)
		checkPublishers(t, folder, "onesynth-", "-events")
	})
	t.Run("Importer", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		importertest.Output(t, childCommand(t, "events", folder))
		checkPublishers(t, folder, "", "-together")
		checkPublishers(t, folder, "", "-apart")
	})
}

// checkPublishers checks that the stack of each platform, by what is before and after its name, has that platform's
// publisher of events.
func checkPublishers(t *testing.T, folder, before, after string) {
	t.Helper()
	for _, p := range platforms.All() {
		stack := before + p.Name() + after
		var template struct {
			Resources map[string]struct {
				Type       string
				Properties map[string]any
			}
		}
		must.OK(t, readJSON(filepath.Join(folder, stack+".template.json"), &template))
		var publishers []string
		for id, f := range template.Resources {
			if f.Type != "AWS::Lambda::Function" {
				continue
			}
			code, _ := f.Properties["Code"].(map[string]any)
			asset := strings.TrimSuffix(fmt.Sprint("asset.", code["S3Key"]), ".zip")
			built, err := buildinfo.ReadFile(filepath.Join(folder, asset, "bootstrap"))
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if strings.HasSuffix(built.Path, "/"+schema.EventPublisher) {
				publishers = append(publishers, built.Path)
			}
		}
		want := "github.com/onesynth-cdk/onesynth/lambdas/" + p.Name() + "/" + schema.EventPublisher
		if !slices.Equal(publishers, []string{want}) {
			t.Errorf("%s: got the publishers %v, want %s", stack, publishers, want)
		}
	}
}
