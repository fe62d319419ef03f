package platform

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/command/target"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// deployed deploys the stack to the account of the current credentials, unless the tests use it as
// it is, and reads its outputs.
func (s *Suite) deployed(t testing.TB) *Target {
	t.Helper()
	ctx := context.Background()
	environment := environmentOnAWS()
	stack := target.Stack{Name: s.stack(environment)}
	// What is missing is told before a deployment takes minutes.
	if _, err := target.Connect(ctx, ""); err != nil {
		t.Fatalf("ONESYNTH_TEST_TARGET=aws: %v", err)
	}
	lacking := must.Get(readLacks(os.Getenv("ONESYNTH_TEST_LACKS"), s.Platform.Name))(t)
	if os.Getenv("ONESYNTH_TEST_DEPLOY") != "false" {
		// Resources of the types that lack are left out once they have been refused.
		s.scratch = must.Get(os.MkdirTemp("", "onesynth-test-"))(t)
		d := synthesise(t, ctx, s.scratch, stack.Name, environment)
		s.deployedAssembly = must.Get(leaveOut(t, d.assembly, stack.Name, lacking.Resources, d.deploy))(t)
		must.Get(d.deploy(s.deployedAssembly))(t)
	}
	configuration, outputs, err := stack.DeployedOutputs(ctx, "cloudformation:DescribeStacks")
	must.OK(t, err)
	made := &Target{
		Target: must.Get(onesynthtest.NewTarget(s.Construct, outputs, dynamodb.NewFromConfig(configuration)))(t),
		lacks:  lacking,
		users:  cognitoidentityprovider.NewFromConfig(configuration), athena: athena.NewFromConfig(configuration),
	}
	if emulator := os.Getenv(endpoint); emulator != "" {
		made.URL = must.Get(emulatedURL(emulator, made.URL))(t)
		// An emulator starts an instance of a function for each request at a time, as AWS does, but
		// on this machine. With fifty of them, no request is answered in time.
		made.slots = make(chan struct{}, 8)
	}
	return made
}

// environmentOnAWS returns the environment of cdk.json that is tested on AWS.
func environmentOnAWS() string {
	return cmp.Or(os.Getenv("ONESYNTH_TEST_ENVIRONMENT"), "dev")
}

// deployment is a stack that is about to be deployed.
type deployment struct {
	// assembly is the folder of the cloud assembly.
	assembly string
	// deploy deploys the stack of an assembly, and returns what the CDK command printed.
	deploy func(assembly string) (string, error)
}

// synthesise writes the assembly of a stack into a folder.
func synthesise(t testing.TB, ctx context.Context, folder, stack, environment string) deployment {
	t.Helper()
	app, d := filepath.Join(folder, "cdk-app"), deployment{assembly: filepath.Join(folder, "deployed")}
	synth := []string{"--no-install", "cdk", "synth", stack, "--app", app, "--output", d.assembly, "-c",
		"env=" + environment, "--quiet"}
	if os.Getenv(endpoint) != "" {
		// An emulator runs the functions on this machine.
		synth = append(synth, "-c", "arch="+OwnArchitecture())
	}
	run := func(name string, args ...string) (string, error) {
		return shell.RunCommandContextAndGetOutputE(t, ctx,
			&shell.Command{Command: name, Args: args, WorkingDir: Root(t)})
	}
	d.deploy = func(assembly string) (string, error) {
		return run("npx", "--no-install", "cdk", "deploy", stack, "--app", assembly, "--require-approval", "never")
	}
	must.Get(run("go", "build", "-o", app, "."))(t)
	must.Get(run("npx", synth...))(t)
	return d
}

// checkDeployed checks that `onesynth check` has nothing against what is deployed, and
// refuses to drop a table of it.
func (s *Suite) checkDeployed(t *testing.T) {
	if target := s.Shared(t); target.Run != nil || s.deployedAssembly == "" {
		t.Skip("skipped: these tests have deployed nothing")
	}
	stack := s.stack(environmentOnAWS())
	if output, err := check(t, s.deployedAssembly, stack); err != nil {
		t.Errorf("check what is deployed: %v\n%s", err, output)
	}
	dropped := must.Get(without(t, s.deployedAssembly, stack, []string{"AWS::DynamoDB::GlobalTable"}))(t)
	if output, err := check(t, dropped, stack); err == nil || !strings.Contains(output, stack+"/drop:") {
		t.Errorf("check an assembly without tables: got %v; want a refusal\n%s", err, output)
	}
}

// check runs `onesynth check` of a stack, and returns what it printed.
func check(t *testing.T, assembly, stack string) (string, error) {
	return shell.RunCommandContextAndGetOutputE(t, t.Context(), &shell.Command{Command: commandtest.Path(t),
		Args: []string{"check", "--assembly", assembly, "--stack", stack}})
}
