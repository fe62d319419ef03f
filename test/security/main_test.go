// Package security holds the stacks against the rules of cdk-nag, and against those
// that it has no eye for.
package security

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// environment is what cdk.json says of one environment.
type environment struct {
	AskAHuman askahuman.Props
	Todo      todo.Props
}

// environments are those of cdk.json (one sets nothing), and some with props that
// the others leave out.
func environments() (map[string]environment, error) {
	content, err := os.ReadFile("../../cdk.json")
	if err != nil {
		return nil, err
	}
	var configuration struct {
		Context struct {
			Environments map[string]environment
		}
	}
	if err := json.Unmarshal(content, &configuration); err != nil {
		return nil, fmt.Errorf("cdk.json: %w", err)
	}
	all := configuration.Context.Environments
	all["issuer"] = environment{
		AskAHuman: askahuman.Props{Props: platform.Props{JWTIssuer: "https://issuer.example.com", JWTAudience: []string{"asks"}, Tracing: true, AllowedOrigins: []string{"https://example.com"}}},
		Todo:      todo.Props{Props: platform.Props{JWTIssuer: "https://issuer.example.com", JWTAudience: []string{"tasks"}, Tracing: true, AllowedOrigins: []string{"https://example.com"}}},
	}
	const certificate = "arn:aws:acm:eu-west-1:111111111111:certificate/11111111-1111-1111-1111-111111111111"
	all[company] = environment{}
	all["strict"] = environment{
		AskAHuman: askahuman.Props{
			Props: platform.Props{
				DomainName: "asks.example.com", CertificateARN: certificate,
				ReservedConcurrency: map[string]int{"notifier": 1},
			},
			Agents: []string{"mcp", "ci"},
		},
		Todo: todo.Props{
			Props: platform.Props{
				DomainName: "tasks.example.com", CertificateARN: certificate, ReservedConcurrency: map[string]int{"todoapi": 50},
			},
			UserProps: platform.UserProps{
				InviteOnly: true, RequireMFA: true, CallbackURLs: []string{"https://example.com/in"},
			},
		},
	}
	return all, nil
}

// company is the environment of a company with a key, a network and a topic.
const company = "company"

// bring gives a platform's props what the company has.
func bring(app awscdk.App, e *environment) {
	owned := awscdk.NewStack(app, jsii.String("owned"), nil)
	key := awskms.NewKey(owned, jsii.String("Key"), &awskms.KeyProps{EnableKeyRotation: jsii.Bool(true)})
	topic := awssns.NewTopic(owned, jsii.String("Alerts"), nil)
	network := awsec2.Vpc_FromVpcAttributes(owned, jsii.String("Network"), &awsec2.VpcAttributes{
		VpcId: jsii.String("vpc-0a1b2c3d"), AvailabilityZones: jsii.Strings("eu-west-1a"), PrivateSubnetIds: jsii.Strings("subnet-0a1b2c3d"),
	})
	e.AskAHuman.Key, e.AskAHuman.VPC, e.AskAHuman.AlarmTopic = key, network, topic
	e.Todo.Key, e.Todo.VPC, e.Todo.AlarmTopic = key, network, topic
}

// stacks are those of the platforms in each environment, such as "todo-prod".
var stacks map[string]stack

// stack is a synthesised stack.
type stack struct {
	template synthtest.Template
	// paths are the construct paths below the stack, by logical id.
	paths map[string]string
}

// finding is that a resource does not keep a rule.
type finding struct {
	// Rule is its name, with what was found where one resource may have several, as
	// cdk-nag writes it.
	Rule string
	// Resource is the construct path below the stack.
	Resource string
}

// enforced makes the CDK refuse templates that break the rules of AWS CloudFormation.
// Without this feature flag it only warns.
const enforced = `{"@aws-cdk/core:validateAgainstDefaultRules": true}`

func TestMain(m *testing.M) {
	if err := errors.Join(os.Setenv(synthtest.ValidationVariable, "true"), os.Setenv("CDK_CONTEXT_JSON", enforced)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	synthtest.Main(m, declare, use)
}

// declare panics where it cannot go on: the process that it runs in does nothing
// else.
func declare(app awscdk.App) {
	all, err := environments()
	if err != nil {
		panic(err)
	}
	handlers := func(platform string, packages ...string) *gofunction.Build {
		return gofunction.Start(context.Background(), gofunction.Source{Directory: "../../constructs/" + platform + "/testdata/handlers", Packages: packages})
	}
	asks := handlers("askahuman", "agentapi", "humanapi", "notifier")
	tasks := handlers("todo", "todoapi", "eraser", "writer", "compactor")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		if name == company {
			bring(app, &e)
		}
		e.AskAHuman.Build, e.Todo.Build = asks, tasks
		askahuman.New(awscdk.NewStack(app, jsii.String("askahuman-"+name), nil), "AskAHuman", e.AskAHuman)
		todo.New(awscdk.NewStack(app, jsii.String("todo-"+name), nil), "Todo", e.Todo)
	}
}

func use(folder string) error {
	all, err := environments()
	if err != nil {
		return err
	}
	stacks = map[string]stack{}
	var files []string
	for environment := range all {
		for _, platform := range []string{"askahuman", "todo"} {
			name := platform + "-" + environment
			if stacks[name], err = load(folder, name); err != nil {
				return err
			}
			files = append(files, filepath.Join(folder, name+".template.json"))
		}
	}
	written, err := filepath.Glob("testdata/*.template.json")
	if err != nil {
		return err
	}
	reports, err = nag(append(files, written...)...)
	return err
}

func load(folder, name string) (stack, error) {
	template, err := synthtest.Load(folder, name)
	if err != nil {
		return stack{}, err
	}
	s := stack{template: template, paths: map[string]string{}}
	metadata, err := metadataOf(folder, name)
	if err != nil {
		return stack{}, err
	}
	for path, entries := range metadata {
		for _, e := range entries {
			if id, _ := e.Data.(string); e.Type == "aws:cdk:logicalId" {
				s.paths[id] = strings.TrimPrefix(path, "/"+name+"/")
			}
		}
	}
	return s, nil
}

// entry is something that the CDK says of a construct.
type entry struct {
	Type string
	Data any
}

// metadataOf is what the assembly says of a stack's constructs, by path. The CDK
// writes it into the manifest, or into a file that the manifest names.
func metadataOf(folder, name string) (map[string][]entry, error) {
	var manifest struct {
		Artifacts map[string]struct {
			Metadata               map[string][]entry
			AdditionalMetadataFile string
		}
	}
	if err := readJSON(filepath.Join(folder, "manifest.json"), &manifest); err != nil {
		return nil, err
	}
	all := manifest.Artifacts[name].Metadata
	if file := manifest.Artifacts[name].AdditionalMetadataFile; file != "" {
		more := map[string][]entry{}
		if err := readJSON(filepath.Join(folder, file), &more); err != nil {
			return nil, err
		}
		if all == nil {
			all = map[string][]entry{}
		}
		for path, entries := range more {
			all[path] = append(all[path], entries...)
		}
	}
	return all, nil
}

func readJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
