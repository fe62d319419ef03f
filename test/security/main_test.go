// Package security checks the stacks by the rules of cdk-nag, and by further rules that cdk-nag
// lacks.
package security

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/nag"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/examples/recipes"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
)

// stacks are the stacks of the platforms in each environment, such as "todo-prod".
var stacks map[string]stack

// stack is a synthesised stack.
type stack struct {
	platform    *platforms.Platform
	environment string
	template    synthtest.Template
	// paths are the construct paths below the stack, by logical id.
	paths map[string]string
	// accepted are the findings that are acknowledged, with paths below the stack.
	accepted []nag.Accepted
	// inherited are those of the platform in any environment. Not each is needed.
	inherited []nag.Accepted
}

// finding says that a resource breaks a rule.
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
	if err := errors.Join(os.Setenv(synthtest.ValidationVariable, "true"),
		os.Setenv("CDK_CONTEXT_JSON", enforced)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	synthtest.Main(m, declare, use)
}

// declare panics where it cannot go on: the process that it runs in does nothing
// else.
func declare(app awscdk.App) {
	all, err := platformtest.Environments("../..")
	if err != nil {
		panic(err)
	}
	builds := map[string]*gofunction.Build{}
	for _, p := range platforms.All() {
		// One build serves the environments with events and those without.
		p.Common().Events = true
		builds[p.Name()] = platformtest.Build("../..", p)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == platformtest.Existing {
			platformtest.AddExisting(app, all[name])
		}
		for _, p := range all[name] {
			p.Common().Build = builds[p.Name()]
			declared := p.Declare(awscdk.NewStack(app, jsii.String(p.Name()+"-"+name), nil))
			if err := nag.Acknowledge(declared, declared.Accepted()); err != nil {
				panic(err)
			}
		}
	}
	recipes.Declare(app, "../..")
}

func use(folder string) error {
	all, err := platformtest.Environments("../..")
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
		}
	}
	if err := useRecipes(folder); err != nil {
		return err
	}
	for name := range stacks {
		files = append(files, filepath.Join(folder, name+".template.json"))
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
	for path, entries := range template.Entries {
		for _, e := range entries {
			within := strings.TrimPrefix(path, "/"+name+"/")
			if id, _ := e.Data.(string); e.Type == "aws:cdk:logicalId" {
				s.paths[id] = within
			}
			if reasons, _ := e.Data.(map[string]any); e.Type == acknowledged {
				for rule, reason := range reasons {
					s.accepted = append(s.accepted, nag.Accepted{Resource: within, Reason: reason.(string),
						Rule: synthtest.Stable(strings.TrimPrefix(rule, "Annotation::"))})
				}
			}
		}
	}
	return s, nil
}

// acknowledged is the type of the entries from which cdk-nag reads what is accepted
// (Validations.ACKNOWLEDGED_RULES_METADATA_KEY of the CDK).
const acknowledged = "aws:cdk:acknowledged-rules"
