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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/platforms"
)

// company is an environment with what a company has: a key, a network and a topic.
const company = "company"

// environments returns the platforms by environment: those of cdk.json (one sets nothing),
// those that stand beside the constructs, with props that the others leave out, and company.
func environments() (map[string][]*platforms.Platform, error) {
	var configuration struct {
		Context struct {
			Environments map[string]map[string]json.RawMessage
		}
	}
	if err := readJSON("../../cdk.json", &configuration); err != nil {
		return nil, err
	}
	members := configuration.Context.Environments
	members[company] = map[string]json.RawMessage{}
	for _, p := range platforms.All() {
		var own map[string]json.RawMessage
		if err := readJSON("../../constructs/"+p.Name()+"/testdata/environments.json", &own); err != nil {
			return nil, err
		}
		for name, props := range own {
			if members[name] == nil {
				members[name] = map[string]json.RawMessage{}
			}
			members[name][p.Name()] = props
		}
	}
	all := map[string][]*platforms.Platform{}
	for name, described := range members {
		text, err := json.Marshal(described)
		if err != nil {
			return nil, err
		}
		if all[name], err = platforms.Configure(text); err != nil {
			return nil, fmt.Errorf("environment %s: %w", name, err)
		}
	}
	return all, nil
}

// bring gives the platforms' props what the company has.
func bring(app awscdk.App, all []*platforms.Platform) {
	owned := awscdk.NewStack(app, jsii.String("owned"), nil)
	key := awskms.NewKey(owned, jsii.String("Key"), &awskms.KeyProps{EnableKeyRotation: jsii.Bool(true)})
	topic := awssns.NewTopic(owned, jsii.String("Alerts"), nil)
	network := awsec2.Vpc_FromVpcAttributes(owned, jsii.String("Network"), &awsec2.VpcAttributes{
		VpcId: jsii.String("vpc-0a1b2c3d"), AvailabilityZones: jsii.Strings("eu-west-1a"), PrivateSubnetIds: jsii.Strings("subnet-0a1b2c3d"),
	})
	for _, p := range all {
		common := p.Common()
		common.Key, common.VPC, common.AlarmTopic = key, network, topic
	}
}

// stacks are those of the platforms in each environment, such as "todo-prod".
var stacks map[string]stack

// stack is a synthesised stack.
type stack struct {
	platform    *platforms.Platform
	environment string
	template    synthtest.Template
	// paths are the construct paths below the stack, by logical id.
	paths map[string]string
}

// finding is that a resource does not keep a rule.
type finding struct {
	// Rule is its name, with what was found where one resource may have several, as
	// cdk-nag writes it.
	Rule string
	// Resource is the resource's logical id.
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
	builds := map[string]*gofunction.Build{}
	for _, p := range platforms.All() {
		source := gofunction.Source{Directory: "../../constructs/" + p.Name() + "/testdata/handlers"}
		for _, folder := range p.Handlers().Packages {
			source.Packages = append(source.Packages, path.Base(folder))
		}
		builds[p.Name()] = gofunction.Start(context.Background(), source)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == company {
			bring(app, all[name])
		}
		for _, p := range all[name] {
			p.Common().Build = builds[p.Name()]
			p.Declare(awscdk.NewStack(app, jsii.String(p.Name()+"-"+name), nil))
		}
	}
}

func use(folder string) error {
	all, err := environments()
	if err != nil {
		return err
	}
	stacks = map[string]stack{}
	var files []string
	for environment, described := range all {
		for _, p := range described {
			name := p.Name() + "-" + environment
			s, err := load(folder, name)
			if err != nil {
				return err
			}
			s.platform, s.environment = p, environment
			stacks[name] = s
			files = append(files, filepath.Join(folder, name+".template.json"))
		}
	}
	written, err := filepath.Glob("testdata/*.template.json")
	if err != nil {
		return err
	}
	reports, err = runNag(append(files, written...)...)
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
