package platforms_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/reference/figures"
)

// flags is an environment that sets nothing, in an app of "cdk init", which has feature flags.
const flags = "flags"

// variant is a platform as one environment describes it.
type variant = figures.Variant

// variants are the platforms of the list, by platform and environment.
var variants = figures.Variants{}

// stacks declare stacks with props that only one platform has, or that only Go can set, each with the build of the
// platform's functions.
type stacks map[string]func(stack awscdk.Stack, build *gofunction.Build)

// specials are the stacks by platform: the file of each platform adds its own.
var specials = map[string]stacks{}

// ofPlatform adds the stacks of a platform to specials.
func ofPlatform(name string, s stacks) stacks {
	specials[name] = s
	return s
}

func TestMain(m *testing.M) { synthtest.Main(m, declare, use) }

// environments returns the environments of package platformtest, and flags. Existing is for
// another processor.
func environments() (map[string][]*platforms.Platform, error) {
	all, err := platformtest.Environments("../..")
	if err != nil {
		return nil, err
	}
	all[flags] = platforms.All()
	for _, p := range all[platformtest.Existing] {
		p.Common().Architecture = gofunction.X86_64
	}
	return all, nil
}

// declare panics where it cannot go on: its process does nothing else.
func declare(app awscdk.App) {
	all, err := environments()
	if err != nil {
		panic(err)
	}
	builds := map[string]*gofunction.Build{}
	for _, environment := range slices.Sorted(maps.Keys(all)) {
		if environment == platformtest.Existing {
			platformtest.AddExisting(app, all[environment])
		}
		for _, p := range all[environment] {
			key := fmt.Sprint(p.Name(), p.Common().Architecture, p.Common().Events)
			if builds[key] == nil {
				builds[key] = platformtest.Build("../..", p)
			}
			p.Common().Build = builds[key]
			stack := awscdk.NewStack(app, jsii.String(p.Name()+"-"+environment), nil)
			if environment == flags {
				recommend(stack)
			}
			p.Declare(stack)
		}
	}
	for _, p := range all[platformtest.Zero] {
		stack := awscdk.NewStack(app, jsii.String(p.Name()+"-twice"), nil)
		p.Declare(stack)
		p.Declare(constructs.NewConstruct(stack, jsii.String("Below")))
		for id, declare := range specials[p.Name()] {
			declare(awscdk.NewStack(app, jsii.String(p.Name()+"-"+id), nil), builds[p.Name()+"false"])
		}
	}
	declareEverything(app)
}

// recommend gives a stack that is still empty the feature flags that "cdk init" writes into the cdk.json of new apps.
func recommend(stack awscdk.Stack) {
	var recommended map[string]any
	err := platformtest.ReadJSON("../../node_modules/aws-cdk/lib/init-templates/.recommended-feature-flags.json",
		&recommended)
	if err != nil {
		panic(err)
	}
	for flag, value := range recommended {
		stack.Node().SetContext(&flag, value)
	}
}

func use(folder string) error {
	all, err := environments()
	if err != nil {
		return err
	}
	for environment, described := range all {
		for _, p := range described {
			template, err := synthtest.Load(folder, p.Name()+"-"+environment)
			if err != nil {
				return err
			}
			v := variant{Platform: p, Environment: environment, Template: template,
				Described: p.Common().Publishing(p.Schema)}
			if parts, ok := p.Props.(interface{ Described() schema.Platform }); ok {
				v.Described = parts.Described()
			}
			if handler, ok := v.Described.SignUpHandler(); ok && p.Common().JWTIssuer != "" {
				v.Described = v.Described.Without(handler.Name)
			}
			if variants[p.Name()] == nil {
				variants[p.Name()] = map[string]variant{}
			}
			variants[p.Name()][environment] = v
		}
	}
	return nil
}

// each runs a test of every platform in every environment.
func each(t *testing.T, test func(t *testing.T, v variant)) {
	t.Parallel()
	for name, environments := range variants {
		for environment, v := range environments {
			t.Run(name+"/"+environment, func(t *testing.T) {
				t.Parallel()
				test(t, v)
			})
		}
	}
}

// The golden files have the whole of each platform's templates: tables, grants, routes, alarms,
// outputs, and the logical ids that docs/project/versions.md promises to keep.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, environments := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			templates := map[string]synthtest.Template{}
			for id := range specials[name] {
				templates[id] = synthtest.Stack(t, name+"-"+id)
			}
			for environment, v := range environments {
				templates[environment] = v.Template
			}
			synthtest.Golden(t, "../../constructs/"+name+"/testdata/golden", platformtest.Zero, templates)
		})
	}
}

// No prop that keeps the parts, and no feature flag, changes a logical id.
func TestLogicalIDs(t *testing.T) {
	t.Parallel()
	for name, environments := range variants {
		for _, environment := range []string{flags, "prod"} {
			ids := func(v variant) []string { return slices.Sorted(maps.Keys(v.Template.Resources)) }
			got, want := environments[environment], environments[platformtest.Zero]
			if len(got.Described.Database.Tables) == len(want.Described.Database.Tables) &&
				!slices.Equal(ids(got), ids(want)) {
				t.Errorf("%s-%s: its logical ids are others than those of %s: its golden file names them", name,
					environment, platformtest.Zero)
			}
		}
	}
}

// The golden files of all platforms contain every logical id that docs/project/versions.md promises to
// keep, and -update removes none.
func TestGone(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for name, environments := range variants {
		var golden []string
		for id, r := range environments[platformtest.Zero].Template.Resources {
			golden = append(golden, r.Type+" "+id)
			held[r.Type] = true
		}
		for i, line := range golden {
			changed := slices.Clone(golden)
			changed[i] += "New"
			kind, _, _ := strings.Cut(line, " ")
			if lost := synthtest.Gone(golden, changed); slices.Contains(synthtest.KeptTypes(),
				kind) != (len(lost) == 1 && lost[0] == line) {
				t.Errorf("%s: without %s: got %q", name, line, lost)
			}
		}
		if lost := synthtest.Gone(golden, append([]string{"AWS::SQS::Queue New"}, golden...)); len(lost) > 0 {
			t.Errorf("%s: with one more: got %q", name, lost)
		}
	}
	for _, kind := range synthtest.KeptTypes() {
		// Importers bring domain names of their own, and a topic comes with who is to be told of alarms.
		brought := []string{"AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::ApiMapping", "AWS::SNS::TopicPolicy"}
		if !held[kind] && !slices.Contains(brought, kind) {
			t.Errorf("no golden id of %s", kind)
		}
	}
}

// A stack may have a platform several times, also below one scope: their names do not collide.
func TestTwice(t *testing.T) {
	t.Parallel()
	named := map[string][]any{
		"AWS::Cognito::UserPoolDomain": {"Domain"}, "AWS::Glue::Database": {"DatabaseInput", "Name"},
		"AWS::Athena::WorkGroup": {"Name"},
	}
	for name, environments := range variants {
		template, single := synthtest.Stack(t, name+"-twice"), environments[platformtest.Zero].Template
		for kind, property := range named {
			names := map[string]bool{}
			for _, r := range template.OfType(kind) {
				names[synthtest.Text(synthtest.At(r.Properties, property...))] = true
			}
			if want := 2 * len(single.OfType(kind)); len(names) != want {
				t.Errorf("%s: %s: got the names %v, want %d", name, kind, slices.Collect(maps.Keys(names)), want)
			}
		}
		if got, want := len(template.Outputs), 2*len(single.Outputs); got != want {
			t.Errorf("%s: got %d outputs, want %d", name, got, want)
		}
	}
}
