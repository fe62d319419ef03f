// Command cdk-app is the CDK app of Onesynth: one stack per platform and
// environment.
//
// The CDK command runs it as cdk.json says; it also runs by itself, with the same
// -c options, and then reads the context from cdk.json itself:
//
//	cdk synth -c env=prod -c arch=x86_64
//	CDK_OUTDIR=cdk.out go run . -c env=prod -c arch=x86_64
//
// An environment is one of cdk.json. With a suffix, as in dev-alice and dev-pr-17, it is a stage of its own, with
// the settings of the environment.
//
// With -c platform=NAME it declares the stack of that platform alone.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
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
	name, all, err := chooseEnvironment(values)
	if err != nil {
		return err
	}
	chosen, err := choosePlatforms(values, all)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		if err := p.Props.Validate(); err != nil {
			return fmt.Errorf("environment %s, platform %s: %w", name, p.Name(), err)
		}
	}
	// The handlers build while the CDK starts: each takes about a second.
	platforms.Build(ctx, chosen)

	defer props.Close()
	app := awscdk.NewApp(&awscdk.AppProps{
		Context:            &values,
		AnalyticsReporting: jsii.Bool(false),
		// Stack traces name files in a temporary folder of the CDK, which differs each time.
		StackTraces: jsii.Bool(false),
	})
	for _, p := range chosen {
		if err := p.Common().Build.Wait(); err != nil {
			return err
		}
		p.Declare(awscdk.NewStack(app, jsii.String("onesynth-"+p.Name()+"-"+name), &awscdk.StackProps{
			Description:           jsii.String(p.Schema.Title + ": " + p.Purpose),
			TerminationProtection: &p.Common().DeletionProtection,
		}))
	}
	props.Synth(app)
	return nil
}

// choosePlatforms returns the platforms that the context value "platform" names,
// with commas between them, or else all.
func choosePlatforms(values map[string]any, all []*platforms.Platform) ([]*platforms.Platform, error) {
	named, _ := values["platform"].(string)
	if named == "" {
		return all, nil
	}
	var chosen []*platforms.Platform
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(all, func(p *platforms.Platform) bool { return p.Name() == name })
		if i < 0 {
			var names []string
			for _, p := range all {
				names = append(names, p.Name())
			}
			return nil, fmt.Errorf("platform: got %q, allowed are %s: choose with -c platform=…, with commas between "+
				"several, or leave it out for all",
				name, strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// chooseEnvironment returns the name of the environment or stage that the context value "env"
// names, or else "environment" in cdk.json, and the platforms with its settings. The
// context value "arch", arm64 or x86_64, sets their processor.
func chooseEnvironment(values map[string]any) (string, []*platforms.Platform, error) {
	name, _ := values["env"].(string)
	if name == "" {
		name, _ = values["environment"].(string)
	}
	environments, _ := values["environments"].(map[string]any)
	environment, suffix, err := splitStage(name, environments)
	if err != nil {
		return "", nil, err
	}
	text, err := json.Marshal(environments[environment])
	if err != nil {
		return "", nil, fmt.Errorf("environment %s: %w", environment, err)
	}
	all, err := platforms.Configure(text)
	if err != nil {
		return "", nil, fmt.Errorf("context.environments.%s in cdk.json: %w: its members are platforms, and theirs "+
			"are the fields of the platform's Props", environment, err)
	}
	for _, p := range all {
		if arch, _ := values["arch"].(string); arch != "" {
			p.Common().Architecture = gofunction.Architecture(arch)
		}
		// An account has each table once.
		if suffix != "" && p.Common().Prefix != "" {
			p.Common().Prefix += "-" + suffix
		}
	}
	return name, all, nil
}

// stageSuffix is what follows the environment and a hyphen in the name of a stage.
var stageSuffix = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// longestSuffix is the most characters of that. Longer ones would not fit into the names of the resources.
const longestSuffix = 20

// splitStage returns the environment of a stage, and the suffix that makes it a stage of its own, if it has one.
func splitStage(name string, environments map[string]any) (environment, suffix string, err error) {
	if _, ok := environments[name]; ok {
		return name, "", nil
	}
	for known := range environments {
		// The longest is meant, if one environment begins like another.
		if own, ok := strings.CutPrefix(name, known+"-"); ok && len(known) > len(environment) {
			environment, suffix = known, own
		}
	}
	switch {
	case environment == "":
		return "", "", fmt.Errorf("env: got %q, allowed is one of %s, or one with a suffix, such as dev-alice: "+
			"choose with -c env=…, or describe %q under context.environments in cdk.json",
			name, strings.Join(slices.Sorted(maps.Keys(environments)), ", "), name)
	case len(suffix) > longestSuffix || !stageSuffix.MatchString(suffix):
		return "", "", fmt.Errorf("env: got %q: after %s- write at most %d lower-case letters, digits and single "+
			"hyphens, such as %s-alice",
			name, environment, longestSuffix, environment)
	}
	return environment, suffix, nil
}

// readContext returns the CDK's context. The CDK command hands it over in environment
// variables (aws-cdk-lib, cx-api); without the command, ./cdk.json has it. The values of
// -c are added.
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
