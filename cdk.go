// Command cdk-app is the CDK app of Onesynth: one stack per platform and
// environment.
//
// The CDK command runs it as cdk.json says; it also runs by itself, with the same
// -c options, and then reads cdk.json for what the command would have told it:
//
//	cdk synth -c env=prod -c arch=x86_64
//	CDK_OUTDIR=cdk.out go run . -c env=prod -c arch=x86_64
//
// With -c platform=todo it declares that platform's stack alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "onesynth:", err)
		os.Exit(1)
	}
}

// run synthesises the stacks of one environment.
func run(ctx context.Context, arguments []string) error {
	values, err := readContext(arguments)
	if err != nil {
		return err
	}
	name, settings, err := chooseEnvironment(values)
	if err != nil {
		return err
	}
	platforms, err := choosePlatforms(values, settings.platforms())
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if err := p.props.Validate(); err != nil {
			return fmt.Errorf("environment %s, platform %s: %w", name, p.name, err)
		}
	}
	// The handlers build while the CDK starts: each takes about a second.
	builds := map[string]*gofunction.Build{}
	for _, p := range platforms {
		builds[p.name] = gofunction.Start(ctx, p.handlers)
	}

	defer jsii.Close()
	app := awscdk.NewApp(&awscdk.AppProps{
		Context:            &values,
		AnalyticsReporting: jsii.Bool(false),
		// Traces would name files of the CDK's own temporary folder.
		StackTraces: jsii.Bool(false),
	})
	for _, p := range platforms {
		if err := builds[p.name].Wait(); err != nil {
			return err
		}
		stack := awscdk.NewStack(app, jsii.String("onesynth-"+p.name+"-"+name), &awscdk.StackProps{
			Description:           &p.description,
			TerminationProtection: &p.protected,
		})
		p.declare(stack, builds[p.name])
	}
	app.Synth(nil)
	return nil
}

// environment is what cdk.json says of one environment: the props of each
// platform.
type environment struct {
	AskAHuman askahuman.Props
	Todo      todo.Props
}

// platform is one platform of an environment: a stack.
type platform struct {
	name, description string
	props             interface{ Validate() error }
	handlers          gofunction.Source
	protected         bool
	declare           func(awscdk.Stack, *gofunction.Build)
}

// platforms are the environment's, each with a stack of its own.
func (e environment) platforms() []platform {
	return []platform{
		{
			name: "askahuman", description: "Ask-a-Human: AI agents ask, people answer",
			props: e.AskAHuman, handlers: askahuman.Handlers(e.AskAHuman.Architecture), protected: e.AskAHuman.DeletionProtection,
			declare: func(stack awscdk.Stack, build *gofunction.Build) {
				e.AskAHuman.Build = build
				askahuman.New(stack, "AskAHuman", e.AskAHuman)
			},
		},
		{
			name: "todo", description: "To-Do: users keep tasks, and their changes fill a lake",
			props: e.Todo, handlers: todo.Handlers(e.Todo.Architecture), protected: e.Todo.DeletionProtection,
			declare: func(stack awscdk.Stack, build *gofunction.Build) {
				e.Todo.Build = build
				todo.New(stack, "Todo", e.Todo)
			},
		},
	}
}

// choosePlatforms returns the platforms that the context value "platform" names,
// with commas between them, or else all.
func choosePlatforms(values map[string]any, all []platform) ([]platform, error) {
	named, _ := values["platform"].(string)
	if named == "" {
		return all, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(all, func(p platform) bool { return p.name == name })
		if i < 0 {
			var names []string
			for _, p := range all {
				names = append(names, p.name)
			}
			return nil, fmt.Errorf("platform: got %q, allowed are %s: choose with -c platform=…, with commas between several, or leave it out for all",
				name, strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// use gives every platform the processor.
func (e *environment) use(architecture gofunction.Architecture) {
	e.AskAHuman.Architecture = architecture
	e.Todo.Architecture = architecture
}

// chooseEnvironment returns the name and the settings of the environment that the
// context value "env" names, or else "environment" in cdk.json, with the
// processor that "arch" names, arm64 or x86_64.
func chooseEnvironment(values map[string]any) (string, environment, error) {
	name, _ := values["env"].(string)
	if name == "" {
		name, _ = values["environment"].(string)
	}
	environments, _ := values["environments"].(map[string]any)
	chosen, ok := environments[name]
	if !ok {
		return "", environment{}, fmt.Errorf("env: got %q, allowed is one of %s: choose one with -c env=…, or describe %q under context.environments in cdk.json",
			name, strings.Join(slices.Sorted(maps.Keys(environments)), ", "), name)
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		return "", environment{}, fmt.Errorf("environment %s: %w", name, err)
	}
	var settings environment
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&settings); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			// The error names embedded structs, which cdk.json does not have.
			wrong.Field = strings.NewReplacer(".UserProps.", ".", ".LakeProps.", ".", ".Props.", ".").Replace(wrong.Field)
		}
		return "", environment{}, fmt.Errorf("context.environments.%s in cdk.json: %w: its members are platforms, and theirs are the fields of the platform's Props", name, err)
	}
	if arch, _ := values["arch"].(string); arch != "" {
		settings.use(gofunction.Architecture(arch))
	}
	return name, settings, nil
}

// readContext returns the CDK's context: what the CDK command hands over in the
// environment (aws-cdk-lib, cx-api), or without it the context of ./cdk.json, and
// in both cases the values of -c.
func readContext(arguments []string) (map[string]any, error) {
	values := map[string]any{}
	if handed := os.Getenv("CDK_CONTEXT_JSON"); handed != "" {
		if err := json.Unmarshal([]byte(handed), &values); err != nil {
			return nil, fmt.Errorf("reading CDK_CONTEXT_JSON: %w", err)
		}
		// A context that is too long for an environment variable is in a file.
		if file := os.Getenv("CONTEXT_OVERFLOW_LOCATION"); file != "" {
			if err := readJSON(file, &values); err != nil {
				return nil, err
			}
		}
	} else {
		var configuration struct{ Context map[string]any }
		if err := readJSON("cdk.json", &configuration); err != nil {
			return nil, fmt.Errorf("%w: run the app in the folder of cdk.json", err)
		}
		maps.Copy(values, configuration.Context)
	}
	flags := flag.NewFlagSet("cdk-app", flag.ContinueOnError)
	flags.Func("c", "context value, as `key=value`", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return fmt.Errorf("write it as key=value")
		}
		values[key] = value
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	return values, nil
}

func readJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the context: %w", err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("reading the context in %s: %w", file, err)
	}
	return nil
}
